import { type ReviewResolveInput, validateInput } from "@satchel/pcp";
import type { ReceiptFacts } from "../../context/call-record.js";
import {
  type ResolvedRevision,
  type ReviewVerb,
  resolveRevision,
  reviewVerbs,
} from "../../context/resolve-revision.js";
import { invalidInput, isRefusal } from "../../domain/refusal.js";
import { parsePathArgument } from "../arguments.js";
import { defineTool, needsAnyScope, replayOfPage } from "../tool.js";

export const reviewResolve = defineTool({
  name: "review_resolve",
  permit: needsAnyScope("memory:review"),
  parse(args) {
    const violations = validateInput("review_resolve", args);
    if (violations.length > 0) return invalidInput(violations);
    const { revision, note, ...rest } = args as unknown as ReviewResolveInput;
    const path = parsePathArgument(rest.path);
    if (isRefusal(path)) return path;
    const verb = reviewVerbs.find((known): known is ReviewVerb => known === rest.verb);
    if (!verb) return invalidInput([`/verb: one of ${reviewVerbs.join(", ")}`]);
    return { path, revision, verb, ...(note !== undefined && { note }) };
  },
  run: resolveRevision,
  refused: { category: "review", action: "resolve" },
  audit: ({ path, revision }) => ({ category: "review", action: "resolve", targets: [revision, path] }),
  receipt: resolutionReceipt,
  replay: (resolved) => replayOfPage(resolved, "review"),
  present: ({ path, revision, state, updated }) => ({
    path,
    revision,
    state,
    ...(updated !== undefined && { updated }),
  }),
});

/** A decision binds to the revision it was shown; both led to the page's version. */
function resolutionReceipt({ revision, decision, updated, version }: ResolvedRevision): ReceiptFacts {
  const decided = { kind: "document_revision", id: revision } as const;
  const made = { kind: "decision", id: decision } as const;
  const written = updated !== undefined && version !== undefined;
  return {
    boundary: "governed_action",
    references: [made, ...(written ? [{ kind: "document_revision", id: version } as const] : [])],
    targets: [
      { ...decided, immutable: true, decisionId: decision },
      { ...made, immutable: true },
    ],
    causalRefs: [decided, made],
    ...(version !== undefined && { currentRevision: version }),
  };
}
