import fc from "fast-check";
import { expect, test } from "vitest";
import { scaled, testSeed } from "../../../../test/scale.js";
import { parseJson, parseJsonRun } from "./json-text.js";

function valueIn(text: string): unknown {
  const json = parseJson(text);
  return json.ok ? json.value : undefined;
}

// A whole number that a double can't hold becomes text.
const exact = (_key: string, value: unknown): unknown =>
  Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value as number) < 1e21 ? String(value) : value;

test("reads what JSON.parse reads, and nothing else", () => {
  const pieces = fc.constantFrom(
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    '"a"',
    '"__proto__"',
    "1",
    "-0",
    "01",
    "1.",
    "true",
    "nul",
    " ",
    "\n",
    '"\\u00"',
    "'",
  );
  const text = fc.oneof(
    fc.json(),
    fc.array(pieces).map((parts) => parts.join("")),
  );
  const run = (given: string): void => {
    let expected: unknown;
    try {
      expected = JSON.parse(given);
    } catch {
      expect(parseJson(given)).toEqual({ ok: false, line: expect.any(Number) });
      return;
    }
    const read = parseJson(given);
    expect(read.ok && JSON.stringify(read.value)).toBe(JSON.stringify(expected, exact));
  };
  fc.assert(fc.property(text, run), { seed: testSeed(), numRuns: scaled(40_000) });
});

test.each([
  ["9007199254740993", "9007199254740993"],
  ["-12345678901234567890", "-12345678901234567890"],
  ["1e999", "1e999"],
  ["1.5e3", 1500],
  ["9007199254740991", 9007199254740991],
])("the number %s is %j", (text, value) => {
  expect(valueIn(text)).toBe(value);
});

test("an entry's line is where it starts, a fault's where it is", () => {
  const json = parseJson('{\n "a": [\n  {"x": 1},\n\n  [2]\n ]\n}');
  if (!json.ok) throw new Error("not read");
  const [first, second] = (json.value as { a: unknown[] }).a;
  expect([json.lineOf(first), json.lineOf(second), json.lineOf("no entry")]).toEqual([3, 5, undefined]);
  expect(parseJson("[1,\n2,\n3 4]")).toEqual({ ok: false, line: 3 });
  expect(parseJson('["a\n"]')).toEqual({ ok: false, line: 1 });
  expect(parseJson("[1]\n[2]")).toEqual({ ok: false, line: 2 });
});

test("values that were glued together come apart", () => {
  expect(parseJsonRun('{"a":1}{"b":2} 3')).toEqual([{ a: 1 }, { b: 2 }, 3]);
  expect(parseJsonRun("  ")).toEqual([]);
  expect(parseJsonRun('{"a":1}}')).toBeUndefined();
});
