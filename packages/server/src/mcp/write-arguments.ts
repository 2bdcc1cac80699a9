import { type MemoryProposeInput, validateInput } from "@satchel/pcp";
import type { ProposePageInput } from "../context/propose-page.js";
import { invalidInput, isRefusal, type Refusal } from "../domain/refusal.js";
import { parsePathArgument, parseTimeArgument } from "./arguments.js";

/** The page that `memory_write` or `memory_propose` is given; only the latter's schema lets a note through. */
export function parseWriteArguments(
  name: "memory_write" | "memory_propose",
  args: Record<string, unknown>,
): ProposePageInput | Refusal {
  const violations = validateInput(name, args);
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
}
