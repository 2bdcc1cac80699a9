import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeId, ID_PREFIXES, isId } from "./ids.js";

describe("ids", () => {
  test("known values", () => {
    expect(encodeId("pg", "00000000-0000-0000-0000-000000000000")).toBe(`pg_${"0".repeat(26)}`);
    expect(encodeId("era", "FFFFFFFF-ffff-ffff-ffff-ffffffffffff")).toBe(`era_7${"z".repeat(25)}`);
    expect(encodeId("aud", "00000000-0000-0000-0000-000000000021")).toBe(`aud_${"0".repeat(24)}11`);
  });

  test("the order of ids is the order of UUIDs, and each has one prefix", () => {
    const seed = Date.now();
    console.log(`ids seed ${seed}`);
    fc.assert(
      fc.property(fc.uuid(), fc.uuid(), fc.constantFrom(...ID_PREFIXES), (a, b, prefix) => {
        const [x, y] = [encodeId(prefix, a), encodeId(prefix, b)];
        expect(x < y).toBe(a < b);
        expect(ID_PREFIXES.filter((other) => isId(other, x))).toEqual([prefix]);
      }),
      { seed },
    );
  });

  test.each([
    "",
    "pg_",
    `pg_8${"0".repeat(25)}`,
    `pg_${"0".repeat(25)}`,
    `pg_${"0".repeat(27)}`,
    `pg_${"0".repeat(25)}l`,
    `pg_${"0".repeat(25)}A`,
    `pg_${"0".repeat(26)}\n`,
  ])("%j is no page id", (text) => {
    expect(isId("pg", text)).toBe(false);
  });

  test("anything but a UUID is our own fault", () => {
    expect(() => encodeId("pg", "nonsense")).toThrow(expect.objectContaining({ code: "internal" }));
  });
});
