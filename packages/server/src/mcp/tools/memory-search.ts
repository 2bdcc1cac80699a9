import { type MemorySearchInput, validateInput } from "@satchel/pcp";
import { searchPages } from "../../context/search-pages.js";
import { pageSummary } from "../../domain/page-view.js";
import { invalidInput } from "../../domain/refusal.js";
import { refuseAsOf } from "../arguments.js";
import { defineTool, needsAnyScope } from "../tool.js";

export const memorySearch = defineTool({
  name: "memory_search",
  permit: needsAnyScope("memory:read"),
  parse(args) {
    const violations = validateInput("memory_search", args);
    if (violations.length > 0) return invalidInput(violations);
    const { query, type, tags, partitions, cursor, ...input } = args as unknown as MemorySearchInput;
    return (
      refuseAsOf(input.as_of) ?? {
        query,
        limit: input.limit ?? 10,
        includeArchived: input.include_archived ?? false,
        ...(type && { type }),
        ...(tags && { tags }),
        ...(partitions && { partitions }),
        ...(input.include_stale !== undefined && { includeStale: input.include_stale }),
        ...(cursor !== undefined && { cursor }),
      }
    );
  },
  run: searchPages,
  present: ({ hits, staleFallback, nextCursor }) => ({
    results: hits.map(({ page, snippet, score, stale, supersededBy }) => ({
      ...pageSummary(page),
      snippet,
      score,
      ...(stale && { stale }),
      ...(supersededBy !== undefined && { superseded_by: supersededBy }),
    })),
    ...(staleFallback && { stale_fallback: true }),
    ...(nextCursor !== undefined && { next_cursor: nextCursor }),
  }),
});
