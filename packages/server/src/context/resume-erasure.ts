import { buildReconciled, type CallIdentity } from "@satchel/prp";
import type { ErasureState, StagedCall } from "../domain/records.js";
import type { Refusal } from "../domain/refusal.js";
import type { Store, WriteTransaction } from "../store/store.js";
import { auditEntry } from "./audit-entry.js";
import { auditRecord, type Ending, terminalOf } from "./call-record.js";
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

/** The terminal of a call whose outcome was learnt after a crash, with its audit entry. */
async function reconcile(
  context: Context,
  transaction: WriteTransaction,
  { staged, ending }: { staged: StagedCall; ending: Ending },
): Promise<void> {
  const identity = JSON.parse(staged.identity) as CallIdentity;
  const audit = auditRecord(context, { ...staged, caller: staged, identity }, ending);
  const receipt = buildReconciled(identity, terminalOf(ending, audit));
  const entries = await context.journal?.append(transaction, [
    auditEntry(audit),
    { at: audit.at, kind: "prp.reconciled", bodies: [receipt] },
  ]);
  const [audited, terminal] = entries ?? [];
  if (audited) await transaction.indexAudit(audited.seq, audit);
  await settleClaims(transaction, { staged, ending, terminal: terminal?.seq });
  await transaction.endStagedCall(staged.seq);
}

/** A success is answered again to its names. Of a refusal the call id is spent and the key, which is the last, is free. */
async function settleClaims(
  transaction: WriteTransaction,
  { staged, ending, terminal }: { staged: StagedCall; ending: Ending; terminal: number | undefined },
): Promise<void> {
  const { idempotencyKey } = JSON.parse(staged.identity) as CallIdentity;
  const { needs, result } = ending.described;
  const key = idempotencyKey === null ? undefined : staged.claims.at(-1);
  for (const id of staged.claims) {
    const claim = await transaction.claim(id);
    if (!claim || terminal === undefined) continue;
    if (needs)
      await transaction.putClaim({ ...claim, state: "settled", terminal, needs, result: JSON.stringify(result) });
    else if (id === key) await transaction.endClaim(id);
    else await transaction.putClaim({ ...claim, state: "spent", terminal });
  }
}
