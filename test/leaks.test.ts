import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import type { ToolName } from "@satchel/pcp";
import { type Caller, readArchive } from "@satchel/server";
import { describe, expect, it } from "vitest";
import { Choices } from "./choices.js";
import { assistant, limitedScopes, owner, type PageFile, World } from "./in-process.js";
import { scaled, testSeed } from "./scale.js";

/*
 * Two worlds that differ only in pages the caller may not read. Every answer of every read tool has to be the same in
 * both, byte for byte; ids are random and cursors are sealed, so those are compared by shape.
 */

/** For the full counts; a twentieth takes seconds. */
const fullTimeoutMs = 900_000;

const limited = assistant(limitedScopes);
const readOnly = assistant("memory:read");
const otherUser = assistant(undefined, "user:bob");

const words = ["anchor", "anchorage", "basalt", "cedar", "delta", "ember", "fjord", "京都旅行", "京都市", "C++"];
const folders = ["notes", "projects", "projects/deep", "style", "hidden"];

interface Step {
  hidden: boolean;
  page?: PageFile;
  remove?: string;
}

function randomPage(choices: Choices, known: string[], hidden: boolean): PageFile {
  const path = `${choices.pick(folders)}/${hidden ? "h" : "v"}${choices.integer(0, 40)}`;
  const relations = choices.many(choices.integer(0, 2), () => ({
    rel: choices.pick(["supersedes", "supersedes", "refines", "about"]),
    target: choices.pick([...known, "notes/nobody"]),
  }));
  const frontmatter = {
    title: choices.many(choices.integer(1, 3), () => choices.pick(words)).join(" "),
    tags: choices.many(choices.integer(0, 2), () => choices.pick(["one", "two", "three"])),
    sensitivity: hidden ? "sensitive" : "normal",
    lifecycle: choices.pick(["active", "active", "active", "validated", "stale", "archived"]),
    ...(choices.next() < 0.2 && { valid_until: "2020-01-01" }),
    ...(choices.next() < 0.3 && { type: choices.pick(["episodic", "semantic"]) }),
    ...(relations.length > 0 && { relations }),
    ...(choices.next() < 0.2 && { derived_from: [choices.pick([...known, "notes/nobody"])] }),
  };
  const body = choices.many(choices.integer(3, 40), () => choices.pick(words)).join(" ");
  return { path, frontmatter, body: `${body}${hidden ? " secretword" : ""}\n` };
}

const hiddenKeys = { title: "h", sensitivity: "sensitive" };
/** After every history. */
const endMs = Date.UTC(2026, 2, 20);

const isHiddenPath = (path: string) => /\/h\d+$/.test(path);

/** A history in which hidden and visible writes and removals alternate. `pointing`: visible pages name hidden ones. */
function randomHistory(seed: number, pointing: boolean): Step[] {
  const choices = new Choices(seed);
  const known = ["notes/v1", "projects/v2", "hidden/h1"];
  return choices.many(60, () => {
    const hidden = choices.next() < 0.5;
    const own = known.filter((path) => isHiddenPath(path) === hidden);
    if (choices.next() < 0.1 && own.length > 0) return { hidden, remove: choices.pick(own) };
    const targets = hidden || pointing ? known : own;
    const page = randomPage(choices, targets, hidden);
    known.push(page.path);
    return { hidden, page };
  });
}

/** Plays a history, without its hidden steps when `withHidden` is false. Visible steps happen at the same times in both. */
async function play(history: Step[], withHidden: boolean): Promise<World> {
  const world = World.open();
  for (const { hidden, page, remove } of history) {
    if (!hidden) world.clock.ms += 1000;
    if (hidden && !withHidden) continue;
    if (remove !== undefined) await world.remove(remove).catch(() => undefined);
    else if (page) await world.write(page.path, page.body, page.frontmatter);
  }
  world.clock.ms += 1000;
  return world;
}

type Question = [tool: ToolName, args: Record<string, unknown>];

function questions(): Question[] {
  const texts = [
    ...words,
    "anch",
    "secretword",
    "secret",
    "anchor basalt",
    "anchor nowhere",
    "the",
    "h1",
    "hidden",
    "京",
  ];
  const filters = [
    {},
    { include_stale: true },
    { include_stale: false },
    { include_archived: true, include_stale: true },
    { type: "semantic" },
    { tags: ["one"] },
    { tags: ["one", "two"] },
    { partitions: ["main"] },
    { limit: 1 },
    { limit: 3 },
  ];
  const searches = texts.flatMap((query) => filters.map((filter): Question => ["memory_search", { query, ...filter }]));
  const prefixes = ["", "n", "notes/", "hidden", "hidden/", "hidden/h", "projects/", "style/", "nowhere/"];
  const lists = prefixes.flatMap((prefix): Question[] => [
    ["memory_list", { prefix }],
    ["memory_list", { prefix, limit: 2 }],
    ["memory_list", { prefix, include_archived: true }],
    ["memory_list", { prefix, include_stale: false }],
    ["memory_list", { prefix, type: "episodic" }],
  ]);
  const indexes = ["_index", ...folders.map((folder) => `${folder}/_index`), "nowhere/_index", "Hidden/_index"];
  const names = folders.flatMap((folder) =>
    ["h", "v", "H"].flatMap((kind) => [0, 1, 2, 3, 4, 5].map((n) => `${folder}/${kind}${n}`)),
  );
  const reads = [...indexes, ...names].map((path): Question => ["memory_read", { path }]);
  const briefs = [undefined, "anchor", "secretword", "cedar delta", "京都"].flatMap((focus) =>
    [200, 700, 2000, 50_000].map(
      (token_budget): Question => ["context_brief", { token_budget, ...(focus && { focus }) }],
    ),
  );
  return [...searches, ...lists, ...reads, ...briefs, ["partition_list", {}], ["profile_get", {}], ...refusedQuestions];
}

const refusedQuestions: Question[] = [
  ["memory_read", {}],
  ["memory_read", { id: "pg_00000000000000000000000000" }],
  ["memory_read", { path: "hidden/h1", revision: "rev_00000000000000000000000000" }],
  ["memory_search", { query: "anchor", cursor: "AAAA" }],
  ["memory_search", { query: "anchor", as_of: "2026-03-01T12:00:00Z" }],
  ["memory_search", { query: "anchor", partitions: ["secret"] }],
  ["memory_list", { partition: "secret" }],
  ["memory_list", { cursor: "AAAA" }],
  ["profile_get", { namespaces: ["pcp.health"] }],
  ["audit_list", {}],
  ["review_list", {}],
];

/** Every answer to a question, cursors followed. */
async function answers(world: World, [tool, args]: Question, caller = limited): Promise<string[]> {
  const texts: string[] = [];
  let cursor: string | undefined;
  do {
    const result = await world.call(tool, { ...args, ...(cursor !== undefined && { cursor }) }, caller);
    expect(result.content[0]?.text).toBe(JSON.stringify(result.structuredContent));
    cursor = result.structuredContent.next_cursor as string | undefined;
    texts.push(normalise(JSON.stringify(result)));
  } while (cursor !== undefined && texts.length < 100);
  return texts;
}

function normalise(text: string): string {
  return (
    text
      .replace(/(pg|aud|rev|ver)_[0-9a-z]{26}/g, "$1")
      // Of a receipt: what names this call, and the digest of what is compared here itself.
      .replace(/(call|turn|item)_[0-9a-f-]{36}|(run|ses)_[0-9a-f]{32}|(semantic_receipt|sha256):[0-9a-f]+/g, "$1$2$3")
      .replace(/(next_cursor\\?":\\?")([\w-]+)/g, (_, key: string, cursor: string) => `${key}${cursor.length}`)
  );
}

async function expectSame(worlds: [World, World], asked: Question[], caller = limited): Promise<void> {
  for (const question of asked) {
    // Owners see every entry, also those of calls that touched what this assistant may not read; without their targets.
    if (question[0] === "audit_list" && caller !== otherUser) continue;
    const [bare, full] = [await answers(worlds[0], question, caller), await answers(worlds[1], question, caller)];
    expect(full, JSON.stringify(question)).toEqual(bare);
    for (const text of full) expect(text).not.toMatch(/secretword[^"]*"(?:snippet|title)/);
  }
  expect([...worlds[0].faults, ...worlds[1].faults]).toEqual([]);
}

describe("pages a caller may not read", () => {
  it.each([
    ["that no visible page names", false],
    ["that visible pages name", true],
  ])(
    "%s change no answer of any read tool",
    async (_, pointing) => {
      for (let round = 0; round < Math.max(2, scaled(40)); round++) {
        const history = randomHistory(testSeed() + round, pointing);
        const worlds: [World, World] = [await play(history, false), await play(history, true)];
        await expectSame(worlds, questions());
        await expectSame(
          worlds,
          [
            ["memory_search", { query: "anchor" }],
            ["context_brief", {}],
          ],
          readOnly,
        );
      }
    },
    fullTimeoutMs,
  );

  it("change nothing for another user, for whom nothing exists", async () => {
    const history = randomHistory(testSeed(), true).map((step) => ({ ...step, hidden: true }));
    const worlds: [World, World] = [await play(history, false), await play(history, true)];
    await worlds[1].ok("profile_update", { patch: { name: "Someone" } });
    await expectSame(worlds, questions(), otherUser);
    for (const tool of ["memory_search", "memory_list", "memory_read", "context_brief"] as const) {
      const args = { memory_search: { query: "anchor" }, memory_read: { path: "notes/v1" } }[tool as string] ?? {};
      const text = JSON.stringify(await worlds[1].call(tool, args, otherUser));
      expect(text).not.toMatch(/anchor |basalt|notes\/v2|Someone/);
    }
  });

  it("change nothing that another user's writes and updates are told", async () => {
    const empty = World.open();
    const full = World.open();
    await full.write("notes/a", "text\n");
    for (const world of [empty, full]) {
      for (const path of ["notes/a", "notes/A", "notes/b"]) {
        expect(await world.outcome("memory_write", { path, body: "x" }, otherUser), path).not.toBe("ok");
      }
      expect(await world.outcome("profile_update", { patch: { name: "x" } }, otherUser)).toBe("forbidden");
    }
    const probe = (world: World, path: string) => world.refused("memory_write", { path, body: "x" }, otherUser);
    expect(await probe(full, "notes/b")).toEqual(await probe(empty, "notes/b"));
    expect(await full.text("notes/a")).toBe("text\n");
  });
});

describe("what points at a page that the caller may not read", () => {
  const link = (target: string) => ({
    title: "visible",
    relations: [{ rel: "about", target }],
    derived_from: [target],
  });

  it("is not shown, and a reader with the right sees it", async () => {
    const world = World.open();
    await world.write("secret/page", "x\n", { title: "s", sensitivity: "sensitive" });
    await world.write("notes/a", "text\n", link("secret/page"));
    expect(JSON.stringify(await world.call("memory_read", { path: "notes/a" }, limited))).not.toContain("secret/page");
    expect(JSON.stringify(await world.call("memory_read", { path: "notes/a" }))).toContain("secret/page");
  });

  it("looks the same as what points at nothing", async () => {
    const worlds = [World.open(), World.open()];
    await worlds[1]!.write("secret/page", "x\n", { title: "s", sensitivity: "sensitive" });
    const texts = [];
    for (const world of worlds) {
      world.clock.ms += 60_000;
      await world.write("notes/a", "text\n", link("secret/page"));
      texts.push(normalise(JSON.stringify(await world.call("memory_read", { path: "notes/a" }, limited))));
    }
    expect(texts[1]).toBe(texts[0]);
  });

  it("can't be used to ask whether a page exists", async () => {
    const worlds = [World.open(), World.open()];
    await worlds[1]!.write("secret/page", "x\n", { title: "s", sensitivity: "sensitive" });
    const texts = [];
    for (const world of worlds) {
      world.clock.ms += 60_000;
      const args = { path: "notes/probe", body: "x\n", frontmatter: link("secret/page") };
      const written = await world.call("memory_write", args, limited);
      const read = await world.call("memory_read", { path: "notes/probe" }, limited);
      texts.push([written, read].map((result) => normalise(JSON.stringify(result))));
    }
    expect(texts[1]).toEqual(texts[0]);
  });

  it("survives a rewrite by someone who could not see it", async () => {
    const world = World.open();
    await world.write("secret/page", "x\n", { title: "s", sensitivity: "sensitive" });
    await world.write("notes/a", "text\n", link("secret/page"));
    const rewrite = { path: "notes/a", body: "new text\n", frontmatter: { title: "visible" } };
    const written = await world.call("memory_write", rewrite, limited);
    expect(JSON.stringify(written)).not.toContain("secret/page");
    const { frontmatter } = await world.ok<{ frontmatter: Record<string, unknown> }>("memory_read", {
      path: "notes/a",
    });
    expect(frontmatter.relations).toEqual([{ rel: "about", target: "secret/page" }]);
    expect(frontmatter.derived_from).toEqual(["secret/page"]);
  });

  it("has no twin that gives it away", async () => {
    const world = World.open();
    await world.write("secret/page", "x\n", { title: "s", sensitivity: "sensitive" });
    for (const path of ["Secret/Page", "SECRET/page"]) {
      const error = await world.refused("memory_read", { path }, limited);
      expect(error.code).toBe("not_found");
      const written = await world.ok("memory_write", { path, body: "x" }, limited);
      expect(written).toMatchObject({ path, applied: false, review_state: "proposed" });
      expect(JSON.stringify(written)).not.toContain("secret/page");
      const proposed = await world.ok("memory_propose", { path, body: "x" }, limited);
      expect(proposed).toMatchObject({ path, target_exists: false });
    }
  });
});

describe("the audit of what an assistant may not read", () => {
  it("names no target to it, and every one to who may read them", async () => {
    const world = World.open();
    await world.write("secret/page", "x\n", { title: "s", sensitivity: "sensitive" });
    await world.write("notes/a", "x\n", { title: "a" });
    const auditor = assistant(`${limitedScopes} audit:read`);
    const limitedView = JSON.stringify(await world.ok("audit_list", {}, auditor));
    expect(limitedView).toContain("notes/a");
    expect(limitedView).not.toContain("secret/page");
    expect(JSON.stringify(await world.ok("audit_list", {}, owner))).toContain("secret/page");
  });
});

describe("a superseder that the caller may not read", () => {
  async function open(sensitivity: string): Promise<World> {
    const world = World.open();
    await world.write("plan/old", "ferry\n", { title: "old" });
    world.clock.ms += 60_000;
    const relations = [{ rel: "supersedes", target: "plan/old" }];
    await world.write("plan/new", "ferry\n", { title: "new", sensitivity, relations });
    return world;
  }

  it("leaves the page current, without a word of it", async () => {
    const world = await open("sensitive");
    for (const filter of [{}, { include_stale: false }, { include_stale: true }]) {
      const { results } = await world.search({ query: "ferry", ...filter }, limited);
      expect(results.map(({ path }) => path)).toEqual(["plan/old"]);
      expect(results[0]).not.toHaveProperty("superseded_by");
      expect(results[0]).not.toHaveProperty("stale");
    }
    const listed = await world.ok<{ pages: unknown[] }>("memory_list", { include_stale: false }, limited);
    expect(listed.pages).toHaveLength(1);
    const brief = await world.ok<{ memory: { path: string }[] }>("context_brief", {}, limited);
    expect(brief.memory.map(({ path }) => path)).toEqual(["plan/old"]);
  });

  it("counts for a caller who may", async () => {
    const world = await open("sensitive");
    expect(await world.paths("ferry")).toEqual(["plan/new"]);
    const brief = await world.ok<{ memory: { path: string }[] }>("context_brief", {});
    expect(brief.memory.map(({ path }) => path)).toEqual(["plan/new"]);
  });

  it("counts for everybody once it is not hidden any more", async () => {
    const world = await open("normal");
    expect((await world.search({ query: "ferry" }, limited)).results.map(({ path }) => path)).toEqual(["plan/new"]);
  });
});

describe("moving a page out of sight", () => {
  it("takes it out of every answer, and its words out of the statistics", async () => {
    const worlds = [World.open(), World.open()];
    for (const [index, world] of worlds.entries()) {
      await world.write("notes/a", "anchor anchor\n");
      world.clock.ms = Date.UTC(2026, 2, 2);
      if (index === 1) {
        await world.write("notes/b", "anchor basalt uniqueword\n");
        await world.write("notes/b", "anchor basalt uniqueword\n", { title: "b", sensitivity: "sensitive" });
      }
    }
    const asked: Question[] = ["anchor", "anch", "basalt", "uniqueword", "unique"].map((query) => [
      "memory_search",
      { query },
    ]);
    await expectSame(worlds as [World, World], [...asked, ["memory_read", { path: "_index" }], ["context_brief", {}]]);
  });
});

describe("an archive for a caller", () => {
  /** Its files, ids and the time it was made left out. Only what depends on the caller's own calls is audit of its own. */
  async function filesFor(world: World, caller: Caller): Promise<string[]> {
    const answer = await world.ok<{ download_url: string }>("export_create", {}, caller);
    const path = fileURLToPath(answer.download_url);
    const { files, problems, manifest } = await readArchive(path, { identities: [] });
    expect(problems).toEqual([]);
    const { files: _, created: __, ...facts } = manifest ?? {};
    const isOwn = (name: string) => !name.startsWith("audit/");
    const listed = [...files].filter(([name]) => isOwn(name));
    const shown = listed.map(([name, bytes]) => normalise(`${name}\n${bytes}`));
    return [JSON.stringify(facts), ...shown, ...timesIn(gunzipSync(readFileSync(path)))];
  }

  /** The times of a tar's entries, its names normalised. */
  function timesIn(tar: Buffer): string[] {
    const times: string[] = [];
    for (let at = 0; at + 512 <= tar.length; ) {
      const header = tar.subarray(at, at + 512);
      const name = header.toString("utf8", 0, 100).replace(/\0.*$/s, "");
      if (name === "") break;
      const size = Number.parseInt(header.toString("latin1", 124, 136), 8);
      if (!name.startsWith("audit/")) times.push(`${normalise(name)} ${header.toString("latin1", 136, 147)}`);
      at += 512 + Math.ceil(size / 512) * 512;
    }
    return times;
  }

  const callers: [string, Caller][] = [
    ["without the right", assistant(`${limitedScopes} export:read`)],
    ["with the right but without recipients", assistant()],
    ["that reads alone", assistant("memory:read export:read")],
  ];

  it.each(callers)(
    "%s is the same whether or not there are hidden pages, names and times of its files included",
    async (_, caller) => {
      for (let round = 0; round < Math.max(2, scaled(20)); round++) {
        const history = randomHistory(testSeed() + 1000 + round, round % 2 === 1);
        const [bare, full] = [await play(history, false), await play(history, true)];
        for (const world of [bare, full]) world.clock.ms = endMs;
        await full.ok("memory_write", { path: "hidden/h99", body: "secretword\n", frontmatter: hiddenKeys });
        const [expected, found] = [await filesFor(bare, caller), await filesFor(full, caller)];
        expect(found).toEqual(expected);
        expect(found.join("\n")).not.toContain("secretword");
        expect([...bare.faults, ...full.faults]).toEqual([]);
      }
    },
    fullTimeoutMs,
  );

  it("is the same for another user, for whom nothing exists, its audit included", async () => {
    const history = randomHistory(testSeed() + 2000, true).map((step) => ({ ...step, hidden: true }));
    const worlds = [await play(history, false), await play(history, true)];
    const texts: string[][] = [];
    for (const world of worlds) {
      world.clock.ms = endMs;
      await world.call("memory_read", { path: "notes/v1" }, otherUser);
      const answer = await world.ok<{ download_url: string }>("export_create", {}, otherUser);
      const { files } = await readArchive(fileURLToPath(answer.download_url), { identities: [] });
      texts.push(
        [...files]
          .filter(([name]) => name !== "audit/journal.pub")
          .map(([name, bytes]) => normalise(`${name}\n${bytes}`)),
      );
    }
    expect(texts[1]).toEqual(texts[0]);
  });
});
