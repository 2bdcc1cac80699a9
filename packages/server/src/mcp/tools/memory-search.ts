import { type MemorySearchInput, validateInput } from "@satchel/pcp";
import { searchPages } from "../../context/search-pages.js";
import { pageSummary } from "../../domain/page-view.js";
import { invalidInput, isRefusal } from "../../domain/refusal.js";
import { parseTimeArgument } from "../arguments.js";
import { defineTool, listingAudit, needsAnyScope } from "../tool.js";

export const memorySearch = defineTool({
  name: "memory_search",
  permit: needsAnyScope("memory:read"),
  parse(args) {
    const violations = validateInput("memory_search", args);
    if (violations.length > 0) return invalidInput(violations);
    const { query, type, tags, partitions, cursor, ...input } = args as unknown as MemorySearchInput;
    const asOf = parseTimeArgument("as_of", input.as_of);
    if (isRefusal(asOf)) return asOf;
    return {
      query,
      limit: input.limit ?? 10,
      includeArchived: input.include_archived ?? false,
      ...(type && { type }),
      ...(tags && { tags }),
      ...(partitions && { partitions }),
      ...(input.include_stale !== undefined && { includeStale: input.include_stale }),
      ...(input.include_review && { includeReview: input.include_review }),
      ...(asOf !== undefined && { asOf }),
      ...(cursor !== undefined && { cursor }),
    };
  },
  run: searchPages,
  withheld: ["query"],
  refused: { category: "memory", action: "read" },
  audit: ({ hits }) => listingAudit(hits),
  present: ({ hits, staleFallback, isExact, nextCursor }) => ({
    results: hits.map(({ page, revision, snippet, score, stale, supersededBy }) => ({
      ...pageSummary(page, revision),
      snippet,
      score,
      ...(stale && { stale }),
      ...(supersededBy !== undefined && { superseded_by: supersededBy }),
    })),
    ...(isExact !== undefined && { as_of_exact: isExact }),
    ...(staleFallback && { stale_fallback: true }),
    ...(nextCursor !== undefined && { next_cursor: nextCursor }),
  }),
});
