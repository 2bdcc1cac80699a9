import { JournalError } from "./errors.js";
import {
  hashComplete,
  joinHashes,
  type LeafRange,
  listConsistencyRanges,
  listInclusionRanges,
  splitRange,
  storedLevels,
} from "./merkle-tree.js";
import type { JournalReader } from "./storage.js";

/** The inclusion path of an entry in the tree of the first `size` entries, from the leaf up. */
export function proveInclusion(storage: JournalReader, { seq, size }: { seq: number; size: number }) {
  return hashRanges(storage, listInclusionRanges(seq, size));
}

/**
 * The path that shows that the tree of `to` entries continues the tree of `from` entries (RFC 9162 section 2.1.4).
 * Any size up to the log's; it needs no checkpoint. @throws JournalError `no_such_entry`
 */
export async function proveConsistency(
  storage: JournalReader,
  { from, to }: { from: number; to: number },
): Promise<Uint8Array[]> {
  const { size } = await storage.state();
  if (!(from >= 0 && from <= to && to <= size)) {
    throw new JournalError("no_such_entry", `There are no trees of ${from} and ${to} entries in a log of ${size}.`);
  }
  return hashRanges(storage, listConsistencyRanges(from, to));
}

async function hashRanges(storage: JournalReader, ranges: readonly LeafRange[]): Promise<Uint8Array[]> {
  const hashes: Uint8Array[] = [];
  for (const range of ranges) {
    const parts: Uint8Array[] = [];
    for (const part of splitRange(range)) parts.push(await hashSubtree(storage, part));
    hashes.push(joinHashes(parts));
  }
  return hashes;
}

/** Reads at most 2^(storedLevels - 1) hashes: those of the next stored level below. */
async function hashSubtree(
  storage: JournalReader,
  { level, position }: { level: number; position: number },
): Promise<Uint8Array> {
  const stored = level - (level % storedLevels);
  const count = 2 ** (level - stored);
  const hashes = await storage.subtrees({ level: stored, from: position * count, limit: count });
  if (hashes.length !== count) throw new JournalError("damaged", `Hashes of the tree at level ${stored} are missing.`);
  return hashComplete(hashes);
}
