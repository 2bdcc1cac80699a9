import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { basicMemory } from "./basic-memory.js";
import { markdown } from "./markdown.js";
import { pcp02 } from "./pcp-0-2.js";
import { fileOf, made, readChecked } from "./reading.contract.js";
import { remnic } from "./remnic.js";
import { remnicFact, samples } from "./samples.contract.js";

describe("a folder of Markdown", () => {
  test("notes keep their names and every byte; hidden folders and other files are left out", () => {
    const reading = readChecked(markdown, samples.markdown);
    expect(reading.pages).toEqual(
      samples.markdown
        .slice(0, 2)
        .map(({ name, bytes }) => ({ file: name, path: name.replace(/\.[a-z]+$/, ""), text: bytes.toString() })),
    );
    expect(reading.notes).toEqual(["Left out: 2 hidden files.", "Left out: 1 files that are not Markdown."]);
  });

  // Faults of other tools (their own threads): each file is taken byte for byte.
  test.each([
    ["own keys", "---\ntitle: A\ncitekey: x2020\n---\nText\n"],
    ["a null type", "---\ntype: null\n---\n"],
    ["a title that looks like a date", "---\ntitle: 2025-10-24\ntags: [1.0, true, 2025-10-24]\n---\n"],
    ["a date and a link", '---\ndate: 2026-03-16\nwho:\n  - "[[A-B]]"\n---\n'],
    ["a path in backticks", "See `C:\\x`.\n"],
    ["a rule first", "---\n\nText after a rule.\n"],
    ["a link with a suffix", "- [[link]]suffix\n"],
    ["a quoted title", '---\ntitle: "Constraints (REQ): read # spec"\n---\n'],
    ["tags with signs", "---\ntags: ['#x', y]\n---\n"],
  ])("%s", (_name, text) => {
    expect(readChecked(markdown, [fileOf("a.md", text)])).toEqual({
      pages: [{ file: "a.md", path: "a", text }],
      refused: [],
    });
  });

  test("a note's kind of another tool moves under x_import, and nothing else changes", () => {
    const text = "---\ntitle: A\ntype: note\nconfidence: high\ndate: 2026-03-16\n---\nText\n";
    expect(readChecked(markdown, [fileOf("a.md", text)]).pages).toEqual([
      {
        file: "a.md",
        path: "a",
        text: "---\ntitle: A\ndate: 2026-03-16\nx_import:\n  type: note\n  confidence: high\n---\nText\n",
      },
    ]);
  });

  test.each([
    ["quotes in quotes", '---\ntitle: "a "b" c"\n---\n', 2, "line 2, column 12"],
    ["a link that is no YAML", "---\n- [[link]]suffix\n---\n", 2, "line 2"],
    ["an open list", "---\nb: 1\nx: [\n---\n", 4, "line 4"],
    ["an alias", "---\ntitle: *Italic*\n---\n", 2, "line 2"],
    ["a key twice", "---\na: 1\na: 2\n---\n", 3, "line 3"],
  ])("%s refuses the file with its line; the others are read", (_name, text, line, reason) => {
    const reading = readChecked(markdown, [fileOf("bad.md", text), fileOf("good.md", "Good.\n")]);
    expect(reading.refused[0]).toEqual({ file: "bad.md", line, reason: expect.stringContaining(reason) });
    expect(reading.pages).toHaveLength(1);
  });

  test.each([
    ["case", "Alpha.md", "alpha.md"],
    ["Unicode form", "caf\u00e9.md", "cafe\u0301.md"],
    ["ending", "a.md", "a.markdown"],
  ])("the second of two names that differ by %s is refused with both", (_name, first, second) => {
    const reading = readChecked(markdown, [fileOf(first, "1"), fileOf(second, "2")]);
    expect(reading.pages).toHaveLength(1);
    expect(reading.refused).toEqual([{ file: second, reason: expect.stringContaining(`"${first}"`) }]);
  });

  test("bytes that are no UTF-8 are refused", () => {
    const reading = readChecked(markdown, [{ name: "a.md", bytes: Buffer.from("one\ncaf\xe9\n", "latin1") }]);
    expect(reading.refused).toMatchObject([{ file: "a.md", line: 2 }]);
  });
});

test("Basic Memory is a folder whose text stays", () => {
  const reading = readChecked(basicMemory, samples["basic-memory"]);
  expect(reading.pages.map(({ path }) => path)).toEqual(["recipes/Flat bread", "recipes/Soup"]);
  expect(reading.pages[0]).toMatchObject({
    text: expect.stringContaining(
      "x_import:\n  type: note\n---\n\n# Flat bread\n\n- [method] Hot pan #quick (no oven)\n- pairs_with [[Soup]]\n",
    ),
  });
});

describe("Remnic", () => {
  test("keys find their homes, links and origins the pages they mean, and the rest is kept", () => {
    const pages = made(readChecked(remnic, samples.remnic));
    expect(pages["imported/remnic/facts/2026-02-11/fact-1"]).toEqual({
      frontmatter: {
        title: "Likes green tea in the morning.",
        type: "semantic",
        lifecycle: "validated",
        confidence: 0.9,
        valid_from: "2026-02-01T00:00:00.000Z",
        derived_from: ["imported/remnic/facts/2026-02-11/fact-2"],
        tags: ["tea", "morning", "preference"],
        source: { origin: "import", client: "remnic", at: "2026-02-11T10:00:00.000Z" },
        relations: [
          {
            rel: "contradicts",
            target: "imported/remnic/facts/2026-02-11/fact-2",
            link_type: "contradicts",
            confidence: 0.7,
          },
        ],
        x_import: {
          id: "fact-1",
          category: "preference",
          updated: "2026-02-12T10:00:00.000Z",
          source: "extraction",
          confidenceTier: "explicit",
          links: [{ targetId: "fact-2", linkType: "contradicts", strength: 0.7 }],
          derived_from: ["facts/2026-02-11/fact-2.md:3", "facts/gone.md:1"],
        },
      },
      body: "Likes green tea in the morning.\n",
    });
  });

  test("a JSON export gives the pages that its files would, whatever the names", () => {
    const records = [
      { path: "facts/2026-02-11/fact-1.md", content: remnicFact },
      { path: "../../x.md", content: "Out.\n" },
      { path: "state/a.json", content: "{}" },
      { path: 5, content: "x" },
      { path: "bad.md", content: "---\na: [\n---\n" },
    ];
    const manifest = { format: "openclaw-engram-export", schemaVersion: 1 };
    const reading = readChecked(remnic, [
      fileOf("manifest.json", manifest),
      fileOf("bundle.json", { manifest, records }),
    ]);
    expect(reading.pages.map(({ path }) => path)).toEqual([
      "imported/remnic/facts/2026-02-11/fact-1",
      expect.stringMatching(/^imported\/remnic\/_\/_\/x-[0-9a-f]{12}$/),
    ]);
    expect(reading.refused.map(({ file }) => file)).toEqual(["bundle.json", "bundle.json"]);
  });
});

describe("PCP 0.2", () => {
  test("pages keep their paths and bytes, profiles their namespaces", () => {
    const reading = readChecked(pcp02, samples["pcp-0.2"]);
    expect(reading.pages).toEqual([
      { file: "context/memory/_index.md", path: "imported/pcp-0.2/index", text: "# Index\n" },
      {
        file: "context/memory/notes/boat.md",
        path: "notes/boat",
        text: expect.stringContaining("updated: 2026-01-01"),
      },
    ]);
    expect(reading.profiles).toEqual({
      core: { pcp_version: "0.2", name: "Ada Example" },
      "pcp.health": { allergies: [] },
    });
    expect(reading.notes).toEqual(
      expect.arrayContaining([
        expect.stringContaining("pcp_finance"),
        expect.stringContaining("connections"),
        expect.stringContaining("audit"),
      ]),
    );
  });

  test("what the manifest says is checked", () => {
    const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
    const manifest = {
      pcp_version: "0.2",
      memory: { path: "pages", page_count: 3 },
      profile: {
        core: "me.json",
        extensions: [{ namespace: "pcp.health", path: "h.json.age", encrypted: { algorithm: "age" } }],
      },
      files: [
        { path: "pages/a.md", sha256: sha256("A\n") },
        { path: "pages/b.md", sha256: sha256("B\n") },
        { path: "pages/c.md", sha256: sha256("C\n") },
      ],
    };
    const files = {
      "pages/a.md": "A\n",
      "pages/b.md": "changed\n",
      "h.json.age": "age",
      "me.json": "[]",
      "profile/No Name.json": "{}",
    };
    const reading = readChecked(pcp02, [
      fileOf("manifest.json", manifest),
      ...Object.entries(files).map(([name, text]) => fileOf(name, text)),
    ]);
    expect(reading.pages.map(({ path }) => path)).toEqual(["a"]);
    expect(reading.profiles).toBeUndefined();
    expect(reading.refused.map(({ file }) => file)).toEqual([
      "pages/b.md",
      "pages/c.md",
      "h.json.age",
      "me.json",
      "profile/No Name.json",
      "manifest.json",
    ]);
  });

  test("the earlier name of the protocol is understood", () => {
    const reading = readChecked(pcp02, [
      fileOf("profile/profile.core.json", { name: "A" }),
      fileOf("profile/hcs.home.json", {}),
      fileOf("memory/a.md", "A"),
    ]);
    expect(Object.keys(reading.profiles ?? {})).toEqual(["core", "pcp.home"]);
  });
});
