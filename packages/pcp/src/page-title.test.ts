import { expect, test } from "vitest";
import { titleFromBody } from "./page-title.js";

test.each([
  ["# One\n\n## Two", "One"],
  ["text\n\n### Later ###\n", "Later"],
  ["Setext title\n============\n", "Setext title"],
  ["two\nlines\n---\n", "two lines"],
  ["```\n# code\n```\n# Real", "Real"],
  ["~~~md\n# code\n```\n# code\n~~~\n# Real", "Real"],
  ["````\n```\n# code\n````\n# Real", "Real"],
  ["```\n# never closed", "name"],
  ["    # indented code\n# Real", "Real"],
  ["#no-space\n# Real", "Real"],
  ["#\n# Real", "Real"],
  ["# **Bold** `code` [link](u) [[page|shown]] C# *i*", "Bold code link shown C# i"],
  ["# snake_case_name", "snake_case_name"],
  ["- item\n---\n# Real", "Real"],
  ["\n---\n# Real", "Real"],
  ["no heading", "name"],
  ["", "name"],
  [`# ${"😀".repeat(600)}`, "😀".repeat(500)],
  ["# a\u0000b", "a b"],
])("%j -> %j", (body, title) => {
  expect(titleFromBody(body, "folder/name")).toBe(title);
});

test("long hostile lines cost little", () => {
  const started = performance.now();
  for (const piece of ["# ", "#", " ", "*", "_a", "[", "`", "[](", "- "])
    titleFromBody(`# ${piece.repeat(100_000)}x`, "a");
  expect(performance.now() - started).toBeLessThan(1500);
});
