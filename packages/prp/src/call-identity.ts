import { createHash } from "node:crypto";
import { PrpError } from "./errors.js";
import { toSafeId } from "./stable-id.js";

export interface Correlation {
  runId: string;
  normalizedSessionId: string;
  turnId: string;
  itemId: string;
  requestId?: string;
}

/** Which call an envelope is about. Every id is a stableId of at most 160 characters. */
export interface CallIdentity {
  operationId: string;
  callId: string;
  correlation: Correlation;
  idempotencyKey: string | null;
}

type RawId = string | number;

/** A call as its caller names it: ids are JSON-RPC ids, tool names or anything else. */
export interface RawCallIdentity {
  operationId: RawId;
  callId: RawId;
  correlation: { runId: RawId; normalizedSessionId: RawId; turnId: RawId; itemId: RawId; requestId?: RawId };
  idempotencyKey: string | null;
}

const MAX_KEY_CHARACTERS = 240;

/**
 * An identity no text gets through: ids and key go through `toStableId`, and those with the form of a credential are
 * mapped, too. Throws PrpError `bad_identity` with a pointer for an id that is neither text nor finite number, and for a
 * key that is empty or longer than 240 characters.
 */
export function buildIdentity(raw: RawCallIdentity): CallIdentity {
  const { runId, normalizedSessionId, turnId, itemId, requestId } = raw.correlation;
  const correlation: Correlation = {
    runId: readId(runId, "/correlation/runId"),
    normalizedSessionId: readId(normalizedSessionId, "/correlation/normalizedSessionId"),
    turnId: readId(turnId, "/correlation/turnId"),
    itemId: readId(itemId, "/correlation/itemId"),
  };
  if (requestId !== undefined) correlation.requestId = readId(requestId, "/correlation/requestId");
  return {
    operationId: readId(raw.operationId, "/operationId"),
    callId: readId(raw.callId, "/callId"),
    correlation,
    idempotencyKey: raw.idempotencyKey === null ? null : readKey(raw.idempotencyKey),
  };
}

function readId(id: RawId, pointer: string): string {
  try {
    return toSafeId(id);
  } catch (error) {
    throw error instanceof PrpError ? new PrpError(error.code, error.message, pointer) : error;
  }
}

function readKey(key: string): string {
  const characters = typeof key === "string" ? [...key.slice(0, 2 * MAX_KEY_CHARACTERS + 1)].length : 0;
  if (characters >= 1 && characters <= MAX_KEY_CHARACTERS) return toSafeId(key);
  throw new PrpError(
    "bad_identity",
    `An idempotency key has 1 to ${MAX_KEY_CHARACTERS} characters.`,
    "/idempotencyKey",
  );
}

/**
 * `semantic_receipt:` and 32 hex digits: the same for all calls of one operation with one key in one run, for one call
 * without a key. It is not unique across callers, and a conflict or denial under a reused key has the original's: an
 * index by it needs the call id as well.
 */
export function operationReceiptId(call: {
  runId: string;
  operationId: string;
  callId: string;
  idempotencyKey: string | null;
}): string {
  const text = `${call.runId}:${call.operationId}:${call.idempotencyKey ?? call.callId}`;
  return `semantic_receipt:${createHash("sha256").update(text).digest("hex").slice(0, 32)}`;
}
