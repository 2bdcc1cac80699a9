import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { scaled, testSeed } from "../../../test/scale.js";
import { canonicalJson, digestOf, digestOfCanonical } from "./canonical-json.js";
import { PrpError } from "./errors.js";

const VECTORS: [value: unknown, text: string, hex: string][] = [
  [{}, "{}", "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"],
  [null, "null", "74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b"],
  [
    { code: "required_claim_missing" },
    '{"code":"required_claim_missing"}',
    "bd3a341b4a26246f00b0cae1424ada2d17c43f75fabea1b08019af5e83f8f19b",
  ],
  [
    [1e21, 1e-7, -0, 0.1, 100],
    "[1e+21,1e-7,0,0.1,100]",
    "69ce7c82c9aa52721a14e168f1bb0622db81ab63e52d00250d25c2b50dfdba69",
  ],
  [
    { b: 1, a: [true, null, "é\u2028\n"], "\ufb33": 2, "😀": 1 },
    '{"a":[true,null,"é\u2028\\n"],"b":1,"😀":1,"\ufb33":2}',
    "af919509845376f6e211e8dc060b517e7510de70f01aae0dd3935d1c8aba41fa",
  ],
];

/** RFC 8785 appendix B: the bits of a double, and its text. */
const NUMBERS: [bits: bigint, text: string][] = [
  [0x0000000000000000n, "0"],
  [0x8000000000000000n, "0"],
  [0x0000000000000001n, "5e-324"],
  [0x8000000000000001n, "-5e-324"],
  [0x7fefffffffffffffn, "1.7976931348623157e+308"],
  [0xffefffffffffffffn, "-1.7976931348623157e+308"],
  [0x44b52d02c7e14af5n, "9.999999999999997e+22"],
  [0x44b52d02c7e14af6n, "1e+23"],
  [0x44b52d02c7e14af7n, "1.0000000000000001e+23"],
  [0x444b1ae4d6e2ef50n, "1e+21"],
  [0x3eb0c6f7a0b5ed8cn, "9.999999999999997e-7"],
  [0x3eb0c6f7a0b5ed8dn, "0.000001"],
  [0x41b3de4355555553n, "333333333.3333332"],
  [0x41b3de4355555554n, "333333333.33333325"],
  [0x41b3de4355555555n, "333333333.3333333"],
  [0x41b3de4355555556n, "333333333.3333334"],
  [0x41b3de4355555557n, "333333333.33333343"],
  [0xbecbf647612f3696n, "-0.0000033333333333333333"],
];

/** Of the same appendix: integers that stand for several, so they are refused here. */
const SHARED = [
  0x4340000000000000n,
  0xc340000000000000n,
  0x4430000000000000n,
  0x444b1ae4d6e2ef4en,
  0x444b1ae4d6e2ef4fn,
];

function doubleOf(bits: bigint): number {
  return new Float64Array(BigUint64Array.of(bits).buffer)[0]!;
}

function refusalOf(value: unknown): [code: string, pointer: string | undefined] {
  try {
    canonicalJson(value);
  } catch (error) {
    expect(error).toBeInstanceOf(PrpError);
    const { code, pointer } = error as PrpError;
    return [code, pointer];
  }
  throw new Error("The value was not refused.");
}

function nest(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

const cyclic: Record<string, unknown> = { a: [] };
(cyclic.a as unknown[]).push({ back: cyclic });
const shared = { a: 1 };

describe("canonical JSON", () => {
  test.each(VECTORS)("vector %#", (value, text, hex) => {
    expect(canonicalJson(value)).toBe(text);
    expect(digestOf(value)).toBe(`sha256:${hex}`);
    expect(digestOfCanonical(text)).toBe(`sha256:${hex}`);
  });

  test.each(NUMBERS)("the double %s is %s", (bits, text) => {
    expect(canonicalJson(doubleOf(bits))).toBe(text);
  });

  test.each(SHARED)("the integer with bits %s is refused", (bits) => {
    expect(refusalOf({ n: doubleOf(bits) })).toEqual(["inexact_number", "/n"]);
  });

  test("members are ordered by UTF-16 code unit, whatever order they came in", () => {
    const keys = ["\r", "1", "\u0080", "ö", "€", "😀", "\ufb33", "", "A", "a", "Z", "10", "2", "__proto__"];
    const sorted = [...keys].sort();
    for (const order of [keys, [...keys].reverse(), sorted]) {
      const text = canonicalJson(Object.fromEntries(order.map((key) => [key, 0])));
      expect(text).toBe(`{${sorted.map((key) => `${JSON.stringify(key)}:0`).join(",")}}`);
    }
  });

  test.each<[name: string, value: unknown, code: string, pointer: string]>([
    ["undefined", undefined, "not_json", ""],
    ["an undefined member", { a: { "b/c~": undefined } }, "not_json", "/a/b~1c~0"],
    ["a function", [() => 1], "not_json", "/0"],
    ["a symbol", { a: Symbol("s") }, "not_json", "/a"],
    ["a symbol as name", { a: { [Symbol("s")]: 1 } }, "not_json", "/a"],
    ["a BigInt", { a: 1n }, "not_json", "/a"],
    ["NaN", [1, Number.NaN], "not_json", "/1"],
    ["an infinity", { a: [-Infinity] }, "not_json", "/a/0"],
    ["a hole", new Array(3).fill(1, 0, 1), "not_json", "/1"],
    ["a date", { at: new Date(0) }, "not_json", "/at"],
    ["a map", { m: new Map() }, "not_json", "/m"],
    ["a boxed number", [Object(1)], "not_json", "/0"],
    ["an object of a class", { e: new Error("x") }, "not_json", "/e"],
    ["an inherited toJSON", Object.create(Object.assign(Object.create(null), { toJSON: () => 1 })), "not_json", ""],
    ["a cycle", cyclic, "not_json", "/a/0/back"],
    ["half a pair", { t: "x\ud800" }, "not_json", "/t"],
    ["the other half", ["\udc00x"], "not_json", "/0"],
    ["half a pair in a name", { "\ud800": 1 }, "not_json", "/\ud800"],
    ["2^53", { n: 2 ** 53 }, "inexact_number", "/n"],
    ["-2^53", { n: -(2 ** 53) }, "inexact_number", "/n"],
    ["1e20", [1e20], "inexact_number", "/0"],
  ])("%s is refused with its pointer", (_name, value, code, pointer) => {
    expect(refusalOf(value)).toEqual([code, pointer]);
  });

  test("what is at the limits passes", () => {
    expect(canonicalJson([2 ** 53 - 1, -(2 ** 53 - 1), 1e21])).toBe("[9007199254740991,-9007199254740991,1e+21]");
    expect(canonicalJson(nest(1000))).toHaveLength(500 * "[]".length + 500 * `{"a":}`.length + 1);
    expect(refusalOf(nest(1001))[0]).toBe("too_deep");
    expect(canonicalJson([shared, shared])).toBe('[{"a":1},{"a":1}]');
    expect(canonicalJson(Object.assign(Object.create(null), { a: 1 }))).toBe('{"a":1}');
  });

  test("the text is JSON for the same value, and a fixed point", () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: "grapheme" }), (value) => {
        fc.pre(!/\d{16}/.test(JSON.stringify(value)));
        const text = canonicalJson(value);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(JSON.parse(text))).toBe(text);
      }),
      { seed: testSeed(), numRuns: Math.max(200, scaled(10_000)) },
    );
  });

  test("a message holds nothing of the value", () => {
    for (const value of [{ "canary-name": undefined }, { "canary-name": "canary-text\ud800" }, [2 ** 60]]) {
      try {
        canonicalJson(value);
        expect.unreachable();
      } catch (error) {
        expect((error as Error).message).not.toMatch(/canary|115292/);
      }
    }
  });
});
