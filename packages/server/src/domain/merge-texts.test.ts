import { describe, expect, it } from "vitest";
import { mergeTexts } from "./merge-texts.js";

const head = "---\n# a remark\ntitle: 'T'   # quoted\ntags: [a]\n---\n";

describe("mergeTexts", () => {
  it.each([
    ["changes in different lines", ["1\n2\n3\n", "1\n2\nX\n", "Y\n2\n3\n"], "Y\n2\nX\n"],
    ["the same change on both sides", ["1\n2\n", "1\nX\n", "1\nX\n"], "1\nX\n"],
    [
      "a block that only one side has changed, byte for byte",
      [`${head}1\n`, `${head}2\n`, "---\ntitle: U\n---\n1\n"],
      "---\ntitle: U\n---\n2\n",
    ],
    ["no block where there was none", ["1\n2\n3\n", "1\n2\n3\n4\n", "0\n2\n3\n"], "0\n2\n3\n4\n"],
    ["a block that one side took away", [`${head}1\n2\n3\n`, `${head}1\n2\nX\n`, "1\n2\n3\n"], "1\n2\nX\n"],
  ])("keeps %s", (_name, [base, theirs, ours], merged) => {
    expect(mergeTexts({ base: base!, theirs: theirs!, ours: ours! })).toBe(merged);
  });

  it.each([
    ["both sides changed one line", ["1\n", "2\n", "3\n"]],
    [
      "both sides gave one key different values",
      ["---\ntitle: A\n---\n", "---\ntitle: B\n---\n", "---\ntitle: C\n---\n"],
    ],
    ["one side can't be read", ["1\n", "---\na: [\n---\n1\n", "1\n2\n"]],
    [
      "the rest of a body would be read as a block",
      ["x\n---\nb: 1\n---\nc\n", "---\nb: 1\n---\nc\n", "x\n---\nb: 1\n---\nd\n"],
    ],
  ])("gives up where %s", (_name, [base, theirs, ours]) => {
    expect(mergeTexts({ base: base!, theirs: theirs!, ours: ours! })).toBeUndefined();
  });

  it("takes keys that both sides changed, each its own", () => {
    const block = (title: string, tag: string) => `---\ntitle: ${title}\ntags: [${tag}]\n---\nx\n`;
    const merged = mergeTexts({ base: block("A", "a"), theirs: block("B", "a"), ours: block("A", "b") });
    expect(merged).toMatch(/^---\ntitle: B\ntags:\s+- b\n---\nx\n$/);
  });
});
