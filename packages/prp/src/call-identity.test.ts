import { describe, expect, test } from "vitest";
import { buildIdentity, operationReceiptId, type RawCallIdentity } from "./call-identity.js";

const raw: RawCallIdentity = {
  operationId: "write_document",
  callId: "call_1",
  correlation: { runId: "run_1", normalizedSessionId: "session_1", turnId: "turn_1", itemId: "item_1" },
  idempotencyKey: null,
};

const refusal = (identity: unknown) => {
  try {
    buildIdentity(identity as RawCallIdentity);
  } catch (error) {
    const { code, pointer, message } = error as { code: string; pointer: string; message: string };
    expect(message).not.toContain("canary");
    return [code, pointer];
  }
  return [];
};

describe("call identity", () => {
  test("stable ids pass unchanged", () => {
    expect(buildIdentity(raw)).toEqual(raw);
    const withRequest = { ...raw, correlation: { ...raw.correlation, requestId: "request_1" }, idempotencyKey: "once" };
    expect(buildIdentity(withRequest)).toEqual(withRequest);
    expect(Object.keys(buildIdentity(raw).correlation)).not.toContain("requestId");
  });

  test("everything else is mapped: no text gets through", () => {
    const texts = ["canary one", "canary/two", `canary${"x".repeat(200)}`, "ghp_canary0123456789abcd"];
    for (const text of texts) {
      const correlation = { runId: text, normalizedSessionId: text, turnId: text, itemId: text, requestId: text };
      const identity = buildIdentity({ operationId: text, callId: text, correlation, idempotencyKey: text });
      expect(JSON.stringify(identity)).not.toContain("canary");
      expect(identity.idempotencyKey).toBe(identity.callId);
    }
    expect(buildIdentity({ ...raw, callId: 1 }).callId).not.toBe(buildIdentity({ ...raw, callId: "1" }).callId);
  });

  test.each<[pointer: string, change: object]>([
    ["/callId", { callId: undefined }],
    ["/operationId", { operationId: { canary: 1 } }],
    ["/correlation/turnId", { correlation: { ...raw.correlation, turnId: Number.NaN } }],
    ["/correlation/requestId", { correlation: { ...raw.correlation, requestId: null } }],
    ["/idempotencyKey", { idempotencyKey: "" }],
    ["/idempotencyKey", { idempotencyKey: "canary ".repeat(40) }],
    ["/idempotencyKey", { idempotencyKey: 7 }],
    ["/idempotencyKey", { idempotencyKey: undefined }],
  ])("a bad %s is refused", (pointer, change) => {
    expect(refusal({ ...raw, ...change })).toEqual(["bad_identity", pointer]);
  });

  test("a key has 240 characters, not code units", () => {
    expect(buildIdentity({ ...raw, idempotencyKey: "😀".repeat(240) }).idempotencyKey).toMatch(/^mapped:/);
    expect(refusal({ ...raw, idempotencyKey: "😀".repeat(241) })).toEqual(["bad_identity", "/idempotencyKey"]);
  });

  test.each([
    ["write_document", "call_a", "write_once", "semantic_receipt:cbf3aeea247c69b852e310c2a9f384b5"],
    ["get_task_context", "call_receipt_test", null, "semantic_receipt:8c772cab403f4ece77f7bb1fd71cf5d5"],
  ])("the receipt of %s, call %s, key %s", (operationId, callId, idempotencyKey, expected) => {
    expect(operationReceiptId({ runId: "run_receipt_test", operationId, callId, idempotencyKey })).toBe(expected);
  });

  test("the calls under one key share a receipt, others do not", () => {
    const call = { runId: "run_1", operationId: "write", callId: "a", idempotencyKey: "k" };
    expect(operationReceiptId({ ...call, callId: "b" })).toBe(operationReceiptId(call));
    for (const change of [
      { runId: "run_2" },
      { operationId: "read" },
      { idempotencyKey: "l" },
      { idempotencyKey: null },
    ])
      expect(operationReceiptId({ ...call, ...change })).not.toBe(operationReceiptId(call));
  });
});
