import canonicalize from "canonicalize";
import { JournalError } from "./errors.js";

/** The RFC 8785 text of a JSON value. @throws JournalError `bad_entry` for what JSON has no text for */
export function canonicalJson(value: unknown): string {
  try {
    // Members in order already: the text is that of JSON itself, whose numbers and strings are those of RFC 8785.
    if (isOrdered(value)) return JSON.stringify(value);
    const text = canonicalize(value);
    if (text === undefined) throw new TypeError("The value has no JSON text.");
    JSON.parse(text); // Functions and symbols can end up in a text that is no JSON.
    return text;
  } catch (cause) {
    throw new JournalError("bad_entry", "A body is no JSON value.", { cause });
  }
}

/** Whether it is plain JSON and every object's names are in the order of their UTF-16 code units. */
function isOrdered(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object") return typeof value === "boolean";
  if (value === null) return true;
  if (Array.isArray(value)) return value.every(isOrdered) && value.length === Object.keys(value).length;
  if (Object.getPrototypeOf(value) !== Object.prototype || "toJSON" in value) return false;
  let last: string | undefined;
  for (const [name, member] of Object.entries(value)) {
    if ((last !== undefined && name <= last) || !name.isWellFormed() || !isOrdered(member)) return false;
    last = name;
  }
  return true;
}
