import { buildIdentity, buildInput, buildResult, validateTrace } from "@satchel/prp";

const identity = buildIdentity({
  operationId: "crm:find customer",
  callId: 7,
  correlation: { runId: "run_1", normalizedSessionId: "session_1", turnId: "turn_1", itemId: "item_1" },
  idempotencyKey: null,
});
const input = buildInput(identity, { arguments: { customer: "c-17", api_key: "k-1" } });
const result = buildResult(identity, { code: "ok", result: { content: [{ type: "text", text: "none" }] } });

console.log(JSON.stringify(input, null, 2));
console.log(result.outcome, result.authorizationBoundary, result.operationReceiptId);
console.log(validateTrace([input, result]).issues.length, "issues");
console.log(validateTrace([result]).issues);
