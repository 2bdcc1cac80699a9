import { type MemoryProposeInput, validateInput } from "@satchel/pcp";
import { proposePage } from "../../context/propose-page.js";
import { invalidInput, isRefusal } from "../../domain/refusal.js";
import { parsePathArgument, parseTimeArgument } from "../arguments.js";
import { defineTool, memoryAudit, needsAnyScope } from "../tool.js";

export const memoryPropose = defineTool({
  name: "memory_propose",
  permit: needsAnyScope("memory:propose"),
  parse(args) {
    const violations = validateInput("memory_propose", args);
    if (violations.length > 0) return invalidInput(violations);
    const { body, frontmatter, note, ...rest } = args as unknown as MemoryProposeInput;
    const path = parsePathArgument(rest.path);
    if (isRefusal(path)) return path;
    const expectedUpdated = parseTimeArgument("expected_updated", rest.expected_updated);
    if (isRefusal(expectedUpdated)) return expectedUpdated;
    return {
      path,
      body,
      ...(frontmatter && { frontmatter }),
      ...(note !== undefined && { note }),
      ...(expectedUpdated !== undefined && { expectedUpdated }),
    };
  },
  run: proposePage,
  refused: { category: "memory", action: "propose" },
  audit: (proposed) => {
    const { category } = memoryAudit("propose", [proposed]);
    return { category, action: "propose", targets: [proposed.revision, proposed.path] };
  },
  present: ({ path, revision, targetExists }) => ({
    path,
    revision,
    review_state: "proposed",
    target_exists: targetExists,
  }),
});
