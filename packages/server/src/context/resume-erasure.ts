import type { ErasureState, StagedCall } from "../domain/records.js";
import type { Refusal } from "../domain/refusal.js";
import type { Store, WriteTransaction } from "../store/store.js";
import type { Context } from "./context.js";
import { type ErasureJob, endErasureJob, hasErasureJob, readErasureJob } from "./erasure-job.js";
import { describeErasure, finishErasure } from "./erasure-receipt.js";
import {
  cleanFiles,
  type DeletedErasure,
  deletePlanned,
  endPlanned,
  scrubFiles,
  unsearched,
} from "./erasure-stages.js";
import { isLocked } from "./faults.js";
import { reconcile } from "./reconcile.js";
import { errorResult } from "./tool-result.js";

const options = { isErasing: true };

/**
 * Settles an erasure that a crash left in the middle. @returns whether there was one; false while the process that runs
 * it lives. @throws StoreError `locked` while another program holds the write-ahead log for longer than `waitMs`
 */
export async function resumeErasure(context: Context, { waitMs }: { waitMs: number }): Promise<boolean> {
  const { store, folder } = context;
  const isLeft = (await readState(store)) !== undefined || hasErasureJob(folder);
  const lock = isLeft ? store.lockErasure() : undefined;
  if (!lock) return false;
  try {
    return await settleErasure(context, waitMs);
  } finally {
    lock.release();
  }
}

/**
 * The same for whoever holds the lock. What has deleted nothing and can't go on is taken back. What has deleted is always
 * ended, so that no fault can keep a context locked: when the files can't be searched, the receipt says so. The call of
 * either gets a `reconciled` terminal, because the outcome is known from the store.
 */
export async function settleErasure(context: Context, waitMs: number): Promise<boolean> {
  const { store, folder } = context;
  const state = await readState(store);
  const found = readErasureJob(folder);
  const job = found?.id === state?.id ? found : undefined; // A restored database may stand beside another one's job.
  const deleted = state?.stage === "planned" ? await goOn(context, job) : state && { state, job };
  if (deleted) await finish(context, deleted, waitMs);
  endErasureJob(folder); // Also of one that had not begun, or was done but for this.
  return state !== undefined;
}

function readState(store: Store): Promise<ErasureState | undefined> {
  return store.read((transaction) => transaction.erasure(), options);
}

/** @returns undefined when it was taken back */
async function goOn(context: Context, job: ErasureJob | undefined): Promise<DeletedErasure | undefined> {
  try {
    if (job) return await deletePlanned(context, job);
  } catch (error) {
    if (isLocked(error)) throw error;
    warn("planned, and nothing was changed", error);
  }
  await takeBack(context);
  return undefined;
}

/** To standard error: it is no call's fault that could be answered to it. */
function warn(what: string, error: unknown): void {
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.emitWarning(`An erasure that was cut off could not be ${what}.`, { type: "SatchelWarning", detail });
}

const notDone: Refusal = {
  refused: "internal",
  message: "The erasure could not be planned. Nothing was changed.",
};

async function takeBack(context: Context): Promise<void> {
  await context.store.write(async (transaction) => {
    await endPlanned(transaction);
    const described = {
      audit: { category: "erase", action: "erase", targets: [] },
      receipt: {},
      result: errorResult(notDone),
    };
    const staged = await stagedErasure(transaction);
    if (staged) await reconcile(context, transaction, { staged, ending: { described, outcome: notDone } });
  }, options);
  await context.journal?.publish();
}

async function finish(
  context: Context,
  { state, job }: { state: ErasureState; job: ErasureJob | undefined },
  waitMs: number,
): Promise<void> {
  const residual = await cleanKnown(context, { state, job }, waitMs).catch((error: unknown) => {
    if (isLocked(error)) throw error;
    warn("proved clean", error);
    return unsearched(state);
  });
  await context.store.write(async (transaction) => {
    const staged = await stagedErasure(transaction);
    const requestedBy = staged?.principal ?? "user:owner";
    const receipt = await finishErasure(context, transaction, { state, residual, requestedBy });
    const ending = { described: describeErasure(receipt), outcome: undefined };
    if (staged) await reconcile(context, transaction, { staged, ending });
  }, options);
  await context.journal?.publish();
}

async function cleanKnown(
  context: Context,
  { state, job }: { state: ErasureState; job: ErasureJob | undefined },
  waitMs: number,
) {
  if (job) return cleanFiles(context, { state, job }, waitMs);
  await scrubFiles(context.store, waitMs);
  return unsearched(state);
}

async function stagedErasure(transaction: WriteTransaction): Promise<StagedCall | undefined> {
  return (await transaction.stagedCalls()).find(({ operation }) => operation === "erase_request");
}
