import { canonicalJson } from "./canonical-json.js";
import {
  commit,
  countSlots,
  ENTRY_KINDS,
  type Entry,
  type EntryKind,
  hashEntry,
  isTime,
  type StoredEntry,
  saltBytes,
} from "./entry.js";
import { JournalError } from "./errors.js";
import { GrowingTree, type Subtree, type TreeState } from "./merkle-tree.js";
import type { JournalStorage } from "./storage.js";

export interface NewEntry {
  /** RFC 3339, UTC, with milliseconds. Raised to the last entry's when the clock went back. */
  at: string;
  kind: EntryKind;
  /** JSON values: head and detail for `audit`, one for every other kind. */
  bodies: readonly unknown[];
}

export interface JournalTools {
  /** Fresh random bytes. */
  randomBytes(count: number): Uint8Array;
}

/**
 * Adds entries at the end of a log. Key and redaction entries have functions of their own.
 * @throws JournalError `not_started`, `bad_entry`
 */
export async function appendEntries(
  storage: JournalStorage,
  entries: readonly NewEntry[],
  tools: JournalTools,
): Promise<Entry[]> {
  for (const { kind } of entries) {
    if (kind === "key" || kind === "redaction") {
      throw new JournalError("bad_entry", `A ${kind} entry is not appended as it is.`);
    }
  }
  const state = await storage.state();
  if (state.size === 0) throw new JournalError("not_started", "The log has no key yet.");
  return writeEntries(storage, entries, { ...tools, state });
}

/** `appendEntries` for every kind, for the functions of this package that know what they write. */
export async function writeEntries(
  storage: JournalStorage,
  entries: readonly NewEntry[],
  { state, ...tools }: JournalTools & { state?: TreeState },
): Promise<Entry[]> {
  entries.forEach(checkEntry);
  const subtrees: Subtree[] = [];
  const tree = new GrowingTree(state ?? (await storage.state()), (subtree) => subtrees.push(subtree));
  let lastTime = (await storage.lastTime()) ?? "";
  const takeSalt = drawSalts(entries, tools);
  const written = entries.map(({ at, kind, bodies }): StoredEntry => {
    // Of one length and form, so the order of their texts is the order of the times.
    if (at > lastTime) lastTime = at;
    const openings = bodies.map((body) => ({ salt: takeSalt(), body: canonicalJson(body) }));
    const entry = { seq: tree.size, at: lastTime, kind, commitments: openings.map(commit) };
    const leaf = hashEntry(entry);
    tree.add(leaf);
    return { ...entry, leaf, openings };
  });
  if (written.length > 0) await storage.append({ entries: written, state: tree.state(), subtrees });
  return written.map(({ seq, at, kind, commitments }) => ({ seq, at, kind, commitments }));
}

function checkEntry({ at, kind, bodies }: NewEntry): void {
  if (ENTRY_KINDS.includes(kind) && bodies.length === countSlots(kind) && isTime(at)) return;
  throw new JournalError("bad_entry", `An entry of kind ${kind} has a wrong time or number of bodies.`);
}

/** All the randomness of a call at once: asking for it costs more than having it. */
function drawSalts(entries: readonly NewEntry[], tools: JournalTools): () => Uint8Array {
  const count = entries.reduce((sum, { bodies }) => sum + bodies.length, 0);
  const bytes = tools.randomBytes(count * saltBytes);
  let used = 0;
  return () => {
    used += saltBytes;
    return bytes.subarray(used - saltBytes, used);
  };
}
