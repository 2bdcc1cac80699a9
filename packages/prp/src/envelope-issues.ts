import type { SchemaError } from "./compiled-validator.js";
import { ENVELOPE_SCHEMA, ENVELOPE_VERSION } from "./envelope.js";
import { VALIDATORS } from "./generated/validators.js";
import { isJsonObject } from "./json.js";

/** Closed. The first thirteen are errors, the rest are warnings. */
export const ISSUE_CODES = [
  "unsupported_required_version",
  "schema_validation",
  "binding_mismatch",
  "source_event_replay_conflict",
  "missing_input",
  "missing_terminal",
  "second_input",
  "second_terminal",
  "semantic_input_digest_mismatch",
  "semantic_result_digest_mismatch",
  "raw_input_refused",
  "idempotency_digest_mismatch",
  "duplicate_unresolved",
  "legacy_reconciled_marker",
  "terminal_before_input",
  "duplicate_receipt_mismatch",
  "duplicate_digest_mismatch",
  "result_fields_on_input",
  "target_changed",
  "code_outcome_mismatch",
] as const;

export type IssueCode = (typeof ISSUE_CODES)[number];

export interface Issue {
  code: IssueCode;
  /** JSON pointer from the validated value. */
  path: string;
  /** Names rules, ids and digests; never a value. */
  message: string;
  level: "error" | "warning";
}

const MAX_LIST = 1000;

/** `legacy-b` also takes the `reconciled` of older producers, which marks a call and has no outcome. */
export type ReaderMode = "strict" | "legacy-b";

export function errorIssue(code: IssueCode, path: string, message: string): Issue {
  return { code, path, message, level: "error" };
}

export function warningIssue(code: IssueCode, path: string, message: string): Issue {
  return { code, path, message, level: "warning" };
}

/** What the envelope breaks in the schema; empty when nothing. */
export function listIssues(value: unknown): Issue[] {
  const validate = VALIDATORS["semantic-tool"];
  if (validate(value)) return [];
  // The branch itself says nothing that its own errors do not.
  const errors = (validate.errors ?? []).filter(({ keyword }) => keyword !== "if");
  return errors.map(({ instancePath, message }: SchemaError) =>
    errorIssue("schema_validation", instancePath, message ?? "is not valid"),
  );
}

const FACTS = ["outcome", "code", "retryable", "authorizationBoundary", "operationReceiptId"] as const;

/** A `reconciled` that marks a replayed call and ends nothing, as producers before the outcome was required wrote it. */
export function isLegacyMarker(value: unknown): boolean {
  return isJsonObject(value) && value.phase === "reconciled" && !FACTS.some((fact) => Object.hasOwn(value, fact));
}

function findVersionIssue(value: unknown): Issue | undefined {
  if (!isJsonObject(value)) return undefined;
  const { schema, schemaVersion } = value;
  const message = `Only ${ENVELOPE_SCHEMA}, version ${ENVELOPE_VERSION}, is read.`;
  if (typeof schemaVersion === "number" && schemaVersion !== ENVELOPE_VERSION)
    return errorIssue("unsupported_required_version", "/schemaVersion", message);
  if (typeof schema !== "string" || schema === ENVELOPE_SCHEMA) return undefined;
  return errorIssue("unsupported_required_version", "/schema", message);
}

// The schema compares each entry of a list with every other, so a list of any length would be any amount of work.
function findLongList(value: unknown): Issue | undefined {
  if (!isJsonObject(value)) return undefined;
  const { content, artifactRefs, targets, causalRefs } = value;
  const references = isJsonObject(content) ? content.references : undefined;
  const lists = {
    "/content/references": references,
    "/artifactRefs": artifactRefs,
    "/targets": targets,
    "/causalRefs": causalRefs,
  };
  const long = Object.entries(lists).find(([, list]) => Array.isArray(list) && list.length > MAX_LIST);
  return long && errorIssue("schema_validation", long[0], `Lists of more than ${MAX_LIST} entries are not read.`);
}

/**
 * What is wrong with one envelope: `unsupported_required_version` alone, else each `schema_validation`, one of which is
 * a list of over 1,000 entries. In mode `legacy-b` a `reconciled` without outcome is a warning `legacy_reconciled_marker`.
 */
export function validateEnvelope(value: unknown, mode: ReaderMode = "strict"): Issue[] {
  const unreadable = findVersionIssue(value) ?? findLongList(value);
  if (unreadable) return [unreadable];
  if (mode === "strict" || !isLegacyMarker(value)) return listIssues(value);
  const marker = warningIssue("legacy_reconciled_marker", "/phase", "A reconciled without outcome ends no call.");
  return [...listIssues({ ...(value as object), phase: "input" }), marker];
}
