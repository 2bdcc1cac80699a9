/** The error codes of PCP (pcp section 11): closed, in the order of the standard schema. */
export const PCP_ERROR_CODES = [
  "invalid_input",
  "not_found",
  "forbidden",
  "conflict",
  "too_large",
  "rate_limited",
  "locked",
  "unsupported",
  "internal",
] as const;

export type PcpErrorCode = (typeof PCP_ERROR_CODES)[number];

export interface PcpErrorDetails {
  /** One entry per broken rule, "pointer: message" where a pointer exists. */
  violations?: readonly string[];
  /** The scopes a caller would need; set with `forbidden` only. */
  requiredScopes?: readonly string[];
  /** Private: kept for the log, never part of the wire form. */
  cause?: unknown;
}

/**
 * The one error class of this package. `message` is public text: it says what to do next and never holds
 * content the caller may not read. Everything private belongs in `cause`.
 */
export class PcpError extends Error {
  readonly code: PcpErrorCode;
  readonly violations?: string[];
  readonly requiredScopes?: string[];

  constructor(code: PcpErrorCode, message: string, details: PcpErrorDetails = {}) {
    super(message, "cause" in details ? { cause: details.cause } : undefined);
    this.name = "PcpError";
    this.code = code;
    if (details.violations) this.violations = [...details.violations];
    if (details.requiredScopes) this.requiredScopes = [...details.requiredScopes];
  }
}

/** The wire form of an error; a type and not an interface, so that it passes where any JSON object is asked for. */
export type ErrorBody = {
  error: { code: PcpErrorCode; message: string; required_scopes?: string[]; violations?: string[] };
};

/** The `structuredContent` of an isError result (pcp section 11). Absent details are absent members. */
export function errorBody(error: PcpError): ErrorBody {
  const body: ErrorBody = { error: { code: error.code, message: error.message } };
  if (error.requiredScopes) body.error.required_scopes = [...error.requiredScopes];
  if (error.violations) body.error.violations = [...error.violations];
  return body;
}
