import { JournalError } from "./errors.js";
import { hashLeaf } from "./merkle-tree.js";
import { sha256Hex } from "./sha256.js";

/** In the order of their stored numbers, which never change. */
export const ENTRY_KINDS = [
  "prp.input",
  "prp.result",
  "prp.reconciled",
  "audit",
  "erasure",
  "redaction",
  "key",
] as const;

export type EntryKind = (typeof ENTRY_KINDS)[number];

/** What the log proves. Never erased. */
export interface Entry {
  /** From 0, without gaps. */
  seq: number;
  /** RFC 3339, UTC, with milliseconds; never before the entry's before it. */
  at: string;
  kind: EntryKind;
  /** One for each body, 64 lowercase hex digits: two for `audit` (head, detail), one for every other kind. */
  commitments: string[];
}

/** What opens a commitment. It lies beside the entry and may be erased. */
export interface Opening {
  /** 32 random bytes. */
  salt: Uint8Array;
  /** RFC 8785 text. */
  body: string;
}

export interface StoredEntry extends Entry {
  /** The leaf hash, 32 bytes. */
  leaf: Uint8Array;
  /** One for each commitment; undefined where the body was erased. */
  openings: (Opening | undefined)[];
}

export const saltBytes = 32;

const commitmentTag = Buffer.from("satchel/journal/v1");
const commitmentForm = /^[0-9a-f]{64}$/;
const timeForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** How many bodies an entry of this kind has. */
export function countSlots(kind: EntryKind): number {
  return kind === "audit" ? 2 : 1;
}

/** Whether bodies of this kind can be redacted: what the verifier itself has to read can't. */
export function isErasable(kind: EntryKind): boolean {
  return kind !== "erasure" && kind !== "redaction" && kind !== "key";
}

/** Lowercase hex SHA-256("satchel/journal/v1" ‖ salt ‖ body). */
export function commit({ salt, body }: Opening): string {
  const bytes = Buffer.allocUnsafe(commitmentTag.length + salt.length + Buffer.byteLength(body));
  bytes.set(commitmentTag);
  bytes.set(salt, commitmentTag.length);
  bytes.write(body, commitmentTag.length + salt.length);
  return sha256Hex(bytes);
}

/** The RFC 8785 text of the entry. Its members need no escapes, so it can be put together. */
export function entryText({ seq, at, kind, commitments }: Entry): string {
  return `{"at":"${at}","commitments":["${commitments.join('","')}"],"kind":"${kind}","seq":${seq}}`;
}

export function hashEntry(entry: Entry): Uint8Array {
  return hashLeaf(entryText(entry));
}

export function isTime(text: unknown): text is string {
  if (typeof text !== "string" || !timeForm.test(text)) return false;
  const timeMs = Date.parse(text);
  return !Number.isNaN(timeMs) && new Date(timeMs).toISOString() === text;
}

export function isSeq(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Whether the members have the form of an entry. Additional members are the caller's concern. */
export function isEntry(value: Partial<Record<keyof Entry, unknown>>): value is Entry {
  const { seq, at, kind, commitments } = value;
  if (!isSeq(seq) || !isTime(at) || !ENTRY_KINDS.includes(kind as EntryKind) || !Array.isArray(commitments))
    return false;
  if (commitments.length !== countSlots(kind as EntryKind)) return false;
  return commitments.every((commitment) => typeof commitment === "string" && commitmentForm.test(commitment));
}

/** The body of an entry with one body, parsed. @throws JournalError `damaged` */
export function readBody(entry: StoredEntry): unknown {
  try {
    return JSON.parse(entry.openings[0]?.body ?? "");
  } catch (cause) {
    throw new JournalError("damaged", `Entry ${entry.seq} has no readable body.`, { seq: entry.seq, cause });
  }
}
