import { type Identity as AgeIdentity, Decrypter, type Stanza } from "age-encryption";
import { ArchiveError, asDamage } from "./archive-error.js";
import { type ByteStream, sliceBytes } from "./byte-stream.js";
import { isPrivateKeyText, parseSshIdentity } from "./ssh-identity.js";

/** A secret that may open an archive. */
export interface Identity {
  readonly kind: "key" | "passphrase";
  readonly addTo: (decrypter: Decrypter) => void;
}

/**
 * The identities in an age identity file (comments and empty lines are passed over), or the one in a private SSH key.
 * @param passphrase of a private key in PEM that is encrypted
 * @throws ArchiveError `invalid_identity`, `locked_identity` or `unsupported_identity`; none repeats any of the text
 */
export function parseIdentities(text: string, passphrase?: string): Identity[] {
  if (isPrivateKeyText(text)) {
    const identity = parseSshIdentity(text, passphrase);
    return [{ kind: "key", addTo: (decrypter) => decrypter.addIdentity(identity) }];
  }
  if (/^\s*(age-encryption\.org\/|-----BEGIN AGE ENCRYPTED FILE-----)/.test(text))
    throw new ArchiveError(
      "unsupported_identity",
      "The identity file is itself encrypted: decrypt it with `age -d` first.",
    );
  const lines = text.split(/\r?\n/).flatMap((line, index) => parseLine(line.trim(), index + 1));
  if (lines.length === 0) throw new ArchiveError("invalid_identity", "The text holds no identity.");
  return lines;
}

function parseLine(line: string, number: number): Identity[] {
  if (line === "" || line.startsWith("#")) return [];
  try {
    new Decrypter().addIdentity(line);
  } catch {
    const message = `Line ${number} is no identity: one starts with AGE-SECRET-KEY-1 or AGE-SECRET-KEY-PQ-1.`;
    throw new ArchiveError("invalid_identity", message);
  }
  return [{ kind: "key", addTo: (decrypter) => decrypter.addIdentity(line) }];
}

export function passphraseIdentity(text: string): Identity {
  return { kind: "passphrase", addTo: (decrypter) => decrypter.addPassphrase(text) };
}

// Less than a chunk of age's, so that none is held back when the next one is damaged.
const pieceBytes = 16 * 1024;

/** Decrypts age's binary format. @throws ArchiveError `locked_archive` or `damaged` */
export async function* decrypt(source: ByteStream, identities: readonly Identity[]): AsyncGenerator<Uint8Array> {
  const decrypter = new Decrypter();
  let stanzas: Stanza[] | undefined;
  const last: AgeIdentity = {
    unwrapFileKey(all) {
      stanzas = all;
      return null;
    },
  };
  for (const { addTo } of identities) addTo(decrypter);
  decrypter.addIdentity(last);
  try {
    const pieces = ReadableStream.from(sliceBytes(source, { pieceBytes }));
    yield* (await decrypter.decrypt(pieces)) as AsyncIterable<Uint8Array>;
  } catch (error) {
    if (stanzas) throw new ArchiveError("locked_archive", describeLock(stanzas, identities));
    throw asDamage(error, "the encrypted bytes are damaged or end too early");
  }
}

function describeLock(stanzas: Stanza[], identities: readonly Identity[]): string {
  const types = new Set(stanzas.map(({ args }) => args[0] ?? ""));
  const isPassphrase = types.has("scrypt");
  if (isPassphrase && identities.some(({ kind }) => kind === "passphrase"))
    return "The archive is encrypted, and the passphrase does not open it.";
  const needed = [...new Set([...types].map((type) => keyNames.get(type) ?? "a key of another kind"))].join(", or ");
  const given = identities.length === 0 ? "It takes" : "None that was given fits: it takes";
  return `The archive is encrypted. ${given} ${needed}.`;
}

const keyNames = new Map([
  ["scrypt", "its passphrase"],
  ["X25519", "the age identity (AGE-SECRET-KEY-1…) it was encrypted to"],
  ["mlkem768x25519", "the age identity (AGE-SECRET-KEY-PQ-1…) it was encrypted to"],
  ["ssh-ed25519", "the private part of the ssh-ed25519 key it was encrypted to"],
  ["ssh-rsa", "the private part of the ssh-rsa key it was encrypted to"],
]);
