import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormatsModule from "ajv-formats";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { scaled, testSeed } from "../../../test/scale.js";
import { buildIdentity, operationReceiptId, type RawCallIdentity } from "./call-identity.js";
import { canonicalJson, digestOf } from "./canonical-json.js";
import type { SemanticToolEnvelope } from "./envelope.js";
import { validateEnvelope } from "./envelope-issues.js";
import { BOUNDARIES, RECEIPT_CODES, type ReceiptCode } from "./receipt-codes.js";
import { buildInput, buildReconciled, buildResult, type Terminal } from "./receipts.js";
import { REFERENCE_KINDS, type Reference, TARGET_KINDS, type Target } from "./references.js";

const addFormats = addFormatsModule as unknown as (ajv: Ajv2020) => void;
const ajv = new Ajv2020({ allErrors: true });
addFormats(ajv);
const schema = readFileSync(new URL("../schemas/semantic-tool.schema.json", import.meta.url), "utf8");
const matchesSchema = ajv.compile(JSON.parse(schema));

function expectValid(envelope: SemanticToolEnvelope): void {
  matchesSchema(envelope);
  expect(matchesSchema.errors ?? []).toEqual([]);
  expect(validateEnvelope(envelope)).toEqual([]);
  expect(validateEnvelope(JSON.parse(canonicalJson(envelope)))).toEqual([]);
}

const raw: RawCallIdentity = {
  operationId: "write_document",
  callId: "call_1",
  correlation: { runId: "run_1", normalizedSessionId: "session_1", turnId: "turn_1", itemId: "item_1" },
  idempotencyKey: "once",
};
const identity = buildIdentity(raw);
const receiptId = operationReceiptId({ ...identity, runId: "run_1" });
const task: Reference = { kind: "task", id: "task_1" };
const result = { content: [{ type: "text", text: "done" }], structuredContent: { ok: true }, _meta: { trace: 1 } };
const { _meta, ...hashed } = result;
const CODES = Object.keys(RECEIPT_CODES) as ReceiptCode[];

describe("input envelopes", () => {
  test("have the digest of the arguments and nothing of them", () => {
    const args = { path: "notes/plan", body: "text" };
    expect(buildInput(identity, { arguments: args })).toEqual({
      schema: "paperclip.prp.semantic_tool.v1",
      schemaVersion: 1,
      phase: "input",
      ...raw,
      content: { digest: digestOf(args), redactionDisposition: "digest_only", references: [] },
    });
  });

  test("no arguments are {}, and the key among them is no part of them", () => {
    const digest = (args: unknown) => buildInput(identity, { arguments: args }).content.digest;
    expect(digest(undefined)).toBe(digestOf({}));
    expect(digest({ a: 1, idempotencyKey: "once" })).toBe(digestOf({ a: 1 }));
    expect(digest({ a: { idempotencyKey: "once" } })).toBe(digestOf({ a: { idempotencyKey: "once" } }));
  });

  test.each<[name: string, args: unknown, withheld: string[], hashedAs: unknown]>([
    ["withheld", { query: "who", limit: 3 }, ["query"], { query: "[REDACTED]", limit: 3 }],
    ["withheld, whatever it is", { subject: { name: "x", token: "y" } }, ["subject"], { subject: "[REDACTED]" }],
    ["named like a secret", { a: [{ password: "x", b: 1 }] }, [], { a: [{ password: "[REDACTED]", b: 1 }] }],
    ["both", { query: "q", api_key: "k" }, ["query"], { query: "[REDACTED]", api_key: "[REDACTED]" }],
    ["without canonical text", { a: 2 ** 60 }, [], "[REDACTED]"],
    ["not JSON", { a: undefined }, [], "[REDACTED]"],
  ])("what is %s is redacted before it is hashed", (_name, args, withheld, hashedAs) => {
    const { content } = buildInput(identity, { arguments: args, withheld, references: [task], vouched: true });
    expect(content).toEqual({ digest: digestOf(hashedAs), redactionDisposition: "redacted", references: [task] });
  });

  test("a withheld argument that is not there changes nothing", () => {
    const { content } = buildInput(identity, { arguments: { limit: 1 }, withheld: ["query", "toString"] });
    expect(content).toMatchObject({ digest: digestOf({ limit: 1 }), redactionDisposition: "digest_only" });
  });

  test("references are listed, and vouched for only by who says so", () => {
    const open = (vouched: boolean, references: Reference[]) =>
      buildInput(identity, { arguments: {}, references, vouched }).content.redactionDisposition;
    expect([open(false, [task]), open(true, [task]), open(true, [])]).toEqual([
      "digest_only",
      "allowlisted_references",
      "digest_only",
    ]);
  });

  test("only bare references of known kinds pass: in order, each once, 200 at most", () => {
    const references = [
      { ...task, title: "canary" },
      { kind: "page", id: "canary" },
      { kind: "audit", id: "canary text" },
      { kind: "audit", id: "ghp_canary0123456789abcd" },
      { kind: "operation", id: "op_1" },
      { kind: "task", id: "task_1", more: 1 },
      { kind: "audit", id: "task_1" },
    ] as Reference[];
    const { content } = buildInput(identity, { arguments: {}, references });
    expect(content.references).toEqual([task, { kind: "operation", id: "op_1" }, { kind: "audit", id: "task_1" }]);
    const many = Array.from({ length: 500 }, (_, index): Reference => ({ kind: "wake", id: `w${index >> 1}` }));
    const capped = buildInput(identity, { arguments: {}, references: many }).content.references;
    expect(capped).toHaveLength(200);
    expect(capped[199]).toEqual({ kind: "wake", id: "w199" });
  });

  test("an identity that was not built is refused", () => {
    for (const change of [{ callId: "a b" }, { idempotencyKey: "" }, { correlation: { runId: "canary run" } }]) {
      const build = () => buildInput({ ...identity, ...change } as typeof identity, { arguments: {} });
      expect(build).toThrow(expect.objectContaining({ code: "bad_envelope" }));
      expect(build).not.toThrow(/canary/);
    }
  });
});

describe("terminal envelopes", () => {
  test.each(CODES)("%s: facts from the table, content by outcome", (code) => {
    const { outcome, boundary, retryable } = RECEIPT_CODES[code];
    const shown = ["succeeded", "duplicate", "failed"].includes(outcome);
    for (const [phase, build] of [
      ["result", buildResult],
      ["reconciled", buildReconciled],
    ] as const) {
      const envelope = build(identity, { code, result });
      expect(envelope).toMatchObject({ phase, outcome, code, retryable, authorizationBoundary: boundary, ...raw });
      expect(envelope.operationReceiptId).toBe(receiptId);
      expect(envelope.content.digest).toBe(digestOf(shown ? hashed : { code }));
      expect(build(identity, { code }).content.digest).toBe(digestOf({ code }));
      const disposition = code === "protected_data_denied" ? "redacted" : "digest_only";
      expect(envelope.content.redactionDisposition).toBe(disposition);
      expect("duplicateOfReceiptId" in envelope).toBe(code === "duplicate");
      for (const unknown of ["auditReceiptId", "currentRevision", "artifactRefs", "targets", "causalRefs", "provider"])
        expect(envelope).not.toHaveProperty(unknown);
      expectValid(envelope);
    }
  });

  test("a duplicate has the original's receipt and no audit entry of its own", () => {
    const terminal: Terminal = { code: "duplicate", result, auditReceiptId: "aud_1", currentRevision: "ver_1" };
    expect(buildResult(identity, { ...terminal, duplicateOf: "semantic_receipt:0a" })).toMatchObject({
      operationReceiptId: "semantic_receipt:0a",
      duplicateOfReceiptId: "semantic_receipt:0a",
      retryable: false,
      currentRevision: "ver_1",
    });
    const derived = buildResult(identity, terminal);
    expect([derived.operationReceiptId, derived.duplicateOfReceiptId]).toEqual([receiptId, receiptId]);
    expect(derived).not.toHaveProperty("auditReceiptId");
  });

  test("a secret in the result is redacted before it is hashed", () => {
    const leak = {
      content: [{ type: "text", text: '{"password":"hunter2"}' }],
      structuredContent: { password: "hunter2" },
    };
    expect(buildResult(identity, { code: "ok", result: leak, references: [task], vouched: true }).content).toEqual({
      digest: digestOf({
        content: [{ type: "text", text: "[REDACTED]" }],
        structuredContent: { password: "[REDACTED]" },
      }),
      redactionDisposition: "redacted",
      references: [task],
    });
  });

  test("everything that is known is there", () => {
    const envelope = buildResult(identity, {
      code: "ok",
      boundary: "governed_action",
      auditReceiptId: "aud_1",
      currentRevision: 0,
      targets: [
        { kind: "document_revision", id: "rev_1", immutable: true, revisionId: "ver_1", decisionId: "dec 1" },
        { kind: "document_revision", id: "rev_1", immutable: true, revisionId: "ver_1" },
        { kind: "task", id: "task_1", immutable: true } as unknown as Target,
        { kind: "decision", id: "dec_1", immutable: false, note: "canary" } as unknown as Target,
      ],
      artifactRefs: [task, { kind: "artifact", id: "exp_1" }],
      causalRefs: [
        { kind: "wake", id: "z" },
        { kind: "audit", id: "a" },
      ],
    });
    expect(envelope).toMatchObject({
      authorizationBoundary: "governed_action",
      auditReceiptId: "aud_1",
      currentRevision: 0,
      artifactRefs: [{ kind: "artifact", id: "exp_1" }],
      causalRefs: [
        { kind: "wake", id: "z" },
        { kind: "audit", id: "a" },
      ],
    });
    expect(envelope.targets).toEqual([
      { kind: "document_revision", id: "rev_1", immutable: true, revisionId: "ver_1" },
      { kind: "decision", id: "dec_1", immutable: true },
    ]);
    expectValid(envelope);
  });

  test("a code that is not in the table and a revision that is none are refused", () => {
    const build = (terminal: object) => () => buildResult(identity, terminal as Terminal);
    for (const code of ["canary", "toString", undefined])
      expect(build({ code })).toThrow(expect.objectContaining({ code: "unknown_code", pointer: "/code" }));
    for (const currentRevision of [-1, 1.5, null])
      expect(build({ code: "ok", currentRevision })).toThrow(expect.objectContaining({ code: "bad_envelope" }));
  });
});

const anyId = fc.oneof(fc.string({ unit: "binary" }), fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._:-]*$/), fc.integer());
const anyText = anyId.map(String);
const anyReference = fc.record({ kind: fc.constantFrom(...REFERENCE_KINDS), id: anyText, extra: fc.anything() });
const anyTarget = fc.record(
  { kind: fc.constantFrom(...TARGET_KINDS), id: anyText, immutable: fc.constant(true as const), revisionId: anyText },
  { requiredKeys: ["kind", "id", "immutable"] },
);
const anyIdentity = fc.record({
  operationId: anyId,
  callId: anyId,
  correlation: fc.record(
    { runId: anyId, normalizedSessionId: anyId, turnId: anyId, itemId: anyId, requestId: anyId },
    { requiredKeys: ["runId", "normalizedSessionId", "turnId", "itemId"] },
  ),
  idempotencyKey: fc.option(fc.string({ unit: "binary", minLength: 1, maxLength: 240 })),
});
const visible = { references: fc.array(anyReference), vouched: fc.boolean() };
const anyTerminal = fc.record(
  {
    code: fc.constantFrom(...CODES),
    boundary: fc.constantFrom(...BOUNDARIES),
    result: fc.anything(),
    ...visible,
    auditReceiptId: anyText,
    currentRevision: fc.oneof(fc.nat(), anyText),
    targets: fc.array(anyTarget),
    artifactRefs: fc.array(anyReference),
    causalRefs: fc.array(anyReference),
    duplicateOf: anyText,
  },
  { requiredKeys: ["code"] },
);

describe("whatever goes in", () => {
  const runs = { seed: testSeed(), numRuns: Math.max(300, scaled(10_000)) };

  test("each envelope fits the schema", () => {
    const content = fc.record({ arguments: fc.anything(), withheld: fc.array(fc.string()), ...visible });
    fc.assert(
      fc.property(anyIdentity, content, anyTerminal, (given, input, terminal) => {
        const call = buildIdentity(given);
        expectValid(buildInput(call, input));
        expectValid(buildResult(call, terminal));
        expectValid(buildReconciled(call, terminal));
      }),
      runs,
    );
  });

  test("no text of it comes out", () => {
    const place = fc.constantFrom<((text: string) => unknown)[]>(
      (text) => text,
      (text) => ({ [text]: 1 }),
      (text) => [[{ a: [text] }]],
      (text) => ({ password: text, nested: { url: `https://example.org/?token=${text}` } }),
    );
    const frame = fc.constantFrom(
      "CANARY text",
      "CANARY/1",
      "Bearer CANARY0123456789",
      "ghp_CANARY0123456789",
      "_CANARY",
    );
    fc.assert(
      fc.property(place, frame, anyTerminal, (put, text, terminal) => {
        const correlation = { runId: text, normalizedSessionId: text, turnId: text, itemId: text, requestId: text };
        const call = buildIdentity({ operationId: text, callId: text, correlation, idempotencyKey: text });
        const references: Reference[] = [{ kind: "task", id: text }, { ...task, note: text } as Reference];
        const lists = { references, artifactRefs: references, causalRefs: references };
        const targets: Target[] = [{ kind: "decision", id: "d", immutable: true, revisionId: text, decisionId: text }];
        const ids = { auditReceiptId: text, currentRevision: text, duplicateOf: text };
        const built = [
          buildInput(call, { arguments: put(text), withheld: [text], references }),
          buildResult(call, { ...terminal, ...lists, ...ids, targets, result: put(text) }),
          buildReconciled(call, {
            ...terminal,
            ...lists,
            ...ids,
            targets,
            result: { _meta: text, content: put(text) },
          }),
        ];
        expect(JSON.stringify(built)).not.toContain("CANARY");
      }),
      runs,
    );
  });
});
