import { coversScope, type ToolName } from "@satchel/pcp";
import type { AuditFacts } from "../context/recorder.js";
import type { Caller } from "../domain/access.js";
import type { Sensitivity } from "../domain/records.js";
import { missingScope, type Refusal } from "../domain/refusal.js";
import type { Operation } from "./dispatch.js";

/** A tool of the PCP schema: an operation and the form its output takes on the wire. */
export interface Tool<Input = unknown, Output = unknown> extends Operation<Input, Output> {
  name: ToolName;
  /** `structuredContent` of a success. */
  present(output: Output): Record<string, unknown>;
}

/** Lets the compiler infer a tool's types where it is written and forgets them where tools are kept together. */
export function defineTool<Input, Output>(tool: Tool<Input, Output>): Tool {
  return tool as unknown as Tool;
}

/** Refuses callers that hold none of the scopes. */
export function needsAnyScope(...scopes: string[]): (caller: Caller) => Refusal | undefined {
  return (caller) => (scopes.some((scope) => coversScope(caller.scopes, scope)) ? undefined : missingScope(scopes));
}

/** Any scope over profile documents: the exact namespace is judged by the use case. */
export function needsProfileScope(operation: "read" | "write"): (caller: Caller) => Refusal | undefined {
  return (caller) => {
    const holds = [...caller.scopes].some((scope) => scope.startsWith("profile.") && scope.endsWith(`:${operation}`));
    return holds ? undefined : missingScope([`profile.core:${operation}`]);
  };
}

/** The audit of a call that touched these pages: `memory.sensitive` when one of them is. */
export function memoryAudit(action: string, pages: { path: string; sensitivity?: Sensitivity }[]): AuditFacts {
  const isSensitive = pages.some(({ sensitivity }) => sensitivity === "sensitive");
  return { category: isSensitive ? "memory.sensitive" : "memory", action, targets: pages.map(({ path }) => path) };
}
