import { countSlots, type Entry, isErasable, isSeq, readBody, type StoredEntry } from "./entry.js";
import { JournalError } from "./errors.js";
import { type JournalTools, writeEntries } from "./log.js";
import type { JournalStorage, Slot } from "./storage.js";

/**
 * `count` entries from `seq` on that lost the same bodies. `mask` has bit 0 for the first or only body, bit 1 for the
 * detail of an audit entry.
 */
export type RedactedRun = [seq: number, count: number, mask: number];

/** The body of a redaction entry: exactly what lost its body here. */
export interface RedactionBody {
  /** The id of the erasure that asked for it. */
  receipt: string;
  /** In order of seq, without overlap. */
  entries: RedactedRun[];
}

export interface RedactionRequest {
  receipt: string;
  at: string;
  /** `slots`: 0 for the first or only body, 1 for the detail of an audit entry. */
  entries: readonly { seq: number; slots: readonly number[] }[];
}

/**
 * Deletes bodies with their salts and appends the entry that names them. Bodies that are gone already are not named
 * again. @throws JournalError `no_such_entry`, `bad_entry` for a kind that is never erased or a slot that is not there
 */
export async function redactEntries(
  storage: JournalStorage,
  { receipt, at, entries }: RedactionRequest,
  tools: JournalTools,
): Promise<Entry> {
  const slots: Slot[] = [];
  for (const [seq, wanted] of mergeSlots(entries)) {
    const [entry] = await storage.entries({ from: seq, limit: 1 });
    slots.push(...listErasable(entry, seq, wanted));
  }
  await storage.eraseOpenings(slots);
  const body: RedactionBody = { receipt, entries: buildRuns(slots) };
  const [entry] = await writeEntries(storage, [{ at, kind: "redaction", bodies: [body] }], tools);
  return entry!;
}

function mergeSlots(entries: RedactionRequest["entries"]): [number, Set<number>][] {
  const merged = new Map<number, Set<number>>();
  for (const { seq, slots } of entries) merged.set(seq, new Set([...(merged.get(seq) ?? []), ...slots]));
  return [...merged].sort(([left], [right]) => left - right);
}

function listErasable(entry: StoredEntry | undefined, seq: number, wanted: Set<number>): Slot[] {
  if (entry?.seq !== seq) throw new JournalError("no_such_entry", `There is no entry ${seq}.`, { seq });
  const isPossible = [...wanted].every((slot) => Number.isInteger(slot) && slot >= 0 && slot < countSlots(entry.kind));
  if (!isErasable(entry.kind) || !isPossible) {
    throw new JournalError("bad_entry", `Entry ${seq} of kind ${entry.kind} has no such body to erase.`, { seq });
  }
  return [...wanted].filter((slot) => entry.openings[slot]).map((slot) => ({ seq, slot }));
}

function buildRuns(slots: readonly Slot[]): RedactedRun[] {
  const masks = new Map<number, number>();
  for (const { seq, slot } of slots) masks.set(seq, (masks.get(seq) ?? 0) | (1 << slot));
  const runs: RedactedRun[] = [];
  for (const [seq, mask] of masks) {
    const last = runs.at(-1);
    if (last && last[0] + last[1] === seq && last[2] === mask) last[1] += 1;
    else runs.push([seq, 1, mask]);
  }
  return runs;
}

/** @throws JournalError `damaged` for a body that names nothing before the entry in the one form it has */
export function parseRedaction(entry: StoredEntry): RedactionBody {
  const body = readBody(entry) as RedactionBody | null;
  let next = 0;
  const isRun = (run: unknown): boolean => {
    if (!Array.isArray(run) || run.length !== 3 || !run.every(isSeq)) return false;
    const [seq, count, mask] = run as RedactedRun;
    if (seq < next || count < 1 || seq + count > entry.seq || mask < 1 || mask > 3) return false;
    next = seq + count;
    return true;
  };
  const isBody = typeof body?.receipt === "string" && Array.isArray(body.entries) && body.entries.every(isRun);
  if (!isBody) throw new JournalError("damaged", `Entry ${entry.seq} is no redaction.`, { seq: entry.seq });
  return body;
}
