import { type MemoryListInput, validateInput } from "@satchel/pcp";
import { listPages } from "../../context/list-pages.js";
import { pageSummary } from "../../domain/page-view.js";
import { invalidInput, isRefusal } from "../../domain/refusal.js";
import { parseTimeArgument } from "../arguments.js";
import { defineTool, listingAudit, needsAnyScope } from "../tool.js";

export const memoryList = defineTool({
  name: "memory_list",
  permit: needsAnyScope("memory:read"),
  parse(args) {
    const violations = validateInput("memory_list", args);
    if (violations.length > 0) return invalidInput(violations);
    const { prefix, partition, type, cursor, ...input } = args as MemoryListInput;
    const asOf = parseTimeArgument("as_of", input.as_of);
    if (isRefusal(asOf)) return asOf;
    return {
      includeArchived: input.include_archived ?? false,
      includeStale: input.include_stale ?? true,
      limit: input.limit ?? 50,
      ...(prefix !== undefined && { prefix: prefix.normalize("NFC") }),
      ...(partition && { partition }),
      ...(type && { type }),
      ...(input.include_review && { includeReview: input.include_review }),
      ...(asOf !== undefined && { asOf }),
      ...(cursor !== undefined && { cursor }),
    };
  },
  run: listPages,
  refused: { category: "memory", action: "read" },
  audit: ({ pages }) => listingAudit(pages),
  present: ({ pages, nextCursor }) => ({
    pages: pages.map(({ page, revision }) => pageSummary(page, revision)),
    ...(nextCursor !== undefined && { next_cursor: nextCursor }),
  }),
});
