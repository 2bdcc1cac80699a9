import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from "node:crypto";
import type { Identity } from "age-encryption";
import { ArchiveError } from "./archive-error.js";
import { ed25519Identity, rsaIdentity } from "./ssh-stanza.js";
import { SshReader, toMpint, writeSshStrings } from "./ssh-wire.js";

const magic = Buffer.from("openssh-key-v1\0");

export function isPrivateKeyText(text: string): boolean {
  return /^-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/.test(text.trimStart());
}

/**
 * A private key file of OpenSSH (ed25519, rsa; not one with a passphrase), or the same keys as PEM.
 * @throws ArchiveError `invalid_identity`, `locked_identity` or `unsupported_identity`
 */
export function parseSshIdentity(text: string, passphrase?: string): Identity {
  try {
    const armored = /^-----BEGIN OPENSSH PRIVATE KEY-----\s+([A-Za-z0-9+/=\s]+)-----END OPENSSH PRIVATE KEY-----\s*$/;
    const [, encoded] = armored.exec(text.trim()) ?? [];
    return encoded === undefined ? parsePem(text, passphrase) : parseOpenSsh(Buffer.from(encoded, "base64"));
  } catch (cause) {
    if (cause instanceof ArchiveError) throw cause;
    throw new ArchiveError("invalid_identity", "The private key can't be read: it is damaged or of an unknown kind.");
  }
}

function parseOpenSsh(bytes: Buffer): Identity {
  const reader = new SshReader(bytes);
  if (!reader.take(magic.length).equals(magic)) throw new RangeError("Not OpenSSH's format.");
  const cipher = reader.string().toString("latin1");
  reader.string();
  reader.string();
  const count = reader.number();
  const wire = reader.string();
  const secret = reader.string();
  if (cipher !== "none") throw lockedOpenSsh();
  if (count !== 1 || !reader.isAtEnd) throw new RangeError("One key is expected.");
  return parseSecret(new SshReader(secret), wire);
}

function lockedOpenSsh(): ArchiveError {
  const message =
    "The SSH key has a passphrase, which is not read here. Take it off a copy of the key (ssh-keygen -p -f COPY), use " +
    "the copy and delete it; or decrypt the archive with `age -d -i KEY`.";
  return new ArchiveError("unsupported_identity", message);
}

function parseSecret(reader: SshReader, wire: Buffer): Identity {
  const [check, repeated] = [reader.number(), reader.number()];
  if (check !== repeated) throw new RangeError("The key's check numbers differ.");
  const type = reader.string().toString("latin1");
  if (type === "ssh-ed25519") {
    const publicKey = reader.string();
    const secret = reader.string();
    if (secret.length !== 64 || !secret.subarray(32).equals(publicKey)) throw new RangeError("The halves do not fit.");
    return ed25519Identity({ wire, seed: secret.subarray(0, 32) });
  }
  if (type === "ssh-rsa") {
    const fields = ["n", "e", "d", "qi", "p", "q"].map((name) => [name, reader.string()]);
    return rsaIdentity({ wire, key: buildRsaKey(Object.fromEntries(fields)) });
  }
  throw new ArchiveError("invalid_identity", "age decrypts with the SSH keys ed25519 and rsa, and with no others.");
}

type RsaNumbers = Record<"n" | "e" | "d" | "qi" | "p" | "q", Buffer>;

function buildRsaKey(numbers: RsaNumbers): KeyObject {
  const { d, p, q } = numbers;
  const all = { ...numbers, dp: remainder(d, p), dq: remainder(d, q) };
  const members = Object.entries(all).map(([name, bytes]) => [name, stripZeros(bytes).toString("base64url")]);
  const key: JsonWebKey = { kty: "RSA", ...Object.fromEntries(members) };
  return createPrivateKey({ key, format: "jwk" });
}

const toNumber = (bytes: Buffer) => BigInt(`0x${bytes.toString("hex") || "0"}`);

function remainder(exponent: Buffer, prime: Buffer): Buffer {
  const hex = (toNumber(exponent) % (toNumber(prime) - 1n)).toString(16);
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, "hex");
}

function stripZeros(bytes: Buffer): Buffer {
  const start = bytes.findIndex((byte) => byte !== 0);
  return start < 0 ? Buffer.alloc(0) : bytes.subarray(start);
}

function parsePem(text: string, passphrase: string | undefined): Identity {
  const key = openPem(text, passphrase);
  const jwk = createPublicKey(key).export({ format: "jwk" });
  const bytesOf = (name: "x" | "e" | "n") => Buffer.from(jwk[name] ?? "", "base64url");
  if (key.asymmetricKeyType === "ed25519") {
    const wire = writeSshStrings(Buffer.from("ssh-ed25519"), bytesOf("x"));
    return ed25519Identity({ wire, seed: Buffer.from(key.export({ format: "jwk" }).d ?? "", "base64url") });
  }
  if (key.asymmetricKeyType === "rsa") {
    const numbers = [toMpint(bytesOf("e")), toMpint(bytesOf("n"))];
    return rsaIdentity({ wire: writeSshStrings(Buffer.from("ssh-rsa"), ...numbers), key });
  }
  throw new ArchiveError("invalid_identity", "age decrypts with the keys ed25519 and rsa, and with no others.");
}

function openPem(text: string, passphrase: string | undefined): KeyObject {
  const isLocked = /^-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m.test(text);
  if (!isLocked) return createPrivateKey(text);
  if (passphrase === undefined) throw new ArchiveError("locked_identity", "The private key needs its passphrase.");
  try {
    return createPrivateKey({ key: text, passphrase });
  } catch {
    throw new ArchiveError("locked_identity", "The passphrase does not open the private key.");
  }
}
