export const OUTCOMES = ["succeeded", "denied", "conflict", "duplicate", "unavailable", "failed"] as const;

export type Outcome = (typeof OUTCOMES)[number];

/** The fence that decided, or on success the one that was checked. */
export const BOUNDARIES = ["company", "actor", "active_task", "grant", "governed_action", "lock", "revision"] as const;

export type Boundary = (typeof BOUNDARIES)[number];

export interface ReceiptRow {
  outcome: Outcome;
  boundary: Boundary;
  /** Says that a new call may do better; never that this one may be run again. */
  retryable: boolean;
}

function row(outcome: Outcome, boundary: Boundary, retryable = false): ReceiptRow {
  return { outcome, boundary, retryable };
}

/** What each code means. A row's boundary is the usual one: a checked write or a governed action says its own. */
export const RECEIPT_CODES = {
  ok: row("succeeded", "active_task"),
  proposal_stored: row("succeeded", "governed_action"),
  duplicate: row("duplicate", "revision"),
  idempotency_conflict: row("conflict", "revision"),
  idempotency_in_progress: row("denied", "revision", true),
  result_erased: row("conflict", "revision"),
  call_id_conflict: row("conflict", "revision"),
  document_revision_conflict: row("conflict", "revision", true),
  path_conflict: row("conflict", "revision"),
  revision_resolved: row("conflict", "governed_action"),
  required_claim_missing: row("denied", "grant"),
  actor_role_denied: row("denied", "actor"),
  reviewer_denied: row("denied", "governed_action"),
  company_mismatch: row("denied", "company"),
  input_invalid: row("denied", "active_task"),
  input_too_large: row("denied", "active_task"),
  protected_data_denied: row("denied", "active_task"),
  target_not_found: row("denied", "active_task"),
  operation_absent: row("unavailable", "grant"),
  tool_not_exposed: row("unavailable", "grant"),
  operation_unsupported: row("unavailable", "grant"),
  approval_required: row("denied", "governed_action", true),
  approval_denied: row("denied", "governed_action"),
  approval_expired: row("denied", "governed_action", true),
  delegated_authorization_required: row("denied", "grant", true),
  rate_limited: row("unavailable", "active_task", true),
  context_locked: row("unavailable", "lock", true),
  provider_unavailable: row("unavailable", "active_task", true),
  tool_failed: row("failed", "active_task"),
  output_invalid: row("failed", "active_task"),
  call_cancelled: row("failed", "active_task", true),
  internal: row("failed", "active_task", true),
} as const satisfies Record<string, ReceiptRow>;

export type ReceiptCode = keyof typeof RECEIPT_CODES;

/** The code is a row of `RECEIPT_CODES`; other producers have their own. */
export function isReceiptCode(code: string): code is ReceiptCode {
  return Object.hasOwn(RECEIPT_CODES, code);
}
