import { coversScope, type ToolName, validateOutput } from "@satchel/pcp";
import type { AuditFacts, ReceiptFacts } from "../context/call-record.js";
import { type ResourceLink, toolResult } from "../context/tool-result.js";
import type { Caller } from "../domain/access.js";
import type { PageRecord, Part, ReplayNeeds, Revision, Right, Sensitivity } from "../domain/records.js";
import { missingScope, type Refusal } from "../domain/refusal.js";
import type { Operation } from "./dispatch.js";

/** A tool of the PCP schema: an operation and the form its output takes on the wire. */
export interface Tool<Input = unknown, Output = unknown> extends Operation<Input, Output> {
  name: ToolName;
}

interface ToolDefinition<Input, Output> extends Omit<Tool<Input, Output>, "toResult"> {
  /** `structuredContent` of a success. */
  present(output: Output): Record<string, unknown>;
  /** What follows the text block of a success. */
  links?(output: Output): ResourceLink[];
}

/** Lets the compiler infer a tool's types where it is written and forgets them where tools are kept together. */
export function defineTool<Input, Output>({ present, links, ...tool }: ToolDefinition<Input, Output>): Tool {
  const toResult = (output: Output) => {
    const content = present(output);
    const violations = validateOutput(tool.name, content);
    if (violations.length > 0) throw new Error(`output breaks its schema: ${violations.join("; ")}`);
    return toolResult(content, links?.(output));
  };
  return { ...tool, toResult } as unknown as Tool;
}

/**
 * A tool that there is not: every call of it is refused, and recorded. A name that no schema has is the caller's text: it
 * enters no record, and all such calls share one limit.
 */
export function unknownOperation(): Operation<unknown, Record<string, unknown>> {
  const facts = { category: "admin", action: "read" };
  return {
    name: "unknown_tool",
    permit: () => ({ refused: "unsupported", code: "operation_absent", message: "There is no such tool." }),
    parse: (args) => args,
    run: async () => ({}),
    toResult: toolResult,
    refused: facts,
    audit: () => ({ ...facts, targets: [] }),
  };
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

/** The audit of a call that returned these pages and revisions, each of those by its id too. */
export function listingAudit(found: { page: PageRecord; revision?: Revision }[]): AuditFacts {
  const facts = memoryAudit(
    "read",
    found.map(({ page }) => page),
  );
  return { ...facts, targets: [...facts.targets, ...found.flatMap(({ revision }) => revision?.id ?? [])] };
}

/** What its writer needs to be told again of a page it wrote with this right. */
export function replayOfPage({ path, partition, sensitivity }: Part & { path: string }, right: Right): ReplayNeeds {
  return { page: { path, partition, sensitivity, right } };
}

/** The receipt of a call that left the page at this version. */
export function versionReceipt(version: string | undefined): ReceiptFacts {
  if (version === undefined) return {};
  return { references: [{ kind: "document_revision", id: version }], currentRevision: version };
}

/** The receipt of a stored proposal: the revision is what a review will decide on. */
export function proposalReceipt({ revision, version }: { revision: string; version?: string }): ReceiptFacts {
  return {
    code: "proposal_stored",
    references: [{ kind: "document_revision", id: revision }],
    targets: [{ kind: "document_revision", id: revision, immutable: true }],
    ...(version !== undefined && { currentRevision: version }),
  };
}
