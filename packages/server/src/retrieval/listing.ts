/**
 * Where a search goes on. The first answer ranks the best matches and fixes their order; after them come all other
 * matches by page number, newest first. Both are independent of what is written meanwhile, so a listing neither repeats
 * nor skips, whichever process continues it.
 */
export interface Listing {
  /** Ranked pages not yet shown, best first. */
  ahead: number[];
  /** Ranked pages that were shown. */
  shown: number[];
  /** Of the matches that were not ranked, those below this number are left; absent before the first of them. */
  below?: number;
  /** The query's terms that were searched as beginnings of words, by their place in the plan. */
  beginnings: number[];
  /** The terms that a match needs one of, likewise. */
  distinguishing: number[];
}

/** A few bytes a page: a cursor has to fit in 512 characters. */
export function encodeListing(listing: Listing): Buffer {
  const bytes: number[] = [];
  const { below } = listing;
  putSorted(bytes, listing.beginnings);
  putSorted(bytes, listing.distinguishing);
  putSorted(bytes, listing.shown);
  putNumber(bytes, below === undefined ? 0 : 1);
  if (below !== undefined) putNumber(bytes, fold(below));
  putNumber(bytes, listing.ahead.length);
  for (const num of listing.ahead) putNumber(bytes, fold(num));
  return Buffer.from(bytes);
}

export function decodeListing(bytes: Uint8Array): Listing {
  const reader = { bytes, at: 0 };
  const beginnings = takeSorted(reader);
  const distinguishing = takeSorted(reader);
  const shown = takeSorted(reader);
  const below = takeNumber(reader) === 1 ? unfold(takeNumber(reader)) : undefined;
  const ahead = Array.from({ length: takeNumber(reader) }, () => unfold(takeNumber(reader)));
  return { ahead, shown, beginnings, distinguishing, ...(below !== undefined && { below }) };
}

interface Reader {
  bytes: Uint8Array;
  at: number;
}

/** Seven bits a byte, the lowest first. */
function putNumber(bytes: number[], value: number): void {
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) bytes.push((rest & 0x7f) | 0x80);
  bytes.push(rest);
}

function takeNumber(reader: Reader): number {
  let value = 0;
  for (let scale = 1; ; scale *= 0x80) {
    const byte = reader.bytes[reader.at++] ?? 0;
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return value;
  }
}

/** Small numbers of either sign as small numbers. */
function fold(num: number): number {
  return num < 0 ? -2 * num - 1 : 2 * num;
}

function unfold(value: number): number {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

/** The order is lost; gaps take less room than numbers. */
function putSorted(bytes: number[], nums: number[]): void {
  const sorted = [...nums].sort((a, b) => a - b);
  putNumber(bytes, sorted.length);
  let last = 0;
  for (const [index, num] of sorted.entries()) {
    putNumber(bytes, index === 0 ? fold(num) : num - last);
    last = num;
  }
}

function takeSorted(reader: Reader): number[] {
  const nums: number[] = [];
  const count = takeNumber(reader);
  for (let index = 0; index < count; index++) {
    const value = takeNumber(reader);
    nums.push(index === 0 ? unfold(value) : (nums[index - 1] ?? 0) + value);
  }
  return nums;
}
