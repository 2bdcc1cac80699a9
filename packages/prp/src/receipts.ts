import { type CallIdentity, operationReceiptId } from "./call-identity.js";
import {
  ENVELOPE_SCHEMA,
  ENVELOPE_VERSION,
  type Phase,
  type SafeContent,
  type SemanticToolEnvelope,
  type TerminalFacts,
} from "./envelope.js";
import { listIssues } from "./envelope-issues.js";
import { PrpError } from "./errors.js";
import { type Boundary, isReceiptCode, RECEIPT_CODES, type ReceiptCode } from "./receipt-codes.js";
import { ARTIFACT_KINDS, listReferences, listTargets, type Reference, type Target } from "./references.js";
import {
  buildContent,
  digestCode,
  digestInput,
  digestResult,
  type InputContent,
  SHOWN_OUTCOMES,
} from "./safe-content.js";
import { toSafeId } from "./stable-id.js";

/** How a call ended. */
export interface Terminal {
  code: ReceiptCode;
  /** Where another fence than the code's usual one was checked. */
  boundary?: Boundary;
  /** The whole CallToolResult; its `_meta` is left out of the digest. */
  result?: unknown;
  references?: readonly Reference[];
  vouched?: boolean;
  auditReceiptId?: string;
  currentRevision?: string | number;
  targets?: readonly Target[];
  artifactRefs?: readonly Reference[];
  /** What led here, in order. */
  causalRefs?: readonly Reference[];
  /** Of a duplicate: the receipt of the call that did it. Without it, the one that identity and key give. */
  duplicateOf?: string;
}

/**
 * The envelope of a call that was accepted. `redacted` when an argument is withheld or protected: then the digest is of
 * the arguments with "[REDACTED]" in those places, and of "[REDACTED]" alone when they have no canonical text.
 * Throws PrpError `bad_envelope` when the identity is none of `buildIdentity`.
 */
export function buildInput(identity: CallIdentity, content: InputContent): SemanticToolEnvelope {
  return seal({ phase: "input", ...headOf(identity), content: buildContent(digestInput(content), content) });
}

/**
 * The envelope of a call's end: outcome, boundary and retryable as `RECEIPT_CODES` has them. The digest is of the result
 * for what succeeded, is a duplicate or failed, and of `{"code": …}` for everything else and where there is no result.
 * Throws PrpError `unknown_code` and `bad_envelope`.
 */
export function buildResult(identity: CallIdentity, terminal: Terminal): SemanticToolEnvelope {
  return buildTerminal("result", identity, terminal);
}

/** Like `buildResult`, for an outcome learnt from an authority after a crash or a lost answer; never for a guess. */
export function buildReconciled(identity: CallIdentity, terminal: Terminal): SemanticToolEnvelope {
  return buildTerminal("reconciled", identity, terminal);
}

function buildTerminal(phase: Phase, identity: CallIdentity, terminal: Terminal): SemanticToolEnvelope {
  if (!isReceiptCode(terminal.code))
    throw new PrpError("unknown_code", "The receipt code is not in the table.", "/code");
  const content = contentOf(terminal);
  return seal({ phase, ...headOf(identity), content, ...factsOf(identity, terminal) });
}

function contentOf(terminal: Terminal): SafeContent {
  const shown = terminal.result !== undefined && SHOWN_OUTCOMES.has(RECEIPT_CODES[terminal.code].outcome);
  return buildContent(shown ? digestResult(terminal.result) : digestCode(terminal.code), terminal);
}

function factsOf(identity: CallIdentity, terminal: Terminal): TerminalFacts {
  const { outcome, boundary, retryable } = RECEIPT_CODES[terminal.code];
  const facts: TerminalFacts = {
    outcome,
    code: terminal.code,
    retryable,
    authorizationBoundary: terminal.boundary ?? boundary,
    operationReceiptId: operationReceiptId({ ...identity, runId: identity.correlation.runId }),
  };
  if (outcome === "duplicate") {
    if (terminal.duplicateOf !== undefined) facts.operationReceiptId = toSafeId(terminal.duplicateOf);
    facts.duplicateOfReceiptId = facts.operationReceiptId;
  } else if (terminal.auditReceiptId !== undefined) facts.auditReceiptId = toSafeId(terminal.auditReceiptId);
  return { ...facts, ...revisionOf(terminal), ...listsOf(terminal) };
}

function revisionOf({ currentRevision }: Terminal): Pick<TerminalFacts, "currentRevision"> {
  if (currentRevision === undefined) return {};
  return { currentRevision: typeof currentRevision === "string" ? toSafeId(currentRevision) : currentRevision };
}

function listsOf(terminal: Terminal): Pick<TerminalFacts, "artifactRefs" | "targets" | "causalRefs"> {
  const lists = {
    artifactRefs: listReferences(terminal.artifactRefs, ARTIFACT_KINDS),
    targets: listTargets(terminal.targets),
    causalRefs: listReferences(terminal.causalRefs),
  };
  return Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0));
}

function headOf({ operationId, callId, correlation, idempotencyKey }: CallIdentity): CallIdentity {
  const { itemId, normalizedSessionId, requestId, runId, turnId } = correlation;
  const ordered = { itemId, normalizedSessionId, ...(requestId !== undefined && { requestId }), runId, turnId };
  return { operationId, callId, correlation: ordered, idempotencyKey };
}

const MEMBERS = [
  "artifactRefs",
  "auditReceiptId",
  "authorizationBoundary",
  "callId",
  "causalRefs",
  "code",
  "content",
  "correlation",
  "currentRevision",
  "duplicateOfReceiptId",
  "idempotencyKey",
  "operationId",
  "operationReceiptId",
  "outcome",
  "phase",
  "retryable",
  "schema",
  "schemaVersion",
  "targets",
] as const;

/** In canonical order, as everything in it is made, so that what writes its canonical text finds nothing to sort. */
function inOrder(envelope: SemanticToolEnvelope): SemanticToolEnvelope {
  const ordered: Record<string, unknown> = {};
  for (const name of MEMBERS) if (envelope[name] !== undefined) ordered[name] = envelope[name];
  return ordered as unknown as SemanticToolEnvelope;
}

function seal(body: Omit<SemanticToolEnvelope, "schema" | "schemaVersion">): SemanticToolEnvelope {
  const envelope = inOrder({ schema: ENVELOPE_SCHEMA, schemaVersion: ENVELOPE_VERSION, ...body });
  const [issue] = listIssues(envelope);
  if (issue) throw new PrpError("bad_envelope", `The envelope breaks its schema: ${issue.message}.`, issue.path);
  return envelope;
}
