import { errorIssue, type Issue, warningIssue } from "./envelope-issues.js";
import type { CallEntries } from "./trace-calls.js";
import type { TraceEntry } from "./trace-reading.js";

interface SettledCall {
  input: TraceEntry;
  terminal: TraceEntry;
}

const isSettled = (call: CallEntries): call is SettledCall => call.input !== undefined && call.terminal !== undefined;

function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

/** A failure that may be retried did nothing. */
function isDone({ outcome, retryable }: TraceEntry["envelope"]): boolean {
  return outcome === "succeeded" || outcome === "duplicate" || (outcome === "failed" && retryable !== true);
}

/** Under one key of one operation in one run, only the input that succeeded first may be answered by a result. */
export function listKeyIssues(calls: readonly CallEntries[]): Issue[] {
  const keyed = calls.filter(isSettled).filter(({ input }) => input.envelope.idempotencyKey !== null);
  const groups = groupBy(keyed, ({ input: { envelope } }) =>
    JSON.stringify([envelope.correlation.runId, envelope.operationId, envelope.idempotencyKey]),
  );
  return [...groups.values()].flatMap(listGroupIssues);
}

function listGroupIssues(calls: readonly SettledCall[]): Issue[] {
  const first = calls.findIndex(({ terminal }) => terminal.envelope.outcome === "succeeded");
  const original = calls[first];
  if (!original) return [];
  const { digest } = original.input.envelope.content;
  const apart = calls
    .slice(first + 1)
    .filter(({ input, terminal }) => isDone(terminal.envelope) && input.envelope.content.digest !== digest);
  return apart.map(({ input }) =>
    errorIssue(
      "idempotency_digest_mismatch",
      `${input.path}/content/digest`,
      `The key belongs to the input ${digest} of call ${original.input.envelope.callId}.`,
    ),
  );
}

/** Every duplicate names the receipt of a call in the trace that did it; with `lint`, also that it repeats its result. */
export function listDuplicateIssues(calls: readonly CallEntries[], lint: boolean): Issue[] {
  const terminals = calls.flatMap(({ terminal }) => terminal ?? []);
  const originals = new Map<string, TraceEntry>();
  for (const terminal of terminals) {
    const { outcome } = terminal.envelope;
    const key = receiptKey(terminal, terminal.envelope.operationReceiptId);
    if ((outcome === "succeeded" || outcome === "failed") && !originals.has(key)) originals.set(key, terminal);
  }
  const duplicates = terminals.filter(({ envelope }) => envelope.outcome === "duplicate");
  return duplicates.flatMap((duplicate) => {
    const named = duplicate.envelope.duplicateOfReceiptId;
    const original = named && originals.get(receiptKey(duplicate, named));
    if (original) return lint ? lintDuplicate(duplicate, original) : [];
    const path = named ? `${duplicate.path}/duplicateOfReceiptId` : duplicate.path;
    return [errorIssue("duplicate_unresolved", path, "The trace has no call with the receipt this is a duplicate of.")];
  });
}

// A receipt id is derived from the run, so another operation's or run's is not the same receipt.
function receiptKey({ envelope }: TraceEntry, receiptId: string | undefined): string {
  return JSON.stringify([envelope.correlation.runId, envelope.operationId, receiptId]);
}

function lintDuplicate(duplicate: TraceEntry, original: TraceEntry): Issue[] {
  const { content, operationReceiptId, duplicateOfReceiptId } = duplicate.envelope;
  const issues: Issue[] = [];
  if (operationReceiptId !== duplicateOfReceiptId)
    issues.push(
      warningIssue("duplicate_receipt_mismatch", `${duplicate.path}/operationReceiptId`, "It is not the original's."),
    );
  if (content.digest !== original.envelope.content.digest)
    issues.push(
      warningIssue("duplicate_digest_mismatch", `${duplicate.path}/content/digest`, "It is not the original's."),
    );
  return issues;
}
