import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { scaled, testSeed } from "../../../test/scale.js";
import { isStableId, toSafeId, toStableId } from "./stable-id.js";

const STABLE = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,159}$/;

const rawId = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,6}$/),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom("\ud800", "\ud801", "\udc00", "\ufffd", "", " ", "1", 1, "mapped:", "a/b", "a b", "a".repeat(161)),
);

describe("stable ids", () => {
  test.each(["a", "1", "write_document", "alias:tool", "pg_0123.x-y", "a".repeat(160), `mapped:${"g".repeat(64)}`])(
    "%s is its own",
    (id) => expect(toStableId(id)).toBe(id),
  );

  test.each([
    "",
    " ",
    "_a",
    "a b",
    "a/b",
    "é",
    "a\n",
    "a".repeat(161),
    1,
    -1,
    1.5,
    "\ud800",
    `mapped:${"0".repeat(64)}`,
  ])("%j is mapped", (id) => {
    expect(toStableId(id)).toMatch(/^mapped:[0-9a-f]{64}$/);
    expect(toStableId(id)).toBe(toStableId(id));
  });

  test("the mapping of an id is fixed for ever", () => {
    expect(toStableId(1)).toBe("mapped:6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b");
    expect(toStableId("a b")).toBe("mapped:5e229e245c3e525283e65ec4998d643facf67e035ff89557216305bc9b5109f8");
  });

  test("a mapped id is no fixed point, so nobody can claim another's", () => {
    const mapped = toStableId("a b");
    expect(toStableId(mapped)).not.toBe(mapped);
  });

  test("different ids stay different", () => {
    fc.assert(
      fc.property(rawId, rawId, (a, b) => {
        for (const id of [a, b, toStableId(a)]) expect(toStableId(id)).toMatch(STABLE);
        expect(toStableId(a) === toStableId(b)).toBe(a === b);
        expect(toStableId(toStableId(a)) === toStableId(b)).toBe(toStableId(a) === b);
      }),
      { seed: testSeed(), numRuns: Math.max(500, scaled(20_000)) },
    );
    const many = [...Array(300).keys()].flatMap((n) => [n, String(n), `${n} `, `${n}/`, `mapped:${n}`]);
    expect(new Set(many.map(toStableId)).size).toBe(many.length);
  });

  test.each([Number.NaN, Infinity, undefined, null, {}, true])("%s is no id", (id) => {
    expect(() => toStableId(id as string)).toThrow(expect.objectContaining({ code: "bad_identity" }));
  });

  test("an id with the form of a credential is mapped in envelopes", () => {
    const id = "ghp_0123456789abcdefghij";
    expect(toStableId(id)).toBe(id);
    expect(toSafeId(id)).toMatch(/^mapped:/);
    expect(toSafeId("call_1")).toBe("call_1");
  });

  test("the schema's own limit is 240", () => {
    expect([isStableId("a".repeat(240)), isStableId("a".repeat(241))]).toEqual([true, false]);
    expect(["", "-a", "a b", "a\n"].map(isStableId)).toEqual([false, false, false, false]);
  });
});
