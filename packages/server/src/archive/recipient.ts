import { Encrypter } from "age-encryption";
import { ArchiveError } from "./archive-error.js";
import type { ByteStream } from "./byte-stream.js";
import { parseSshRecipient } from "./ssh-recipient.js";

/** Whom an archive is encrypted to. */
export interface Recipient {
  readonly kind: "classic" | "post-quantum" | "passphrase";
  readonly addTo: (encrypter: Encrypter) => void;
}

/**
 * An age recipient (`age1…`, `age1pq1…`, `age1tag1…`, `age1tagpq1…`) or a line of an SSH public key (`ssh-ed25519 …`,
 * `ssh-rsa …`). @throws ArchiveError `invalid_recipient`, which does not repeat the text: it may be a private key
 */
export function parseRecipient(text: string): Recipient {
  const trimmed = text.trim();
  if (/^AGE-SECRET-KEY-|PRIVATE KEY-----/i.test(trimmed))
    throw new ArchiveError("invalid_recipient", "That is a private key. A recipient is its public part.");
  if (/^(ssh|ecdsa|sk)-/.test(trimmed)) {
    const recipient = parseSshRecipient(trimmed);
    return { kind: "classic", addTo: (encrypter) => encrypter.addRecipient(recipient) };
  }
  checkAgeRecipient(trimmed);
  const kind = /^age1(tag)?pq1/.test(trimmed) ? "post-quantum" : "classic";
  return { kind, addTo: (encrypter) => encrypter.addRecipient(trimmed) };
}

function checkAgeRecipient(text: string): void {
  try {
    new Encrypter().addRecipient(text);
  } catch (cause) {
    const message = "That is no recipient: one starts with age1, ssh-ed25519 or ssh-rsa, and has no mistake in it.";
    throw new ArchiveError("invalid_recipient", message, { cause });
  }
}

/** Whoever knows the passphrase. It stands alone: age lets no other recipient beside it. */
export function passphraseRecipient(text: string): Recipient {
  if (text === "") throw new ArchiveError("invalid_recipient", "The passphrase is empty.");
  return { kind: "passphrase", addTo: (encrypter) => encrypter.setPassphrase(text) };
}

/** @throws ArchiveError `mixed_recipients` */
export function checkRecipients(recipients: readonly Recipient[]): void {
  const kinds = new Set(recipients.map(({ kind }) => kind));
  if (kinds.has("passphrase") && recipients.length > 1)
    throw new ArchiveError("mixed_recipients", "A passphrase can't be combined with other recipients or passphrases.");
  if (kinds.size > 1)
    throw new ArchiveError("mixed_recipients", "Post-quantum recipients protect nothing beside ones that are not.");
}

/** Encrypts to all of them, in age's format. */
export async function* encrypt(source: ByteStream, recipients: readonly Recipient[]): AsyncGenerator<Uint8Array> {
  const encrypter = new Encrypter();
  for (const { addTo } of recipients) addTo(encrypter);
  yield* (await encrypter.encrypt(ReadableStream.from(source))) as AsyncIterable<Uint8Array>;
}
