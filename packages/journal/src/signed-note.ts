import { decodeBase64, encodeBase64 } from "./base64.js";
import { JournalError } from "./errors.js";
import type { SigningKey, VerifierKey } from "./signing-key.js";

/*
 * C2SP signed-note: a text that ends with a newline, an empty line, and one line for each signature.
 */

export interface NoteSignature {
  name: string;
  /** The key's id, 8 hex digits. */
  id: string;
  signature: Uint8Array;
}

export interface SignedNote {
  /** With its last newline: what is signed. */
  text: string;
  signatures: NoteSignature[];
}

const signatureForm = /^— ([^\s+]+) ([A-Za-z0-9+/]+=*)$/;
const controlCharacter = /[\u0000-\u0009\u000b-\u001f]/;
const idBytes = 4;

/** @param text ends with a newline */
export function signNote(text: string, key: SigningKey): string {
  const { name, id } = key.verifier;
  const signature = Buffer.concat([Buffer.from(id, "hex"), key.sign(Buffer.from(text))]);
  return `${text}\n— ${name} ${encodeBase64(signature)}\n`;
}

/** @throws JournalError `bad_note` */
export function parseNote(note: string): SignedNote {
  const end = note.lastIndexOf("\n\n");
  if (end < 0 || !note.endsWith("\n") || controlCharacter.test(note) || !note.isWellFormed()) throw notedError();
  const lines = note.slice(end + 2, -1).split("\n");
  return { text: note.slice(0, end + 1), signatures: lines.map(parseSignature) };
}

function parseSignature(line: string): NoteSignature {
  const [, name = "", encoded = ""] = signatureForm.exec(line) ?? [];
  const bytes = decodeBase64(encoded);
  if (!name || !bytes || bytes.length <= idBytes) throw notedError();
  return { name, id: Buffer.from(bytes.subarray(0, idBytes)).toString("hex"), signature: bytes.subarray(idBytes) };
}

function notedError(): JournalError {
  return new JournalError("bad_note", "This is no signed note.");
}

/**
 * Signatures by other keys are passed over; one by a given key has to fit.
 * @returns the note and the given keys that signed it, at least one
 * @throws JournalError `bad_note`, `bad_signature`, `unknown_key`
 */
export function verifyNote(note: string, keys: readonly VerifierKey[]): SignedNote & { signers: VerifierKey[] } {
  const parsed = parseNote(note);
  const message = Buffer.from(parsed.text);
  const signers: VerifierKey[] = [];
  for (const { name, id, signature } of parsed.signatures) {
    const key = keys.find((candidate) => candidate.name === name && candidate.id === id);
    if (!key) continue;
    if (!key.verify(message, signature)) {
      throw new JournalError("bad_signature", `The signature by ${name}+${id} does not fit the note.`);
    }
    signers.push(key);
  }
  if (signers.length > 0) return { ...parsed, signers };
  const ids = parsed.signatures.map(({ name, id }) => `${name}+${id}`).join(", ");
  throw new JournalError("unknown_key", `The note is signed by ${ids} and by no trusted key.`);
}
