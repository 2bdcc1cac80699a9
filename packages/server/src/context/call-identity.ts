import { buildIdentity, type CallIdentity, canonicalJson } from "@satchel/prp";
import type { Caller } from "../domain/access.js";
import { invalidInput, isRefusal, type Refusal } from "../domain/refusal.js";
import type { Context } from "./context.js";

/** `_meta` of a request: the caller's own names for its call (journal section 1). */
export const requestMetaKey = "dev.satchel/prp";

export interface NamedCall {
  operation: string;
  caller: Caller;
  /** The arguments, or what is wrong with them. */
  args: Record<string, unknown> | Refusal;
  /** Whether the operation takes an idempotency key. */
  isMutating: boolean;
  /** `_meta` of the request. */
  meta?: unknown;
  /** The connection it came through, where there is one. */
  connection?: string;
}

/** A key or call id that the caller chose, as the store knows it. */
export interface ClaimKey {
  kind: "key" | "call";
  id: Buffer;
  /** Equal for the same call made again. */
  input: Buffer;
}

export interface IdentifiedCall {
  identity: CallIdentity;
  /** Empty when the caller named nothing. A call id comes first. */
  claims: ClaimKey[];
  /** The names the caller gave break a rule; the call is recorded under generated ones. */
  refused?: Refusal;
}

type Id = string | number;
interface RequestNames {
  runId?: Id;
  normalizedSessionId?: Id;
  turnId?: Id;
  itemId?: Id;
  requestId?: Id;
  callId?: Id;
  idempotencyKey?: string;
}

const ids = ["runId", "normalizedSessionId", "turnId", "itemId", "requestId", "callId"] as const;
const idMostCharacters = 1000;
const keyMostCharacters = 240;

/** Names a call for its envelopes. What the caller says of itself is mapped, so that no text enters one. */
export function identifyCall(context: Context, call: NamedCall): IdentifiedCall {
  const names = parseNames(call);
  if (isRefusal(names)) return { ...nameCall(context, call, {}), refused: names };
  return nameCall(context, call, names);
}

/** The same call under a call id of its own. */
export function withFreshCallId(context: Context, call: IdentifiedCall): IdentifiedCall {
  const identity = { ...call.identity, callId: `call_${context.environment.newUuid()}` };
  return { ...call, identity, claims: call.claims.filter(({ kind }) => kind === "key") };
}

function nameCall(context: Context, call: NamedCall, names: RequestNames): IdentifiedCall {
  const { callKeys, environment } = context;
  const { caller, operation, connection } = call;
  const made = environment.newUuid();
  const { runId = callKeys.nameOf("run", caller.grant), requestId } = names;
  const identity = buildIdentity({
    operationId: operation,
    callId: names.callId ?? `call_${made}`,
    correlation: {
      runId,
      normalizedSessionId: names.normalizedSessionId ?? callKeys.nameOf("ses", connection ?? caller.grant),
      turnId: names.turnId ?? `turn_${made}`,
      itemId: names.itemId ?? `item_${made}`,
      ...(requestId !== undefined && { requestId }),
    },
    idempotencyKey: names.idempotencyKey ?? null,
  });
  return { identity, claims: claimsOf(context, call, { ...names, runId }) };
}

function claimsOf({ callKeys }: Context, call: NamedCall, names: RequestNames & { runId: Id }): ClaimKey[] {
  const { operation, caller, args } = call;
  const { callId, idempotencyKey: key, runId } = names;
  if (isRefusal(args) || (callId === undefined && key === undefined)) return [];
  const { idempotencyKey: _, ...input } = args;
  const text = canonicalText(input);
  if (text === undefined) return [];
  const subject = { grant: caller.grant, runId: JSON.stringify(runId), operation };
  const claims: ClaimKey[] = [];
  if (callId !== undefined) {
    const id = callKeys.claimId({ ...subject, operation: "", kind: "call", key: JSON.stringify(callId) });
    claims.push({ kind: "call", id, input: callKeys.inputMac(JSON.stringify([operation, key ?? null, text])) });
  }
  if (key !== undefined)
    claims.push({
      kind: "key",
      id: callKeys.claimId({ ...subject, kind: "key", key }),
      input: callKeys.inputMac(text),
    });
  return claims;
}

/** Undefined for a value that has no canonical form; the call is refused then, so nothing is claimed. */
function canonicalText(value: unknown): string | undefined {
  try {
    return canonicalJson(value);
  } catch {
    return undefined;
  }
}

function parseNames({ args, isMutating, meta }: NamedCall): RequestNames | Refusal {
  const given = (meta as Record<string, unknown> | undefined)?.[requestMetaKey] ?? {};
  if (typeof given !== "object" || Array.isArray(given)) return invalidInput([`_meta["${requestMetaKey}"]: no object`]);
  const all = given as Record<string, unknown>;
  const wrong = ids.filter((name) => all[name] !== undefined && !isName(all[name]));
  if (wrong.length > 0) {
    return invalidInput(wrong.map((name) => `_meta["${requestMetaKey}"].${name}: 1 to ${idMostCharacters} characters`));
  }
  const names: RequestNames = Object.fromEntries(
    ids.flatMap((name) => (all[name] === undefined ? [] : [[name, all[name]]])),
  );
  if (!isMutating) return names;
  const keys = [all.idempotencyKey, isRefusal(args) ? undefined : args.idempotencyKey].filter(
    (key) => key !== undefined && key !== null,
  );
  if (!keys.every(isKey)) return invalidInput([`idempotencyKey: 1 to ${keyMostCharacters} characters`]);
  if (keys.length === 2 && keys[0] !== keys[1]) {
    return invalidInput([`idempotencyKey: the argument and _meta["${requestMetaKey}"] say different keys`]);
  }
  return { ...names, ...(keys[0] !== undefined && { idempotencyKey: keys[0] }) };
}

function isName(value: unknown): value is Id {
  if (typeof value === "number") return Number.isFinite(value);
  return typeof value === "string" && value.length > 0 && value.length <= idMostCharacters && value.isWellFormed();
}

function isKey(value: unknown): value is string {
  return typeof value === "string" && value.length > 0 && value.length <= keyMostCharacters && value.isWellFormed();
}
