import { describe, expect, test } from "vitest";
import { claudeMemory } from "./claude-memory.js";
import { fileOf, made, readChecked, titles } from "./reading.contract.js";
import { samples } from "./samples.contract.js";

const read = (text: string, name = "memory.txt") => readChecked(claudeMemory, [fileOf(name, text)]);
const bodies = (text: string) => Object.values(made(read(text))).map(({ body }) => body);

describe("a list of memories", () => {
  test("each entry is a page, with its heading, its date and the line it is on", () => {
    const reading = readChecked(claudeMemory, samples["claude-memory"]);
    expect(reading.pages.map(({ line }) => line)).toEqual([5, 6, 10]);
    expect(Object.values(made(reading))).toEqual([
      {
        frontmatter: {
          title: "Answer in short sentences.",
          type: "semantic",
          tags: ["instructions"],
          source: { origin: "import", client: "claude", at: "2024-05-01T00:00:00.000Z" },
          x_import: { heading: "Instructions" },
        },
        body: "Answer in short sentences.\n",
      },
      expect.objectContaining({ body: "Use metric units,\n  never imperial ones.\n" }),
      expect.objectContaining({
        frontmatter: expect.objectContaining({ x_import: { heading: "Projects", date: "2024-06" } }),
      }),
    ]);
    expect(reading.notes).toEqual(['Left out: 2 lines around the block in "memory.txt".']);
  });

  test.each<[string, string, string[]]>([
    ["no fence", "[2024-01-01] - one\n[2024-01-02] - two", ["one\n", "two\n"]],
    ["bullets and other dashes", "- [2024-01-01] – one\n* [2024-01-02]: two", ["one\n", "two\n"]],
    ["lines that go on", "[2024-01-01] - one\nmore of it\n\n- another", ["one\nmore of it\n", "another\n"]],
    ["a byte order mark and CRLF", "\uFEFF[2024-01-01] - one\r\n[2024-01-02] - two\r\n", ["one\n", "two\n"]],
    ["a line separator inside", "[2024-01-01] - one\u2028more", ["one\u2028more\n"]],
    ["the same line twice", "[2024-01-01] - one\n[2024-01-01] - one", ["one\n"]],
    ["one text on two days", "[2024-01-01] - one\n[2024-01-02] - one", ["one\n", "one\n"]],
    ["an entry outside the fence", "```\n[2024-01-01] - one\n```\n[2024-01-02] - two\nBye.", ["one\n", "two\n"]],
    ["numbers", "[2024-01-01] - one\n\n2. two", ["one\n", "two\n"]],
    ["text like ours", "[2024-01-01] - ---\ntitle: x\n---", ["---\ntitle: x\n---\n"]],
  ])("%s", (_name, text, expected) => {
    expect(bodies(text)).toEqual(expected);
  });

  test("a day that does not exist and an empty entry are refused with their line, the rest is read", () => {
    const reading = read("[2024-02-30] - one\n[2024-02-01] -\n[2024-02-01] - two\n");
    expect(reading.refused).toEqual([
      { file: "memory.txt", line: 1, reason: expect.stringContaining("no such day") },
      { file: "memory.txt", line: 2, reason: expect.stringContaining("no text") },
    ]);
    expect(titles(reading)).toEqual(["two"]);
  });

  test("paths don't depend on what stands before", () => {
    const before = read("[2024-01-02] - two\n").pages[0]?.path;
    expect(read("[2024-01-01] - one\n[2024-01-02] - two\n").pages[1]?.path).toBe(before);
    expect(before).toMatch(/^imported\/claude-memory\/2024-01-02-two-[0-9a-f]{12}$/);
  });

  test("bytes that are no text are refused with their line", () => {
    const bytes = Buffer.concat([Buffer.from("[2024-01-01] - one\n"), Buffer.from([0xff])]);
    expect(claudeMemory.read([{ name: "a.txt", bytes }])).toEqual({
      pages: [],
      refused: [{ file: "a.txt", line: 2, reason: expect.stringContaining("UTF-8") }],
    });
  });
});

test("the account's export: the memory, the projects' and the files", () => {
  const account = {
    account_uuid: "acc-1",
    conversations_memory: "**Work**\n\nBuilds boats.",
    project_memories: { "p-1": "A small boat.", "p-2": 5 },
    memory_files: [{ path: "/profile.md", content: "- Likes tea", updated_at: "2026-01-02T03:04:05.678901Z" }],
  };
  const reading = readChecked(claudeMemory, [fileOf("memories.json", [account]), fileOf("conversations.json", [])]);
  expect(Object.entries(made(reading)).map(([path, { body }]) => [path, body])).toEqual([
    [expect.stringMatching(/^imported\/claude-memory\/account-/), "**Work**\n\nBuilds boats.\n"],
    ["imported/claude-memory/projects/p-1", "A small boat.\n"],
    ["imported/claude-memory/files/profile", "- Likes tea\n"],
  ]);
  expect(reading.pages[2]).toMatchObject({ frontmatter: { source: { at: "2026-01-02T03:04:05.678Z" } } });
  expect(reading.refused).toEqual([{ file: "memories.json", line: 2, reason: expect.stringContaining("no text") }]);
});
