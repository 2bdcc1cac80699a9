import { type IdentifiedCall, identifyCall, withFreshCallId } from "../context/call-identity.js";
import type { AuditFacts, Described, ReceiptFacts, Recorded, RecordedCall } from "../context/call-record.js";
import { answerAgain, type Judgement, judgeClaims, RepeatedCall } from "../context/claims.js";
import type { Context, OnProgress } from "../context/context.js";
import { isLocked } from "../context/faults.js";
import { type Progress, Recorder } from "../context/recorder.js";
import { callsPerMinute } from "../context/settings.js";
import { errorResult, type ToolResult } from "../context/tool-result.js";
import { type Caller, isInPerson } from "../domain/access.js";
import type { ReplayNeeds } from "../domain/records.js";
import { invalidInput, isRefusal, type Refusal } from "../domain/refusal.js";
import { verifyArguments } from "./arguments.js";
import { holdsInexactNumber } from "./exact-numbers.js";

/** One thing a caller can ask for: a tool of the schema, or an operation of the terminal. */
export interface Operation<Input, Output> {
  name: string;
  /** Refuses a caller whose scopes can't cover any input of this operation. */
  permit(caller: Caller): Refusal | undefined;
  /** Checks and normalises the arguments. */
  parse(args: Record<string, unknown>): Input | Refusal;
  run(context: Context, caller: Caller, input: Input): Promise<Output | Refusal>;
  /** The answer of a success. @throws when it breaks its schema */
  toResult(output: Output): ToolResult;
  /** What `_meta` of this answer says beyond the receipt; no later answer to the same key does. */
  meta?(output: Output): Record<string, unknown> | undefined;
  /** What the audit says of a refused call. */
  refused: Pick<AuditFacts, "category" | "action">;
  /** The category of a refused call where it depends on what was asked for; undefined: as `refused` says. */
  askedCategory?(args: Record<string, unknown>): string | undefined;
  /** What the audit says of a success. */
  audit(output: Output): AuditFacts;
  /** What the receipt of a success says beyond `ok`. */
  receipt?(output: Output): ReceiptFacts;
  /** Of a mutating operation: what a caller needs to be given this answer again. It takes an idempotency key. */
  replay?(output: Output): ReplayNeeds;
  /** Arguments that no envelope may let anyone guess (journal section 1). */
  withheld?: readonly string[];
}

/** What came of a call: the answer as it goes out, with its receipt. Without an output it is an earlier call's answer. */
export type CallResult<Output> = Recorded & ({ ok: true; output?: Output } | { ok: false; refusal: Refusal });

export interface CallLog {
  /** A fault of ours: everything the public message leaves out. */
  fault(entry: { id: string; operation: string; error: unknown }): void;
}

export interface Call {
  context: Context;
  caller: Caller;
  args: unknown;
  log: CallLog;
  /** `_meta` of the request. */
  meta?: unknown;
  /** Names the connection it came through, where there is one. */
  connection?: string;
  onProgress?: OnProgress;
  /** Where the context is reached over HTTP, if it came that way. */
  baseUrl?: string;
}

/**
 * The one path every call takes, whatever it came in by: rate limit, permit, claim, parse, run, and its records in the
 * journal. It never throws, and it answers only after the records are stored.
 */
export async function dispatch<Input, Output>(
  operation: Operation<Input, Output>,
  call: Call,
): Promise<CallResult<Output>> {
  const isExact = !holdsInexactNumber(call.meta);
  const args = isExact ? verifyArguments(call.args) : invalidInput([inexactNumber]);
  const isMutating = operation.replay !== undefined;
  let identified = identifyCall(call.context, { ...call, operation: operation.name, args, isMutating });
  for (let isAgain = false; ; isAgain = true) {
    const given = isExact ? call.args : unhashable;
    const judged = await attempt(operation, { ...call, args, given, identified, isAgain });
    if (judged !== "again") return judged;
    identified = withFreshCallId(call.context, identified);
  }
}

const inexactNumber = "a number has more digits than JSON numbers carry; send it as text";
/** What was sent was lost in parsing. This has no canonical form either, so the envelope has no digest of another value. */
const unhashable = Number.NaN;

interface Attempt extends Omit<Call, "args"> {
  args: Record<string, unknown> | Refusal;
  given: unknown;
  identified: IdentifiedCall;
  /** The same call under a call id of its own: it counts once. */
  isAgain: boolean;
}

/** `again`: its call id is spent, so it needs another one. */
async function attempt<Input, Output>(
  operation: Operation<Input, Output>,
  call: Attempt,
): Promise<CallResult<Output> | "again"> {
  const record: RecordedCall = {
    operation: operation.name,
    caller: call.caller,
    identified: call.identified,
    args: call.given,
    withheld: operation.withheld ?? [],
    describe: (outcome) => describe(operation, call.args, outcome as Output | Refusal),
  };
  const refuse = (error: unknown, progress: Progress) =>
    refusalOf(error, { ...call, operation: operation.name, progress });
  const recorder = new Recorder(call.context, record, (error) => refuse(error, "none"));
  const complete = async (): Promise<CallResult<Output>> => {
    const { onProgress, baseUrl } = call;
    const own = { ...(onProgress && { onProgress }), ...(baseUrl !== undefined && { baseUrl }) };
    const outcome = await perform(operation, { ...call, context: { ...recorder.context, ...own } });
    const recorded = await recorder.finish(outcome);
    return isRefusal(outcome)
      ? { ...recorded, ok: false, refusal: outcome }
      : { ...recorded, ok: true, output: outcome };
  };
  try {
    return await settleRepeats(complete, (judgement) => settleRepeated(call.context, record, judgement));
  } catch (error) {
    const refusal = refuse(error, recorder.progress);
    const recorded = await recorder.refuse(refusal).catch(() => undefined);
    return { result: errorResult(refusal), ...recorded, ok: false, refusal };
  }
}

/** A call at once with a repeated one may repeat it as well. */
async function settleRepeats<Settled>(
  complete: () => Promise<Settled>,
  settle: (judgement: Judgement) => Promise<Settled | "again">,
): Promise<Settled | "again"> {
  for (let next: () => Promise<Settled | "again"> = complete; ; ) {
    try {
      return await next();
    } catch (error) {
      if (!(error instanceof RepeatedCall)) throw error;
      next = () => settle(error.judgement);
    }
  }
}

async function settleRepeated<Output>(
  context: Context,
  record: RecordedCall,
  judgement: Judgement,
): Promise<CallResult<Output> | "again"> {
  if (judgement.kind === "spent") return "again";
  const answer = judgement.kind === "refused" ? judgement.refusal : await answerAgain(context, record, judgement);
  if (!isRefusal(answer)) return { ...answer, ok: true };
  const { identified } = record;
  const isNew = judgement.by === "key";
  const claims = isNew ? identified.claims.filter(({ kind }) => kind === "call") : [];
  const refused = isNew ? identified : withFreshCallId(context, identified);
  const recorder = new Recorder(context, { ...record, identified: { ...refused, claims } }, () => answer);
  return { ...(await recorder.finish(answer)), ok: false, refusal: answer };
}

function describe<Input, Output>(
  operation: Operation<Input, Output>,
  args: Record<string, unknown> | Refusal,
  outcome: Output | Refusal,
): Described {
  if (!isRefusal(outcome)) {
    const meta = operation.meta?.(outcome);
    return {
      audit: operation.audit(outcome),
      receipt: operation.receipt?.(outcome) ?? {},
      result: operation.toResult(outcome),
      ...(operation.replay && { needs: operation.replay(outcome) }),
      ...(meta && { meta }),
    };
  }
  const category = isRefusal(args) ? undefined : operation.askedCategory?.(args);
  const audit = { ...operation.refused, ...(category !== undefined && { category }), targets: [] };
  return { audit, receipt: {}, result: errorResult(outcome) };
}

async function perform<Input, Output>(operation: Operation<Input, Output>, call: Attempt): Promise<Output | Refusal> {
  const { context, caller, args, identified } = call;
  const limited = await limitRate(operation.name, call);
  if (limited) return limited;
  const denied = operation.permit(caller);
  if (denied) return denied;
  if (isRefusal(args)) return args;
  if (identified.refused) return identified.refused;
  if (identified.claims.length > 0) {
    const judged = await context.store.read((transaction) => judgeClaims(transaction, identified));
    if (judged) throw new RepeatedCall(judged);
  }
  const input = operation.parse(args);
  return isRefusal(input) ? input : operation.run(context, caller, input);
}

async function limitRate(operation: string, { context, caller, isAgain }: Attempt): Promise<Refusal | undefined> {
  if (isAgain || isInPerson(caller)) return undefined;
  const key = `${caller.principal} ${caller.client} ${operation}`;
  return context.rateLimiter.take(key, await callsPerMinute(context));
}

interface FailedCall {
  operation: string;
  context: Context;
  log: CallLog;
  progress: Progress;
}

function refusalOf(error: unknown, at: FailedCall): Refusal {
  if (isLocked(error)) return { refused: "locked", message: error.message };
  const id = at.context.environment.randomBytes(6).toString("hex");
  at.log.fault({ id, operation: at.operation, error });
  return {
    refused: "internal",
    message: `Something went wrong on our side (${id}). ${saidOfChanges[at.progress]}The server's log says more.`,
  };
}

/** What was recorded may be done; whatever the answer can't say, the journal does. */
const saidOfChanges: Record<Progress, string> = {
  none: "Nothing was changed. ",
  begun: "The call has begun and is unsettled; the next call goes on with it. satchel journal unsettled lists it. ",
  recorded: "",
};
