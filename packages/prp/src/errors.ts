/** Closed. `inexact_number`: printing it again gives another number; `bad_envelope`: what was built breaks the schema. */
export const PRP_ERROR_CODES = [
  "not_json",
  "inexact_number",
  "too_deep",
  "bad_identity",
  "unknown_code",
  "bad_envelope",
  "unsupported_version",
] as const;

export type PrpErrorCode = (typeof PRP_ERROR_CODES)[number];

/**
 * The one error class of this package. `message` names rules and limits only. `pointer` (RFC 6901) says where; it holds
 * the member names of the refused value, so it belongs to whoever sent that value and not into a log.
 */
export class PrpError extends Error {
  readonly code: PrpErrorCode;
  readonly pointer?: string;

  constructor(code: PrpErrorCode, message: string, pointer?: string) {
    super(message);
    this.name = "PrpError";
    this.code = code;
    if (pointer !== undefined) this.pointer = pointer;
  }
}
