import { PcpError } from "@satchel/pcp";
import type { Context } from "../context/context.js";
import { isLocked } from "../context/faults.js";
import { type AuditFacts, Recorder } from "../context/recorder.js";
import { callsPerMinute } from "../context/settings.js";
import { type Caller, isInPerson } from "../domain/access.js";
import { isRefusal, type Refusal } from "../domain/refusal.js";
import { verifyArguments } from "./arguments.js";

/** One thing a caller can ask for: a tool of the schema, or an operation of the terminal. */
export interface Operation<Input, Output> {
  name: string;
  /** Refuses a caller whose scopes can't cover any input of this operation. */
  permit(caller: Caller): Refusal | undefined;
  /** Checks and normalises the arguments. */
  parse(args: Record<string, unknown>): Input | Refusal;
  run(context: Context, caller: Caller, input: Input): Promise<Output | Refusal>;
  /** What the audit says of a refused call. */
  refused: Pick<AuditFacts, "category" | "action">;
  /** The category of a refused call where it depends on what was asked for; undefined: as `refused` says. */
  askedCategory?(args: Record<string, unknown>): string | undefined;
  /** What the audit says of a success. */
  audit(output: Output): AuditFacts;
}

export type CallResult<Output> = { ok: true; output: Output } | { ok: false; refusal: Refusal };

export interface CallLog {
  /** A fault of ours: everything the public message leaves out. */
  fault(entry: { id: string; operation: string; error: unknown }): void;
}

export interface Call {
  context: Context;
  caller: Caller;
  args: unknown;
  log: CallLog;
}

/**
 * The one path every call takes, whatever it came in by: rate limit, permit, parse, run, and one audit entry. It never
 * throws, and it answers only after the entry is stored.
 */
export async function dispatch<Input, Output>(
  operation: Operation<Input, Output>,
  call: Call,
): Promise<CallResult<Output>> {
  const args = verifyArguments(call.args);
  const recorder = new Recorder(call.context, {
    operation: operation.name,
    caller: call.caller,
    refused: refusedFacts(operation, args),
    describe: (output) => operation.audit(output as Output),
  });
  try {
    const output = await perform(operation, { ...call, args, context: recorder.context });
    await recorder.finish(output);
    return toResult(output);
  } catch (error) {
    const refusal = refusalOf(error, { operation: operation.name, ...call });
    await recorder.finish(refusal).catch(() => undefined);
    return { ok: false, refusal };
  }
}

function refusedFacts<Input, Output>(
  operation: Operation<Input, Output>,
  args: Record<string, unknown> | Refusal,
): Operation<Input, Output>["refused"] {
  const category = isRefusal(args) ? undefined : operation.askedCategory?.(args);
  return { ...operation.refused, ...(category !== undefined && { category }) };
}

async function perform<Input, Output>(
  operation: Operation<Input, Output>,
  call: Call & { args: Record<string, unknown> | Refusal },
): Promise<Output | Refusal> {
  const { context, caller, args } = call;
  const limited = await limitRate(operation.name, call);
  if (limited) return limited;
  const denied = operation.permit(caller);
  if (denied) return denied;
  if (isRefusal(args)) return args;
  const input = operation.parse(args);
  return isRefusal(input) ? input : operation.run(context, caller, input);
}

async function limitRate(operation: string, { context, caller }: Call): Promise<Refusal | undefined> {
  if (isInPerson(caller)) return undefined;
  const key = `${caller.principal} ${caller.client} ${operation}`;
  return context.rateLimiter.take(key, await callsPerMinute(context));
}

function toResult<Output>(output: Output | Refusal): CallResult<Output> {
  return isRefusal(output) ? { ok: false, refusal: output } : { ok: true, output };
}

function refusalOf(error: unknown, at: { operation: string; context: Context; log: CallLog }): Refusal {
  if (isLocked(error)) return { refused: "locked", message: error.message };
  const id = at.context.environment.randomBytes(6).toString("hex");
  at.log.fault({ id, operation: at.operation, error });
  return {
    refused: "internal",
    message: `Something went wrong on our side (${id}). Nothing was changed. The server's log says more.`,
  };
}

/** The wire form's error of a refusal. */
export function toPcpError({ refused, message, violations, requiredScopes }: Refusal): PcpError {
  return new PcpError(refused, message, {
    ...(violations && { violations }),
    ...(requiredScopes && { requiredScopes }),
  });
}
