import { digestOf } from "./canonical-json.js";
import type { SemanticToolEnvelope } from "./envelope.js";
import { errorIssue, type Issue, type ReaderMode } from "./envelope-issues.js";
import { envelopeOf, isEvent } from "./event.js";
import { isJsonObject, type JsonObject } from "./json.js";
import { parseJson } from "./json-text.js";
import type { Outcome } from "./receipt-codes.js";
import { digestInput, digestResult } from "./safe-content.js";
import { type CallEntries, joinCalls } from "./trace-calls.js";
import { listDuplicateIssues, listKeyIssues } from "./trace-keys.js";
import { lintTrace } from "./trace-lint.js";
import { itemsOf, readTrace, type TraceEntry } from "./trace-reading.js";

export interface TraceOptions {
  mode?: ReaderMode;
  /** Warnings as well; on by default. */
  lint?: boolean;
  /** Raw results by call id, to compare with the digests of the terminals. */
  results?: ReadonlyMap<string, unknown>;
}

/** One call of a trace. Without a terminal it is not known how it ended: that is no failure. */
export interface TraceCall {
  runId: string;
  operationId: string;
  callId: string;
  idempotencyKey: string | null;
  settled: boolean;
  outcome?: Outcome;
  code?: string;
  operationReceiptId?: string;
}

export interface TraceReport {
  /** Errors and warnings; a trace is sound when none of them is an error. */
  issues: Issue[];
  calls: TraceCall[];
}

/**
 * Checks a trace: an array of envelopes or of events v1 that carry them, or an object with such an array `events`.
 * Paths start with `/events/N` for events and for such an object, with `/N` for an envelope in an array. Every envelope
 * is checked by itself (version, then schema), and those that fit are joined to calls, which are checked against each
 * other: one input and one terminal, bound to each other; digests of a raw `input` member and of `results`; reused keys;
 * duplicates. Throws PrpError only for `results` without a canonical form.
 */
export function validateTrace(trace: unknown, options: TraceOptions = {}): TraceReport {
  const { mode = "strict", lint = true, results = new Map() } = options;
  const { entries, issues } = readTrace(trace, mode);
  const joined = joinCalls(entries);
  const { calls } = joined;
  const found = [
    ...issues,
    ...joined.issues,
    ...entries.flatMap((entry) => [...checkInputDigest(entry), ...checkResultDigest(entry, results)]),
    ...listKeyIssues(calls),
    ...listDuplicateIssues(calls, lint),
  ];
  if (lint) found.push(...lintTrace(calls, entries));
  return { issues: found, calls: calls.flatMap(summarize) };
}

function summarize({ input, terminal }: CallEntries): TraceCall[] {
  const envelope = (input ?? terminal)?.envelope;
  if (!envelope) return [];
  const { operationId, callId, correlation, idempotencyKey } = envelope;
  const call: TraceCall = {
    ...{ runId: correlation.runId, operationId, callId, idempotencyKey },
    settled: input !== undefined && terminal !== undefined,
  };
  return [terminal ? { ...call, ...pickEnd(terminal.envelope) } : call];
}

function pickEnd({ outcome, code, operationReceiptId }: SemanticToolEnvelope) {
  return { outcome, code, operationReceiptId };
}

const rawInputOf = (envelope: unknown): unknown => (isJsonObject(envelope) ? envelope.input : undefined);

/** Producers hash the arguments as they are; this package hashes them without the key and redacted. */
function checkInputDigest({ path, envelope }: TraceEntry): Issue[] {
  const raw = rawInputOf(envelope);
  const { digest } = envelope.content;
  if (envelope.phase !== "input" || raw === undefined) return [];
  if (digest === digestOf(raw) || digest === digestInput({ arguments: raw }).digest) return [];
  return [
    errorIssue("semantic_input_digest_mismatch", `${path}/content/digest`, "It is not that of the input member."),
  ];
}

function checkResultDigest({ path, envelope }: TraceEntry, results: ReadonlyMap<string, unknown>): Issue[] {
  if (envelope.phase === "input" || !results.has(envelope.callId)) return [];
  const raw = results.get(envelope.callId);
  const { digest } = envelope.content;
  if (digest === digestResult(raw).digest || digest === digestOf(raw)) return [];
  return [errorIssue("semantic_result_digest_mismatch", `${path}/content/digest`, "It is not that of the result.")];
}

export interface ParsedTrace extends TraceReport {
  /** The trace without raw `input` members; everything else as it came, unknown members as well. */
  trace: unknown;
}

/**
 * Reads and checks the text of a trace. Raw `input` members are compared with their digests and stripped, so that no
 * content gets into a log; with `refuseRawInput` each is an error. Throws PrpError `not_json` and `inexact_number`.
 */
export function parseTrace(text: string, options: TraceOptions & { refuseRawInput?: boolean } = {}): ParsedTrace {
  const trace = parseJson(text);
  const report = validateTrace(trace, options);
  if (options.refuseRawInput) report.issues.push(...listRawInputs(trace));
  return { trace: stripTrace(trace), ...report };
}

function listRawInputs(trace: unknown): Issue[] {
  const wrapped = !Array.isArray(trace);
  return (itemsOf(trace) ?? []).flatMap((item, index) => {
    const event = isEvent(item);
    if (rawInputOf(event ? envelopeOf(item) : item) === undefined) return [];
    const path = `${wrapped || event ? "/events" : ""}/${index}${event ? "/payload/semantic_tool" : ""}/input`;
    return [errorIssue("raw_input_refused", path, "An envelope holds no content.")];
  });
}

function stripTrace(trace: unknown): unknown {
  if (Array.isArray(trace)) return trace.map(stripItem);
  return isJsonObject(trace) && Array.isArray(trace.events) ? { ...trace, events: trace.events.map(stripItem) } : trace;
}

function stripItem(item: unknown): unknown {
  if (!isEvent(item)) return stripInput(item);
  const { payload } = item;
  if (!isJsonObject(payload) || rawInputOf(payload.semantic_tool) === undefined) return item;
  return { ...item, payload: { ...payload, semantic_tool: stripInput(payload.semantic_tool) } };
}

function stripInput(envelope: unknown): unknown {
  if (rawInputOf(envelope) === undefined) return envelope;
  const { input: _raw, ...rest } = envelope as JsonObject;
  return rest;
}
