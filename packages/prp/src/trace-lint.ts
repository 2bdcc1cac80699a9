import { type Issue, type IssueCode, warningIssue } from "./envelope-issues.js";
import { isReceiptCode, RECEIPT_CODES } from "./receipt-codes.js";
import type { CallEntries } from "./trace-calls.js";
import type { TraceEntry } from "./trace-reading.js";

const TERMINAL_MEMBERS = [
  "outcome",
  "code",
  "retryable",
  "authorizationBoundary",
  "operationReceiptId",
  "auditReceiptId",
  "currentRevision",
  "duplicateOfReceiptId",
  "artifactRefs",
  "targets",
  "causalRefs",
] as const;

function warn(code: IssueCode, path: string, message: string): Issue[] {
  return [warningIssue(code, path, message)];
}

function lintOrder({ input, terminal }: CallEntries): Issue[] {
  if (!input || !terminal || input.index < terminal.index) return [];
  return warn("terminal_before_input", terminal.path, "The end of the call comes before its input.");
}

function lintInput({ input }: CallEntries): Issue[] {
  const member = input && TERMINAL_MEMBERS.find((name) => Object.hasOwn(input.envelope, name));
  return member ? warn("result_fields_on_input", `${input.path}/${member}`, "An input has no result yet.") : [];
}

// Some producers keep the original's code on a duplicate, so any code goes with that outcome.
function lintCode({ terminal }: CallEntries): Issue[] {
  const { code, outcome } = terminal?.envelope ?? {};
  if (!terminal || code === undefined || outcome === "duplicate" || !isReceiptCode(code)) return [];
  const expected = RECEIPT_CODES[code].outcome;
  if (outcome === expected) return [];
  return warn("code_outcome_mismatch", `${terminal.path}/outcome`, `With this code the outcome is ${expected}.`);
}

type BoundTo = { revisionId?: string; decisionId?: string };

/** A target is immutable: what it is bound to is the same wherever it is named. */
function lintTargets({ path, envelope }: TraceEntry, known: Map<string, BoundTo>): Issue[] {
  return (envelope.targets ?? []).flatMap(({ kind, id, revisionId, decisionId }, index) => {
    const before = known.get(`${kind}:${id}`) ?? {};
    const moved =
      differs(before.revisionId, revisionId) || differs(before.decisionId, decisionId)
        ? warn("target_changed", `${path}/targets/${index}`, "The target was bound to something else before.")
        : [];
    known.set(`${kind}:${id}`, {
      revisionId: before.revisionId ?? revisionId,
      decisionId: before.decisionId ?? decisionId,
    });
    return moved;
  });
}

const differs = (before: string | undefined, now: string | undefined): boolean =>
  before !== undefined && now !== undefined && before !== now;

/** Warnings: what no rule of the protocol forbids and no sound producer does. */
export function lintTrace(calls: readonly CallEntries[], entries: readonly TraceEntry[]): Issue[] {
  const known = new Map<string, BoundTo>();
  return [
    ...calls.flatMap((call) => [...lintOrder(call), ...lintInput(call), ...lintCode(call)]),
    ...entries.flatMap((entry) => lintTargets(entry, known)),
  ];
}
