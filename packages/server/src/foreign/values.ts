import { isCalendarDate, parseUtc } from "@satchel/pcp";

/** Deeper values are refused with their entry: what is kept of one has to fit a page's frontmatter. */
export const MAX_VALUE_DEPTH = 40;

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An own member, so that no name reaches what every object has. */
export function member(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** Text that is not blank. */
export function textIn(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

export const textsIn = (value: unknown): string[] => listOf(value).flatMap((item) => textIn(item) ?? []);

/** A list of texts and of nothing else, so that no item is lost by taking the texts. */
export const isTextList = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === "string");

/** The members of an object but for these keys. */
export function without(value: Record<string, unknown>, keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)));
}

export function isTooDeep(root: unknown): boolean {
  const open: [unknown, number][] = [[root, 1]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [value, depth] = next;
    if (typeof value !== "object" || value === null) continue;
    if (depth > MAX_VALUE_DEPTH) return true;
    for (const child of Object.values(value)) open.push([child, depth + 1]);
  }
  return false;
}

/** A value as a frontmatter may hold it: well-formed text, LF line ends. Takes what `isTooDeep` lets pass. */
export function plainValue(value: unknown): unknown {
  if (typeof value === "string") return plainText(value);
  if (Array.isArray(value)) return value.map(plainValue);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [plainText(key), plainValue(inner)]));
}

/** What is no Unicode becomes U+FFFD. */
export const plainText = (text: string): string => text.toWellFormed().replace(/\r\n?/g, "\n");

const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z");

/**
 * The instant that a tool wrote, RFC 3339 in UTC: seconds or milliseconds since 1970, a date (its first instant), or a
 * date-time with an offset. A date-time without one could be any of 26 instants and is none here.
 */
export function instantOf(value: unknown): string | undefined {
  if (typeof value === "number") return instantOfEpoch(value);
  if (typeof value !== "string") return undefined;
  const text = value.trim();
  if (/^\d{9,13}(\.\d+)?$/.test(text)) return instantOfEpoch(Number(text));
  if (isCalendarDate(text)) return `${text}T00:00:00.000Z`;
  return parseUtc(text.replace(/^(\d{4}-\d\d-\d\d) +/, "$1T").replace(/ ?UTC$/, "Z"));
}

function instantOfEpoch(value: number): string | undefined {
  const ms = Math.floor(value < 1e11 ? value * 1000 : value);
  return ms > 0 && ms <= LAST_MS ? new Date(ms).toISOString() : undefined;
}

/** A date or date-time that `valid_from` and `valid_until` take. */
export function dateOf(value: unknown): string | undefined {
  return typeof value === "string" && isCalendarDate(value) ? value : instantOf(value);
}
