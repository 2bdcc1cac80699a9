import canonicalize from "canonicalize";
import { JournalError } from "./errors.js";

/** The RFC 8785 text of a JSON value. @throws JournalError `bad_entry` for what JSON has no text for */
export function canonicalJson(value: unknown): string {
  try {
    const text = canonicalize(value);
    if (text === undefined) throw new TypeError("The value has no JSON text.");
    JSON.parse(text); // Functions and symbols can end up in a text that is no JSON.
    return text;
  } catch (cause) {
    throw new JournalError("bad_entry", "A body is no JSON value.", { cause });
  }
}
