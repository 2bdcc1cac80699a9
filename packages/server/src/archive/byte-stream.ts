/** Bytes in pieces, however they are cut. */
export type ByteStream = AsyncIterable<Uint8Array>;

/** At least the first `count` bytes, or all there are, and the whole stream again. */
export async function peekBytes(source: ByteStream, count: number): Promise<{ head: Buffer; bytes: ByteStream }> {
  const iterator = source[Symbol.asyncIterator]();
  const taken: Uint8Array[] = [];
  let length = 0;
  while (length < count) {
    const next = await iterator.next();
    if (next.done) break;
    taken.push(next.value);
    length += next.value.length;
  }
  const head = Buffer.concat(taken);
  return { head, bytes: resume(head, iterator) };
}

async function* resume(head: Buffer, iterator: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    if (head.length > 0) yield head;
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value;
  } finally {
    await iterator.return?.();
  }
}

/** The same bytes in pieces of at most `pieceBytes`, and from the offset `fineFrom` on one by one. */
export async function* sliceBytes(
  source: ByteStream,
  { pieceBytes, fineFrom = Number.POSITIVE_INFINITY }: { pieceBytes: number; fineFrom?: number },
): AsyncGenerator<Uint8Array> {
  let offset = 0;
  for await (const chunk of source) {
    for (let start = 0; start < chunk.length; ) {
      const length = offset >= fineFrom ? 1 : Math.min(pieceBytes, Math.max(1, fineFrom - offset));
      const piece = chunk.subarray(start, start + length);
      start += piece.length;
      offset += piece.length;
      yield piece;
    }
  }
}

/** Everything as one buffer; undefined when it is more than `limitBytes`. */
export async function collectBytes(source: ByteStream, limitBytes: number): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of source) {
    length += chunk.length;
    if (length > limitBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
