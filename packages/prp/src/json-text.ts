import { PrpError } from "./errors.js";
import { appendPointer } from "./json-pointer.js";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

// A decimal of 15 digits always comes back out of a double, so shorter literals need no look.
const MAX_SAFE_LENGTH = 15;

function isNumberStart(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || code === 0x2d;
}

function isExponent(code: number): boolean {
  return code === 0x65 || code === 0x45;
}

/** Index after the closing quote of the string that opens at `start`; the text's end when it never closes. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === BACKSLASH) before--;
    if ((end - before) % 2 === 1) return end + 1;
  }
  return text.length;
}

interface NumberSpan {
  end: number;
  suspect: boolean;
}

function spanOfNumber(text: string, start: number): NumberSpan {
  let end = start + 1;
  let exponent = false;
  for (; end < text.length; end++) {
    const code = text.charCodeAt(end);
    if (isExponent(code)) exponent = true;
    else if (!isNumberStart(code) && code !== 0x2e && code !== 0x2b) break;
  }
  return { end, suspect: exponent || end - start > MAX_SAFE_LENGTH };
}

/** Sign aside: the significant digits and the power of ten of the last one; no digits for zero. */
function decimalOf(literal: string): { digits: string; power: number } {
  const [mantissa = "", exponent = "0"] = literal.replace(/^-/, "").split(/e/i);
  const [whole = "", fraction = ""] = mantissa.split(".");
  const all = `${whole}${fraction}`.replace(/^0+/, "");
  let length = all.length;
  while (length > 0 && all[length - 1] === "0") length--;
  const power = Number(exponent) - fraction.length + (all.length - length);
  return { digits: all.slice(0, length), power: length === 0 ? 0 : power };
}

function isInexact(literal: string): boolean {
  const value = Number(literal);
  if (!Number.isFinite(value)) return true;
  const [written, printed] = [decimalOf(literal), decimalOf(String(value))];
  return written.digits !== printed.digits || written.power !== printed.power;
}

/** Index of the first number literal that parsing would change, or -1. */
function findInexact(text: string): number {
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (isNumberStart(code)) {
      const { end, suspect } = spanOfNumber(text, at);
      if (suspect && isInexact(text.slice(at, end))) return at;
      at = end;
    } else at++;
  }
  return -1;
}

/** Pointer of the value that starts at `target`, in a text that is known to be JSON. */
function pointerAt(text: string, target: number): string {
  const steps: (string | number)[] = [];
  for (let at = 0; at < target; at++) {
    const char = text[at];
    const last = steps.length - 1;
    if (char === "{") steps.push("");
    else if (char === "[") steps.push(0);
    else if (char === "}" || char === "]") steps.pop();
    else if (char === "," && typeof steps[last] === "number") steps[last] += 1;
    else if (char === '"') {
      const end = endOfString(text, at);
      if (typeof steps[last] === "string") steps[last] = JSON.parse(text.slice(at, end));
      at = end - 1;
    }
  }
  return steps.reduce<string>(appendPointer, "");
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the text.
    throw new PrpError("not_json", "The text is not JSON.");
  }
}

/**
 * JSON.parse for values that will be hashed. Throws PrpError `not_json`, or `inexact_number` with its pointer for a
 * literal whose decimal value is not that of what ECMAScript prints for it: 9007199254740993, 1e400,
 * 1.00000000000000000001. `1.0`, `1e2`, `0.10` and `-0` pass.
 */
export function parseJson(text: string): unknown {
  const value = readJson(text);
  const at = findInexact(text);
  if (at === -1) return value;
  throw new PrpError("inexact_number", "Parsing changes a number.", pointerAt(text, at));
}

/** True when `parseJson` would answer `inexact_number`; for a text that is not JSON the answer means nothing. */
export function hasInexactNumber(text: string): boolean {
  return findInexact(text) !== -1;
}
