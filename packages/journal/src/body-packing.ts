import { isUtf8 } from "node:buffer";
import { crc32, deflateRawSync, inflateRawSync } from "node:zlib";
import { bodyDictionary } from "./body-dictionary.js";
import { type Opening, saltBytes } from "./entry.js";

/*
 * An opening as bytes: salt (32), form (1), content, CRC-32 of all that (4, big-endian). The checksum covers what the
 * commitment does not: one text has many compressed forms, and the last byte of one has unused bits.
 */

/** How the content holds the body. A form, once stored, keeps its number and its meaning. */
const forms = { text: 0, deflated: 1 } as const;

const headBytes = saltBytes + 1;
const checksumBytes = 4;
// A window that holds the dictionary and a usual body; what zlib allocates for a larger one costs more than its work.
const windowBits = 13;
const deflateOptions = { dictionary: bodyDictionary, windowBits, memLevel: 5, chunkSize: 1024 };
/** Shorter texts, such as those of the audit, cost more time than they save space. */
const worthBytes = 400;
const inflateOptions = { dictionary: bodyDictionary, windowBits, chunkSize: 1024, info: true };

export function packOpening({ salt, body }: Opening): Uint8Array {
  const text = Buffer.from(body);
  const deflated = text.length < worthBytes ? text : deflateRawSync(text, deflateOptions);
  const isShorter = deflated.length < text.length;
  const content = isShorter ? deflated : text;
  const packed = Buffer.allocUnsafe(headBytes + content.length + checksumBytes);
  packed.set(salt);
  packed[saltBytes] = isShorter ? forms.deflated : forms.text;
  packed.set(content, headBytes);
  packed.writeUInt32BE(crc32(packed.subarray(0, -checksumBytes)), packed.length - checksumBytes);
  return packed;
}

/** @returns undefined for anything that `packOpening` does not give */
export function unpackOpening(packed: Buffer): Opening | undefined {
  const end = packed.length - checksumBytes;
  if (end < headBytes || packed.readUInt32BE(end) !== crc32(packed.subarray(0, end))) return undefined;
  const content = packed.subarray(headBytes, end);
  const text = unpackContent(content, packed[saltBytes]);
  if (!text || !isUtf8(text)) return undefined;
  return { salt: packed.subarray(0, saltBytes), body: text.toString() };
}

function unpackContent(content: Buffer, form: number | undefined): Buffer | undefined {
  if (form === forms.text) return content;
  return form === forms.deflated ? inflateWhole(content) : undefined;
}

/** The text, when the content ends where the compressed data does. */
function inflateWhole(content: Buffer): Buffer | undefined {
  try {
    // With `info` the answer has this shape, which the types of zlib do not know.
    const result = inflateRawSync(content, inflateOptions) as unknown as {
      buffer: Buffer;
      engine: { bytesWritten: number };
    };
    return result.engine.bytesWritten === content.length ? result.buffer : undefined;
  } catch {
    return undefined;
  }
}
