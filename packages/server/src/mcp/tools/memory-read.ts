import { coversScope, isId, type MemoryReadInput, validateInput } from "@satchel/pcp";
import type { ReceiptFacts } from "../../context/call-record.js";
import { type PageRead, type ReadPageInput, readPage } from "../../context/read-page.js";
import { frontmatterView, revisionFrontmatter } from "../../domain/page-view.js";
import { invalidInput, isRefusal, missingScope, type Refusal } from "../../domain/refusal.js";
import { parsePathArgument, parseTimeArgument } from "../arguments.js";
import { defineTool, memoryAudit, versionReceipt } from "../tool.js";

export const memoryRead = defineTool({
  name: "memory_read",
  permit: ({ scopes }) => {
    const readsSome = coversScope(scopes, "memory:read") || coversScope(scopes, "memory:propose");
    return readsSome ? undefined : missingScope(["memory:read"]);
  },
  parse(args): ReadPageInput | Refusal {
    const violations = validateInput("memory_read", args);
    const { path, id, revision, as_of } = args as MemoryReadInput;
    if (violations.length === 0 && (path === undefined) === (id === undefined)) {
      violations.push("exactly one of path and id is needed");
    }
    if (violations.length === 0 && revision !== undefined && as_of !== undefined) {
      violations.push("/as_of: can't be asked together with revision");
    }
    if (violations.length > 0) return invalidInput(violations);
    const asOf = parseTimeArgument("as_of", as_of);
    if (isRefusal(asOf)) return asOf;
    const further = { ...(revision !== undefined && { revision }), ...(asOf !== undefined && { asOf }) };
    if (path === undefined) return isId("pg", id ?? "") ? { id: id ?? "", ...further } : noSuchId;
    const parsed = parsePathArgument(path);
    return isRefusal(parsed) ? parsed : { path: parsed, ...further };
  },
  run: async (context, caller, input) => {
    const isCovered = input.revision !== undefined || coversScope(caller.scopes, "memory:read");
    return isCovered ? readPage(context, caller, input) : missingScope(["memory:read"]);
  },
  refused: { category: "memory", action: "read" },
  audit: auditRead,
  receipt: readReceipt,
  present: presentRead,
});

const noSuchId: Refusal = {
  refused: "not_found",
  message: "There is no page with this id. memory_search or memory_list find pages.",
};

export function auditRead(read: PageRead) {
  if (read.kind === "index") return memoryAudit("read", [read.index]);
  return memoryAudit("read", [read.kind === "page" ? read.version : read.revision]);
}

export function readReceipt(read: PageRead): ReceiptFacts {
  if (read.kind === "index") return {};
  if (read.kind === "page") return versionReceipt(read.version.version);
  return { references: [{ kind: "document_revision", id: read.revision.id }] };
}

function presentRead(read: PageRead): Record<string, unknown> {
  if (read.kind === "index") {
    const { path, title, updated, body } = read.index;
    return { path, frontmatter: { title, updated }, body };
  }
  const { hiddenLinks, pendingRevisions: pending_revisions } = read;
  if (read.kind === "revision") {
    const { path, body } = read.revision;
    return { path, frontmatter: revisionFrontmatter(read.revision, hiddenLinks), body, pending_revisions };
  }
  const { path, body } = read.version;
  return { path, frontmatter: frontmatterView(read.version, hiddenLinks), body, pending_revisions };
}
