import { extract as createExtract, pack as createPack, type Extract, type Header, type Pack } from "tar-stream";
import { ArchiveError, asDamage } from "./archive-error.js";
import type { ByteStream } from "./byte-stream.js";

export interface ArchiveFile {
  /** With "/" between folders. */
  path: string;
  bytes: Buffer;
  mtimeMs: number;
}

const mode = 0o600;
const blockBytes = 512;

/** The latest time that a plain header of tar-stream holds. */
const lastPlainTimeS = 2 ** 31 - 1;

/** The files as a tar (POSIX pax where a name asks for it), in their order. The same files make the same bytes. */
export async function* packTar(files: AsyncIterable<ArchiveFile>): AsyncGenerator<Uint8Array> {
  const pack = createPack();
  const feeding = feedPack(pack, files);
  feeding.catch((error) => pack.destroy(error));
  try {
    yield* pack as AsyncIterable<Uint8Array>;
    await feeding;
  } finally {
    pack.destroy();
    await feeding.catch(() => undefined); // So that `files` is closed before this ends.
  }
}

async function feedPack(pack: Pack, files: AsyncIterable<ArchiveFile>): Promise<void> {
  for await (const { path, bytes, mtimeMs } of files) {
    const timeS = Math.max(0, Math.floor(mtimeMs / 1000));
    const header = { name: path, mode, mtime: new Date(Math.min(timeS, lastPlainTimeS) * 1000), type: "file" as const };
    const isLate = timeS > lastPlainTimeS && { pax: { mtime: String(timeS) } };
    await new Promise<void>((resolve, reject) => {
      pack.entry({ ...header, ...isLate }, bytes, (error) => (error ? reject(error) : resolve()));
    });
  }
  pack.finalize();
}

/** Zero or a plain tar's first block. */
export function isTar(head: Buffer): boolean {
  return head.length >= blockBytes && head.toString("latin1", 257, 262) === "ustar";
}

export interface TarEntry {
  header: Header;
  /** Its content. What is not read is passed over. */
  content: ByteStream;
}

/**
 * Gives each entry to `take`, in the archive's order.
 * @throws ArchiveError `damaged` when the bytes do not make a whole tar, or as the source does; entries before are taken
 */
export async function readTar(source: ByteStream, take: (entry: TarEntry) => Promise<void>): Promise<void> {
  const extract = createExtract();
  let fault: unknown;
  const feeding = feedExtract(extract, source).catch((error) => {
    fault = error;
    extract.end(null); // What was read before it is still taken.
  });
  try {
    for await (const content of extract) {
      checkSize(content.header);
      await take({ header: content.header, content: content as ByteStream });
      content.resume();
    }
    await feeding;
  } catch (error) {
    extract.destroy();
    await feeding;
    throw fault ?? asDamage(error, "the tar is damaged");
  }
  if (fault !== undefined) throw fault;
}

/** tar-stream would wait for ever for the end of a folder with content, and of an entry whose size it could not read. */
function checkSize({ type, size }: Header): void {
  if (!Number.isSafeInteger(size)) throw new ArchiveError("damaged", "a size in the tar is no number");
  if (type === "directory" && size > 0) throw new ArchiveError("damaged", "a folder in the tar has content");
}

async function feedExtract(extract: Extract, source: ByteStream): Promise<void> {
  const tail = new TarTail();
  for await (const chunk of source) {
    if (extract.destroying) return;
    tail.take(chunk);
    if (!extract.write(chunk)) await waitForRoom(extract);
  }
  tail.check();
  extract.end(null);
}

function waitForRoom(extract: Extract): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      extract.off("drain", settle).off("close", settle);
      resolve();
    };
    extract.on("drain", settle).on("close", settle);
  });
}

/** A tar ends with two empty blocks; one that was cut between two files lacks them. */
class TarTail {
  private totalBytes = 0;
  private zeroBytes = 0;

  take(chunk: Uint8Array): void {
    this.totalBytes += chunk.length;
    let zeros = 0;
    while (zeros < chunk.length && chunk[chunk.length - 1 - zeros] === 0) zeros += 1;
    this.zeroBytes = zeros === chunk.length ? this.zeroBytes + zeros : zeros;
  }

  check(): void {
    if (this.totalBytes % blockBytes !== 0 || this.zeroBytes < 2 * blockBytes)
      throw new ArchiveError("damaged", "the tar ends too early");
  }
}
