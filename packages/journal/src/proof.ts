import { decodeBase64, encodeBase64 } from "./base64.js";
import { canonicalJson } from "./canonical-json.js";
import { type Checkpoint, parseCheckpoint } from "./checkpoint.js";
import { commit, type Entry, hashEntry, isEntry, isSeq, type Opening, saltBytes } from "./entry.js";
import { JournalError } from "./errors.js";
import { verifyInclusion } from "./merkle-tree.js";
import { verifyNote } from "./signed-note.js";
import type { VerifierKey } from "./signing-key.js";
import type { JournalReader } from "./storage.js";
import { proveInclusion } from "./tree-proof.js";

export const proofFormat = "satchel/journal-proof/v1";

/** One entry's proof, as JSON: schemas/proof.schema.json. */
export interface Proof {
  format: typeof proofFormat;
  entry: Entry;
  /** One for each commitment; null where the body was erased. */
  openings: ({ salt: string; body: unknown } | null)[];
  /** Base64 hashes from the leaf up. */
  path: string[];
  /** A signed note. */
  checkpoint: string;
}

/**
 * What a proof that does not hold fails at: its form, a body that is not the committed one, a checkpoint by no trusted
 * key, a signature that does not fit, or an entry that is not in the checkpoint's tree.
 */
export type ProofFault = "bad_form" | "bad_opening" | "unknown_key" | "bad_signature" | "bad_path";

export type ProofVerdict =
  | { valid: true; entry: Entry /** undefined where erased */; bodies: unknown[]; checkpoint: Checkpoint }
  | { valid: false; reason: ProofFault };

/**
 * The proof of an entry against the newest checkpoint, which is checked before it is returned.
 * @throws JournalError `no_such_entry`, `no_checkpoint` when none covers the entry yet, `damaged`
 */
export async function proveEntry(storage: JournalReader, seq: number): Promise<Proof> {
  const [stored] = isSeq(seq) ? await storage.entries({ from: seq, limit: 1 }) : [];
  if (stored?.seq !== seq) throw new JournalError("no_such_entry", `There is no entry ${seq}.`, { seq });
  const checkpoint = await storage.lastCheckpoint();
  if (!checkpoint || checkpoint.size <= seq) {
    throw new JournalError("no_checkpoint", `No checkpoint covers entry ${seq} yet.`, { seq });
  }
  const { size, root } = parseCheckpoint(checkpoint.note);
  const path = await proveInclusion(storage, { seq, size });
  const { at, kind, commitments, openings } = stored;
  const entry = { seq, at, kind, commitments };
  if (!verifyInclusion({ seq, size, leaf: hashEntry(entry), path }, root)) {
    throw new JournalError("damaged", `Entry ${seq} is not the one that was signed.`, { seq });
  }
  return {
    format: proofFormat,
    entry,
    openings: openings.map((opening) => (opening ? printOpening(opening) : null)),
    path: path.map(encodeBase64),
    checkpoint: checkpoint.note,
  };
}

function printOpening({ salt, body }: Opening): { salt: string; body: unknown } {
  return { salt: encodeBase64(salt), body: JSON.parse(body) };
}

/**
 * Checks a proof without its log. That an entry is in the log says nothing about entries that are not.
 * @param trusted the keys of this log, from elsewhere than the proof
 */
export function verifyProof(proof: unknown, trusted: readonly VerifierKey[]): ProofVerdict {
  const parsed = parseProof(proof);
  if (!parsed) return { valid: false, reason: "bad_form" };
  const { entry, openings, path, checkpoint, note } = parsed;
  if (!openings.every((opening, slot) => !opening || commit(opening) === entry.commitments[slot])) {
    return { valid: false, reason: "bad_opening" };
  }
  const reason = verifySigner(note, checkpoint, trusted);
  if (reason) return { valid: false, reason };
  const { seq } = entry;
  if (!verifyInclusion({ seq, size: checkpoint.size, leaf: hashEntry(entry), path }, checkpoint.root)) {
    return { valid: false, reason: "bad_path" };
  }
  const bodies = openings.map((opening) => opening && (JSON.parse(opening.body) as unknown));
  return { valid: true, entry, bodies, checkpoint };
}

/** Only a key of the log's own name counts. */
function verifySigner(note: string, { origin }: Checkpoint, trusted: readonly VerifierKey[]): ProofFault | undefined {
  try {
    const keys = trusted.filter(({ name }) => name === origin);
    verifyNote(note, keys);
    return undefined;
  } catch (error) {
    if (error instanceof JournalError && error.code === "unknown_key") return "unknown_key";
    return "bad_signature";
  }
}

interface ParsedProof {
  entry: Entry;
  openings: (Opening | undefined)[];
  path: Uint8Array[];
  checkpoint: Checkpoint;
  note: string;
}

const proofMembers = ["format", "entry", "openings", "path", "checkpoint"];
const entryMembers = ["seq", "at", "kind", "commitments"];
const openingMembers = ["salt", "body"];

/** @returns undefined for what does not satisfy the schema or holds a note that is no checkpoint */
function parseProof(value: unknown): ParsedProof | undefined {
  if (!hasMembers(value, proofMembers) || value.format !== proofFormat) return undefined;
  const { entry, path, openings, checkpoint: note } = value;
  if (!hasMembers(entry, entryMembers) || !isEntry(entry) || !Array.isArray(openings) || !Array.isArray(path)) {
    return undefined;
  }
  const hashes = path.map((text) => (typeof text === "string" ? decodeBase64(text, 32) : undefined));
  if (openings.length !== entry.commitments.length || !hashes.every((hash) => hash !== undefined)) return undefined;
  try {
    const parsed = openings.map((opening) => (opening === null ? undefined : parseOpening(opening)));
    const checkpoint = parseCheckpoint(typeof note === "string" ? note : "");
    return { entry, openings: parsed, path: hashes, checkpoint, note: note as string };
  } catch (error) {
    if (error instanceof JournalError) return undefined;
    throw error;
  }
}

/** @throws JournalError `bad_entry` */
function parseOpening(value: unknown): Opening {
  const isOpening = hasMembers(value, openingMembers) && typeof value.salt === "string";
  const salt = isOpening ? decodeBase64(value.salt as string, saltBytes) : undefined;
  if (!isOpening || !salt) throw new JournalError("bad_entry", "This is no opening.");
  return { salt, body: canonicalJson(value.body) };
}

/** Whether it is an object with exactly these members. */
function hasMembers(value: unknown, names: readonly string[]): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.keys(value).length === names.length && names.every((name) => Object.hasOwn(value, name));
}
