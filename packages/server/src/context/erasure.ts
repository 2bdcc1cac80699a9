import { type ErasureReceipt, encodeId } from "@satchel/pcp";
import { type Caller, isInPerson } from "../domain/access.js";
import type { ErasureCounts } from "../domain/records.js";
import { invalidInput, type Refusal } from "../domain/refusal.js";
import { foldSubject } from "../domain/subject.js";
import { loadAccess } from "./access.js";
import type { Context, Staging } from "./context.js";
import { type ErasureJob, endErasureJob, writeErasureJob } from "./erasure-job.js";
import { type ErasureItem, type ErasureRequest, planErasure } from "./erasure-plan.js";
import { finishErasure } from "./erasure-receipt.js";
import {
  cleanFiles,
  type DeletedErasure,
  deletePlanned,
  endPlanned,
  logWaitMs,
  plannedState,
} from "./erasure-stages.js";
import { settleErasure } from "./resume-erasure.js";

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
  const { folder, staging } = context;
  const lock = context.store.lockErasure();
  if (!lock || !staging) return { refused: "locked", message: "Another erasure is under way. Try again in a minute." };
  const waitMs = context.logWaitMs ?? logWaitMs;
  const stages = { ...context, store: staging.store };
  try {
    await settleErasure(stages, waitMs); // Of a process that ended since this call was let in.
    const job = newJob(context, request);
    await begin(folder, staging, job);
    let deleted: DeletedErasure;
    try {
      deleted = await deletePlanned(stages, job);
    } catch (error) {
      return await takeBack(context, staging.toRefusal(error));
    }
    const residual = await cleanFiles(stages, deleted, waitMs);
    const { state } = deleted;
    const erased = await context.store.write(
      async (transaction): Promise<Erased> => {
        const finished = { state, residual, requestedBy: caller.principal };
        const receipt = await finishErasure(context, transaction, finished);
        return { dryRun: false, receipt, salt: job.salt };
      },
      { isErasing: true },
    );
    endErasureJob(folder);
    return erased;
  } finally {
    lock.release();
  }
}

function newJob({ environment }: Context, { selector, includeDerived }: ErasureRequest): ErasureJob {
  return {
    id: encodeId("era", environment.newUuid()),
    requestedAt: new Date(environment.now()).toISOString(),
    salt: environment.randomBytes(32).toString("base64"),
    selector,
    includeDerived,
  };
}

async function begin(folder: string, staging: Staging, job: ErasureJob): Promise<void> {
  writeErasureJob(folder, job);
  try {
    await staging.begin((transaction) => transaction.setErasure(plannedState(job)));
  } catch (error) {
    endErasureJob(folder); // Nothing has begun.
    throw error;
  }
}

/** Nothing is deleted yet: the call ends as refused, its key is free, and so is the context. */
async function takeBack(context: Context, refusal: Refusal): Promise<Refusal> {
  const taken = await context.store.write(
    async (transaction) => {
      await endPlanned(transaction);
      return refusal;
    },
    { isErasing: true },
  );
  endErasureJob(context.folder);
  return taken;
}
