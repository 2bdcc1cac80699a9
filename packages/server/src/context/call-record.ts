import { coversScope, encodeId } from "@satchel/pcp";
import {
  type Boundary,
  buildInput,
  type CallIdentity,
  operationReceiptId,
  type ReceiptCode,
  type Reference,
  type SemanticToolEnvelope,
  type Target,
  type Terminal,
} from "@satchel/prp";
import type { Caller } from "../domain/access.js";
import type { AuditRecord, Claim, Part, ReplayNeeds } from "../domain/records.js";
import { isRefusal, type Refusal, receiptCode } from "../domain/refusal.js";
import type { IdentifiedCall } from "./call-identity.js";
import type { Context } from "./context.js";
import type { ToolResult } from "./tool-result.js";

/** What the audit says of a call, beyond who and when (pcp section 8). */
export interface AuditFacts {
  category: string;
  action: string;
  /** Paths or ids that were returned or touched. */
  targets: string[];
}

/** What the terminal envelope says beyond outcome and digest (journal section 1); absent when unknown. */
export interface ReceiptFacts {
  /** Default: ok. */
  code?: ReceiptCode;
  boundary?: Boundary;
  references?: Reference[];
  currentRevision?: string;
  targets?: Target[];
  artifactRefs?: Reference[];
  causalRefs?: Reference[];
}

/** An outcome as it is recorded and answered. */
export interface Described {
  audit: AuditFacts;
  receipt: ReceiptFacts;
  result: ToolResult;
  /** What the answer's `_meta` says beyond the receipt: given once, and in no digest and no stored answer. */
  meta?: Record<string, unknown>;
  /** Of a success that is answered again to the same key: what that needs. */
  needs?: ReplayNeeds;
}

export interface RecordedCall {
  operation: string;
  caller: Caller;
  identified: IdentifiedCall;
  /** As they were given; not an object when they are no arguments. */
  args: unknown;
  /** Arguments that no envelope may let anyone guess. */
  withheld: readonly string[];
  /** @throws when the output breaks its schema */
  describe(outcome: unknown): Described;
}

export interface Recorded {
  result: ToolResult;
  meta?: Record<string, unknown>;
  /** Absent only where nothing is recorded. */
  receipt?: SemanticToolEnvelope;
}

export function inputEnvelope({ identified, args, withheld }: RecordedCall): SemanticToolEnvelope {
  return buildInput(identified.identity, { arguments: args ?? {}, withheld });
}

export interface Ending {
  described: Described;
  outcome: unknown;
}

/** The audit entry of a call as it ends now. */
export function auditRecord(
  { environment }: Context,
  call: { caller: Pick<Caller, "principal" | "client">; identity: CallIdentity },
  { described: { audit }, outcome }: Ending,
): AuditRecord & { receipt: string } {
  const refused = isRefusal(outcome) ? outcome.refused : undefined;
  return {
    id: encodeId("aud", environment.newUuid()),
    at: new Date(environment.now()).toISOString(),
    principal: call.caller.principal,
    client: call.caller.client,
    tool: call.identity.operationId,
    category: audit.category,
    action: refused === "forbidden" ? "deny" : audit.action,
    outcome: refused ?? "ok",
    targets: audit.targets,
    receipt: receiptIdOf(call.identity),
    call_id: call.identity.callId,
  };
}

export function receiptIdOf({ correlation, ...identity }: CallIdentity): string {
  return operationReceiptId({ ...identity, runId: correlation.runId });
}

/** What a terminal envelope says of an outcome. */
export function terminalOf({ described, outcome }: Ending, audit: AuditRecord): Terminal {
  const { receipt, result } = described;
  const { currentRevision, ...facts } = isRefusal(outcome) ? refusedFacts(outcome) : receipt;
  return {
    code: "ok",
    ...facts,
    result,
    auditReceiptId: audit.id,
    ...(currentRevision !== undefined && { currentRevision }),
  };
}

function refusedFacts(refusal: Refusal): ReceiptFacts {
  const { currentRevision } = refusal;
  return { code: receiptCode(refusal), ...(currentRevision !== undefined && { currentRevision }) };
}

/** What is kept of the names the caller gave. A key is claimed only by a call that did something (journal section 2). */
export function spentClaims(
  { identified, caller }: RecordedCall,
  { described, outcome }: Ending,
  receiptId: string,
): Claim[] {
  const { result, needs, receipt } = described;
  const isDone = !isRefusal(outcome) && needs !== undefined;
  const page = needs?.page && { ...needs.page, isSeen: maySee(caller, needs.page) };
  const revision = receipt.currentRevision;
  return identified.claims
    .filter(({ kind }) => isDone || kind === "call")
    .map(({ id, input }) => ({
      id,
      input,
      receiptId,
      ...(isDone
        ? {
            state: "settled",
            needs: { ...needs, ...(page && { page }) },
            result: JSON.stringify(result),
            ...(revision && { currentRevision: revision }),
          }
        : { state: "spent" }),
    }));
}

/** One who only writes or proposes is told of what it wrote, and never sees it. */
function maySee({ scopes }: Caller, { sensitivity }: Part): boolean {
  return (
    coversScope(scopes, "memory:read") && (sensitivity === "normal" || coversScope(scopes, "memory.sensitive:read"))
  );
}
