import { type MemoryWriteInput, validateInput } from "@satchel/pcp";
import { writePage } from "../../context/write-page.js";
import { invalidInput, isRefusal } from "../../domain/refusal.js";
import { parsePathArgument, parseTimeArgument } from "../arguments.js";
import { defineTool, memoryAudit, needsAnyScope } from "../tool.js";

export const memoryWrite = defineTool({
  name: "memory_write",
  permit: needsAnyScope("memory:write", "memory:propose"),
  parse(args) {
    const violations = validateInput("memory_write", args);
    if (violations.length > 0) return invalidInput(violations);
    const { body, frontmatter, ...rest } = args as unknown as MemoryWriteInput;
    const path = parsePathArgument(rest.path);
    if (isRefusal(path)) return path;
    const expectedUpdated = parseTimeArgument("expected_updated", rest.expected_updated);
    if (isRefusal(expectedUpdated)) return expectedUpdated;
    return {
      path,
      body,
      ...(frontmatter && { frontmatter }),
      ...(expectedUpdated !== undefined && { expectedUpdated }),
    };
  },
  run: writePage,
  refused: { category: "memory", action: "write" },
  audit: (written) => memoryAudit(written.revision === undefined ? "write" : "propose", [written]),
  present: ({ path, id, updated, revision, warnings }) => ({
    path,
    ...(revision === undefined
      ? { id, applied: true, updated }
      : { applied: false, review_state: "proposed", revision }),
    ...(warnings.length > 0 && { warnings }),
  }),
});
