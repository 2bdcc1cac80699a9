import type { StagedCall } from "../domain/records.js";
import type { Refusal } from "../domain/refusal.js";
import type { ReadTransaction, WriteTransaction } from "../store/store.js";
import type { Context } from "./context.js";
import { isExpired, removeExpiredExports, removeExportFiles } from "./export-folder.js";
import { reconcile } from "./reconcile.js";
import { errorResult } from "./tool-result.js";

/**
 * Settles exports and imports whose process ended before they did, and removes archives whose time is over. What an
 * import changes it changes in the transaction that settles it, so one that is left changed nothing; of an export nothing
 * is kept. Their calls get a `reconciled` terminal, because the outcome is known from the store.
 */
export async function resumeJobs(context: Context): Promise<void> {
  const { store, environment } = context;
  const nowMs = environment.now();
  const left = store.lockedJobs();
  const { staged, hasExpired } = await store.read(async (transaction) => ({
    staged: await transaction.stagedCalls(),
    hasExpired: (await transaction.exports()).some((one) => isExpired(one, nowMs)),
  }));
  for (const call of staged) await settleJob(context, call);
  // Of a process that ended before its call began, or after it was settled: only the lock is left.
  for (const job of left) store.lockJob(job)?.release();
  if (hasExpired) await removeExpiredExports(context);
}

const notDone: Refusal = {
  refused: "internal",
  message:
    "The process that did this ended before it was done. Nothing was changed; an archive is whole where it was to be, or not there.",
};

async function settleJob(context: Context, staged: StagedCall): Promise<void> {
  const { store, folder, journal } = context;
  const { job, operation, seq } = staged;
  const lock = job === undefined ? undefined : store.lockJob(job);
  if (!lock || job === undefined) return; // Its process lives; or it is an erasure, which has a lock of its own.
  try {
    const isExport = operation === "export_create";
    const isStaged = async (transaction: ReadTransaction) =>
      (await transaction.stagedCalls()).some((one) => one.seq === seq);
    if (!(await store.read(isStaged))) return; // It was done, and let go, since we looked.
    if (isExport) removeExportFiles(folder, job);
    await store.write(async (transaction) => {
      if (isExport && !(await isTakenOut(transaction, job))) await transaction.endExport(job);
      const facts = isExport ? exportFacts : importFacts;
      const described = { audit: { ...facts, targets: [] }, receipt: {}, result: errorResult(notDone) };
      await reconcile(context, transaction, { staged, ending: { described, outcome: notDone } });
    });
    await journal?.publish();
  } finally {
    lock.release();
  }
}

/** An archive that may lie where its owner wanted it: erasures have to know of it. */
async function isTakenOut(transaction: WriteTransaction, id: string): Promise<boolean> {
  return (await transaction.exports()).some((one) => one.id === id && one.made && one.file === undefined);
}

const exportFacts = { category: "export", action: "export" };
const importFacts = { category: "memory", action: "write" };
