import { describe, expect, test } from "vitest";
import { parseFrontmatter, validateFrontmatter } from "./frontmatter.js";

describe("parseFrontmatter", () => {
  test("the view drops server keys and nulls and keeps every other key", () => {
    const parsed = parseFrontmatter({
      title: "x",
      id: { a: 1 },
      updated: 5,
      review: "y",
      type: null,
      mine: { deep: [null] },
      derived_from: ["a.md"],
      tags: ["#t", "", "#", " "],
    });
    expect(parsed).toEqual({
      ok: true,
      frontmatter: { title: "x", mine: { deep: [null] }, derived_from: ["a"], tags: ["t"] },
    });
  });

  test.each([
    [null, ""],
    [[], ""],
    ["x", ""],
    [{ title: 5 }, "/title"],
    [{ title: " " }, "/title"],
    [{ title: "x".repeat(501) }, "/title"],
    [{ type: "note" }, "/type"],
    [{ tags: [5] }, "/tags/0"],
    [{ tags: ["x".repeat(65)] }, "/tags/0"],
    [{ tags: Array(65).fill("x") }, "/tags"],
    [{ partition: "A" }, "/partition"],
    [{ sensitivity: "secret" }, "/sensitivity"],
    [{ lifecycle: "dead" }, "/lifecycle"],
    [{ confidence: 1.1 }, "/confidence"],
    [{ confidence: "0.5" }, "/confidence"],
    [{ valid_from: "2023-02-29" }, "/valid_from"],
    [{ valid_until: "2023-02" }, "/valid_until"],
    [{ source: {} }, "/source"],
    [{ source: { origin: "web" } }, "/source/origin"],
    [{ source: { origin: "chat", at: "yesterday" } }, "/source/at"],
    [{ derived_from: "a" }, "/derived_from"],
    [{ derived_from: ["../a"] }, "/derived_from/0"],
    [{ derived_from: Array(257).fill("a") }, "/derived_from"],
    [{ relations: [{ rel: "about" }] }, "/relations/0"],
    [{ relations: [{ rel: "likes", target: "a" }] }, "/relations/0/rel"],
    [{ relations: [{ rel: "about", target: "a/" }] }, "/relations/0/target"],
    [{ relations: [{ rel: "about", target: "a", confidence: 2 }] }, "/relations/0/confidence"],
    [{ relations: Array(257).fill({ rel: "about", target: "a" }) }, "/relations"],
    [{ "a/b": { "~": Number.NaN } }, "/a~1b/~0"],
    [{ x: "\uD800" }, "/x"],
    [{ x: { "\uDC00": 1 } }, "/x"],
    [{ x: new Date(0) }, "/x"],
    [{ x: undefined, y: 5n }, "/y"],
  ])("%o is refused at %j", (value, pointer) => {
    expect(validateFrontmatter(value)).toMatchObject([{ code: "invalid_input", pointer }]);
  });

  test.each([
    [{}],
    [{ title: "😀".repeat(500), tags: Array(64).fill("é".repeat(64)), derived_from: Array(256).fill("a") }],
    [{ valid_from: "2024-02-29", valid_until: "2024-03-01T00:00:00+02:00", confidence: 0 }],
    [{ source: { origin: "chat", client: "desk", session: "s", at: "2024-01-01T00:00:00Z", extra: 1 } }],
  ])("%o is fine", (value) => {
    expect(validateFrontmatter(value)).toEqual([]);
  });

  test("depth is bounded without recursion, also for a value that holds itself", () => {
    let value: unknown = 1;
    for (let i = 0; i < 100_000; i++) value = [value];
    expect(validateFrontmatter({ value })).toHaveLength(1);
    const loop: Record<string, unknown> = {};
    loop.again = loop;
    expect(validateFrontmatter(loop)).toHaveLength(1);
  });
});
