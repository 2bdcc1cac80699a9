import { beforeAll, describe, expect, it } from "vitest";
import { Choices } from "./choices.js";
import { generatePages, generateQuery, slicesOf } from "./corpus.js";
import { assistant, type Hit, owner, type SearchResult, World } from "./in-process.js";
import { scaled, testSeed } from "./scale.js";

const snippetLimit = 300;
/** For the full counts; a twentieth takes seconds. */
const fullTimeoutMs = 900_000;

/** What holds of every answer, whatever was asked. One assertion for all of it: there are thousands of hits. */
function expectSound({ results }: SearchResult): void {
  const broken: string[] = [];
  if (new Set(results.map(({ id }) => id)).size !== results.length) broken.push("a page is there twice");
  let ceiling = 1;
  for (const { path, score, snippet } of results) {
    if (!(score >= 0 && score <= ceiling)) broken.push(`${path} has the score ${score} behind ${ceiling}`);
    if (snippet.length > snippetLimit) broken.push(`${path} has a snippet of ${snippet.length}`);
    if (!snippet.isWellFormed() || snippet.split("**").length % 2 === 0) broken.push(`${path} has "${snippet}"`);
    ceiling = score;
  }
  expect(broken).toEqual([]);
}

describe("pages in many scripts", () => {
  const world = World.open();
  const pages = generatePages(testSeed(), 320);

  beforeAll(async () => {
    await world.addPages(pages);
  });

  it(
    "answers any query without an error",
    async () => {
      const choices = new Choices(testSeed());
      for (let count = 0; count < scaled(10_000); count++) {
        const query = generateQuery(choices);
        const result = await world.call("memory_search", { query, limit: choices.pick([1, 5, 10]) });
        if (result.isError) expect.fail(`${JSON.stringify(query)}: ${JSON.stringify(result.structuredContent)}`);
        expectSound(result.structuredContent as unknown as SearchResult);
      }
      expect(world.faults).toEqual([]);
    },
    fullTimeoutMs,
  );

  it.each([..."!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"])(
    "takes %s alone, between words, around and 2,000 times",
    async (sign) => {
      for (const query of [sign, `a${sign}b`, `${sign}word${sign}`, `one ${sign} two`, sign.repeat(2000)]) {
        expectSound(await world.search({ query }));
      }
      expect(world.faults).toEqual([]);
    },
  );

  it("finds every page by its title", async () => {
    for (const { path, title } of pages) await expectFound(world, path, title);
  });

  it(
    "finds every page by three-word and three-character slices of its body",
    async () => {
      const perPage = Math.max(2, scaled(40));
      for (const [index, { path, body }] of pages.entries()) {
        for (const slice of slicesOf(body, testSeed() + index, perPage)) await expectFound(world, path, slice);
      }
    },
    fullTimeoutMs,
  );

  it("never repeats a page in one walk, and gives the same walk again", async () => {
    const queries = ["the", "and getUserById", "🎉", "---", "C++ the", ...pages.slice(0, 8).map(({ title }) => title)];
    for (const query of queries) {
      const walk = await world.walk({ query, limit: 7 });
      expectSound({ results: walk });
      expect(await world.walk({ query, limit: 7 })).toEqual(walk);
      expect((await world.walk({ query, limit: 100 })).map(({ id }) => id)).toEqual(walk.map(({ id }) => id));
      expect((await world.again().walk({ query, limit: 7 })).map(({ id }) => id)).toEqual(walk.map(({ id }) => id));
    }
  });
});

/** Follows cursors until the page comes. */
async function expectFound(world: World, path: string, query: string): Promise<void> {
  let cursor: string | undefined;
  do {
    const answer: SearchResult = await world.search({ query, limit: 20, ...(cursor !== undefined && { cursor }) });
    expectSound(answer);
    if (answer.results.some((hit) => hit.path === path)) return;
    cursor = answer.next_cursor;
  } while (cursor !== undefined);
  expect.fail(`${path} is not among the hits for ${JSON.stringify(query)}`);
}

describe("a walk while another connection writes", () => {
  const kept = 240;

  /** Pages that hold the word unlike often, so that their scores differ, and some that will change or go. */
  async function openHarbour(): Promise<World> {
    const world = World.open();
    const choices = new Choices(testSeed());
    const body = () => `${"harbour ".repeat(choices.integer(1, 6))}${"filler ".repeat(choices.integer(1, 60))}\n`;
    await world.addPages([
      ...choices.many(kept, (index) => ({ path: `kept/${index}`, body: body() })),
      ...choices.many(60, (index) => ({ path: `replaced/${index}`, body: body() })),
      ...choices.many(60, (index) => ({ path: `removed/${index}`, body: body() })),
    ]);
    return world;
  }

  /** What goes on meanwhile: a new page that would come first, a rewrite, a removal. */
  async function disturb(other: World, round: number): Promise<void> {
    await other.write(`new/${round}`, "# harbour\n\nharbour\n");
    if (round < 60) {
      const strong = round % 2 === 0;
      await other.write(
        `replaced/${59 - round}`,
        strong ? "# harbour\n\nharbour\n" : `${"other ".repeat(300)}harbour\n`,
      );
      await other.remove(`removed/${round}`);
    }
  }

  function expectEachOnce(hits: Hit[]): void {
    const paths = hits.map(({ path }) => path);
    expect(paths.filter((path, at) => paths.indexOf(path) !== at)).toEqual([]);
    const lasting = paths.filter((path) => /^(kept|replaced)\//.test(path));
    expect(lasting.length).toBe(kept + 60);
    expect(paths.filter((path) => path.startsWith("new/"))).toEqual([]);
  }

  it("has every page that existed throughout exactly once", async () => {
    const world = await openHarbour();
    const other = world.again();
    const hits = await world.walk({ query: "harbour", limit: 7 }, { between: (round) => disturb(other, round) });
    expectEachOnce(hits);
    expectSound({ results: hits });
  });

  it("has every page that existed throughout exactly once when each answer comes from another process", async () => {
    const world = await openHarbour();
    const other = world.again();
    const paths: Hit[] = [];
    let cursor: string | undefined;
    let round = 0;
    do {
      const reader = world.again();
      const answer: SearchResult = await reader.search({ query: "harbour", limit: 7, ...(cursor && { cursor }) });
      await reader.context.store.close();
      paths.push(...answer.results);
      cursor = answer.next_cursor;
      await disturb(other, round++);
    } while (cursor !== undefined);
    expectEachOnce(paths);
  });

  it("goes on when the page a cursor stands at was removed", async () => {
    const world = await openHarbour();
    const first = await world.search({ query: "harbour", limit: 5 });
    await world.remove(first.results.at(-1)!.path);
    for (const reader of [world, world.again()]) {
      const next = await reader.search({ query: "harbour", limit: 100, cursor: first.next_cursor });
      const seen = new Set(first.results.map(({ path }) => path));
      expect(next.results.filter(({ path }) => seen.has(path))).toEqual([]);
      expect(next.results.length).toBe(100);
    }
  });

  it("lists every page that existed throughout exactly once", async () => {
    const world = await openHarbour();
    const other = world.again();
    const paths: string[] = [];
    let cursor: string | undefined;
    for (let round = 0; ; round++) {
      const answer = await world.ok<{ pages: Hit[]; next_cursor?: string }>("memory_list", {
        limit: 7,
        ...(cursor !== undefined && { cursor }),
      });
      paths.push(...answer.pages.map(({ path }) => path));
      cursor = answer.next_cursor;
      if (cursor === undefined) break;
      await disturb(other, round);
    }
    expect(new Set(paths).size).toBe(paths.length);
    expect(paths.filter((path) => /^(kept|replaced)\//.test(path)).length).toBe(kept + 60);
  });
});

describe("a cursor", () => {
  const hourMs = 3_600_000;

  async function openWalk() {
    const world = World.open();
    await world.addPages(new Choices(1).many(20, (index) => ({ path: `p/${index}`, body: `anchor ${index}\n` })));
    const query = { query: "anchor", limit: 3 };
    const first = await world.search(query);
    return { world, query, cursor: first.next_cursor! };
  }

  it("fits its schema and says nothing of what it holds", async () => {
    const { cursor } = await openWalk();
    expect(cursor.length).toBeLessThanOrEqual(512);
    expect(Buffer.from(cursor, "base64url").toString("latin1")).not.toMatch(/pg_|snapshot|score/);
  });

  it("opens for the same grant and query, with another limit too", async () => {
    const { world, query, cursor } = await openWalk();
    expect(await world.outcome("memory_search", { ...query, cursor })).toBe("ok");
    expect(await world.outcome("memory_search", { ...query, limit: 9, cursor })).toBe("ok");
    expect(await world.again().outcome("memory_search", { ...query, cursor })).toBe("ok");
  });

  it.each([
    ["another query", { query: "anchors" }],
    ["a further filter", { tags: ["x"] }],
    ["another type", { type: "semantic" }],
    ["other partitions", { partitions: ["main"] }],
    ["another choice about stale pages", { include_stale: true }],
    ["the default about stale pages said aloud", { include_stale: false }],
    ["another choice about archived pages", { include_archived: true }],
  ])("is refused with %s", async (_, change) => {
    const { world, query, cursor } = await openWalk();
    expect(await world.outcome("memory_search", { ...query, ...change, cursor })).toBe("invalid_input");
  });

  it("is refused for another grant, tool or context", async () => {
    const { world, query, cursor } = await openWalk();
    expect(await world.outcome("memory_search", { ...query, cursor }, assistant())).toBe("invalid_input");
    expect(await world.outcome("memory_list", { cursor })).toBe("invalid_input");
    expect(await (await openWalk()).world.outcome("memory_search", { ...query, cursor })).toBe("invalid_input");
  });

  it("is refused when any character of it was changed", async () => {
    const { world, query, cursor } = await openWalk();
    for (let at = 0; at < cursor.length; at++) {
      const other = cursor[at] === "A" ? "B" : "A";
      const tampered = cursor.slice(0, at) + other + cursor.slice(at + 1);
      const same = Buffer.from(tampered, "base64url").equals(Buffer.from(cursor, "base64url"));
      if (!same) expect(await world.outcome("memory_search", { ...query, cursor: tampered })).toBe("invalid_input");
    }
    for (const broken of ["", "x", cursor.slice(1), cursor.slice(0, -4), cursor + cursor, "\u0000", "🎉"]) {
      expect(await world.outcome("memory_search", { ...query, cursor: broken.slice(0, 512) })).toBe("invalid_input");
    }
    expect(world.faults).toEqual([]);
  });

  it("lives for an hour", async () => {
    const { world, query, cursor } = await openWalk();
    world.clock.ms += hourMs - 1;
    expect(await world.outcome("memory_search", { ...query, cursor })).toBe("ok");
    world.clock.ms += 2;
    const error = await world.refused("memory_search", { ...query, cursor });
    expect(error.code).toBe("invalid_input");
    expect(error.message).toContain("cursor");
  });

  it("judges access again: what the caller lost is not shown", async () => {
    const { world, query, cursor } = await openWalk();
    const next = await world.search({ ...query, limit: 100 });
    const hidden = next.results.at(-1)!.path;
    await world.write(hidden, "anchor\n", { title: "moved", sensitivity: "sensitive" });
    const limited = assistant("memory:read");
    const start = await world.search(query, limited);
    const rest = await world.search({ ...query, limit: 100, cursor: start.next_cursor }, limited);
    expect([...start.results, ...rest.results].map(({ path }) => path)).not.toContain(hidden);
    expect((await world.search({ ...query, limit: 100, cursor })).results.map(({ path }) => path)).toContain(hidden);
  });
});

describe("filters and order", () => {
  const world = World.open();
  const page = (path: string, keys: Record<string, unknown>, body = "lantern by the quay\n") => ({
    path,
    frontmatter: { title: path.split("/").at(-1)!, ...keys },
    body,
  });

  beforeAll(async () => {
    await world.addPages([
      page("f/plain", {}),
      page("f/semantic", { type: "semantic" }),
      page("f/tagged", { tags: ["one", "two"] }),
      page("f/tagged-once", { tags: ["one"] }),
      page("f/stale", { lifecycle: "stale" }),
      page("f/archived", { lifecycle: "archived" }),
      page("f/expired", { valid_until: "2026-02-28" }),
      page("f/last-day", { valid_until: "2026-03-01" }),
      page("f/to-come", { valid_from: "2026-03-02" }),
      page("f/first-day", { valid_from: "2026-03-01" }),
    ]);
    await world.addPages([page("w/elsewhere", {})], "work");
  });

  const current = ["f/plain", "f/semantic", "f/tagged", "f/tagged-once", "f/last-day", "f/first-day", "w/elsewhere"];
  const stale = ["f/stale", "f/expired", "f/to-come"];

  it.each([
    ["nothing said", {}, current],
    ["a type", { type: "semantic" }, ["f/semantic"]],
    ["one tag", { tags: ["one"] }, ["f/tagged", "f/tagged-once"]],
    ["all of two tags", { tags: ["one", "two"] }, ["f/tagged"]],
    ["a tag said twice", { tags: ["two", "two"] }, ["f/tagged"]],
    ["a tag nobody has", { tags: ["one", "three"] }, []],
    ["no tags", { tags: [] }, current],
    ["a partition", { partitions: ["work"] }, ["w/elsewhere"]],
    ["two partitions", { partitions: ["work", "main"] }, current],
    ["a partition that is not there", { partitions: ["nowhere"] }, []],
    ["no partition", { partitions: [] }, []],
    ["stale ones too", { include_stale: true }, [...current, ...stale]],
    ["strictly no stale ones", { include_stale: false }, current],
    ["archived ones too", { include_archived: true }, [...current, "f/archived"]],
    ["everything", { include_stale: true, include_archived: true }, [...current, ...stale, "f/archived"]],
  ])("%s", async (_, filter, expected) => {
    const walk = await world.walk({ query: "lantern", limit: 4, ...filter });
    expect(walk.map(({ path }) => path).sort()).toEqual([...expected].sort());
    for (const { path, stale: marked } of walk) expect(marked ?? false).toBe(stale.includes(path));
  });

  it("puts current pages before stale and archived ones of the same words", async () => {
    const walk = await world.walk({ query: "lantern", include_stale: true, include_archived: true });
    const paths = walk.map(({ path }) => path);
    const lastCurrent = Math.max(...current.map((path) => paths.indexOf(path)));
    for (const path of [...stale, "f/archived"]) expect(paths.indexOf(path)).toBeGreaterThan(lastCurrent);
  });

  it("falls back to stale pages only when nothing was said of them and nothing current matches", async () => {
    const lone = World.open();
    await lone.addPages([
      page("s/one", { lifecycle: "stale" }, "beacon\n"),
      page("s/two", { valid_until: "2020-01-01" }, "beacon\n"),
      page("s/archived", { lifecycle: "archived" }, "beacon\n"),
      page("s/current", {}, "foghorn\n"),
    ]);
    const fallback = await lone.search({ query: "beacon" });
    expect(fallback.stale_fallback).toBe(true);
    expect(fallback.results.map(({ path, stale: marked }) => [path, marked]).sort()).toEqual([
      ["s/one", true],
      ["s/two", true],
    ]);
    expect(await lone.search({ query: "beacon", include_stale: false })).toEqual({ results: [] });
    expect((await lone.search({ query: "beacon", include_stale: true })).stale_fallback).toBeUndefined();
    expect((await lone.search({ query: "foghorn" })).stale_fallback).toBeUndefined();
    expect(await lone.search({ query: "nowhere" })).toEqual({ results: [] });
    expect((await lone.walk({ query: "beacon", limit: 1 })).map(({ path }) => path).sort()).toEqual(["s/one", "s/two"]);
    await lone.write("s/now", "beacon\n");
    const after = await lone.search({ query: "beacon" });
    expect(after.stale_fallback).toBeUndefined();
    expect(after.results.map(({ path }) => path)).toEqual(["s/now"]);
  });

  it("puts a validated page a little above an active one, but not above a better match", async () => {
    const own = World.open();
    await own.addPages([
      page("v/active", { title: "same" }, "anemone in the rock pool\n"),
      page("v/validated", { title: "same", lifecycle: "validated" }, "anemone in the rock pool\n"),
      page("v/named", { title: "anemone" }, "anemone anemone\n"),
    ]);
    expect(await own.paths("anemone")).toEqual(["v/named", "v/validated", "v/active"]);
  });

  it("gives the same answer for the same state", async () => {
    const ask = async (reader: World) => {
      const { next_cursor: _, ...answer } = await reader.search({ query: "lantern quay", include_stale: true });
      return answer;
    };
    expect(await ask(world)).toEqual(await ask(world));
    expect(await ask(world.again())).toEqual(await ask(world));
  });
});

describe("superseded pages", () => {
  const supersedes = (target: string) => ({ relations: [{ rel: "supersedes", target }] });

  /** Where old and new stand with `include_stale`, and that the old one says what superseded it. */
  async function expectBehind(world: World, query: string, limit = 50): Promise<void> {
    const walk = await world.walk({ query, include_stale: true, limit });
    const at = (path: string) => walk.findIndex((hit) => hit.path === path);
    expect(at("old")).toBeGreaterThanOrEqual(0);
    expect(at("new")).toBeGreaterThanOrEqual(0);
    expect(at("old")).toBeGreaterThan(at("new"));
    expect(walk[at("old")]).toMatchObject({ stale: true, superseded_by: "new" });
    expectSound({ results: walk });
    expect((await world.paths(query)).includes("old")).toBe(false);
  }

  it("stand behind a successor that matches worse", async () => {
    const world = World.open();
    await world.write("old", "ferry ferry timetable\n", { title: "ferry timetable" });
    await world.write("new", `the ferry ${"leaves at another time ".repeat(20)} timetable\n`, {
      title: "crossing",
      ...supersedes("old"),
    });
    await expectBehind(world, "ferry timetable");
  });

  it("stand behind a successor that holds only some of the words", async () => {
    const world = World.open();
    await world.write("old", "ferry timetable of the year\n", { title: "ferry timetable" });
    await world.write("new", "ferry departures\n", { title: "crossing", ...supersedes("old") });
    await expectBehind(world, "ferry timetable");
  });

  it("stand behind a successor that comes hundreds of hits later", async () => {
    const world = World.open();
    await world.addPages(
      new Choices(1).many(300, (index) => ({ path: `filler/${index}`, body: "ferry ferry timetable ferry\n" })),
    );
    await world.write("old", "ferry timetable\n", { title: "ferry timetable" });
    await world.write("new", `ferry ${"quite another matter ".repeat(200)} timetable\n`, {
      title: "crossing",
      ...supersedes("old"),
    });
    await expectBehind(world, "ferry timetable");
  });

  it("stand in the order of their succession, the newest first", async () => {
    const world = World.open();
    await world.write("oldest", "ferry timetable\n", { title: "ferry timetable" });
    await world.write("older", "ferry timetable at last\n", { title: "ferry", ...supersedes("oldest") });
    await world.write("newest", "ferry\n", { title: "crossing", ...supersedes("older") });
    await world.write("other", "ferry timetable\n", { title: "other" });
    for (const query of ["ferry timetable", "timetable ferry ferry", "crossing timetable"]) {
      const walk = await world.walk({ query, include_stale: true, limit: 1 });
      const order = walk.map(({ path }) => path).filter((path) => path !== "other");
      expect(order, query).toEqual(["newest", "older", "oldest"]);
      expectSound({ results: walk });
    }
  });

  it("are all there in a circle of three", async () => {
    const world = World.open();
    for (const [path, target] of ["ab", "bc", "ca"])
      await world.write(path!, "ferry\n", { title: path, ...supersedes(target!) });
    const walk = await world.walk({ query: "ferry", include_stale: true, limit: 1 });
    expect(walk.map(({ path }) => path).sort()).toEqual(["a", "b", "c"]);
    expectSound({ results: walk });
  });

  it("are superseded whatever filter the successor fails", async () => {
    const world = World.open();
    await world.addPages([
      { path: "old", frontmatter: { title: "old", type: "semantic", tags: ["t"] }, body: "ferry\n" },
    ]);
    await world.addPages(
      [{ path: "new", frontmatter: { title: "new", ...supersedes("old") }, body: "ferry\n" }],
      "work",
    );
    for (const filter of [{ partitions: ["main"] }, { type: "semantic" }, { tags: ["t"] }]) {
      expect(await world.search({ query: "ferry", include_stale: false, ...filter }), JSON.stringify(filter)).toEqual({
        results: [],
      });
      const [hit] = (await world.search({ query: "ferry", include_stale: true, ...filter })).results;
      expect(hit).toMatchObject({ path: "old", stale: true, superseded_by: "new" });
    }
    const listed = await world.ok<{ pages: Hit[] }>("memory_list", { partition: "main", include_stale: false });
    expect(listed.pages).toEqual([]);
  });

  it.each([
    ["archived", { lifecycle: "archived" }],
    ["stale", { lifecycle: "stale" }],
    ["expired", { valid_until: "2026-02-01" }],
    ["to come", { valid_from: "2026-04-01" }],
  ])("are current again when the successor is %s", async (_, keys) => {
    const world = World.open();
    await world.write("old", "ferry\n");
    await world.write("new", "ferry\n", { title: "new", ...keys, ...supersedes("old") });
    const [hit] = (await world.search({ query: "ferry" })).results;
    expect(hit).toMatchObject({ path: "old" });
    expect(hit).not.toHaveProperty("stale");
  });

  it("come back when the successor is removed or no longer says so", async () => {
    const world = World.open();
    await world.write("old", "ferry\n");
    await world.write("new", "ferry\n", { title: "new", ...supersedes("old") });
    expect(await world.paths("ferry")).toEqual(["new"]);
    await world.write("new", "ferry\n", { title: "new", relations: [{ rel: "refines", target: "old" }] });
    expect((await world.paths("ferry")).sort()).toEqual(["new", "old"]);
    await world.write("new", "ferry\n", { title: "new", ...supersedes("old") });
    await world.remove("new");
    expect(await world.paths("ferry")).toEqual(["old"]);
  });

  it("do not vanish in a circle: the later written page counts", async () => {
    const world = World.open();
    await world.write("a", "ferry\n", { title: "a", ...supersedes("b") });
    await world.write("b", "ferry\n", { title: "b", ...supersedes("a") });
    await world.write("self", "ferry\n", { title: "self", ...supersedes("self") });
    expect((await world.paths("ferry")).sort()).toEqual(["b", "self"]);
  });
});

describe("snippets", () => {
  it("mark the matched words of the best passage and nothing else", async () => {
    const world = World.open();
    const filler = "nothing of interest here at all ".repeat(100);
    await world.write("p", `${filler}the copper kettle whistles ${filler}\n`);
    const [hit] = (await world.search({ query: "copper kettle" }, owner)).results;
    expect(hit!.snippet).toContain("**copper** **kettle**");
    expect(hit!.snippet.match(/\*\*[^*]+\*\*/g)).toHaveLength(2);
    expect(hit!.snippet.length).toBeLessThanOrEqual(snippetLimit);
    expect(
      hit!.snippet
        .replaceAll("*", "")
        .split(" ")
        .filter((word) => word !== "…"),
    ).toSatisfy((words: string[]) =>
      words.every((word) => `${filler}the copper kettle whistles`.split(" ").includes(word)),
    );
  });
});
