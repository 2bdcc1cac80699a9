import { type ReviewListInput, validateInput } from "@satchel/pcp";
import { type ListedRevision, listRevisions } from "../../context/list-revisions.js";
import { invalidInput } from "../../domain/refusal.js";
import { defineTool, needsAnyScope } from "../tool.js";

export const reviewList = defineTool({
  name: "review_list",
  permit: needsAnyScope("memory:review", "memory:propose"),
  parse(args) {
    const violations = validateInput("review_list", args);
    if (violations.length > 0) return invalidInput(violations);
    const { state = "proposed", partition, limit = 20, cursor } = args as ReviewListInput;
    return { state, limit, ...(partition && { partition }), ...(cursor !== undefined && { cursor }) };
  },
  run: listRevisions,
  refused: { category: "review", action: "read" },
  audit: ({ items }) => ({ category: "review", action: "read", targets: items.map(({ revision }) => revision.id) }),
  present: ({ items, nextCursor }) => ({
    items: items.map(presentItem),
    ...(nextCursor !== undefined && { next_cursor: nextCursor }),
  }),
});

function presentItem({ revision, targetExists }: ListedRevision): Record<string, unknown> {
  const { path, id, keys, state, partition, generated, note } = revision;
  return {
    path,
    revision: id,
    title: keys.title,
    state,
    partition,
    generated,
    target_exists: targetExists,
    ...(note !== undefined && { note }),
  };
}
