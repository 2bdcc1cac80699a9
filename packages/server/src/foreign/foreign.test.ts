import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { scaled, testSeed } from "../../../../test/scale.js";
import type { ForeignFile, ForeignFormatName } from "./foreign-format.js";
import { detectFormat, foreignFormats } from "./index.js";
import { fileOf, readChecked } from "./reading.contract.js";
import { samples } from "./samples.contract.js";

const names = Object.keys(samples) as ForeignFormatName[];

describe("detectFormat", () => {
  test("there is one format of each name", () => {
    expect(foreignFormats.map(({ name }) => name).sort()).toEqual([...names].sort());
  });

  test.each(names)("knows %s", (name) => {
    expect(detectFormat(samples[name]).name).toBe(name);
    expect(readChecked(detectFormat(samples[name]), samples[name]).refused).toEqual([]);
    expect(readChecked(detectFormat(samples[name]), samples[name]).pages.length).toBeGreaterThan(0);
  });

  test.each<[string, ForeignFile[], ForeignFormatName]>([
    ["nothing", [], "markdown"],
    ["a picture", [fileOf("a.png", "\x89PNG")], "markdown"],
    [
      "notes with one dated line",
      [fileOf("a.md", "# Diary\n\nMet Ada.\n[2024-01-01] - Rain.\nWent home.\n")],
      "markdown",
    ],
    ["a site's notes with permalinks", [fileOf("a.md", "---\npermalink: /a\ntitle: A\n---\n- [ ] task\n")], "markdown"],
    ["a list of chats by another tool", [fileOf("conversations.json", [{ chat_messages: [] }])], "markdown"],
    [
      "an archive of PCP 0.3",
      [fileOf("manifest.json", { pcp_version: "0.3" }), fileOf("memory/a.md", "A")],
      "markdown",
    ],
    ["PCP 0.2 without a manifest", [fileOf("profile/core.json", {}), fileOf("memory/a.md", "A")], "pcp-0.2"],
    ["parts of a big account", [fileOf("x/conversations-001.json", '[{"id":"a","mapping":{}}]')], "chatgpt"],
    ["saved memories alone", [fileOf("memories.json", [{ id: "1", content: "Likes tea" }])], "chatgpt"],
    ["Claude's account", [fileOf("memories.json", [{ conversations_memory: "Likes tea" }])], "claude-memory"],
    ["OpenMemory", [fileOf("memories.json", { memories: [], memory_categories: [], export_meta: {} })], "mem0"],
    ["OpenMemory's lines", [fileOf("memories.jsonl", '{"id":"1","content":"a","state":"active"}\n')], "mem0"],
    ["a graph as one object", [fileOf("graph.json", { entities: [], relations: [] })], "server-memory"],
    ["a bare list of OMP", [fileOf("a.json", [{ id: "mem_a", source: { tool: "x" }, content: "y" }])], "omp"],
    [
      "Remnic's JSON export",
      [
        fileOf("manifest.json", { format: "openclaw-engram-export" }),
        fileOf("bundle.json", { manifest: { format: "openclaw-engram-export" }, records: [] }),
      ],
      "remnic",
    ],
    [
      "notes of which one is a dated list",
      [
        fileOf("recipes.md", "# Soup\n\nBoil water.\n\n- one\n"),
        fileOf("log.md", "- [2025-01-01] - a\n- [2025-01-02] - b\n"),
      ],
      "markdown",
    ],
    [
      "notes of which one reads like a memory of Remnic",
      [
        fileOf("song.md", "---\ncategory: music\nconfidence: high\n---\nx\n"),
        fileOf("a.md", "a\n"),
        fileOf("b.md", "b\n"),
      ],
      "markdown",
    ],
    [
      "notes beside JSON of something else",
      [fileOf("a.md", "a\n"), fileOf("pod.json", { metadata: {}, memory: "512Mi" })],
      "markdown",
    ],
    [
      "notes beside a mapping",
      [fileOf("a.md", "a\n"), fileOf("m.json", [{ mapping: {}, current_node: "x" }])],
      "markdown",
    ],
  ])("%s", (_name, files, format) => {
    expect(detectFormat(files).name).toBe(format);
  });
});

/** Any JSON, with names that formats look for, and texts that break things. */
const nasty = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom<unknown>(
      null,
      true,
      0,
      -1,
      1e308,
      2 ** 53,
      1709294400,
      "",
      " ",
      "\uD800",
      "a\u0000b",
      "---\n",
      "__proto__",
    ),
    fc.constantFrom<unknown>(
      "2024-01-01",
      "2024-13-01",
      "9".repeat(40),
      "a".repeat(70),
      "../../x",
      "con",
      "x\r\ny",
      "```",
      "2024-05-01T10:00:00Z",
    ),
    fc.string({ unit: "binary", maxLength: 20 }),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(
      fc.constantFrom("__proto__", "id", "content", "text", "parts", "parent", "created_at", "tags", "role", "é"),
      tie("value"),
      {
        maxKeys: 4,
      },
    ),
  ),
})).value;

// Puts something nasty in place of one value anywhere in a sample, or beside it.
function spoil(value: unknown, at: number, given: unknown): unknown {
  let left = at;
  const walk = (current: unknown): unknown => {
    if (left-- === 0) return given;
    if (Array.isArray(current)) return current.map(walk);
    if (typeof current !== "object" || current === null) return current;
    return Object.fromEntries(Object.entries(current).map(([key, inner]) => [key, walk(inner)]));
  };
  return walk(value);
}

function spoilFile(file: ForeignFile, at: number, given: unknown): ForeignFile {
  const text = file.bytes.toString();
  try {
    return fileOf(file.name, spoil(JSON.parse(text), at % 60, given) as object);
  } catch {
    const cut = at % (text.length + 1);
    const more = typeof given === "string" ? given : JSON.stringify(given);
    return fileOf(file.name, text.slice(0, cut) + more + text.slice(cut + (at % 7)));
  }
}

test("no format throws, and all keep their promises, whatever is in the files", () => {
  const run = (name: ForeignFormatName, at: number, given: unknown): void => {
    const files = samples[name].map((file, index) => (index === 0 || at % 3 === 0 ? spoilFile(file, at, given) : file));
    for (const format of foreignFormats) format.detect(files);
    readChecked(foreignFormats.find((format) => format.name === name)!, files);
  };
  const cases = fc.property(fc.constantFrom(...names), fc.nat(2_000), nasty, run);
  fc.assert(cases, { seed: testSeed(), numRuns: scaled(10_000) });
}, 300_000);

test("no format throws on files of another", () => {
  for (const format of foreignFormats) {
    for (const name of names) readChecked(format, samples[name]);
    readChecked(format, Object.values(samples).flat());
    for (const file of Object.values(samples).flat())
      readChecked(format, [{ ...file, bytes: Buffer.from([0xff, 0xfe, 10, 0]) }]);
  }
});

describe("hostile files take little time", () => {
  const deep = (open: string, close: string): string => open.repeat(200_000) + close.repeat(200_000);
  const list = Array.from({ length: 20_000 }, (_, index) => ({
    id: `m${index}`,
    memory: `Memory ${index}`,
    user_id: "u",
  }));
  const chain = Object.fromEntries(
    Array.from({ length: 50_000 }, (_, index) => [
      `n${index}`,
      { parent: `n${(index + 1) % 50_000}`, children: ["x"], message: null },
    ]),
  );
  test.each<[string, ForeignFormatName, ForeignFile]>([
    ["deep lists", "chatgpt", fileOf("conversations.json", `[{"mapping":{"a":${deep("[", "]")}}}]`)],
    [
      "a deep extra",
      "mem0",
      fileOf("a.json", `[{"memory":"x","user_id":"u","metadata":${deep('{"a":', "}").replace(/:\}/, ":1}")}}]`),
    ],
    ["never closed", "omp", fileOf("a.json", `{"omp_version":"1","memories":${"[".repeat(400_000)}`)],
    ["a string without end", "mem0", fileOf("a.json", `[{"memory":"${"\\\\".repeat(400_000)}`)],
    ["many memories", "mem0", fileOf("a.json", list)],
    ["a circle of messages", "chatgpt", fileOf("conversations.json", [{ current_node: "n0", mapping: chain }])],
    ["one long line", "claude-memory", fileOf("a.txt", `[2024-01-01] - ${"word ".repeat(200_000)}`)],
    ["many brackets", "claude-memory", fileOf("a.txt", `[2024-01-01] - x\n${"[".repeat(500_000)}`)],
    ["many blanks", "claude-memory", fileOf("a.txt", `[2024-01-01] - x\n${" ".repeat(500_000)}x`)],
    ["many stars", "claude-memory", fileOf("a.txt", `[2024-01-01] - x\n**${"*a ".repeat(200_000)}`)],
    [
      "many lines",
      "server-memory",
      fileOf("a.jsonl", '{"type":"entity","name":"a","entityType":"b","observations":["x"]}\n'.repeat(20_000)),
    ],
    ["a head without end", "remnic", fileOf("a.md", `---\n${"category: x\n".repeat(5_000)}`)],
    ["many source keys", "omp", fileOf("a.json", `[{"id":"mem_a","x":"${"source: {".repeat(6_000)}"}]`)],
  ])("%s", (_name, name, file) => {
    const format = foreignFormats.find((one) => one.name === name)!;
    const begun = performance.now();
    for (const one of foreignFormats) one.detect([file]);
    format.read([file]);
    expect(performance.now() - begun).toBeLessThan(4_000);
  });
});
