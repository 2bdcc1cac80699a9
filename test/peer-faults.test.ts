import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse as parseYaml } from "yaml";
import { makeData, runOk, temporaryFolder } from "./harness.js";
import { type PageFile, World, type Written } from "./in-process.js";
import { scaled, testSeed } from "./scale.js";

/*
 * Faults that similar systems had in public, each under its number in our list, and others of the same kind: search,
 * frontmatter, paths.
 */

/** A context with these pages: path to body. */
async function pages(
  bodies: Record<string, string>,
  keys: Record<string, Record<string, unknown>> = {},
): Promise<World> {
  const world = World.open();
  for (const [path, body] of Object.entries(bodies)) await world.write(path, body, keys[path]);
  return world;
}

async function expectFinds(world: World, path: string, queries: string[]): Promise<void> {
  for (const query of queries) expect(await world.paths(query), query).toContain(path);
  expect(world.faults).toEqual([]);
}

async function expectNoError(world: World, queries: string[]): Promise<void> {
  for (const query of queries) expect(await world.outcome("memory_search", { query }), query).toBe("ok");
  expect(world.faults).toEqual([]);
}

describe("search", () => {
  it("S1: hyphens, colons, open quotes and parentheses are words with signs, not syntax", async () => {
    const world = await pages({
      marker: "marker ab-12-cd\n",
      hermes: "the project: hermes has a deadline\n",
      dates: "due 2026-03-01 at 10:30, ref #42-b\n",
    });
    await expectFinds(world, "marker", ["ab-12-cd", "marker ab-12-cd", '"ab-12-cd"', "ab-12-cd:", "-ab-12-cd"]);
    await expectFinds(world, "hermes", ["project:hermes deadline", "project: hermes", "(hermes", "hermes)", '"hermes']);
    await expectFinds(world, "dates", ["2026-03-01", "10:30", "#42-b", "due:2026-03-01"]);
    await expectNoError(world, [
      'say "hi',
      "(python",
      "foo AND bar",
      "a-b",
      "-",
      "--",
      ":",
      "a:b:c",
      "NEAR/2",
      "^a",
      "a*",
    ]);
  });

  it("S2: an operator between two words finds the page with both first", async () => {
    const world = await pages({
      both: "tier1-test with unicode names\n",
      one: "tier1-test alone\n",
      other: "unicode alone\n",
    });
    for (const query of [
      "tier1-test AND unicode",
      "tier1-test unicode",
      "unicode OR tier1-test",
      "tier1-test NEAR unicode",
    ]) {
      expect((await world.paths(query))[0], query).toBe("both");
    }
    await expectNoError(world, [
      "a-b AND c",
      "NOT tier1-test",
      "tier1-test NOT unicode",
      "title:tier1-test AND body:unicode",
    ]);
  });

  it("S4: words that stand apart in the page are found together", async () => {
    const world = await pages({
      tools: `linear ${"and much else ".repeat(30)}cli for the terminal\n`,
      decoy: "a cli\n",
    });
    expect((await world.paths("linear cli"))[0]).toBe("tools");
    expect((await world.paths("terminal linear"))[0]).toBe("tools");
    expect((await world.paths("terminal cli linear for the"))[0]).toBe("tools");
  });

  it("S6: a part of a sentence written without spaces is found", async () => {
    const world = await pages({
      zh: "用户服务器部署在腾讯云国内节点\n",
      ja: "今日は成語しりとりをした\n",
      ko: "오늘 끝말잇기 게임을 했다\n",
      th: "วันนี้อากาศดีมาก\n",
      km: "ខ្ញុំចូលចិត្តកាហ្វេ\n",
      mixed: "東京タワーへGoogleマップで行く\n",
    });
    await expectFinds(world, "zh", ["腾讯云", "服务器", "国内节点", "云"]);
    await expectFinds(world, "ja", ["しりとり", "成語", "今日"]);
    await expectFinds(world, "ko", ["끝말잇기", "게임", "오늘 게임"]);
    await expectFinds(world, "th", ["อากาศ", "วันนี้"]);
    await expectFinds(world, "km", ["កាហ្វេ"]);
    await expectFinds(world, "mixed", ["タワー", "google", "マップ", "東京"]);
    expect(await world.paths("大阪")).toEqual([]);
  });

  it.each(["vt-firmware", "0f8fad5b-d9cb-469f-a165-70867728950e", "a_b-c", "not", "x".repeat(64), "7"])(
    "S8: the partition %s works in every tool",
    async (partition) => {
      const world = World.open();
      await world.addPages([{ path: "fw/page", body: "bootloader\n" }], partition);
      await world.write("fw/more", "bootloader too\n", { title: "more", partition });
      await world.write("elsewhere", "bootloader elsewhere\n");
      expect((await world.paths("bootloader", { partitions: [partition] })).sort()).toEqual(["fw/more", "fw/page"]);
      const listed = await world.ok<{ pages: { path: string }[] }>("memory_list", { partition });
      expect(listed.pages.map(({ path }) => path)).toEqual(["fw/more", "fw/page"]);
      expect(JSON.stringify(await world.ok("partition_list", {}))).toContain(`"${partition}"`);
      expect(JSON.stringify(await world.ok("memory_read", { path: "fw/page" }))).toContain(`"${partition}"`);
      expect(JSON.stringify(await world.ok("context_brief", { focus: "bootloader" }))).toContain("fw/page");
      expect(world.faults).toEqual([]);
    },
  );

  it("S9: slashes, backslashes and bars in titles and bodies are found and break nothing", async () => {
    const world = await pages(
      { cruise: "level flight\n", repo: "see C:\\repo\\src\\main.py for it\n", pipe: "a|b||c and x/y//z\n" },
      { cruise: { title: "Cruise / En route" }, pipe: { title: "in | out" } },
    );
    await expectFinds(world, "cruise", ["Cruise / En route", "Cruise/En route", "/ En route"]);
    await expectFinds(world, "repo", ["C:\\repo\\src\\main.py", "main.py", "src\\main.py", "repo/src/main.py"]);
    await expectFinds(world, "pipe", ["in | out", "a|b||c", "x/y//z", "x/y"]);
  });

  it.each([
    "near",
    "not",
    "or",
    "and",
    "mcp",
    "NEAR",
    "NOT",
    "OR",
    "AND",
    "rowid",
    "rank",
    "match",
    "like",
    "glob",
    "null",
  ])("S10: %s is a word like any other", async (word) => {
    const world = await pages({ page: `${word}\n`, sentence: `something ${word} something else\n` });
    expect((await world.paths(word)).sort()).toEqual(["page", "sentence"]);
    await expectFinds(world, "sentence", [
      `something ${word}`,
      `${word} something`,
      `${word} ${word}`,
      `"${word}"`,
      `${word}:else`,
    ]);
  });

  it("S11: an identifier with hyphens beside plain words is answered by words", async () => {
    const world = await pages({
      note: "oceanbase-blue-116: add search to the list\n",
      decoy: "add search somewhere\n",
    });
    expect((await world.paths("oceanbase-blue-116 add search"))[0]).toBe("note");
    expect((await world.paths("add search oceanbase-blue-116"))[0]).toBe("note");
    expect((await world.paths("blue-116"))[0]).toBe("note");
  });

  it("S12: one rare word among thousands of pages is the first hit", async () => {
    const world = World.open();
    const filler = (index: number): PageFile => ({
      path: `n/${index}`,
      body: `note ${index} on mars, deimos and the rest\n`,
    });
    await world.addPages([
      ...Array.from({ length: 2000 }, (_, index) => filler(index)),
      { path: "moon", body: "phobos\n" },
    ]);
    for (const query of ["phobos", "PHOBOS", "tell me about phobos", "phobo", "phobos zzzz", "phobos?"]) {
      expect((await world.paths(query))[0], query).toBe("moon");
    }
    const lone = await pages({ moon: "phobos\n" });
    expect(await lone.paths("phobos")).toEqual(["moon"]);
  });

  it("S15: versions, ranges and inner quotes are found", async () => {
    const world = await pages({
      model: "we use gpt-4o here\n",
      size: "between 100-200MB each\n",
      quote: 'the sign a"b hangs\n',
    });
    await expectFinds(world, "model", ["gpt-4o", "GPT-4o", "gpt-4o?", "gpt 4o"]);
    await expectFinds(world, "size", ["100-200MB", "200mb", "100-200"]);
    await expectFinds(world, "quote", ['a"b', '"a"b"']);
    await expectNoError(world, ['"', '""', '"""', "'", "''", "`", "v1.2.3-rc.1+build", "1e5", "~10%", "<1s"]);
  });

  it("S16: an overwritten fact is gone from search, and a missing topic is clearly empty", async () => {
    const world = await pages({ job: "job: programmer\n" });
    await world.write("job", "job: student\n");
    const answer = await world.search({ query: "job" });
    expect(answer.results).toHaveLength(1);
    expect(answer.results[0]!.snippet).toContain("student");
    expect(JSON.stringify(answer)).not.toContain("programmer");
    expect(await world.search({ query: "programmer" })).toEqual({ results: [] });
    expect(await world.search({ query: "an absent topic entirely" })).toEqual({ results: [] });
    await world.write("job", "---\ntitle: occupation\n---\nretired\n");
    expect(await world.paths("student")).toEqual([]);
    expect(await world.paths("occupation")).toEqual(["job"]);
  });
});

/** Numbers that JSON does not carry exactly are refused; that has a test of its own. */
function holdsInexact(value: unknown): boolean {
  if (typeof value === "number") return Number.isInteger(value) && Math.abs(value) >= 2 ** 53 && Math.abs(value) < 1e21;
  return typeof value === "object" && value !== null && Object.values(value).some(holdsInexact);
}

describe("frontmatter and Markdown", () => {
  it("F1: a file's own block stays the only one, with its unknown keys", async () => {
    const world = World.open();
    const text = "---\ntitle: Paper\ntype: semantic\ncitekey: doe2020\nnested: {a: [1, 2]}\n---\n# Heading\n";
    await world.importTexts([{ path: "paper", text }]);
    expect(await world.text("paper")).toBe(text);
    const { frontmatter, body } = await world.ok<{ frontmatter: Record<string, unknown>; body: string }>(
      "memory_read",
      { path: "paper" },
    );
    expect(frontmatter).toMatchObject({ title: "Paper", citekey: "doe2020", nested: { a: [1, 2] } });
    expect(body).toBe("# Heading\n");
    await world.importTexts([{ path: "paper", text }]);
    expect(await world.text("paper")).toBe(text);
    await world.write("paper", "# Other\n");
    expect(await world.text("paper")).toBe(text.replace("# Heading", "# Other"));
  });

  it.each([
    ["quotes inside quotes", 'title: "a "b" c"', 2],
    ["an open quote", 'title: "a', 2],
    ["a tab as indent", "title: x\nx:\n\ty: 1", 4],
    ["a list that never ends", "title: x\ntags: [a", 3],
    ["a key twice", "title: x\ntitle: y", 3],
    ["a colon in a plain value", "title: a: b", 2],
  ])("F2: %s is refused with file and line, and the page keeps its bytes", async (_, yaml, line) => {
    const world = World.open();
    await world.write("page", "as it was\n");
    const text = `---\n${yaml}\n---\nbody\n`;
    const { refused, applied } = await world.importTexts([{ path: "page", text }]);
    expect(applied).toBe(false);
    expect(refused[0]).toMatchObject({ file: "page.md" });
    expect(Math.abs((refused[0]?.line ?? 0) - line), JSON.stringify(refused)).toBeLessThanOrEqual(1);
    const error = await world.refused("memory_write", { path: "page", body: text });
    expect(error.code).toBe("invalid_input");
    expect(error.violations?.join()).toMatch(/line \d+/);
    expect(await world.text("page")).toBe("as it was\n");
  });

  it("F3: a key without a value and a bad file hold up no other file", async () => {
    const world = World.open();
    const files = [
      { path: "null-type", text: "---\ntitle: a\ntype: null\n---\n" },
      { path: "no-type", text: "---\ntitle: b\ntype:\ntags:\nsource: ~\n---\n" },
      { path: "bad", text: "---\ntitle: c\n- x: [\n---\n" },
      { path: "not-utf8", text: Buffer.from([0x61, 0xff]) },
      { path: "good", text: "good\n" },
    ];
    const all = await world.importTexts(files);
    expect(all.applied).toBe(false);
    expect(all.refused.map(({ file }) => file)).toEqual(expect.arrayContaining(["bad.md", "not-utf8.md"]));
    const rest = await world.importTexts(files, undefined, true);
    expect(rest.added.sort()).toEqual(["good", "no-type", "null-type"]);
    expect(await world.paths("good")).toEqual(["good"]);
  });

  it("F4: scalars stay the text that was written", async () => {
    const world = World.open();
    const text =
      "---\ntitle: 2025-10-24\ntags: [1.0, true, 2025-10-24, 0x1F, ~x, 007, 1e3, no]\nvalid_from: 2025-10-24\n---\nx\n";
    await world.write("page", text);
    const { frontmatter } = await world.ok<{ frontmatter: Record<string, unknown> }>("memory_read", { path: "page" });
    expect(frontmatter).toMatchObject({
      title: "2025-10-24",
      tags: ["1.0", "true", "2025-10-24", "0x1F", "~x", "007", "1e3", "no"],
      valid_from: "2025-10-24",
    });
    expect(await world.text("page")).toBe(text);
    expect(await world.paths("x", { tags: ["1.0", "2025-10-24"] })).toEqual(["page"]);
  });

  it("F6: one odd file keeps no other from coming in", async () => {
    const world = World.open();
    const files = [
      { path: "backtick", text: "---\ntitle: `C:\\x`\n---\nx\n" },
      { path: "rule", text: "---\n\nSome text after a rule.\n" },
      { path: "two-rules", text: "---\n\nSome text between rules.\n\n---\nMore.\n" },
      { path: "italic", text: "---\ntitle: *Italic*\n---\nx\n" },
      { path: "link", text: "---\ntitle: t\nup:\n  - [[link]]suffix\n---\nx\n" },
      { path: "late", text: "\n---\ntitle: not at the start\n---\n" },
      { path: "good", text: "# Good\n" },
    ];
    const { added, refused } = await world.importTexts(files, undefined, true);
    const reported = new Set(refused.map(({ file }) => file.replace(".md", "")));
    expect([...added, ...reported].sort()).toEqual(files.map(({ path }) => path).sort());
    expect(added).toEqual(expect.arrayContaining(["rule", "two-rules", "late", "good"]));
    for (const path of added) expect(await world.text(path)).toBe(files.find((file) => file.path === path)!.text);
    for (const { line, reason } of refused) expect(line ?? reason).toBeTruthy();
  });

  it("F8: changing one key leaves the bytes of all others", async () => {
    const world = World.open();
    const text =
      "---\ntitle: t\ndate: 2026-03-16\nwho:\n  - \"[[A-B]]\"\n  - 'c'   # a remark\ntags: [a]\nn: 1.50\n---\nbody\n";
    await world.write("page", text);
    await world.write("page", text.replace("[a]", "[a, b]"));
    expect(await world.text("page")).toBe(text.replace("[a]", "[a, b]"));
    await world.write("page", "new text\n");
    expect(await world.text("page")).toBe(text.replace("[a]", "[a, b]").replace("body\n", "new text\n"));
    const { frontmatter } = await world.ok<{ frontmatter: Record<string, unknown> }>("memory_read", { path: "page" });
    expect(frontmatter).toMatchObject({ date: "2026-03-16", who: ["[[A-B]]", "c"], tags: ["a", "b"] });
  });

  it("F10: tags are a YAML list of the values given", async () => {
    const world = World.open();
    await world.write("page", "x\n", { title: "t", tags: ["x", "two words", "yes", "1.0", "a: b", "京"] });
    const [, yaml = ""] = (await world.text("page")).split("---\n");
    expect(parseYaml(yaml, { version: "1.1" })).toMatchObject({ tags: ["x", "two words", "yes", "1.0", "a: b", "京"] });
    expect(parseYaml(yaml, { version: "1.2" })).toMatchObject({ tags: ["x", "two words", "yes", "1.0", "a: b", "京"] });
    for (const tags of ["'#x'", '["#x"]', "x", "'[\"x\"]'", "[x]"]) {
      await world.write("page", `---\ntitle: t\ntags: ${tags}\n---\n`);
      const { frontmatter } = await world.ok<{ frontmatter: { tags: string[] } }>("memory_read", { path: "page" });
      expect(frontmatter.tags, tags).toEqual(["x"]);
    }
  });

  it("F12: what is written is read back the same, whatever the value", async () => {
    const world = World.open();
    const values = [
      "Constraints (REQ): read spec",
      "a # b",
      "- x",
      "yes",
      "null",
      "@a",
      "a\tb",
      "`x`",
      "*x*",
      "&x",
      "!x",
      "%x",
      "? x",
      "| x",
      "> x",
      "a\\b",
      "'",
      '"',
      "{}",
      "[]",
      "---",
      "...",
      " a ",
      "1_000",
      "0o7",
      "12:30:45",
      "=",
      "<<",
      "~",
      "a\u2028b",
      "a\nb",
      "\u0085x",
      "\ufeffx",
    ];
    for (const title of values) {
      await world.write("page", "x\n", { title, other: { [title]: [title] } });
      const { frontmatter } = await world.ok<{ frontmatter: Record<string, unknown> }>("memory_read", { path: "page" });
      expect(frontmatter.title, title).toBe(title);
      expect(frontmatter.other, title).toEqual({ [title]: [title] });
      const text = await world.text("page");
      await world.write("page", text);
      expect(await world.text("page")).toBe(text);
      const again = await world.ok<{ frontmatter: Record<string, unknown> }>("memory_read", { path: "page" });
      expect(again.frontmatter.title, title).toBe(title);
    }
    const anyText = fc
      .string({ unit: "binary", minLength: 1, maxLength: 40 })
      .filter((text) => text.trim() !== "" && text.isWellFormed());
    const anyValue = fc.jsonValue({ maxDepth: 3 }).filter((value) => !holdsInexact(value));
    const property = fc.asyncProperty(anyText, anyValue, async (title, other) => {
      await world.write("page", "x\n", { title, other });
      const read = await world.ok<{ frontmatter: Record<string, unknown> }>("memory_read", { path: "page" });
      expect(read.frontmatter.title).toBe(title);
      await world.write("page", await world.text("page"));
      const again = await world.ok<{ frontmatter: Record<string, unknown> }>("memory_read", { path: "page" });
      expect(again.frontmatter.title).toBe(title);
      expect(again.frontmatter.other).toEqual(read.frontmatter.other);
    });
    await fc.assert(property, { seed: testSeed(), numRuns: scaled(1000) });
  }, 120_000);
});

describe("paths", () => {
  it.each(["ナレッジ.md", "café.md", "Å/ångström", "re\u0301sume\u0301", "한국어/메모", "a\u202fb", "ﬁ"])(
    "P1: %s is one page in its composed and decomposed form",
    async (name) => {
      const world = World.open();
      const { path } = await world.ok<Written>("memory_write", { path: name.normalize("NFD"), body: "marker\n" });
      expect(path).toBe(name.normalize("NFC").replace(/\.md$/, ""));
      for (const form of [name, name.normalize("NFC"), name.normalize("NFD")]) {
        expect(await world.ok("memory_read", { path: form })).toMatchObject({ path });
      }
      const { pages: found } = await world.ok<{ pages: unknown[] }>("memory_list", { prefix: path.normalize("NFD") });
      expect(found).toHaveLength(1);
    },
  );

  it("P1: a file whose name is decomposed on disk is the page of its composed name", async () => {
    const data = await makeData("me");
    const folder = temporaryFolder();
    writeFileSync(join(folder, "ナレッジ.md".normalize("NFD")), "knowledge\n");
    await runOk(["import", "--data", data, folder]);
    expect((await runOk(["page", "cat", "--data", data, "ナレッジ".normalize("NFC")])).stdout).toBe("knowledge\n");
  });

  it("P2: the second form of a name replaces the page and makes no other", async () => {
    const world = World.open();
    const first = await world.write("café.md".normalize("NFC"), "one\n");
    const second = await world.write("café.md".normalize("NFD"), "two\n");
    expect(second.id).toBe(first.id);
    expect((await world.ok<{ pages: unknown[] }>("memory_list", {})).pages).toHaveLength(1);
    const { refused } = await world.importTexts([
      { path: "é".normalize("NFC"), text: "a" },
      { path: "é".normalize("NFD"), text: "b" },
    ]);
    expect(refused).toHaveLength(1);
  });

  it.each([
    ["alpha", "Alpha"],
    ["notes/alpha", "Notes/alpha"],
    ["straße", "STRASSE"],
    ["ΟΔΟΣ", "οδος"],
    ["ﬀ", "FF"],
    ["Ж", "ж"],
  ])("P3: %s and %s do not both become pages, and the caller is told both", async (first, second) => {
    const world = World.open();
    await world.write(first, "one\n");
    const error = await world.refused("memory_write", { path: second, body: "two\n" });
    expect(error.code).toBe("conflict");
    expect(error.message).toContain(first);
    expect(error.message).toContain(second);
    expect(await world.text(first)).toBe("one\n");
    expect(await world.outcome("memory_read", { path: second })).toBe("not_found");
    const { refused } = await world.importTexts([{ path: second, text: "three\n" }], undefined, true);
    expect(refused[0]?.reason).toContain(first);
  });

  it("P5: no page is made or taken because of a title", async () => {
    const world = World.open();
    await world.write("Site Roadmap", "one\n");
    await world.write("site-roadmap", "two\n");
    await world.write("other", "three\n", { title: "Site Roadmap" });
    expect(await world.text("Site Roadmap")).toBe("one\n");
    expect(await world.text("site-roadmap")).toBe("two\n");
    expect((await world.paths("Site Roadmap")).sort()).toEqual(["Site Roadmap", "other", "site-roadmap"]);
    expect((await world.refused("memory_write", { path: "site roadmap", body: "x" })).code).toBe("conflict");
  });

  it.each(["中文 API 说明", "Şükrü", "🎉 party", "İIıi", "नमस्ते", "مرحبا", "a‑b", "Ünïcödé/日本語/ไทย"])(
    "P6: %s is a path and a title, read back by what the write returned",
    async (name) => {
      const world = World.open();
      const { path } = await world.ok<Written>("memory_write", {
        path: name,
        body: "marker\n",
        frontmatter: { title: name },
      });
      expect(await world.ok("memory_read", { path })).toMatchObject({ path, frontmatter: { title: name } });
      expect(await world.paths(name)).toEqual([path]);
    },
  );

  it.each([
    "../x.md",
    "a/../../x.md",
    "/etc/passwd",
    "%2e%2e/x",
    "..\\x",
    "a\u0000b",
    "..",
    "./x",
    "a/..",
    "%2E%2E%2Fx",
    "%252e%252e/x",
    "a/%2e%2e/x",
    "..%c0%afx",
    "\\\\host\\share",
    "C:/x",
    "~/../x",
    "file:///etc/passwd",
  ])("P7: %j reaches nothing outside", async (path) => {
    const world = World.open();
    const before = await world.state();
    expect(await world.outcome("memory_write", { path, body: "x" })).toBe("invalid_input");
    expect(await world.outcome("memory_read", { path })).toBe("invalid_input");
    expect((await world.importTexts([{ path, text: "x" }])).applied).toBe(false);
    expect(await world.state()).toBe(before);
  });

  it("P10: a data directory of any name works, and a Windows path as page name is refused by name", async () => {
    for (const name of ["D:\\a b\\c", "a%20b", "ü #1?", "-x"]) {
      const data = join(temporaryFolder(), name);
      mkdirSync(data);
      await runOk(["init", "--data", data]);
      await runOk(["page", "put", "--data", data, "notes/a"], { input: "x\n" });
      expect((await runOk(["page", "cat", "--data", data, "notes/a"])).stdout).toBe("x\n");
    }
    const world = World.open();
    for (const path of ["D:\\a b\\c", "a\\b", "D:x"]) {
      const error = await world.refused("memory_write", { path, body: "x" });
      expect(error.violations?.join()).toContain("\\ :");
    }
    expect(await world.outcome("memory_write", { path: "rate%3A5", body: "x" })).toBe("ok");
    expect(await world.text("rate%3A5")).toBe("x");
  });
});
