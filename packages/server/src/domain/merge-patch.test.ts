import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scaled, testSeed } from "../../../../test/scale.js";
import { applyMergePatch, changedPointers, isSame } from "./merge-patch.js";

/** The cases of RFC 7396, appendix A: original, patch, result. */
const appendix: [original: string, patch: string, result: string][] = [
  ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
  ['{"a":"b"}', '{"a":null}', "{}"],
  ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
  ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
  ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
  ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
  ['["a","b"]', '["c","d"]', '["c","d"]'],
  ['{"a":"b"}', '["c"]', '["c"]'],
  ['{"a":"foo"}', "null", "null"],
  ['{"a":"foo"}', '"bar"', '"bar"'],
  ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
  ["[1,2]", '{"a":"b","c":null}', '{"a":"b"}'],
  ["{}", '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
];

const members: [name: string, original: string, patch: string, result: string][] = [
  ["__proto__ is set", "{}", '{"__proto__":{"x":1}}', '{"__proto__":{"x":1}}'],
  ["__proto__ is merged", '{"__proto__":{"x":1}}', '{"__proto__":{"y":2}}', '{"__proto__":{"x":1,"y":2}}'],
  ["__proto__ is removed", '{"__proto__":{"x":1},"a":1}', '{"__proto__":null}', '{"a":1}'],
  ["nested __proto__", '{"a":{}}', '{"a":{"__proto__":{"x":1}}}', '{"a":{"__proto__":{"x":1}}}'],
  ["names every object inherits", "{}", '{"constructor":{"a":1},"toString":null}', '{"constructor":{"a":1}}'],
  ["empty name", '{"":1}', '{"":{"":2}}', '{"":{"":2}}'],
  ["empty patch", '{"a":{"b":1}}', "{}", '{"a":{"b":1}}'],
];

describe("merge patch", () => {
  it.each(appendix)("%s patched with %s", (original, patch, result) => {
    expect(JSON.stringify(applyMergePatch(JSON.parse(original), JSON.parse(patch)))).toBe(result);
  });

  it.each(members)("a member like any other: %s", (_name, original, patch, result) => {
    const before = JSON.parse(original);
    const patched = applyMergePatch(before, JSON.parse(patch)) as object;
    expect(JSON.stringify(patched)).toBe(result);
    expect(JSON.stringify(before)).toBe(original);
    expect(Object.getPrototypeOf(patched)).toBe(Object.prototype);
    expect("x" in {}).toBe(false);
  });

  it("changes neither argument, is idempotent, and names exactly what changed", () => {
    const json = fc.jsonValue({ maxDepth: 4 });
    fc.assert(
      fc.property(json, json, (target, patch) => {
        const before = JSON.stringify([target, patch]);
        const once = applyMergePatch(target, patch);
        expect(JSON.stringify([target, patch])).toBe(before);
        expect(isSame(applyMergePatch(once, patch), once)).toBe(true);
        expect(changedPointers(target, once).length === 0).toBe(isSame(target, once));
        expect(changedPointers(once, once)).toEqual([]);
      }),
      { seed: testSeed(), numRuns: scaled(10_000) },
    );
  });
});

const differences: [before: string, after: string, pointers: string[]][] = [
  ['{"a":1}', '{"a":1}', []],
  ['{"a":1,"b":2}', '{"b":2,"a":1}', []],
  ['{"a":1}', '{"a":2}', ["/a"]],
  ['{"a":1}', "{}", ["/a"]],
  ["{}", '{"a":null}', ["/a"]],
  ["{}", '{"a":{"b":1}}', ["/a"]],
  ['{"a":{"b":1,"c":2}}', '{"a":{"b":1,"c":3}}', ["/a/c"]],
  ['{"a":{"b":1}}', '{"a":[1]}', ["/a"]],
  ['{"a":[{"b":1}]}', '{"a":[{"b":2}]}', ["/a"]],
  ['{"a":[1,2]}', '{"a":[2,1]}', ["/a"]],
  ['{"a/b":1,"c~d":1,"":1}', '{"a/b":2,"c~d":2,"":2}', ["/a~1b", "/c~0d", "/"]],
  ['{"__proto__":{"a":1}}', '{"__proto__":{"a":2}}', ["/__proto__/a"]],
  ["{}", '{"constructor":1}', ["/constructor"]],
  ['{"toString":1}', "{}", ["/toString"]],
  ["1", "2", [""]],
  ["{}", "[]", [""]],
];

describe("changed pointers", () => {
  it.each(differences)("%s to %s: %j", (before, after, pointers) => {
    expect(changedPointers(JSON.parse(before), JSON.parse(after))).toEqual(pointers);
  });
});

describe("sameness", () => {
  const different: [a: string, b: string][] = [
    ["1", '"1"'],
    ["null", "0"],
    ["[]", "{}"],
    ["[1]", "[1,1]"],
    ['{"a":1}', '{"b":1}'],
    ['{"toString":1}', '{"a":1}'],
    ['{"a":null}', "{}"],
  ];
  it.each(different)("%s is not %s", (a, b) => {
    expect(isSame(JSON.parse(a), JSON.parse(b))).toBe(false);
    expect(isSame(JSON.parse(b), JSON.parse(a))).toBe(false);
  });
});
