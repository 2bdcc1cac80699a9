import { canonicalJson } from "./canonical-json.js";
import type { SemanticToolEnvelope } from "./envelope.js";
import { errorIssue, type Issue, isLegacyMarker, type ReaderMode, validateEnvelope } from "./envelope-issues.js";
import { PrpError } from "./errors.js";
import { ENVELOPE_IN_EVENT, envelopeOf, isEvent, listEventIssues } from "./event.js";
import { isJsonObject, type JsonObject } from "./json.js";

/** A valid envelope of a trace and where it stands. */
export interface TraceEntry {
  index: number;
  /** Pointer to the envelope. */
  path: string;
  envelope: SemanticToolEnvelope;
  /** A `reconciled` that ends nothing; read in mode `legacy-b` only. */
  marker: boolean;
}

export interface TraceReading {
  entries: TraceEntry[];
  issues: Issue[];
}

/** The items of a trace: an array, or an object with an array `events`. */
export function itemsOf(trace: unknown): readonly unknown[] | undefined {
  const items = isJsonObject(trace) ? trace.events : trace;
  return Array.isArray(items) ? items : undefined;
}

interface Reader {
  mode: ReaderMode;
  wrapped: boolean;
  /** Canonical text by sourceEventId. */
  seen: Map<unknown, string>;
  reading: TraceReading;
}

/** Every envelope that is valid by itself, and what is wrong with the others. */
export function readTrace(trace: unknown, mode: ReaderMode): TraceReading {
  const reader: Reader = {
    mode,
    wrapped: !Array.isArray(trace),
    seen: new Map(),
    reading: { entries: [], issues: [] },
  };
  const items = itemsOf(trace);
  if (items) for (const [index, item] of items.entries()) readItem(reader, item, index);
  else reader.reading.issues.push(errorIssue("schema_validation", "", "A trace is an array, or has an array events."));
  return reader.reading;
}

function readItem(reader: Reader, item: unknown, index: number): void {
  const path = reader.wrapped || isEvent(item) ? `/events/${index}` : `/${index}`;
  const text = readCanonical(item, path);
  if (typeof text !== "string") reader.reading.issues.push(text);
  else if (isEvent(item)) readEvent(reader, item, { index, path, text });
  else readEnvelope(reader, item, { index, path });
}

// Only what has a canonical form can be compared, hashed and written out unchanged.
function readCanonical(item: unknown, path: string): string | Issue {
  try {
    return canonicalJson(item);
  } catch (error) {
    if (!(error instanceof PrpError)) throw error;
    return errorIssue("schema_validation", `${path}${error.pointer ?? ""}`, error.message);
  }
}

interface Place {
  index: number;
  path: string;
}

function readEvent(reader: Reader, event: JsonObject, { text, ...place }: Place & { text: string }): void {
  const { issues } = reader.reading;
  const before = reader.seen.get(event.sourceEventId);
  // Sent again it is no second event, as long as nothing in it changed.
  if (before === text) return;
  if (before !== undefined) {
    issues.push(errorIssue("source_event_replay_conflict", place.path, "This sourceEventId came with other content."));
    return;
  }
  if (event.sourceEventId !== undefined) reader.seen.set(event.sourceEventId, text);
  const own = listEventIssues(event);
  issues.push(...own.map((issue) => ({ ...issue, path: place.path + issue.path })));
  const envelope = envelopeOf(event);
  if (envelope === undefined || own.some(({ code }) => code === "unsupported_required_version")) return;
  readEnvelope(reader, envelope, { ...place, path: place.path + ENVELOPE_IN_EVENT });
}

function readEnvelope({ mode, reading }: Reader, value: unknown, place: Place): void {
  const issues = validateEnvelope(value, mode);
  reading.issues.push(...issues.map((issue) => ({ ...issue, path: place.path + issue.path })));
  if (issues.some(({ level }) => level === "error")) return;
  reading.entries.push({ ...place, envelope: value as SemanticToolEnvelope, marker: isLegacyMarker(value) });
}
