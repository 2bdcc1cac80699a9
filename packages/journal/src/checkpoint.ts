import { decodeBase64, encodeBase64 } from "./base64.js";
import { JournalError } from "./errors.js";
import { currentKey } from "./key-rotation.js";
import { joinHashes, type TreeHead, verifyConsistency } from "./merkle-tree.js";
import { type NoteSignature, parseNote, signNote } from "./signed-note.js";
import type { SigningKey } from "./signing-key.js";
import type { JournalStorage, StoredCheckpoint } from "./storage.js";
import { proveConsistency } from "./tree-proof.js";

/** C2SP tlog-checkpoint. */
export interface Checkpoint extends TreeHead {
  /** The log: `satchel/<context id>`. */
  origin: string;
  signatures: NoteSignature[];
}

const sizeForm = /^(0|[1-9][0-9]*)$/;

/** Checks the form, not the signatures. @throws JournalError `bad_note` */
export function parseCheckpoint(note: string): Checkpoint {
  const { text, signatures } = parseNote(note);
  const [origin = "", size = "", encoded = "", ...extensions] = text.slice(0, -1).split("\n");
  const root = decodeBase64(encoded, 32);
  const isSize = sizeForm.test(size) && Number.isSafeInteger(Number(size));
  if (!origin || !isSize || !root || extensions.includes("")) {
    throw new JournalError("bad_note", "This note is no checkpoint.");
  }
  return { origin, size: Number(size), root, signatures };
}

/** @returns the signed note */
export function signCheckpoint({ size, root }: TreeHead, key: SigningKey): string {
  return signNote(`${key.verifier.name}\n${size}\n${encodeBase64(root)}\n`, key);
}

/**
 * Signs what the log holds now, and stores that. When nothing was added since the last checkpoint, that one is returned.
 * @throws JournalError `not_started`, `bad_key` for a key that is not the log's present one, `damaged` for a log that does
 * not continue its last checkpoint: nothing smaller and nothing else is ever signed
 */
export async function makeCheckpoint(storage: JournalStorage, key: SigningKey): Promise<StoredCheckpoint> {
  const { size, frontier } = await storage.state();
  const present = await currentKey(storage);
  if (present.text !== key.verifier.text) {
    throw new JournalError("bad_key", `The log is signed by ${present}, not by ${key}.`);
  }
  const last = await storage.lastCheckpoint();
  const head = { size, root: joinHashes(frontier) };
  if (last) await checkContinuity(storage, parseCheckpoint(last.note), head);
  if (last?.size === size) return last;
  const checkpoint = { size, note: signCheckpoint(head, key) };
  await storage.addCheckpoint(checkpoint);
  return checkpoint;
}

async function checkContinuity(storage: JournalStorage, from: TreeHead, to: TreeHead): Promise<void> {
  if (from.size > to.size) {
    throw new JournalError("damaged", `The log has ${to.size} entries, but was signed with ${from.size}.`);
  }
  const path = await proveConsistency(storage, { from: from.size, to: to.size });
  if (!verifyConsistency(from, to, path)) {
    throw new JournalError("damaged", `The log does not continue what was signed with ${from.size} entries.`);
  }
}
