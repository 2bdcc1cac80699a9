import { createHash } from "node:crypto";
import { joinHashes, redactEntries } from "@satchel/journal";
import { type ErasureReceipt, encodeId } from "@satchel/pcp";
import { canonicalJson } from "@satchel/prp";
import { type Caller, isInPerson } from "../domain/access.js";
import type { ErasureCounts, ErasureState, ReplayNeeds } from "../domain/records.js";
import { invalidInput, type Refusal } from "../domain/refusal.js";
import { foldSubject } from "../domain/subject.js";
import type { WriteTransaction } from "../store/store.js";
import { loadAccess } from "./access.js";
import type { Described } from "./call-record.js";
import type { Context } from "./context.js";
import { type ErasureJob, endErasureJob, writeErasureJob } from "./erasure-job.js";
import {
  type ErasureItem,
  type ErasurePlan,
  type ErasureRequest,
  type ErasureSelector,
  planErasure,
} from "./erasure-plan.js";
import { scanResidue } from "./residual-scan.js";
import { toolResult } from "./tool-result.js";

export interface EraseInput extends ErasureRequest {
  dryRun: boolean;
}

export type Erased =
  | { dryRun: true; counts: ErasureCounts; items: ErasureItem[] }
  | { dryRun: false; receipt: ErasureReceipt; salt: string };

/** `erase_request` (pcp section 10): owners only. Refuses with invalid_input, forbidden; throws `locked` while another erasure runs. */
export async function erase(context: Context, caller: Caller, input: EraseInput): Promise<Erased | Refusal> {
  const { selector } = input;
  if (selector.kind === "subject" && foldSubject(selector.subject) === undefined) {
    return invalidInput(["/subject: holds no letter or digit to look for"]);
  }
  const access = await context.store.read((transaction) => loadAccess(transaction, caller));
  if (!access.isOwner) return { refused: "forbidden", message: "Only an owner can erase." };
  if (input.dryRun) {
    const { counts, items } = await planErasure(context, input);
    return { dryRun: true, counts, items };
  }
  if (!isInPerson(caller)) {
    const message = "A person has to confirm an erasure. Ask the owner to run it: satchel erase.";
    return { refused: "forbidden", code: "approval_required", message };
  }
  return eraseForReal(context, caller, input);
}

async function eraseForReal(context: Context, caller: Caller, request: ErasureRequest): Promise<Erased | Refusal> {
  const { environment, folder, staging } = context;
  const lock = context.store.lockErasure();
  if (!lock || !staging) return { refused: "locked", message: "Another erasure is under way. Try again in a minute." };
  try {
    const { selector, includeDerived } = request;
    const id = encodeId("era", environment.newUuid());
    const requestedAt = new Date(environment.now()).toISOString();
    const salt = environment.randomBytes(32).toString("base64");
    const job: ErasureJob = { id, requestedAt, salt, selector, includeDerived };
    writeErasureJob(folder, job);
    try {
      await staging.begin((transaction) => transaction.setErasure({ id, stage: "planned" }));
    } catch (error) {
      endErasureJob(folder); // Nothing has begun.
      throw error;
    }
    const finished = await runStages({ ...context, store: staging.store }, job);
    const erased = await context.store.write(
      async (transaction): Promise<Erased> => {
        const receipt = await finishErasure(context, transaction, { job, finished, requestedBy: caller.principal });
        return { dryRun: false, receipt, salt };
      },
      { isErasing: true },
    );
    endErasureJob(folder);
    return erased;
  } finally {
    lock.release();
  }
}

/** An erasure whose rows and files are clean. */
interface FinishedStages {
  state: Required<ErasureState>;
  residual: ErasureReceipt["residual"];
}

/**
 * From whatever stage the erasure is at: plans and deletes in one transaction, then cleans the files and looks into all
 * of them. Each stage can be done again.
 */
export async function runStages(context: Context, started: ErasureJob): Promise<FinishedStages> {
  const { store, folder } = context;
  const options = { isErasing: true };
  let job = started;
  let state = await store.read((transaction) => transaction.erasure(), options);
  if (state?.stage !== "deleted") {
    const plan = await planErasure(context, job, options);
    job = { ...job, erased: { texts: plan.texts, words: plan.words } };
    writeErasureJob(folder, job);
    state = await store.write((transaction) => deletePlanned(context, transaction, { job, plan }), options);
  }
  const isEmptied = await store.scrub();
  const { selector, erased = { texts: [], words: [] } } = job;
  const phrase = selector.kind === "subject" ? foldSubject(selector.subject) : undefined;
  const { filesScanned, traced } = await scanResidue({ store, folder, erased, phrase });
  const residual = {
    clean: isEmptied && traced.length === 0,
    files_scanned: filesScanned,
    remaining_mentions: state.remainingMentions ?? 0,
    ...(traced.length > 0 && { traced }),
  };
  return { state: state as Required<ErasureState>, residual };
}

async function deletePlanned(
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
  const at = new Date(context.environment.now()).toISOString();
  const redaction = { receipt: job.id, at, entries: plan.redaction.entries };
  if (redaction.entries.length > 0) await redactEntries(transaction.journal, redaction, context.environment);
  const after = await journalHead(transaction);
  const state: ErasureState = {
    id: job.id,
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

/** Writes the signed receipt to the journal and lets the context go. */
export async function finishErasure(
  context: Context,
  transaction: WriteTransaction,
  { job, finished, requestedBy }: { job: ErasureJob; finished: FinishedStages; requestedBy: string },
): Promise<ErasureReceipt> {
  const { environment, journal } = context;
  const { state, residual } = finished;
  const completedAt = await transaction.tick(environment.now());
  const facts = {
    id: job.id,
    requested_at: job.requestedAt,
    completed_at: completedAt,
    requested_by: requestedBy,
    selector: { kind: job.selector.kind, digest: selectorDigest(job.selector, job.salt) },
    counts: state.counts,
    residual,
    journal: state.journal,
  };
  const receipt = (journal?.sign(facts) ?? facts) as ErasureReceipt;
  await journal?.append(transaction, [{ at: completedAt, kind: "erasure", bodies: [receipt] }]);
  await transaction.setErasure(undefined, completedAt);
  return receipt;
}

/** What a requester checks with the salt: SHA-256 over the salt's bytes and the selector in canonical form, in hex. */
export function selectorDigest(selector: ErasureSelector, salt: string): string {
  return createHash("sha256").update(Buffer.from(salt, "base64")).update(canonicalJson(selector)).digest("hex");
}

/** Whoever asked for an erasure has to be able to ask for it today. */
export const erasureReplay: ReplayNeeds = { scopes: ["erase:write"], owner: true };

/** How a real erasure is recorded and answered, whether it is finished by its own process or by another. */
export function describeErasure(receipt: ErasureReceipt, salt?: string): Described {
  const decision = { kind: "decision", id: receipt.id } as const;
  return {
    audit: { category: "erase", action: "erase", targets: [receipt.id] },
    receipt: {
      boundary: "governed_action",
      references: [decision],
      targets: [{ ...decision, immutable: true }],
    },
    result: toolResult({ dry_run: false, receipt, ...(salt !== undefined && { salt }) }),
    needs: erasureReplay,
  };
}
