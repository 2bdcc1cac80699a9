import type { Phase, SemanticToolEnvelope } from "./envelope.js";
import { errorIssue, type Issue } from "./envelope-issues.js";
import { PrpError } from "./errors.js";
import { isJsonObject, type JsonObject } from "./json.js";

export const EVENT_SCHEMA = "paperclip.prp.event.v1";
export const EVENT_VERSION = 1;
export const ENVELOPE_IN_EVENT = "/payload/semantic_tool";
export const BOUND_IDS = ["runId", "normalizedSessionId", "turnId", "itemId"] as const;

/** Where and when an event came to be; the caller owns sequence and clock. */
export interface EventSource {
  /** Of the event schema; only 1 is written. */
  version?: number;
  /** At most 160 characters; the same for the same event when it is sent again. */
  sourceEventId: string;
  /** 1 to 2^53-1, without gaps per instance. */
  sourceSeq: number;
  sourceInstanceId: string;
  sourceKind: "runner" | "control_plane";
  /** RFC 3339. */
  emittedAt: string;
  /** 0, the default, is never dropped. */
  priority?: 0 | 1 | 2;
}

/** A PRP event v1 that carries an envelope. */
export interface SemanticToolEvent extends Required<Omit<EventSource, "version">> {
  schema: typeof EVENT_SCHEMA;
  schemaVersion: typeof EVENT_VERSION;
  eventType: `semantic_tool.${Phase}`;
  runId: string;
  normalizedSessionId: string;
  turnId: string;
  itemId: string;
  payload: { semantic_tool: SemanticToolEnvelope };
}

/**
 * The envelope as the payload of an event v1 of type `semantic_tool.<phase>`. Throws PrpError `unsupported_version` for
 * any other version (2 and 3 have no `reconciled` and leave the envelope unchecked), `bad_envelope` with a pointer into
 * the event when a part of `source` does not fit.
 */
export function exportEvent(envelope: SemanticToolEnvelope, source: EventSource): SemanticToolEvent {
  const { version = EVENT_VERSION, priority = 0, ...origin } = source;
  if (version !== EVENT_VERSION)
    throw new PrpError(
      "unsupported_version",
      "Events are written in version 1: 2 and 3 have no semantic_tool.reconciled.",
    );
  const { runId, normalizedSessionId, turnId, itemId } = envelope.correlation;
  const event: SemanticToolEvent = {
    schema: EVENT_SCHEMA,
    schemaVersion: EVENT_VERSION,
    eventType: `semantic_tool.${envelope.phase}`,
    ...origin,
    priority,
    ...{ runId, normalizedSessionId, turnId, itemId },
    payload: { semantic_tool: envelope },
  };
  const [issue] = listEventIssues(event);
  if (issue) throw new PrpError("bad_envelope", `The event does not fit: ${issue.message}`, issue.path);
  return event;
}

export function isEvent(value: unknown): value is JsonObject {
  return (
    isJsonObject(value) && (isJsonObject(value.payload) || String(value.schema).startsWith("paperclip.prp.event."))
  );
}

export function envelopeOf(event: JsonObject): unknown {
  return isJsonObject(event.payload) ? event.payload.semantic_tool : undefined;
}

const isText = (maxLength: number) => (value: unknown) =>
  typeof value === "string" && value.length > 0 && value.length <= maxLength;
const isOneOf = (values: readonly unknown[]) => (value: unknown) => values.includes(value);
const isTime = (value: unknown) => typeof value === "string" && /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d/.test(value);
const isSequence = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 1;

type Rule = readonly [member: string, fits: (value: unknown) => boolean, message: string];

const ID_RULES: readonly Rule[] = [
  ["sourceEventId", isText(160), "must be a text of 1 to 160 characters"],
  ["sourceSeq", isSequence, "must be an integer from 1 to 2^53-1"],
];

const TOOL_RULES: readonly Rule[] = [
  ["sourceInstanceId", isText(240), "must be a text of 1 to 240 characters"],
  ["sourceKind", isOneOf(["runner", "control_plane"]), "must be runner or control_plane"],
  ["runId", isText(160), "must be a text of 1 to 160 characters"],
  ["normalizedSessionId", isText(160), "must be a text of 1 to 160 characters"],
  ["turnId", isText(240), "must be a text of 1 to 240 characters"],
  ["itemId", isText(240), "must be a text of 1 to 240 characters"],
  ["priority", isOneOf([0, 1, 2]), "must be 0, 1 or 2"],
  ["emittedAt", isTime, "must be an RFC 3339 date-time"],
];

/** Event types and the phase each carries, in both spellings that are read. */
const PHASE_OF_TYPE: ReadonlyMap<unknown, Phase> = new Map<string, Phase>([
  ["semantic_tool.input", "input"],
  ["semantic_tool.result", "result"],
  ["semantic_tool.reconciled", "reconciled"],
  ["mcp_app.tool_input", "input"],
  ["mcp_app.tool_result", "result"],
]);

function listBroken(event: JsonObject, rules: readonly Rule[]): Issue[] {
  const broken = rules.filter(([member, fits]) => !fits(event[member]));
  return broken.map(([member, , message]) => errorIssue("schema_validation", `/${member}`, message));
}

function findVersionIssue({ schema, schemaVersion }: JsonObject): Issue | undefined {
  const message = `Only ${EVENT_SCHEMA}, version ${EVENT_VERSION}, is read.`;
  if (schemaVersion !== EVENT_VERSION) return errorIssue("unsupported_required_version", "/schemaVersion", message);
  return schema === EVENT_SCHEMA ? undefined : errorIssue("unsupported_required_version", "/schema", message);
}

function listBindingIssues(event: JsonObject, envelope: JsonObject): Issue[] {
  const { correlation } = envelope;
  if (!isJsonObject(correlation)) return [];
  const apart = BOUND_IDS.filter((id) => correlation[id] !== event[id]);
  return apart.map((id) =>
    errorIssue("binding_mismatch", `${ENVELOPE_IN_EVENT}/correlation/${id}`, `${id} is not that of the event.`),
  );
}

/** What is wrong with an event around its envelope: version first, then members, type against phase, and binding. */
export function listEventIssues(event: JsonObject | SemanticToolEvent): Issue[] {
  const members = event as JsonObject;
  const version = findVersionIssue(members);
  if (version) return [version];
  const issues = listBroken(members, ID_RULES);
  const envelope = envelopeOf(members);
  if (!isJsonObject(envelope)) return issues;
  issues.push(...listBroken(members, TOOL_RULES));
  if (PHASE_OF_TYPE.get(members.eventType) !== envelope.phase)
    issues.push(errorIssue("schema_validation", "/eventType", "The type does not carry this phase."));
  return [...issues, ...listBindingIssues(members, envelope)];
}
