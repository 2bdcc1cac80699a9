import { operationReceiptId } from "./call-identity.js";
import { digestOf } from "./canonical-json.js";
import type { SemanticToolEnvelope } from "./envelope.js";
import { exportEvent, type SemanticToolEvent } from "./event.js";

export type Json = Record<string, unknown>;

/** A call of a foreign producer: what it hashes, and how it ended. */
export interface Scenario {
  operation: string;
  callId?: string;
  key?: string | null;
  args?: unknown;
  inputMembers?: Json;
  inputContent?: Json;
  correlation?: Json;
  phase?: "result" | "reconciled";
  value?: unknown;
  content?: Json;
  end: Json;
}

let calls = 0;

function receiptOf({ operation, key = null }: Scenario, callId: string): string {
  return operationReceiptId({ runId: "run_7", operationId: operation, callId, idempotencyKey: key });
}

function headOf(scenario: Scenario, callId: string): Json {
  const correlation = { runId: "run_7", normalizedSessionId: "session_7", turnId: "turn_7", itemId: `item_${callId}` };
  return {
    schema: "paperclip.prp.semantic_tool.v1",
    schemaVersion: 1,
    operationId: scenario.operation,
    callId,
    correlation: { ...correlation, ...scenario.correlation },
    idempotencyKey: scenario.key ?? null,
  };
}

function contentOf(value: unknown, extra: Json = {}): Json {
  return { digest: digestOf(value), redactionDisposition: "digest_only", references: [], ...extra };
}

export function play(scenario: Scenario): Json[] {
  const callId = scenario.callId ?? `call_${++calls}`;
  const head = headOf(scenario, callId);
  const content = contentOf(scenario.args ?? {}, scenario.inputContent);
  const ended = contentOf(scenario.value ?? { code: scenario.end.code }, scenario.content);
  const facts = { retryable: false, operationReceiptId: receiptOf(scenario, callId), ...scenario.end };
  return [
    { ...head, phase: "input", content, ...scenario.inputMembers },
    { ...head, phase: scenario.phase ?? "result", content: ended, ...facts },
  ];
}

export function end(facts: string, more: Json = {}): Json {
  const [outcome, code, authorizationBoundary] = facts.split(" ");
  return { outcome, code, authorizationBoundary, ...more };
}
export const ok = (boundary = "active_task", more: Json = {}) => end(`succeeded ok ${boundary}`, more);
const task = { kind: "task", id: "task_9" };
const vouched = {
  redactionDisposition: "allowlisted_references",
  references: [{ kind: "artifact", id: "artifact_3" }],
};

export const deliver: Scenario = {
  operation: "deliver_report",
  key: "deliver_once",
  args: { title: "Report", task: "task_9", idempotencyKey: "deliver_once" },
  inputContent: { references: [task] },
  value: { artifact: "artifact_3" },
  content: vouched,
  end: ok("active_task", {
    currentRevision: 2,
    auditReceiptId: "audit_1",
    artifactRefs: [
      { kind: "artifact", id: "artifact_3" },
      { kind: "work_product", id: "product_3" },
    ],
  }),
};
export const write: Scenario = {
  operation: "write_page",
  callId: "call_write",
  key: "write_2",
  args: { page: "plan", base: "rev_5" },
  value: { revision: "rev_6" },
  end: ok("revision", { currentRevision: "rev_6", auditReceiptId: "audit_3" }),
};
const writeReceipt = receiptOf(write, "call_write");
export const again: Scenario = {
  ...write,
  callId: "call_again",
  end: end("duplicate duplicate revision", {
    operationReceiptId: writeReceipt,
    duplicateOfReceiptId: writeReceipt,
    currentRevision: "rev_6",
  }),
};

export const ACCEPTED: [name: string, scenarios: Scenario[]][] = [
  ["1 a deliverable is registered", [deliver]],
  [
    "2 a decision without its claim",
    [
      {
        operation: "decide",
        key: "decide_once",
        inputContent: { redactionDisposition: "redacted" },
        content: { redactionDisposition: "redacted" },
        end: end("denied required_claim_missing grant", { auditReceiptId: "audit_2", currentRevision: 4 }),
      },
    ],
  ],
  [
    "3 a stale base",
    [
      {
        operation: "write_page",
        key: "write_1",
        args: { page: "plan", base: "rev_4" },
        end: end("conflict document_revision_conflict revision", { retryable: true, currentRevision: "rev_5" }),
      },
    ],
  ],
  ["4 a fresh retry", [write]],
  ["5 an exact retry", [write, again]],
  [
    "6 a question to a person",
    [
      {
        operation: "ask_person",
        key: "ask_once",
        correlation: { requestId: "request_1" },
        end: ok("governed_action", {
          currentRevision: 8,
          targets: [
            { kind: "interaction", id: "interaction_1", immutable: true, revisionId: "rev_6" },
            { kind: "approval", id: "approval_1", immutable: true, revisionId: "rev_6", decisionId: "decision_1" },
          ],
          causalRefs: "document_revision interaction approval decision wake monitor"
            .split(" ")
            .map((kind) => ({ kind, id: `${kind}_1` })),
        }),
      },
    ],
  ],
  [
    "7 unknown members everywhere",
    [
      {
        operation: "read_context",
        correlation: { later: { a: [1] } },
        inputMembers: { later: 1 },
        inputContent: { later: true, references: [{ ...task, later: null }] },
        content: { later: "x" },
        end: ok("active_task", {
          later: { b: {} },
          targets: [{ kind: "decision", id: "d", immutable: true, later: 1 }],
        }),
      },
    ],
  ],
  ["8 an outcome learnt after a restart", [{ ...deliver, phase: "reconciled" }]],
  [
    "8b with a code of its own",
    [{ ...deliver, phase: "reconciled", end: end("succeeded recovered_receipt active_task") }],
  ],
  [
    "9 generic ends",
    [
      {
        operation: "search",
        callId: "c9a",
        end: end("succeeded semantic_tool_succeeded active_task", { operationReceiptId: "operation_c9a" }),
      },
      {
        operation: "search",
        callId: "c9b",
        end: end("failed semantic_tool_failed active_task", { operationReceiptId: "operation_c9b" }),
      },
    ],
  ],
  ["10 a duplicate with the original's code", [write, { ...again, end: { ...again.end, code: "ok" } }]],
  [
    "11 the key with other input",
    [
      write,
      {
        ...write,
        callId: "call_other",
        args: { page: "other" },
        end: end("conflict idempotency_conflict revision"),
      },
    ],
  ],
  [
    "12 the key while the first runs",
    [
      {
        ...write,
        callId: "call_early",
        end: end("denied idempotency_in_progress revision", { retryable: true }),
      },
      write,
    ],
  ],
  [
    "13 no store for receipts",
    [{ operation: "write_page", key: "k", end: end("denied receipt_store_unavailable revision") }],
  ],
  [
    "14 an output that breaks its schema",
    [{ operation: "read", end: end("failed binding_output_invalid active_task") }],
  ],
  [
    "15 ownership lost and regained",
    [
      { operation: "write_page", key: "k15", end: end("denied task_ownership_denied lock") },
      { operation: "write_page", key: "k15", args: { page: "b" }, end: ok("revision") },
    ],
  ],
  ["16 another company", [{ operation: "read", end: end("denied company_mismatch company") }]],
  [
    "17 a secret in the input",
    [
      {
        operation: "write_page",
        key: "k",
        content: { redactionDisposition: "redacted" },
        end: end("denied protected_data_denied active_task"),
      },
    ],
  ],
  [
    "18 a foreign task",
    [{ operation: "read", end: end("denied company_scope_violation company", { retryable: true }) }],
  ],
  ["19 a receipt recovered, then asked for again", [{ ...write, phase: "reconciled" }, again]],
];

export const envelopesOf = (scenarios: Scenario[]): Json[] => scenarios.flatMap(play);

export function eventsOf(envelopes: Json[]): SemanticToolEvent[] {
  return envelopes.map((envelope, index) =>
    exportEvent(envelope as unknown as SemanticToolEnvelope, {
      sourceEventId: `event_${index}`,
      sourceSeq: index + 1,
      sourceInstanceId: "runner_1",
      sourceKind: "runner",
      emittedAt: "2026-01-02T03:04:05.000Z",
    }),
  );
}

/** A copy with one member set, or taken away by undefined. */
export function change<Value>(value: Value, pointer: string, member: unknown): Value {
  // Through text, as a clone keeps what two envelopes share.
  const copy: Value = JSON.parse(JSON.stringify(value));
  const steps = pointer.split("/").slice(1);
  const last = steps.pop()!;
  const parent = steps.reduce((node, step) => node[step] as Json, copy as Json);
  if (member === undefined) delete parent[last];
  else parent[last] = member;
  return copy;
}
