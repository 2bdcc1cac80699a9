import { canonicalJson } from "./canonical-json.js";
import { errorIssue, type Issue } from "./envelope-issues.js";
import { BOUND_IDS } from "./event.js";
import { appendPointer } from "./json-pointer.js";
import type { TraceEntry } from "./trace-reading.js";

/** The envelopes of one call. */
export interface CallEntries {
  input?: TraceEntry;
  terminal?: TraceEntry;
}

const callKey = ({ envelope }: TraceEntry): string => JSON.stringify([envelope.correlation.runId, envelope.callId]);

/**
 * Puts the envelopes together by run and call, in the order of the first one of each. A call has one input and one
 * terminal, and they are bound: a result by its whole correlation, a reconciled by the four required ids.
 */
export function joinCalls(entries: readonly TraceEntry[]): { calls: CallEntries[]; issues: Issue[] } {
  const calls = new Map<string, CallEntries>();
  const issues: Issue[] = [];
  for (const entry of entries) if (entry.envelope.phase === "input") issues.push(...addInput(calls, entry));
  const lone = indexLoneCalls(calls.values());
  for (const entry of entries) if (entry.envelope.phase !== "input") issues.push(...addTerminal(calls, entry, lone));
  for (const { input, terminal } of calls.values())
    if (input && !terminal) issues.push(errorIssue("missing_terminal", input.path, "The call has no result."));
  return { calls: [...calls.values()], issues };
}

function addInput(calls: Map<string, CallEntries>, entry: TraceEntry): Issue[] {
  const key = callKey(entry);
  if (calls.has(key)) return [errorIssue("second_input", `${entry.path}/phase`, "The call has an input already.")];
  calls.set(key, { input: entry });
  return [];
}

/** Calls whose id no other call has: a terminal of such an id that names another run is theirs, and badly bound. */
function indexLoneCalls(calls: Iterable<CallEntries>): Map<string, CallEntries | undefined> {
  const lone = new Map<string, CallEntries | undefined>();
  for (const call of calls) {
    const id = call.input?.envelope.callId ?? "";
    lone.set(id, lone.has(id) ? undefined : call);
  }
  return lone;
}

function addTerminal(
  calls: Map<string, CallEntries>,
  entry: TraceEntry,
  lone: ReadonlyMap<string, CallEntries | undefined>,
): Issue[] {
  const key = callKey(entry);
  const call = calls.get(key) ?? lone.get(entry.envelope.callId);
  if (!call) {
    if (!entry.marker) calls.set(key, { terminal: entry });
    return [errorIssue("missing_input", entry.path, "The call has no input.")];
  }
  if (call.terminal && !entry.marker)
    return [
      errorIssue("second_terminal", `${entry.path}/phase`, "The call has one input and one result or reconciled."),
    ];
  if (!entry.marker) call.terminal = entry;
  return call.input ? listBindingIssues(call.input, entry) : [];
}

function listBindingIssues(input: TraceEntry, terminal: TraceEntry): Issue[] {
  const apart = (["operationId", "idempotencyKey"] as const).filter(
    (member) => input.envelope[member] !== terminal.envelope[member],
  );
  const pointers = [...apart.map((member) => `/${member}`), ...listUnboundIds(input, terminal)];
  return pointers.map((pointer) =>
    errorIssue("binding_mismatch", terminal.path + pointer, "This is not what the call's input has."),
  );
}

function listUnboundIds(input: TraceEntry, terminal: TraceEntry): string[] {
  const given = input.envelope.correlation as unknown as Record<string, unknown>;
  const answered = terminal.envelope.correlation as unknown as Record<string, unknown>;
  const names: readonly string[] =
    terminal.envelope.phase === "result" ? [...new Set([...Object.keys(given), ...Object.keys(answered)])] : BOUND_IDS;
  const apart = names.filter((name) => canonicalMember(given, name) !== canonicalMember(answered, name));
  return apart.map((name) => appendPointer("/correlation", name));
}

function canonicalMember(members: Record<string, unknown>, name: string): string {
  return Object.hasOwn(members, name) ? canonicalJson(members[name]) : "";
}
