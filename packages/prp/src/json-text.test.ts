import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { scaled, testSeed } from "../../../test/scale.js";
import { PrpError } from "./errors.js";
import { hasInexactNumber, parseJson } from "./json-text.js";

const EXACT = [
  ..."0 -0 -0.0 0e999999 0.000e-5 1 1.0 1e2 1E+2 0.10 100.00 1e21 1e-7 123456789012345 0.1 5e-324".split(" "),
  ..."9007199254740991 9007199254740992 -9007199254740994 1e22 100000000000000000000 1.7976931348623157e308".split(" "),
  ..."0.30000000000000004 333333333.33333325 1.50000000000000000000000000 1230000000000000000000e-20".split(" "),
  `1${"0".repeat(400)}e-400`,
  `0.${"0".repeat(400)}1e401`,
];

const INEXACT = [
  ..."9007199254740993 -9007199254740993 1.00000000000000000001 1e400 -1e400 1e-400 0.1000000000000000055511".split(
    " ",
  ),
  ..."12345678901234567890 3e-324 333333333.333333251 1e99999999999999999999 1.7976931348623159e308".split(" "),
  `${"9".repeat(400)}`,
  `0.${"0".repeat(400)}1`,
];

const SPACES = ["", " ", "\n\t"] as const;

function refusalOf(text: string): PrpError {
  try {
    parseJson(text);
  } catch (error) {
    if (error instanceof PrpError) return error;
    throw error;
  }
  throw new Error("The text was not refused.");
}

describe("JSON text", () => {
  test.each(EXACT)("%s keeps its value", (literal) => {
    expect(hasInexactNumber(`{"a":[${literal}]}`)).toBe(false);
    expect(parseJson(`[${literal}]`)).toEqual(JSON.parse(`[${literal}]`));
  });

  test.each(INEXACT)("%s does not", (literal) => {
    for (const space of SPACES) {
      expect(hasInexactNumber(`{"a":${space}${literal}${space}}`)).toBe(true);
      const { code, pointer, message } = refusalOf(`{"a":${space}[0,${literal}${space}]}`);
      expect([code, pointer]).toEqual(["inexact_number", "/a/1"]);
      expect(message).not.toContain(literal);
    }
  });

  test("a number inside a text is none", () => {
    for (const text of ["1e400", "\\9007199254740993", '"9007199254740993', "\\", 'a\\"1e400', "1e400\\\\"])
      expect(hasInexactNumber(JSON.stringify({ [text]: [text, 1] }))).toBe(false);
    expect(hasInexactNumber('["\\\\",1e400]')).toBe(true);
  });

  test.each([
    ["1e400", ""],
    ['{"a":{"b":1,"c":[{},[],[1,{"d/~":1e400}]]}}', "/a/c/2/1/d~1~0"],
    ['{"a":"x","\\u0062":["y","z",1e400]}', "/b/2"],
    ['[{"a":1},{"a":[1,2],"b":"[,{"},-1e400]', "/2"],
  ])("the pointer in %s is %s", (text, pointer) => {
    expect(refusalOf(text).pointer).toBe(pointer);
  });

  test.each(["", "{", "nul", "{'a':1}", "01", "1.", "NaN", '"canary'])("%s is not JSON", (text) => {
    const { code, message } = refusalOf(text);
    expect(code).toBe("not_json");
    expect(message).toBe("The text is not JSON.");
  });

  test("what JSON.stringify prints is always exact", () => {
    fc.assert(
      fc.property(fc.json({ stringUnit: "binary" }), (text) => {
        expect(hasInexactNumber(text)).toBe(false);
        expect(parseJson(text)).toEqual(JSON.parse(text));
      }),
      { seed: testSeed(), numRuns: Math.max(200, scaled(10_000)) },
    );
  });

  test("a literal is exact when its digits, as a fraction, are those that are printed", () => {
    const digits = fc.stringMatching(/^[1-9]\d{0,24}$/);
    fc.assert(
      fc.property(digits, fc.integer({ min: -30, max: 30 }), (mantissa, exponent) => {
        const value = Number(`${mantissa}e${exponent}`);
        const [printed, power = "0"] = value.toExponential().split("e");
        const fraction = printed!.split(".")[1]?.length ?? 0;
        const shift = Number(power) - fraction;
        const same =
          shift >= exponent
            ? BigInt(printed!.replace(".", "")) * 10n ** BigInt(shift - exponent) === BigInt(mantissa)
            : BigInt(printed!.replace(".", "")) === BigInt(mantissa) * 10n ** BigInt(exponent - shift);
        expect(hasInexactNumber(`[${mantissa}e${exponent}]`)).toBe(!same);
      }),
      { seed: testSeed(), numRuns: Math.max(200, scaled(20_000)) },
    );
  });

  test("a megabyte of one kind is read in a moment", () => {
    const texts = ['"\\', "1", "[", '{"', "\\", "-", "e", "1e", '""'].map((part) => part.repeat(1e6 / part.length));
    const start = performance.now();
    for (const text of texts) hasInexactNumber(text);
    expect(performance.now() - start).toBeLessThan(5000);
  });
});
