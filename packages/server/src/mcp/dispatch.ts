import { PcpError } from "@satchel/pcp";
import type { Context } from "../context/context.js";
import { isLocked } from "../context/faults.js";
import type { Caller } from "../domain/access.js";
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
}

export type CallResult<Output> = { ok: true; output: Output } | { ok: false; refusal: Refusal };

export interface CallLog {
  /** A fault of ours: everything the public message leaves out. */
  fault(entry: { id: string; operation: string; error: unknown }): void;
}

/** The one path every call takes, whatever it came in by: permit, parse, run. It never throws. */
export async function dispatch<Input, Output>(
  operation: Operation<Input, Output>,
  call: { context: Context; caller: Caller; args: unknown; log: CallLog },
): Promise<CallResult<Output>> {
  const { context, caller, log } = call;
  try {
    const denied = operation.permit(caller);
    if (denied) return { ok: false, refusal: denied };
    const args = verifyArguments(call.args);
    if (isRefusal(args)) return { ok: false, refusal: args };
    const input = operation.parse(args);
    if (isRefusal(input)) return { ok: false, refusal: input };
    const output = await operation.run(context, caller, input);
    return isRefusal(output) ? { ok: false, refusal: output } : { ok: true, output };
  } catch (error) {
    return { ok: false, refusal: refusalOf(error, { operation: operation.name, context, log }) };
  }
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
