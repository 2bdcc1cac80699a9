import { describe, expect, it } from "vitest";
import { findNameProblem } from "./archive-name.js";

describe("findNameProblem", () => {
  it.each(["a", "memory/a.md", "memory/日記/京都.md", "a..b", "...", "memory/.hidden", "con", "a b/c:d", "ä/é"])(
    "lets %j through",
    (name) => expect(findNameProblem(name)).toBeUndefined(),
  );

  it.each([
    ["", "empty"],
    ["/etc/passwd", "absolute"],
    ["C:/a", "absolute"],
    ["c:a", "absolute"],
    ["..", '".."'],
    ["../a", '".."'],
    ["a/../b", '".."'],
    ["a/..", '".."'],
    ["a\\b", "backslash"],
    ["..\\a", "backslash"],
    ["a\0b", "NUL"],
    ["a//b", "plain form"],
    ["./a", "plain form"],
    ["a/", "plain form"],
    ["a/./b", "plain form"],
    ["a\ud800", "Unicode"],
  ])("refuses %j", (name, reason) => expect(findNameProblem(name)).toContain(reason));
});
