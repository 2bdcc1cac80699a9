import type { CallIdentity } from "./call-identity.js";
import type { Boundary, Outcome } from "./receipt-codes.js";
import type { Reference, Target } from "./references.js";

export const ENVELOPE_SCHEMA = "paperclip.prp.semantic_tool.v1";
export const ENVELOPE_VERSION = 1;

/** `input` before the call is made; then one terminal: `result`, or `reconciled` for an outcome learnt afterwards. */
export type Phase = "input" | "result" | "reconciled";

export type RedactionDisposition = "digest_only" | "allowlisted_references" | "redacted";

/** What stands for the arguments or the result: never they themselves. */
export interface SafeContent {
  /** `sha256:` and 64 hex digits, of the RFC 8785 text. */
  digest: string;
  redactionDisposition: RedactionDisposition;
  references: Reference[];
}

/** The members a terminal has and an input has not. */
export interface TerminalFacts {
  outcome: Outcome;
  code: string;
  retryable: boolean;
  authorizationBoundary: Boundary;
  operationReceiptId: string;
  auditReceiptId?: string;
  /** A state counter, or the id of the document revision that is current after the call. */
  currentRevision?: number | string;
  duplicateOfReceiptId?: string;
  artifactRefs?: Reference[];
  targets?: Target[];
  causalRefs?: Reference[];
}

/** One envelope of schemas/semantic-tool.schema.json. Unknown is absent, never null, but for `idempotencyKey`. */
export interface SemanticToolEnvelope extends CallIdentity, Partial<TerminalFacts> {
  schema: typeof ENVELOPE_SCHEMA;
  schemaVersion: typeof ENVELOPE_VERSION;
  phase: Phase;
  content: SafeContent;
}
