import type { Refusal } from "../domain/refusal.js";
import type { RefusedEntry } from "../foreign/foreign-format.js";
import { type Store, StoreError, type WriteTransaction } from "../store/store.js";
import type { Context, OnProgress } from "./context.js";

/*
 * What every import has in common (pcp section 9): all or nothing, one transaction, an operation in stages.
 */

export interface ImportOptions {
  dryRun: boolean;
  skipRefused: boolean;
  /** Everything becomes a proposal. */
  review?: boolean;
  /** Where pages go that name no partition; made when it does not exist. */
  partition?: string;
  onProgress?: OnProgress;
}

export interface ImportSummary {
  added: string[];
  changed: string[];
  same: number;
  /** Pages that wait for review. */
  proposed: string[];
  /** Namespaces of documents that were written. */
  profiles: string[];
  refused: RefusedEntry[];
  /** What was left out on purpose. */
  notes: string[];
  /** False: nothing was written, because of refused entries or a dry run. */
  applied: boolean;
}

export function emptySummary(refused: RefusedEntry[] = [], notes: string[] = []): ImportSummary {
  return {
    added: [],
    changed: [],
    same: 0,
    proposed: [],
    profiles: [],
    refused: [...refused],
    notes: [...notes],
    applied: false,
  };
}

/** Ends a transaction that must not be kept, without an error: of a dry run, or with something refused. */
export class Undo extends Error {}

export interface ImportStages<Parsed> {
  options: ImportOptions;
  /** What was found out before anything of the context is looked at. */
  summary: ImportSummary;
  /** Checks each entry; refused ones are put into the summary. */
  parse(): Promise<Parsed>;
  /** Writes what is not refused, and says so in the summary. */
  apply(transaction: WriteTransaction, parsed: Parsed): Promise<void>;
}

/** The lock of a job that begins. @throws StoreError `locked` when somebody took it for one that a crash left */
export function lockJob(store: Store, job: string): { release(): void } {
  const lock = store.lockJob(job);
  if (!lock) throw new StoreError("locked", "Another process looked after this context. Try again.");
  return lock;
}

/** Runs an import: its input is in the journal before it begins, and what it changes and its end are one transaction. */
export async function importInStages<Parsed>(
  context: Context,
  stages: ImportStages<Parsed>,
): Promise<ImportSummary | Refusal> {
  const { staging, environment, store } = context;
  if (stages.options.dryRun || !staging) return runImport(context, stages);
  const job = environment.newUuid();
  const lock = lockJob(staging.store, job);
  try {
    await staging.begin(async () => undefined, job);
    try {
      return await runImport(context, stages);
    } catch (error) {
      const refusal = staging.toRefusal(error);
      return await store.write(async () => refusal, { isErasing: true });
    }
  } finally {
    lock.release();
  }
}

async function runImport<Parsed>(
  { store }: Context,
  { options, summary, parse, apply }: ImportStages<Parsed>,
): Promise<ImportSummary> {
  const isRefused = () => summary.refused.length > 0 && !options.skipRefused;
  const parsed = await parse();
  if (isRefused()) return store.write(async () => summary);
  try {
    return await store.write(async (transaction) => {
      await apply(transaction, parsed);
      if (options.dryRun || isRefused()) throw new Undo();
      return { ...summary, applied: true };
    });
  } catch (error) {
    if (error instanceof Undo) return store.write(async () => summary);
    throw error;
  }
}
