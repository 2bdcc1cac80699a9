import { childPointer, isJsonObject } from "./json.js";
import { isPartitionName } from "./names.js";
import type { PageProblem } from "./page-problem.js";
import { parsePath } from "./paths.js";
import { isCalendarDate, parseUtc } from "./utc.js";

/** The closed value sets of pcp section 3. */
export const PAGE_TYPES = ["episodic", "semantic", "procedural"] as const;
export const SENSITIVITIES = ["normal", "sensitive"] as const;
export const LIFECYCLES = ["active", "validated", "stale", "archived"] as const;
export const SOURCE_ORIGINS = ["chat", "connector", "import", "user"] as const;
export const RELATION_KINDS = ["supersedes", "contradicts", "refines", "about"] as const;

export const MAX_TITLE_CHARACTERS = 500;
export const MAX_TAG_CHARACTERS = 64;
export const MAX_TAGS = 64;
export const MAX_DERIVED_FROM = 256;
export const MAX_RELATIONS = 256;

/** A rule gives the messages for one value; "pointer" parts below it are relative. */
type Rule = (value: unknown) => [pointer: string, message: string][];

const one = (holds: boolean, message: string): [string, string][] => (holds ? [] : [["", message]]);
const length = (text: string): number => [...text].length;

const oneOf =
  (values: readonly string[]): Rule =>
  (value) =>
    one(typeof value === "string" && values.includes(value), `must be one of ${values.join(", ")}`);

const text: Rule = (value) => one(typeof value === "string" && value.trim() !== "", "must be text, not blank");

const title: Rule = (value) =>
  one(
    typeof value === "string" && value.trim() !== "" && length(value) <= MAX_TITLE_CHARACTERS,
    `must be text of 1 to ${MAX_TITLE_CHARACTERS} characters, not blank`,
  );

const tag: Rule = (value) =>
  one(
    typeof value === "string" && value !== "" && length(value) <= MAX_TAG_CHARACTERS,
    `must be text of 1 to ${MAX_TAG_CHARACTERS} characters`,
  );

const partition: Rule = (value) =>
  one(typeof value === "string" && isPartitionName(value), "must be a partition name (a-z, 0-9, _ and -, at most 64)");

const confidence: Rule = (value) =>
  one(typeof value === "number" && value >= 0 && value <= 1, "must be a number from 0 to 1");

const instant: Rule = (value) =>
  one(typeof value === "string" && parseUtc(value) !== undefined, "must be an RFC 3339 date-time with Z or an offset");

const dateOrInstant: Rule = (value) =>
  one(
    typeof value === "string" && (isCalendarDate(value) || parseUtc(value) !== undefined),
    "must be a date (YYYY-MM-DD) or an RFC 3339 date-time with Z or an offset",
  );

const path: Rule = (value) => {
  if (typeof value !== "string") return [["", "must be a page path"]];
  const parsed = parsePath(value);
  return parsed.ok ? [] : parsed.violations.map((message) => ["", message] as [string, string]);
};

const list =
  (item: Rule, most: number): Rule =>
  (value) => {
    if (!Array.isArray(value)) return [["", "must be a list"]];
    if (value.length > most) return [["", `must have at most ${most} entries`]];
    return value.flatMap((entry, index) => item(entry).map(([at, message]) => below(index, at, message)));
  };

const object =
  (required: Record<string, Rule>, optional: Record<string, Rule>): Rule =>
  (value) => {
    if (!isJsonObject(value)) return [["", "must be an object"]];
    const missing = Object.keys(required).filter((key) => !Object.hasOwn(value, key));
    const rules = Object.entries({ ...required, ...optional }).filter(([key]) => Object.hasOwn(value, key));
    return [
      ...missing.map((key) => ["", `must have ${key}`] as [string, string]),
      ...rules.flatMap(([key, rule]) => rule(value[key]).map(([at, message]) => below(key, at, message))),
    ];
  };

function below(key: string | number, at: string, message: string): [string, string] {
  return [childPointer("", key) + at, message];
}

const RULES = object(
  {},
  {
    title,
    type: oneOf(PAGE_TYPES),
    tags: list(tag, MAX_TAGS),
    partition,
    sensitivity: oneOf(SENSITIVITIES),
    lifecycle: oneOf(LIFECYCLES),
    confidence,
    valid_from: dateOrInstant,
    valid_until: dateOrInstant,
    source: object({ origin: oneOf(SOURCE_ORIGINS) }, { client: text, session: text, at: instant }),
    derived_from: list(path, MAX_DERIVED_FROM),
    relations: list(object({ rel: oneOf(RELATION_KINDS), target: path }, { confidence }), MAX_RELATIONS),
  },
);

/** The rules of the keys this server knows; other keys are free. Messages name the key, never its value. */
export function verifyKeys(view: Record<string, unknown>): PageProblem[] {
  return RULES(view).map(([pointer, message]) => ({
    code: "invalid_input",
    message: sentence(pointer, message),
    pointer,
  }));
}

const sentence = (pointer: string, message: string): string =>
  message.endsWith(".") ? `${pointer}: ${message}` : `${pointer} ${message}.`;
