import { isId, type MemoryReadInput, validateInput } from "@satchel/pcp";
import { type PageRead, type ReadPageInput, readPage } from "../../context/read-page.js";
import { frontmatterView } from "../../domain/page-view.js";
import { invalidInput, isRefusal, type Refusal } from "../../domain/refusal.js";
import { parsePathArgument, refuseAsOf } from "../arguments.js";
import { defineTool, needsAnyScope } from "../tool.js";

export const memoryRead = defineTool({
  name: "memory_read",
  permit: needsAnyScope("memory:read"),
  parse(args): ReadPageInput | Refusal {
    const violations = validateInput("memory_read", args);
    const { path, id, revision, as_of } = args as MemoryReadInput & { as_of?: string };
    if (violations.length === 0 && (path === undefined) === (id === undefined)) {
      violations.push("exactly one of path and id is needed");
    }
    if (violations.length > 0) return invalidInput(violations);
    const unsupported = refuseAsOf(as_of);
    if (unsupported) return unsupported;
    if (revision !== undefined) return { refused: "not_found", message: "There is no such revision." };
    if (path === undefined) return isId("pg", id ?? "") ? { id: id ?? "" } : noSuchId;
    const parsed = parsePathArgument(path);
    return isRefusal(parsed) ? parsed : { path: parsed };
  },
  run: readPage,
  present: presentRead,
});

const noSuchId: Refusal = {
  refused: "not_found",
  message: "There is no page with this id. memory_search or memory_list find pages.",
};

export function presentRead(read: PageRead): Record<string, unknown> {
  if (read.kind === "index") {
    const { path, title, updated, body } = read.index;
    return { path, frontmatter: { title, updated }, body };
  }
  const { version, hiddenLinks } = read;
  return {
    path: version.path,
    frontmatter: frontmatterView(version, hiddenLinks),
    body: version.body,
    pending_revisions: 0,
  };
}
