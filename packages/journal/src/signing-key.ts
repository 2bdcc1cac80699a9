import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { decodeBase64, encodeBase64 } from "./base64.js";
import { JournalError } from "./errors.js";
import { sha256Hex } from "./sha256.js";

/*
 * Keys in the text forms of C2SP signed-note: `name+hash+base64` and `PRIVATE+KEY+name+hash+base64`, Ed25519 only.
 */

const ed25519 = Buffer.of(1);
const keyForm = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+=*)$/;
const nameForm = /^[^\s+]+$/;
const secretPrefix = "PRIVATE+KEY+";
const publicDer = Buffer.from("302a300506032b6570032100", "hex");
const privateDer = Buffer.from("302e020100300506032b657004220420", "hex");

/** Who signed: a name, by convention the log's origin, and a public key. */
export class VerifierKey {
  /** The first 4 bytes of SHA-256(name ‖ "\n" ‖ 0x01 ‖ public key), in hex. */
  readonly id: string;
  /** The text form. */
  readonly text: string;
  readonly #key: KeyObject;

  constructor(
    readonly name: string,
    publicKey: Uint8Array,
  ) {
    if (!nameForm.test(name)) throw new JournalError("bad_key", "A key name is empty or has spaces or a plus sign.");
    if (publicKey.length !== 32) throw new JournalError("bad_key", "An Ed25519 public key has 32 bytes.");
    const typed = Buffer.concat([ed25519, publicKey]);
    this.id = sha256Hex(Buffer.concat([Buffer.from(`${name}\n`), typed])).slice(0, 8);
    this.text = `${name}+${this.id}+${encodeBase64(typed)}`;
    this.#key = createPublicKey({ key: Buffer.concat([publicDer, publicKey]), format: "der", type: "spki" });
  }

  verify(message: Uint8Array, signature: Uint8Array): boolean {
    return verify(null, message, this.#key, signature);
  }

  toString(): string {
    return this.text;
  }
}

/** Prints as its verifier key; only `secretText` gives the secret away. */
export class SigningKey {
  readonly verifier: VerifierKey;
  readonly #seed: Uint8Array;
  readonly #key: KeyObject;

  constructor(name: string, seed: Uint8Array) {
    if (seed.length !== 32) throw new JournalError("bad_key", "The seed of a signing key has 32 bytes.");
    this.#seed = Uint8Array.from(seed);
    this.#key = createPrivateKey({ key: Buffer.concat([privateDer, seed]), format: "der", type: "pkcs8" });
    const der = createPublicKey(this.#key).export({ format: "der", type: "spki" });
    this.verifier = new VerifierKey(name, der.subarray(publicDer.length));
  }

  sign(message: Uint8Array): Uint8Array {
    return sign(null, message, this.#key);
  }

  /** The text form with the secret, to be kept in a file only its owner reads. */
  secretText(): string {
    const { name, id } = this.verifier;
    return `${secretPrefix}${name}+${id}+${encodeBase64(Buffer.concat([ed25519, this.#seed]))}`;
  }

  toString(): string {
    return this.verifier.text;
  }

  toJSON(): string {
    return this.verifier.text;
  }
}

/** @param seed 32 random bytes @throws JournalError `bad_key` */
export function generateSigningKey(name: string, seed: Uint8Array): SigningKey {
  return new SigningKey(name, seed);
}

/** @throws JournalError `bad_key` */
export function parseVerifierKey(text: string): VerifierKey {
  const { name, id, bytes } = splitKey(text);
  const key = new VerifierKey(name, bytes);
  if (key.id !== id) throw new JournalError("bad_key", "The id of a verifier key does not fit its name and key.");
  return key;
}

/** @throws JournalError `bad_key`; the message never holds the text */
export function parseSigningKey(text: string): SigningKey {
  if (!text.startsWith(secretPrefix)) throw new JournalError("bad_key", "This is no signing key.");
  const { name, id, bytes } = splitKey(text.slice(secretPrefix.length));
  const key = new SigningKey(name, bytes);
  if (key.verifier.id !== id)
    throw new JournalError("bad_key", "The id of a signing key does not fit its name and key.");
  return key;
}

function splitKey(text: string): { name: string; id: string; bytes: Uint8Array } {
  const [, name = "", id = "", encoded = ""] = keyForm.exec(text) ?? [];
  const typed = decodeBase64(encoded, 33);
  if (!typed || typed[0] !== ed25519[0])
    throw new JournalError("bad_key", "This is no Ed25519 key in signed-note form.");
  return { name, id, bytes: typed.subarray(1) };
}
