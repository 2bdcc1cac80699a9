import { isPartitionName } from "@satchel/pcp";
import {
  type CompareInput,
  comparePages,
  readSyncTexts,
  type SyncComparison,
  type SyncText,
} from "../context/sync-compare.js";
import { type SyncOutcome, type SyncWriteInput, writeSyncChanges } from "../context/sync-write.js";
import type { Sensitivity } from "../domain/records.js";
import { invalidInput, type Refusal } from "../domain/refusal.js";
import type { Operation } from "./dispatch.js";
import { inPerson, localResult, ownersOnly } from "./in-person.js";
import { memoryAudit } from "./tool.js";

/*
 * What a folder that is synced asks for. Owners in person: it reaches every page. The folder's own facts come from the
 * terminal itself, so only what the person typed is checked.
 */

function verifyPartition(partition: string | undefined): Refusal | undefined {
  if (partition === undefined || isPartitionName(partition)) return undefined;
  return invalidInput([`partition: "${partition}" is no partition name (a-z, 0-9, - and _)`]);
}

/** What changed in the context since the folder was last equal with it. */
export function syncCompareOperation(input: CompareInput): Operation<CompareInput, SyncComparison> {
  return {
    name: "sync_compare",
    permit: inPerson,
    parse: () => verifyPartition(input.scope.partition) ?? input,
    run: async (context, caller) => (await ownersOnly(context, caller)) ?? comparePages(context, caller, input),
    // No digest is left of a path that the audit does not name: an erasure would not find it.
    toResult: ({ gone, outside, ...named }) => localResult({ ...named, gone: gone.length, outside: outside.length }),
    refused: { category: "memory", action: "read" },
    audit: ({ changed }) => memoryAudit("read", changed),
  };
}

/** The texts that are to be written into the folder. */
export function syncReadOperation(
  pages: { path: string; version: string }[],
): Operation<Record<string, unknown>, SyncText[]> {
  return {
    name: "sync_read",
    permit: inPerson,
    parse: (args) => args,
    run: async (context, caller) => (await ownersOnly(context, caller)) ?? readSyncTexts(context, caller, { pages }),
    toResult: localResult,
    refused: { category: "memory", action: "read" },
    audit: (texts) => memoryAudit("read", texts),
  };
}

/** What was changed in the folder. */
export function syncWriteOperation(input: SyncWriteInput): Operation<SyncWriteInput, SyncOutcome[]> {
  return {
    name: "sync_write",
    permit: inPerson,
    parse: () => verifyPartition(input.partition) ?? input,
    run: async (context, caller) => (await ownersOnly(context, caller)) ?? writeSyncChanges(context, caller, input),
    toResult: (outcomes) => {
      const written = writtenIn(input, outcomes);
      return localResult({ written, others: outcomes.length - written.length });
    },
    refused: { category: "memory", action: "write" },
    audit: (outcomes) => memoryAudit("write", writtenIn(input, outcomes).flatMap(pagesOf)),
  };
}

const writing: ReadonlySet<SyncOutcome["outcome"]> = new Set(["added", "changed", "merged", "removed"]);

function writtenIn({ dryRun }: SyncWriteInput, outcomes: SyncOutcome[]): SyncOutcome[] {
  return dryRun ? [] : outcomes.filter(({ outcome }) => writing.has(outcome));
}

/** Of a rename both names. */
function pagesOf(outcome: SyncOutcome): { path: string; sensitivity?: Sensitivity }[] {
  const from = "from" in outcome && outcome.from !== undefined ? [{ path: outcome.from }] : [];
  return [...from, outcome];
}
