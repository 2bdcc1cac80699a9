import { verifyJson } from "./frontmatter-json.js";
import { verifyKeys } from "./frontmatter-keys.js";
import { isJsonObject, type JsonValue } from "./json.js";
import type { PageProblem } from "./page-problem.js";
import { parsePath } from "./paths.js";

export interface PageSource {
  origin: "chat" | "connector" | "import" | "user";
  client?: string;
  session?: string;
  at?: string;
  [key: string]: JsonValue | undefined;
}

export interface PageRelation {
  rel: "supersedes" | "contradicts" | "refines" | "about";
  target: string;
  confidence?: number;
  [key: string]: JsonValue | undefined;
}

/** The JSON view of the keys a client sets (pcp section 3). Other keys are kept as given. */
export interface Frontmatter {
  title?: string;
  type?: "episodic" | "semantic" | "procedural";
  tags?: string[];
  partition?: string;
  sensitivity?: "normal" | "sensitive";
  lifecycle?: "active" | "validated" | "stale" | "archived";
  confidence?: number;
  valid_from?: string;
  valid_until?: string;
  source?: PageSource;
  derived_from?: string[];
  relations?: PageRelation[];
  [key: string]: unknown;
}

/** Only the server writes these; a client's values are ignored, never an error. */
export const SERVER_KEYS = ["id", "created", "updated", "generated", "review"] as const;

const SERVER: ReadonlySet<string> = new Set(SERVER_KEYS);
/** The keys this server knows and a client sets; any other key is free. */
export const CLIENT_KEYS: ReadonlySet<string> = new Set([
  "title",
  "type",
  "tags",
  "partition",
  "sensitivity",
  "lifecycle",
  "confidence",
  "valid_from",
  "valid_until",
  "source",
  "derived_from",
  "relations",
]);

export type ParsedFrontmatter = { ok: true; frontmatter: Frontmatter } | { ok: false; problems: PageProblem[] };

/**
 * The view of a frontmatter given as JSON or read from YAML, or every rule it breaks (pcp section 3). In the view
 * - server keys are gone, and so are client keys whose value is null;
 * - paths in `derived_from` and relation targets are canonical;
 * - tags have no leading `#`, blank tags are gone, and a `tags` string is a list: a JSON array of strings as text (`'["a","b"]'`) is that
 *   array, anything else is split at commas. A blank inside a tag is part of it.
 * Reading a view gives the same view again.
 */
export function parseFrontmatter(value: unknown): ParsedFrontmatter {
  if (!isJsonObject(value)) {
    return {
      ok: false,
      problems: [{ code: "invalid_input", message: "The frontmatter is not an object.", pointer: "" }],
    };
  }
  const view = buildView(value);
  const broken = verifyJson(view);
  const problems = broken.length > 0 ? broken : verifyKeys(view);
  return problems.length > 0 ? { ok: false, problems } : { ok: true, frontmatter: view as Frontmatter };
}

/** The problems `parseFrontmatter` reports; empty when the value is good. */
export function validateFrontmatter(value: unknown): PageProblem[] {
  const parsed = parseFrontmatter(value);
  return parsed.ok ? [] : parsed.problems;
}

function buildView(value: Record<string, unknown>): Record<string, unknown> {
  const entries: [string, unknown][] = [];
  for (const [key, member] of Object.entries(value)) {
    if (SERVER.has(key) || member === undefined) continue;
    if (CLIENT_KEYS.has(key) && member === null) continue;
    entries.push([key, viewOf(key, member)]);
  }
  return Object.fromEntries(entries);
}

function viewOf(key: string, value: unknown): unknown {
  if (key === "tags") return viewOfTags(value);
  if (key === "derived_from" && Array.isArray(value)) return value.map(canonicalPath);
  if (key === "source" && isJsonObject(value)) return withoutNulls(value);
  if (key === "relations" && Array.isArray(value)) return value.map(viewOfRelation);
  return value;
}

function viewOfRelation(value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  const relation = withoutNulls(value);
  return Object.hasOwn(relation, "target") ? { ...relation, target: canonicalPath(relation.target) } : relation;
}

const NULLABLE = new Set(["origin", "client", "session", "at", "rel", "target", "confidence"]);

function withoutNulls(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([key, member]) => member !== null || !NULLABLE.has(key)));
}

// A bad path stays as it is here, so that the rules can point at it.
function canonicalPath(value: unknown): unknown {
  if (typeof value !== "string") return value;
  const parsed = parsePath(value);
  return parsed.ok ? parsed.path : value;
}

function viewOfTags(value: unknown): unknown {
  const list = typeof value === "string" ? splitTags(value) : value;
  if (!Array.isArray(list)) return list;
  return list
    .map((tag) => (typeof tag === "string" ? tag.replace(/^#+/, "") : tag))
    .filter((tag) => typeof tag !== "string" || tag.trim() !== "");
}

function splitTags(text: string): unknown[] {
  if (text.trimStart().startsWith("[")) {
    try {
      const list: unknown = JSON.parse(text);
      if (Array.isArray(list) && list.every((tag) => typeof tag === "string")) return list;
    } catch {
      // Not JSON after all: a tag may start with a bracket.
    }
  }
  return text
    .split(",")
    .map((tag) => tag.trim())
    .filter((tag) => tag !== "");
}
