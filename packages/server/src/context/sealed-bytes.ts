import { createCipheriv, createDecipheriv } from "node:crypto";

const ivBytes = 12;
const tagBytes = 16;

/** What sealing adds to a text. */
export const sealOverheadBytes = ivBytes + tagBytes;

/** What a text is sealed for: it opens only with the same key (32 bytes) and the same subject. */
export interface SealedFor {
  key: Buffer;
  subject: Buffer;
}

/** AES-256-GCM with the subject as authenticated data: iv, text, tag. `randomBytes` gives the iv. */
export function sealBytes(
  { key, subject }: SealedFor,
  text: Uint8Array | string,
  randomBytes: (count: number) => Buffer,
): Buffer {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(subject);
  const bytes = typeof text === "string" ? Buffer.from(text, "utf8") : text;
  return Buffer.concat([iv, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
}

/** Throws when the bytes were changed or sealed for something else. */
export function openBytes({ key, subject }: SealedFor, sealed: Buffer): Buffer {
  const iv = sealed.subarray(0, ivBytes);
  const decipher = createDecipheriv("aes-256-gcm", key, iv, { authTagLength: tagBytes });
  decipher.setAAD(subject).setAuthTag(sealed.subarray(-tagBytes));
  return Buffer.concat([decipher.update(sealed.subarray(ivBytes, -tagBytes)), decipher.final()]);
}
