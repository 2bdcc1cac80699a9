import type { PcpErrorCode } from "@satchel/pcp";
import type { ReceiptCode } from "@satchel/prp";

/** An expected "no" (pcp section 11): returned, not thrown. `message` is public and says what to do next. */
export interface Refusal {
  refused: PcpErrorCode;
  message: string;
  violations?: string[];
  requiredScopes?: string[];
  /** What the receipt says where `refused` alone is too coarse (journal section 3). */
  code?: ReceiptCode;
  /** Of a conflict over a page the caller may read: its current version. */
  currentRevision?: string;
}

export function isRefusal(value: unknown): value is Refusal {
  return typeof value === "object" && value !== null && "refused" in value && typeof value.refused === "string";
}

export function invalidInput(violations: string[]): Refusal {
  return {
    refused: "invalid_input",
    message: `The input breaks ${violations.length === 1 ? "a rule" : `${violations.length} rules`}: ${violations.slice(0, 5).join("; ")}`,
    violations,
  };
}

export function missingScope(requiredScopes: string[]): Refusal {
  const names = requiredScopes.join(" or ");
  return {
    refused: "forbidden",
    message: `This needs the scope ${names}. Ask the owner to grant it.`,
    requiredScopes,
    code: "required_claim_missing",
  };
}

const codes: Record<PcpErrorCode, ReceiptCode> = {
  invalid_input: "input_invalid",
  not_found: "target_not_found",
  forbidden: "actor_role_denied",
  conflict: "document_revision_conflict",
  too_large: "input_too_large",
  rate_limited: "rate_limited",
  locked: "context_locked",
  unsupported: "operation_unsupported",
  internal: "internal",
};

/** The receipt's code of a refusal (journal section 3). */
export function receiptCode({ refused, code }: Refusal): ReceiptCode {
  return code ?? codes[refused];
}
