import { appendFileSync, closeSync, existsSync, fstatSync, openSync, readFileSync, readSync } from "node:fs";
import { parseCheckpoint } from "@satchel/journal";

/** Longer than two signed checkpoints of the longest origin. */
const tailBytes = 2048;

/** Of Ed25519. */
const signatureBytes = 64;

/** Checkpoints outside the store: signed notes with an empty line after each. */
export interface CheckpointFile {
  /** The size of the last one there; 0 when there is none. */
  lastSize(): number;
  append(notes: string[]): void;
}

export function openCheckpointFile(file: string): CheckpointFile {
  return {
    lastSize() {
      if (!existsSync(file)) return 0;
      const last = parseCheckpoints(readTail(file)).at(-1);
      return last === undefined ? 0 : parseCheckpoint(last).size;
    },
    append(notes) {
      const text = notes.map((note) => `${note}\n`).join("");
      // After a note that a crash cut off, a new one begins on a line of its own.
      const tail = existsSync(file) ? readTail(file) : "";
      const isCut = tail !== "" && !tail.endsWith("\n");
      appendFileSync(file, isCut ? `\n${text}` : text, { mode: 0o600 });
    },
  };
}

/** @returns the complete notes of a file as `append` writes it */
export function readCheckpoints(file: string): string[] {
  return existsSync(file) ? parseCheckpoints(readFileSync(file, "utf8")) : [];
}

function readTail(file: string): string {
  const descriptor = openSync(file, "r");
  try {
    const { size } = fstatSync(descriptor);
    const bytes = Buffer.alloc(Math.min(size, tailBytes));
    readSync(descriptor, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString("utf8");
  } finally {
    closeSync(descriptor);
  }
}

/** The signed checkpoints in a text. A note that a crash cut off, or that begins before the text, is left out. */
export function parseCheckpoints(text: string): string[] {
  return text
    .split(/(?<=^— .*\n)(?!— )/m)
    .map((note) => note.replace(/^[\s\S]*(?=^satchel\/)/m, ""))
    .filter((note) => isCheckpoint(note));
}

function isCheckpoint(note: string): boolean {
  try {
    return parseCheckpoint(note).signatures.every(({ signature }) => signature.length === signatureBytes);
  } catch {
    return false;
  }
}
