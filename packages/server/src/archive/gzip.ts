import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { ArchiveError } from "./archive-error.js";
import { type ByteStream, sliceBytes } from "./byte-stream.js";

/**
 * The first ten bytes of every archive that is written, and of what `gzip -n` writes: no time, no name, the same system.
 * So the same files make the same archive everywhere, and none of these bytes can change unseen.
 */
const plainHead = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);

// At the highest ratio of deflate a piece becomes about 16 MiB, and no more is held at once.
const pieceBytes = 16 * 1024;
const outputBytes = 64 * 1024;

export function isGzip(head: Buffer): boolean {
  return head.subarray(0, 2).equals(plainHead.subarray(0, 2));
}

export function hasPlainHead(head: Buffer): boolean {
  return head.subarray(0, plainHead.length).equals(plainHead);
}

export async function* gzip(source: ByteStream): AsyncGenerator<Buffer> {
  const engine = createGzip({ chunkSize: outputBytes });
  const feeding = pipeline(source, engine);
  feeding.catch(() => undefined); // What fails it is thrown where the output is read.
  let isFirst = true;
  for await (const chunk of engine as AsyncIterable<Buffer>) {
    if (isFirst) chunk.set(plainHead);
    isFirst = false;
    yield chunk;
  }
  await feeding;
}

/** Compressed bytes that can't be unpacked. Everything in front of `soundBytes` could be. */
export class InflateFault extends ArchiveError {
  constructor(
    readonly soundBytes: number,
    cause: unknown,
  ) {
    super("damaged", "the compressed bytes are damaged", { cause });
  }
}

/**
 * Unpacks. What comes before a damaged place is yielded before the error is thrown, but for the last `outputBytes` of it;
 * with `fineFrom` set to the `soundBytes` of that error these come too, slowly.
 * @throws ArchiveError `damaged`
 */
export async function* gunzip(source: ByteStream, fineFrom?: number): AsyncGenerator<Buffer> {
  const inflater = new Inflater();
  for await (const piece of sliceBytes(source, { pieceBytes, fineFrom })) yield* await inflater.take(piece);
  yield* await inflater.finish();
}

/** The engine in flowing mode: as a stream it would drop what it had unpacked before an error. */
class Inflater {
  private readonly engine = createGunzip({ chunkSize: outputBytes });
  private output: Buffer[] = [];
  private takenBytes = 0;
  private failure: unknown;
  private hasEnded = false;
  private settle: () => void = () => undefined;

  constructor() {
    this.engine.on("data", (chunk: Buffer) => this.output.push(chunk));
    this.engine.on("end", () => {
      this.hasEnded = true;
      this.settle();
    });
    this.engine.on("error", (error) => {
      this.failure = error;
      this.settle();
    });
  }

  async *take(piece: Uint8Array): AsyncGenerator<Buffer> {
    const soundBytes = this.takenBytes;
    this.takenBytes += piece.length;
    if (!this.hasEnded) await this.run((done) => this.engine.write(piece, done));
    yield* this.drain();
    if (this.failure !== undefined) throw new InflateFault(soundBytes, this.failure);
    if (this.hasEnded) this.checkEnd();
  }

  async *finish(): AsyncGenerator<Buffer> {
    if (!this.hasEnded) await this.run(() => this.engine.end());
    yield* this.drain();
    if (this.failure !== undefined)
      throw new ArchiveError("damaged", "the compressed bytes end too early", { cause: this.failure });
    this.checkEnd();
  }

  private checkEnd(): void {
    if (this.engine.bytesWritten < this.takenBytes)
      throw new ArchiveError("damaged", "something follows the end of the compressed bytes");
  }

  private run(start: (done: () => void) => unknown): Promise<void> {
    return new Promise((resolve) => {
      this.settle = resolve;
      start(resolve);
    });
  }

  private drain(): Buffer[] {
    const { output } = this;
    this.output = [];
    return output;
  }
}
