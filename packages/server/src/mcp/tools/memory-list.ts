import { type MemoryListInput, validateInput } from "@satchel/pcp";
import { listPages } from "../../context/list-pages.js";
import { pageSummary } from "../../domain/page-view.js";
import { invalidInput } from "../../domain/refusal.js";
import { refuseAsOf } from "../arguments.js";
import { defineTool, needsAnyScope } from "../tool.js";

export const memoryList = defineTool({
  name: "memory_list",
  permit: needsAnyScope("memory:read"),
  parse(args) {
    const violations = validateInput("memory_list", args);
    if (violations.length > 0) return invalidInput(violations);
    const { prefix, partition, type, cursor, as_of, ...input } = args as MemoryListInput & { as_of?: string };
    return (
      refuseAsOf(as_of) ?? {
        includeArchived: input.include_archived ?? false,
        includeStale: input.include_stale ?? true,
        limit: input.limit ?? 50,
        ...(prefix !== undefined && { prefix: prefix.normalize("NFC") }),
        ...(partition && { partition }),
        ...(type && { type }),
        ...(cursor !== undefined && { cursor }),
      }
    );
  },
  run: listPages,
  present: ({ pages, nextCursor }) => ({
    pages: pages.map(pageSummary),
    ...(nextCursor !== undefined && { next_cursor: nextCursor }),
  }),
});
