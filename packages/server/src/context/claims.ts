import { coversScope } from "@satchel/pcp";
import { buildResult, type SemanticToolEnvelope } from "@satchel/prp";
import { type Access, includesPart, readableParts, readableSensitivities, rightsIn } from "../domain/access.js";
import type { Claim, ReplayNeeds } from "../domain/records.js";
import { missingScope, type Refusal } from "../domain/refusal.js";
import type { ReadTransaction, WriteTransaction } from "../store/store.js";
import { loadAccess } from "./access.js";
import type { ClaimKey, IdentifiedCall } from "./call-identity.js";
import { inputEnvelope, type Recorded, type RecordedCall } from "./call-record.js";
import type { Context } from "./context.js";
import type { ToolResult } from "./tool-result.js";

/**
 * What an earlier call with the same key or call id means for this one (journal section 2): a refusal; the earlier
 * answer, as a duplicate by key and as the same call by call id; or that the call id is spent and left no answer,
 * so that this call is one of its own.
 */
export type Judgement = { by: ClaimKey["kind"] } & (
  | { kind: "refused"; refusal: Refusal }
  | { kind: "repeated"; claim: Claim }
  | { kind: "spent" }
);

/** Ends the transaction of a call that turned out to be made already. */
export class RepeatedCall extends Error {
  constructor(readonly judgement: Judgement) {
    super("The call was made already.");
  }
}

export async function judgeClaims(
  transaction: ReadTransaction,
  { claims }: Pick<IdentifiedCall, "claims">,
): Promise<Judgement | undefined> {
  for (const key of claims) {
    const claim = await transaction.claim(key.id);
    if (claim) return judgeClaim(key, claim);
  }
  return undefined;
}

function judgeClaim({ kind: by, input }: ClaimKey, claim: Claim): Judgement {
  const refuse = (refusal: Refusal): Judgement => ({ by, kind: "refused", refusal });
  if (!input.equals(claim.input)) return refuse(by === "key" ? keyConflict : callIdConflict);
  if (claim.state === "running") return refuse(inProgress);
  if (claim.state === "erased") return refuse(resultErased);
  return claim.state === "spent" ? { by, kind: "spent" } : { by, kind: "repeated", claim };
}

const keyConflict: Refusal = {
  refused: "conflict",
  code: "idempotency_conflict",
  message: "This idempotency key was used for another input. Nothing was done; use a new key.",
};
const callIdConflict: Refusal = {
  refused: "conflict",
  code: "call_id_conflict",
  message: "This call id was used for another call. Nothing was done; use a new call id.",
};
const inProgress: Refusal = {
  refused: "locked",
  code: "idempotency_in_progress",
  message: "The first call with this idempotency key is still running. Ask again in a few seconds with the same key.",
};
const resultErased: Refusal = {
  refused: "conflict",
  code: "result_erased",
  message: "The call with this idempotency key was done, and its answer was erased since. Nothing was done again.",
};

/** Today's rights decide over an answer of yesterday. */
export async function verifyReplay(
  transaction: ReadTransaction,
  access: Access,
  { scopes = [], owner, page }: ReplayNeeds,
): Promise<Refusal | undefined> {
  const missing = scopes.filter((scope) => !coversScope(access.caller.scopes, scope));
  if (missing.length > 0) return missingScope(missing);
  if (owner && !access.isOwner) return { refused: "forbidden", message: "Only an owner is given this answer." };
  if (!page) return undefined;
  const { isSeen = false, sensitivity } = page;
  const sees = !isSeen || readableSensitivities(access).includes(sensitivity);
  const mayStill = sees && rightsIn(access, page.partition).includes(page.right);
  const live = mayStill && isSeen && page.right !== "propose" ? await transaction.page({ path: page.path }) : undefined;
  if (mayStill && (!live || includesPart(readableParts(access), live))) return undefined;
  return { refused: "not_found", message: "The call with this key was done. Its answer is no longer yours to read." };
}

/** The earlier answer again: by key with records of its own, by call id without any. */
export async function answerAgain(
  context: Context,
  call: RecordedCall,
  { by, claim }: Extract<Judgement, { kind: "repeated" }>,
): Promise<Recorded | Refusal> {
  const refused = await context.store.read(async (transaction) =>
    verifyReplay(transaction, await loadAccess(transaction, call.caller), claim.needs ?? {}),
  );
  if (refused) return refused;
  const result = JSON.parse(claim.result ?? "{}") as ToolResult;
  return {
    result,
    receipt:
      by === "call" ? await readTerminal(context, claim) : await recordDuplicate(context, call, { claim, result }),
  };
}

async function readTerminal({ store }: Context, { terminal }: Claim): Promise<SemanticToolEnvelope> {
  return store.read(async ({ journal }) => {
    const [entry] = terminal === undefined ? [] : await journal.entries({ from: terminal, limit: 1 });
    return JSON.parse(entry?.openings[0]?.body ?? "null");
  });
}

async function recordDuplicate(
  context: Context,
  call: RecordedCall,
  { claim, result }: { claim: Claim; result: ToolResult },
): Promise<SemanticToolEnvelope> {
  const { identity, claims } = call.identified;
  const { currentRevision, receiptId } = claim;
  const receipt = buildResult(identity, {
    code: "duplicate",
    result,
    duplicateOf: receiptId,
    ...(currentRevision !== undefined && { currentRevision }),
  });
  const at = new Date(context.environment.now()).toISOString();
  const record = async (transaction: WriteTransaction) => {
    const judged = await judgeClaims(transaction, { claims: claims.filter(({ kind }) => kind === "call") });
    if (judged) throw new RepeatedCall(judged);
    const added = await context.journal?.append(transaction, [
      { at, kind: "prp.input", bodies: [inputEnvelope(call)] },
      { at, kind: "prp.result", bodies: [receipt] },
    ]);
    const terminal = added?.at(-1)?.seq;
    for (const { kind, id, input } of claims)
      if (kind === "call")
        await transaction.putClaim({ ...claim, id, input, ...(terminal !== undefined && { terminal }) });
  };
  await context.store.write(record, { durability: "process" });
  await context.journal?.publish();
  return receipt;
}
