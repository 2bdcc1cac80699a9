import type { Context } from "../context/context.js";
import { type ToolResult, toolResult } from "../context/tool-result.js";
import { type Caller, isInPerson } from "../domain/access.js";
import type { Refusal } from "../domain/refusal.js";

/** The output as JSON: what the digest of a terminal's call is over. */
export function localResult(output: unknown): ToolResult {
  return toolResult({ output: JSON.parse(JSON.stringify(output ?? null)) });
}

export function inPerson(caller: Caller): Refusal | undefined {
  if (isInPerson(caller)) return undefined;
  return { refused: "forbidden", message: "Only a person at the terminal can do this." };
}

/** Administration is the owners'. */
export async function ownersOnly(context: Context, caller: Caller): Promise<Refusal | undefined> {
  const { isOwner } = await context.store.read((transaction) => transaction.membership(caller.principal));
  return isOwner ? undefined : { refused: "forbidden", message: "Only an owner can do this." };
}
