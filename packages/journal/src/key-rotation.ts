import { decodeBase64, encodeBase64 } from "./base64.js";
import { canonicalJson } from "./canonical-json.js";
import { type Entry, readBody, type StoredEntry } from "./entry.js";
import { JournalError } from "./errors.js";
import { type JournalTools, writeEntries } from "./log.js";
import { parseVerifierKey, type SigningKey, type VerifierKey } from "./signing-key.js";
import type { JournalReader, JournalStorage } from "./storage.js";

/** The body of entry 0: which key signs this log, signed by that key. */
interface FirstKeyBody {
  key: string;
  signature: string;
}

/** The body of every other key entry: which key signs from here on, signed by both. */
interface RotationBody {
  key: string;
  previous: string;
  signatures: { previous: string; key: string };
}

// No signed note can hold the null character, so a signature of one is never a signature of the other.
const firstKeyTag = "satchel/journal/v1 key\0";
const rotationTag = "satchel/journal/v1 rotation\0";

function firstKeyMessage(key: string): Uint8Array {
  return Buffer.from(firstKeyTag + canonicalJson({ key, seq: 0 }));
}

function rotationMessage(facts: { key: string; previous: string; seq: number }): Uint8Array {
  return Buffer.from(rotationTag + canonicalJson(facts));
}

/** Writes entry 0, which says who signs. @throws JournalError `already_started`, `bad_entry` */
export async function startLog(
  storage: JournalStorage,
  key: SigningKey,
  options: JournalTools & { at: string },
): Promise<Entry> {
  if ((await storage.state()).size > 0) throw new JournalError("already_started", "The log has a key already.");
  const text = key.verifier.text;
  const body: FirstKeyBody = { key: text, signature: encodeBase64(key.sign(firstKeyMessage(text))) };
  const [entry] = await writeEntries(storage, [{ at: options.at, kind: "key", bodies: [body] }], options);
  return entry!;
}

export interface Rotation extends JournalTools {
  /** The log's present key. */
  from: SigningKey;
  to: SigningKey;
  at: string;
}

/**
 * Hands the log over to another key: checkpoints after this entry are signed by `to`, and only by it.
 * @throws JournalError `not_started`, `bad_key` when `from` is not the present key, or `to` is it or has another name
 */
export async function rotateKey(storage: JournalStorage, rotation: Rotation): Promise<Entry> {
  const { from, to, at } = rotation;
  const present = await currentKey(storage);
  const [previous, key] = [from.verifier.text, to.verifier.text];
  if (present.text !== previous || key === previous || from.verifier.name !== to.verifier.name) {
    throw new JournalError(
      "bad_key",
      `The key ${present} can't be replaced by ${key} with a signature by ${previous}.`,
    );
  }
  const message = rotationMessage({ key, previous, seq: (await storage.state()).size });
  const signatures = { previous: encodeBase64(from.sign(message)), key: encodeBase64(to.sign(message)) };
  const body: RotationBody = { key, previous, signatures };
  const [entry] = await writeEntries(storage, [{ at, kind: "key", bodies: [body] }], rotation);
  return entry!;
}

/** The key that signs the log now, as the log says. @throws JournalError `not_started`, `damaged` */
export async function currentKey(storage: JournalReader): Promise<VerifierKey> {
  const entry = await storage.newestKeyEntry();
  if (!entry) throw new JournalError("not_started", "The log has no key yet.");
  try {
    return parseVerifierKey((readBody(entry) as FirstKeyBody).key);
  } catch (cause) {
    throw damagedError(entry.seq, cause);
  }
}

/**
 * The key that a key entry puts in force.
 * @param present the key in force before it; undefined for entry 0
 * @throws JournalError `damaged` when it lacks a signature that it needs
 */
export function verifyKeyEntry(entry: StoredEntry, present: VerifierKey | undefined): VerifierKey {
  try {
    const body = readBody(entry);
    const key = present ? verifyRotation(body as RotationBody, present, entry.seq) : verifyFirst(body as FirstKeyBody);
    if (key) return key;
  } catch (cause) {
    throw damagedError(entry.seq, cause);
  }
  throw damagedError(entry.seq);
}

function verifyFirst(body: FirstKeyBody): VerifierKey | undefined {
  const key = parseVerifierKey(body.key);
  return isSigned(firstKeyMessage(body.key), key, body.signature) ? key : undefined;
}

function verifyRotation(body: RotationBody, present: VerifierKey, seq: number): VerifierKey | undefined {
  const key = parseVerifierKey(body.key);
  if (body.previous !== present.text || key.name !== present.name) return undefined;
  const message = rotationMessage({ key: body.key, previous: body.previous, seq });
  const isByBoth = isSigned(message, present, body.signatures.previous) && isSigned(message, key, body.signatures.key);
  return isByBoth ? key : undefined;
}

function isSigned(message: Uint8Array, key: VerifierKey, encoded: string): boolean {
  const signature = decodeBase64(encoded, 64);
  return signature !== undefined && key.verify(message, signature);
}

function damagedError(seq: number, cause?: unknown): JournalError {
  return new JournalError("damaged", `Entry ${seq} hands the log over without the signatures that this needs.`, {
    seq,
    cause,
  });
}
