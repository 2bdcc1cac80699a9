import { buildReconciled, type CallIdentity } from "@satchel/prp";
import type { StagedCall } from "../domain/records.js";
import type { WriteTransaction } from "../store/store.js";
import { auditEntry } from "./audit-entry.js";
import { auditRecord, type Described, terminalOf } from "./call-record.js";
import type { Context } from "./context.js";
import { describeErasure, finishErasure, runStages } from "./erasure.js";
import { type ErasureJob, endErasureJob, hasErasureJob, readErasureJob } from "./erasure-job.js";

/**
 * Finishes an erasure that a crash left in the middle: its call gets a `reconciled` terminal, because the outcome is
 * known from the store. @returns whether there was one to finish; false while the process that runs it lives
 */
export async function resumeErasure(context: Context): Promise<boolean> {
  const { store, folder } = context;
  const options = { isErasing: true };
  const isErasing = () => store.read(async (transaction) => (await transaction.erasure()) !== undefined, options);
  const isLeft = (await isErasing()) || hasErasureJob(folder);
  const lock = isLeft ? store.lockErasure() : undefined;
  if (!lock) return false;
  try {
    const job = readErasureJob(folder);
    const isUnfinished = await isErasing();
    if (job && isUnfinished) await finish(context, job);
    endErasureJob(folder); // Of one that had not begun, or was done but for this.
    return isUnfinished;
  } finally {
    lock.release();
  }
}

async function finish(context: Context, job: ErasureJob): Promise<void> {
  const finished = await runStages(context, job);
  await context.store.write(
    async (transaction) => {
      const staged = (await transaction.stagedCalls()).find(({ operation }) => operation === "erase_request");
      const requestedBy = staged?.principal ?? "user:owner";
      const receipt = await finishErasure(context, transaction, { job, finished, requestedBy });
      if (staged) await reconcile(context, transaction, { staged, described: describeErasure(receipt) });
    },
    { isErasing: true },
  );
  await context.journal?.publish();
}

/** The terminal of a call whose outcome was learnt after a crash, with its audit entry. */
async function reconcile(
  context: Context,
  transaction: WriteTransaction,
  { staged, described }: { staged: StagedCall; described: Described },
): Promise<void> {
  const identity = JSON.parse(staged.identity) as CallIdentity;
  const audit = auditRecord(context, { ...staged, caller: staged, identity }, { described, outcome: undefined });
  const receipt = buildReconciled(identity, terminalOf({ described, outcome: undefined }, audit));
  const entries = await context.journal?.append(transaction, [
    auditEntry(audit),
    { at: audit.at, kind: "prp.reconciled", bodies: [receipt] },
  ]);
  const [audited, terminal] = entries ?? [];
  if (audited) await transaction.indexAudit(audited.seq, audit);
  for (const id of staged.claims) {
    const claim = await transaction.claim(id);
    if (claim && terminal) {
      const result = JSON.stringify(described.result);
      const { needs = {} } = described;
      await transaction.putClaim({ ...claim, state: "settled", terminal: terminal.seq, needs, result });
    }
  }
  await transaction.endStagedCall(staged.seq);
}
