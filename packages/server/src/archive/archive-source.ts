import { createReadStream } from "node:fs";
import { armor } from "age-encryption";
import { ArchiveError, asDamage } from "./archive-error.js";
import type { ArchiveLimits } from "./archive-limits.js";
import { type ByteStream, collectBytes, peekBytes } from "./byte-stream.js";
import { gunzip, hasPlainHead, isGzip } from "./gzip.js";
import { decrypt, type Identity } from "./identity.js";
import { isTar } from "./tar.js";

const readBytes = 64 * 1024;
const blockBytes = 512;
const ageHead = "age-encryption.org/v1\n";
const ageHeadEnd = "\n--- ";
const armorHead = "-----BEGIN AGE ENCRYPTED FILE-----";

export interface SourceOptions {
  identities: readonly Identity[];
  limits: ArchiveLimits;
  /** See `gunzip`. */
  fineFrom?: number;
  /** What is odd about the container, though it can be read. */
  onOddity(message: string): void;
}

/**
 * The tar inside an archive's file, whatever is around it: age, in its armor or not, then gzip, each or none. What it is
 * is told from the bytes. @throws ArchiveError `not_an_archive`, `locked_archive`, `over_limit`, `damaged`
 */
export async function* readArchiveFile(file: string, options: SourceOptions): AsyncGenerator<Uint8Array> {
  const stream = createReadStream(file, { highWaterMark: readBytes });
  try {
    yield* unpack(await unlock(stream, options), options);
  } finally {
    stream.destroy();
  }
}

async function unlock(source: ByteStream, { identities, limits }: SourceOptions): Promise<ByteStream> {
  const { head, bytes } = await peekBytes(source, limits.headBytes);
  if (head.subarray(0, ageHead.length).toString("latin1") === ageHead) {
    if (!head.includes(ageHeadEnd)) throw new ArchiveError("damaged", "the head of the encrypted file does not end");
    return decrypt(bytes, identities);
  }
  const start = head.subarray(0, 1024).toString("latin1").trimStart();
  return start.startsWith(armorHead) ? decrypt(dearmor(bytes, limits), identities) : bytes;
}

async function* dearmor(source: ByteStream, { armoredBytes }: ArchiveLimits): AsyncGenerator<Uint8Array> {
  const text = await collectBytes(source, armoredBytes);
  if (!text) {
    const message = `The armored file has more than ${armoredBytes} bytes. Decrypt it with \`age -d\` first.`;
    throw new ArchiveError("over_limit", message);
  }
  let bytes: Uint8Array;
  try {
    bytes = armor.decode(text.toString("latin1"));
  } catch (error) {
    throw asDamage(error, "the armor is damaged or ends too early");
  }
  yield bytes;
}

async function* unpack(source: ByteStream, options: SourceOptions): AsyncGenerator<Uint8Array> {
  const { head, bytes } = await peekBytes(source, blockBytes);
  if (isTar(head)) {
    yield* bytes;
    return;
  }
  if (!isGzip(head)) throw noArchive("neither gzip nor tar nor age");
  if (!hasPlainHead(head)) {
    options.onOddity("the head of the gzip file is not the one that archives have: it was packed anew, or changed");
  }
  const inner = await peekBytes(gunzip(bytes, options.fineFrom), blockBytes);
  if (!isTar(inner.head)) throw await judgeStranger(inner.bytes, options.limits);
  yield* inner.bytes;
}

const noArchive = (reason: string) => new ArchiveError("not_an_archive", `The file is no archive: ${reason}.`);

/** What is compressed is no tar: damage, when unpacking it to the end fails. @throws ArchiveError `damaged` */
async function judgeStranger(bytes: ByteStream, limits: ArchiveLimits): Promise<ArchiveError> {
  let length = 0;
  for await (const chunk of bytes) {
    length += chunk.length;
    if (length > limits.fileBytes) break;
  }
  return noArchive("what is compressed is no tar");
}
