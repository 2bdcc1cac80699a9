import { parsePath, parseUtc } from "@satchel/pcp";
import { invalidInput, type Refusal } from "../domain/refusal.js";

/** Arguments may nest this deep. */
const depthLimit = 64;

/**
 * The arguments as an object: absent and null are `{}`. Refuses other values, deep nesting, and what has no one canonical
 * form (journal section 1): lone surrogates and numbers that JSON does not carry exactly.
 */
export function verifyArguments(args: unknown): Record<string, unknown> | Refusal {
  if (args === undefined || args === null) return {};
  if (typeof args !== "object" || Array.isArray(args)) return invalidInput(["the arguments must be an object"]);
  const violation = findViolation(args, "", 0);
  return violation === undefined ? (args as Record<string, unknown>) : invalidInput([violation]);
}

function findViolation(value: unknown, pointer: string, depth: number): string | undefined {
  if (typeof value === "string") {
    return value.isWellFormed() ? undefined : `${pointer}: holds half of a surrogate pair, which is no valid text`;
  }
  if (typeof value === "number" && !isExact(value))
    return `${pointer}: a number from 2^53 on is not exact; send it as text`;
  if (typeof value !== "object" || value === null) return undefined;
  if (depth === depthLimit) return `nested more than ${depthLimit} levels deep`;
  for (const [key, item] of Object.entries(value)) {
    if (!key.isWellFormed()) return `${pointer}: a member name holds half of a surrogate pair`;
    const violation = findViolation(item, `${pointer}/${key.slice(0, 64)}`, depth + 1);
    if (violation !== undefined) return violation;
  }
  return undefined;
}

/** Different integers of a text meet in one double from 2^53 on; from 1e21 on they are written with an exponent. */
function isExact(value: number): boolean {
  const size = Math.abs(value);
  return size < 2 ** 53 || (size >= 1e21 && Number.isFinite(value));
}

/** A `path` argument in its one form. */
export function parsePathArgument(path: string): string | Refusal {
  const parsed = parsePath(path);
  return parsed.ok ? parsed.path : invalidInput(parsed.violations.map((violation) => `/path: ${violation}`));
}

/** A date-time argument in UTC with milliseconds. */
export function parseTimeArgument(name: string, value: string | undefined): string | undefined | Refusal {
  if (value === undefined) return undefined;
  return parseUtc(value) ?? invalidInput([`/${name}: not an RFC 3339 date-time such as 2026-01-31T12:00:00.000Z`]);
}
