import { describe, expect, test } from "vitest";
import { isReceiptCode, RECEIPT_CODES, type ReceiptCode } from "./receipt-codes.js";

/** The decided table, a row per code: outcome, code, boundary, and whether a new call may do better. */
const ROWS = `
succeeded   ok                               active_task     no
succeeded   proposal_stored                  governed_action no
duplicate   duplicate                        revision        no
conflict    idempotency_conflict             revision        no
denied      idempotency_in_progress          revision        yes
conflict    result_erased                    revision        no
conflict    call_id_conflict                 revision        no
conflict    document_revision_conflict       revision        yes
conflict    path_conflict                    revision        no
conflict    revision_resolved                governed_action no
denied      required_claim_missing           grant           no
denied      actor_role_denied                actor           no
denied      reviewer_denied                  governed_action no
denied      company_mismatch                 company         no
denied      input_invalid                    active_task     no
denied      input_too_large                  active_task     no
denied      protected_data_denied            active_task     no
denied      target_not_found                 active_task     no
unavailable operation_absent                 grant           no
unavailable tool_not_exposed                 grant           no
unavailable operation_unsupported            grant           no
denied      approval_required                governed_action yes
denied      approval_denied                  governed_action no
denied      approval_expired                 governed_action yes
denied      delegated_authorization_required grant           yes
unavailable rate_limited                     active_task     yes
unavailable context_locked                   lock            yes
unavailable provider_unavailable             active_task     yes
failed      tool_failed                      active_task     no
failed      output_invalid                   active_task     no
failed      call_cancelled                   active_task     yes
failed      internal                         active_task     yes
`
  .trim()
  .split("\n")
  .map((line) => line.split(/ +/) as [string, ReceiptCode, string, string]);

describe("receipt codes", () => {
  test.each(ROWS)("%s %s %s %s", (outcome, code, boundary, retryable) => {
    expect(RECEIPT_CODES[code]).toEqual({ outcome, boundary, retryable: retryable === "yes" });
    expect(isReceiptCode(code)).toBe(true);
  });

  test("there is no other", () => {
    expect(Object.keys(RECEIPT_CODES).sort()).toEqual(ROWS.map(([, code]) => code).sort());
    expect(["toString", "document_written", ""].some(isReceiptCode)).toBe(false);
  });
});
