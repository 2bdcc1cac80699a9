import { joinHashes, redactEntries } from "@satchel/journal";
import type { ErasureReceipt } from "@satchel/pcp";
import type { ErasureState } from "../domain/records.js";
import { foldSubject } from "../domain/subject.js";
import { StoreError, type WriteTransaction } from "../store/store.js";
import type { Context } from "./context.js";
import { type ErasureJob, writeErasureJob } from "./erasure-job.js";
import { type ErasurePlan, planErasure } from "./erasure-plan.js";
import { selectorDigest } from "./erasure-receipt.js";
import { removeExportFiles } from "./export-folder.js";
import { scanResidue } from "./residual-scan.js";

/** How long an erasure waits for other programs to let the write-ahead log go. */
export const logWaitMs = 60_000;

export interface DeletedErasure {
  job: ErasureJob;
  state: ErasureState;
}

const options = { isErasing: true };

/** The erasure as the store holds it while nothing is deleted yet. */
export function plannedState({ id, requestedAt, selector, salt }: ErasureJob): ErasureState {
  const { kind } = selector;
  return { id, stage: "planned", requestedAt, selector: { kind, digest: selectorDigest(selector, salt) } };
}

/** Plans, and deletes everything in one transaction. When it throws, nothing is deleted. */
export async function deletePlanned(context: Context, started: ErasureJob): Promise<DeletedErasure> {
  const { store, folder } = context;
  const plan = await planErasure(context, started, options);
  const job = { ...started, erased: { texts: plan.texts, words: plan.words } };
  writeErasureJob(folder, job);
  const state = await store.write((transaction) => deleteRows(context, transaction, { job, plan }), options);
  return { job, state };
}

/** Ends an erasure that has deleted nothing: the context is free. @throws when it has */
export async function endPlanned(transaction: WriteTransaction): Promise<void> {
  if ((await transaction.erasure())?.stage !== "planned") throw new Error("The erasure is not in its first stage.");
  await transaction.setErasure(undefined);
}

/**
 * Cleans the files and looks into all of them; can be done again. A receipt is to say that nothing is left, so this does
 * not end while another program holds the write-ahead log back. @throws StoreError `locked`
 */
export async function cleanFiles(
  { store, folder }: Context,
  { job, state }: DeletedErasure,
  waitMs: number,
): Promise<ErasureReceipt["residual"]> {
  await scrubFiles(store, waitMs);
  const { selector, erased } = job;
  if (!erased) return unsearched(state);
  const phrase = selector.kind === "subject" ? foldSubject(selector.subject) : undefined;
  const { filesScanned, traced } = await scanResidue({ store, folder, erased, phrase });
  return {
    clean: traced.length === 0,
    files_scanned: filesScanned,
    remaining_mentions: state.remainingMentions ?? 0,
    ...(traced.length > 0 && { traced }),
  };
}

/** @throws StoreError `locked` */
export async function scrubFiles(store: Context["store"], waitMs: number): Promise<void> {
  if (await store.scrub({ waitMs })) return;
  throw new StoreError(
    "locked",
    "Another program holds this context's database open, so what was erased can't leave its files yet. The next call goes on with it; end that program if this stays so.",
  );
}

/** Of files that could not be searched: no longer known what for, or a fault of the search itself. */
export function unsearched({ remainingMentions = 0 }: ErasureState): ErasureReceipt["residual"] {
  return { clean: false, files_scanned: 0, remaining_mentions: remainingMentions, unsearched: true };
}

async function deleteRows(
  context: Context,
  transaction: WriteTransaction,
  { job, plan }: { job: ErasureJob; plan: ErasurePlan },
): Promise<ErasureState> {
  const before = await journalHead(transaction);
  for (const { num } of plan.pages) await transaction.erasePage(num);
  for (const id of plan.versions) await transaction.eraseVersion(id);
  for (const id of plan.revisions) await transaction.eraseRevision(id);
  for (const id of plan.answers) await transaction.eraseAnswer(id);
  for (const { namespace, changes } of plan.profiles) await transaction.rewriteProfile(namespace, changes);
  for (const id of plan.exports) {
    removeExportFiles(context.folder, id);
    await transaction.endExport(id);
  }
  for (const attachment of plan.attachments) await transaction.putAttachment(attachment);
  const at = new Date(context.environment.now()).toISOString();
  const redaction = { receipt: job.id, at, entries: plan.redaction.entries };
  if (redaction.entries.length > 0) await redactEntries(transaction.journal, redaction, context.environment);
  const after = await journalHead(transaction);
  const state: ErasureState = {
    ...plannedState(job),
    stage: "deleted",
    counts: plan.counts,
    remainingMentions: plan.remainingMentions,
    journal: { size_before: before.size, root_before: before.root, size_after: after.size, root_after: after.root },
  };
  await transaction.setErasure(state);
  return state;
}

async function journalHead({ journal }: WriteTransaction): Promise<{ size: number; root: string }> {
  const { size, frontier } = await journal.state();
  return { size, root: Buffer.from(joinHashes(frontier)).toString("base64") };
}
