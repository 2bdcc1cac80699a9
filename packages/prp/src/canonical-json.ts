import { hash } from "node:crypto";
import canonicalize from "canonicalize";
import { PrpError, type PrpErrorCode } from "./errors.js";
import { appendPointer } from "./json-pointer.js";

export const MAX_DEPTH = 1000;

const FIRST_SHARED_INTEGER = 2 ** 53;
const FIRST_EXPONENT_FORM = 1e21;

/** Where the walk is, and the objects it is inside of. Steps are joined only when something is refused. */
interface Walk {
  steps: (string | number)[];
  ancestors: Set<object>;
}

function refuse(walk: Walk, code: PrpErrorCode, message: string): never {
  throw new PrpError(code, message, walk.steps.reduce<string>(appendPointer, ""));
}

function checkNumber(value: number, walk: Walk): void {
  if (!Number.isFinite(value)) refuse(walk, "not_json", "A number is not finite.");
  const size = Math.abs(value);
  // Two integers of a text meet in one double here, and another implementation prints them apart.
  if (size >= FIRST_SHARED_INTEGER && size < FIRST_EXPONENT_FORM)
    refuse(walk, "inexact_number", "An integer is beyond 2^53 and below 1e21.");
}

function checkText(value: string, walk: Walk): void {
  if (!value.isWellFormed()) refuse(walk, "not_json", "A text holds half of a surrogate pair.");
}

function checkValue(value: unknown, walk: Walk): void {
  if (typeof value === "string") checkText(value, walk);
  else if (typeof value === "number") checkNumber(value, walk);
  else if (typeof value === "object" && value !== null) checkObject(value, walk);
  else if (value !== null && typeof value !== "boolean")
    refuse(walk, "not_json", `JSON has nothing of type ${typeof value}.`);
}

function checkObject(value: object, walk: Walk): void {
  if (walk.ancestors.has(value)) refuse(walk, "not_json", "The value contains itself.");
  if (walk.ancestors.size >= MAX_DEPTH)
    refuse(walk, "too_deep", `The value is nested deeper than ${MAX_DEPTH} levels.`);
  walk.ancestors.add(value);
  if (Array.isArray(value)) checkElements(value, walk);
  else checkMembers(value, walk);
  walk.ancestors.delete(value);
}

// A hole reads as undefined, so it is refused like one.
function checkElements(value: readonly unknown[], walk: Walk): void {
  for (let index = 0; index < value.length; index++) {
    walk.steps.push(index);
    checkValue(value[index], walk);
    walk.steps.pop();
  }
}

function checkMembers(value: object, walk: Walk): void {
  if (!isPlain(value)) refuse(walk, "not_json", "An object is not a plain one.");
  for (const [key, member] of Object.entries(value)) {
    walk.steps.push(key);
    checkText(key, walk);
    checkValue(member, walk);
    walk.steps.pop();
  }
}

// By the length of the chain and not by identity: objects of another realm are plain as well.
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) return false;
  if (typeof (value as { toJSON?: unknown }).toJSON === "function") return false;
  return Object.getOwnPropertySymbols(value).length === 0;
}

/**
 * The RFC 8785 text of a JSON value. Throws PrpError with the pointer of the first thing that has none: `not_json`
 * (undefined, a hole, a function, a symbol, a BigInt, NaN, an infinity, a cycle, an object that is not plain, half of a
 * surrogate pair, also in a name), `inexact_number` (an integer with 2^53 <= |n| < 1e21), `too_deep` (over 1,000 levels).
 */
export function canonicalJson(value: unknown): string {
  checkValue(value, { steps: [], ancestors: new Set() });
  return canonicalize(value) as string;
}

/** `sha256:` and the hex SHA-256 of the canonical text, as `content.digest` has it. Throws like `canonicalJson`. */
export function digestOf(value: unknown): string {
  return digestOfCanonical(canonicalJson(value));
}

/** The digest of a text that `canonicalJson` gave. */
export function digestOfCanonical(text: string): string {
  return `sha256:${hash("sha256", text)}`;
}
