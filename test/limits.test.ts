import { coversScope } from "@satchel/pcp";
import { countTokens } from "gpt-tokenizer/encoding/cl100k_base";
import { beforeAll, describe, expect, it } from "vitest";
import { Choices } from "./choices.js";
import { assistant, limitedScopes, owner, World, type Written } from "./in-process.js";
import { scaled, testSeed } from "./scale.js";

const kib = 1024;
/** For the full counts; a twentieth takes seconds. */
const fullTimeoutMs = 900_000;

/** A list of so many entries, each made from its number. */
const list = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

describe("limits of a page", () => {
  const world = World.open();

  const write = (path: string, keys: Record<string, unknown> = {}, body = "x\n") =>
    world.outcome("memory_write", { path, body, frontmatter: { title: "t", ...keys } });

  /** Values just inside and just outside, with the code of the error. */
  const rows: [name: string, inside: Record<string, unknown>[], outside: Record<string, unknown>[]][] = [
    [
      "title",
      [{ title: "x" }, { title: "x".repeat(500) }, { title: "😀".repeat(500) }],
      [{ title: "" }, { title: " " }, { title: "x".repeat(501) }, { title: "😀".repeat(501) }],
    ],
    ["number of tags", [{ tags: [] }, { tags: list(64, (n) => `t${n}`) }], [{ tags: list(65, (n) => `t${n}`) }]],
    [
      "length of a tag",
      [{ tags: ["x".repeat(64)] }, { tags: ["😀".repeat(64)] }],
      [{ tags: ["x".repeat(65)] }, { tags: ["ok", "😀".repeat(65)] }],
    ],
    [
      "derived_from",
      [{ derived_from: list(256, (n) => `p/${n}`) }],
      [{ derived_from: list(257, (n) => `p/${n}`) }, { derived_from: ["../p"] }],
    ],
    [
      "relations",
      [{ relations: list(256, (n) => ({ rel: "about", target: `p/${n}` })) }],
      [
        { relations: list(257, (n) => ({ rel: "about", target: `p/${n}` })) },
        { relations: [{ rel: "eats", target: "p" }] },
        { relations: [{ rel: "about" }] },
      ],
    ],
    [
      "confidence",
      [{ confidence: 0 }, { confidence: 1 }],
      [{ confidence: -0.001 }, { confidence: 1.001 }, { confidence: "1" }],
    ],
    ["type", [{ type: "semantic" }], [{ type: "other" }, { type: 1 }]],
    ["lifecycle", [{ lifecycle: "archived" }], [{ lifecycle: "gone" }]],
    ["sensitivity", [{ sensitivity: "normal" }], [{ sensitivity: "secret" }]],
    [
      "partition",
      [{ partition: "main" }],
      [{ partition: "Main" }, { partition: "-main" }, { partition: "m".repeat(65) }, { partition: "" }],
    ],
    [
      "valid_from",
      [{ valid_from: "2026-02-28" }, { valid_from: "2026-02-28T10:00:00+02:00" }],
      [
        { valid_from: "2026-02-29" },
        { valid_from: "yesterday" },
        { valid_from: "2026-2-1" },
        { valid_from: "2026-02-28T25:00:00Z" },
      ],
    ],
    ["source", [{ source: { origin: "chat" } }], [{ source: { origin: "dream" } }, { source: {} }, { source: "chat" }]],
  ];

  it.each(rows)("%s", async (name, inside, outside) => {
    for (const [index, keys] of inside.entries())
      expect(await write(`in/${name}-${index}`, keys), JSON.stringify(keys).slice(0, 80)).toBe("ok");
    const before = await world.state();
    for (const [index, keys] of outside.entries()) {
      expect(await write(`out/${name}-${index}`, keys), JSON.stringify(keys).slice(0, 80)).toBe("invalid_input");
    }
    expect(await world.state()).toBe(before);
    expect(world.faults).toEqual([]);
  });

  it("names the broken rule and where it is", async () => {
    const error = await world.refused("memory_write", {
      path: "n",
      body: "",
      frontmatter: { title: "t", tags: list(65, String) },
    });
    expect(error.violations?.join()).toContain("tags");
    const yaml = await world.refused("memory_write", { path: "n", body: "---\ntitle: t\ntags: [1, 2\n---\n" });
    expect(yaml.violations?.join()).toMatch(/line \d+, column \d+/);
  });

  it("body: 256 KiB of UTF-8", async () => {
    const at = 256 * kib;
    expect(await write("b/at", {}, "x".repeat(at))).toBe("ok");
    expect(await write("b/over", {}, "x".repeat(at + 1))).toBe("too_large");
    expect(await write("b/wide", {}, "é".repeat(at / 2))).toBe("ok");
    expect(await write("b/wide-over", {}, `${"é".repeat(at / 2)}x`)).toBe("too_large");
    expect(await write("b/crlf", {}, "\r\n".repeat(at))).toBe("ok");
    expect(await write("b/bom", {}, `\uFEFF${"x".repeat(at)}`)).toBe("ok");
    expect(await world.outcome("memory_read", { path: "b/over" })).toBe("not_found");
  });

  it("frontmatter: 32 KiB of YAML, in the body or as JSON", async () => {
    const yaml = (bytes: number) => `title: t\nx: ${"x".repeat(bytes - "title: t\nx: \n".length)}\n`;
    const put = (path: string, bytes: number) =>
      world.outcome("memory_write", { path, body: `---\n${yaml(bytes)}---\nbody\n` });
    expect(await put("f/at", 32 * kib)).toBe("ok");
    expect(await put("f/over", 32 * kib + 1)).toBe("too_large");
    expect(await write("f/json", { x: "x".repeat(32 * kib - 30) })).toBe("ok");
    expect(await write("f/json-over", { x: "x".repeat(32 * kib) })).toBe("too_large");
  });

  it("nesting: 64 levels in YAML, and what JSON arguments may hold", async () => {
    const flow = (depth: number) => `---\ntitle: t\nx: ${"[".repeat(depth)}${"]".repeat(depth)}\n---\n`;
    expect(await world.outcome("memory_write", { path: "d/at", body: flow(63) })).toBe("ok");
    expect(await world.outcome("memory_write", { path: "d/over", body: flow(64) })).toBe("invalid_input");
    expect(await world.outcome("memory_write", { path: "d/far", body: flow(15_000) })).toBe("invalid_input");
    const nested = (depth: number): unknown => list(depth, String).reduce<unknown>((inner) => [inner], 1);
    expect(await write("d/json", { x: nested(60) })).toBe("ok");
    expect(await write("d/json-over", { x: nested(65) })).toBe("invalid_input");
    expect(await write("d/json-far", { x: nested(5000) })).toBe("invalid_input");
    expect(await world.outcome("profile_update", { patch: { x: nested(5000) } })).toBe("invalid_input");
    expect(world.faults).toEqual([]);
  });
});

describe("names of pages", () => {
  const world = World.open();
  const written = (path: string) => world.call("memory_write", { path, body: "x\n" });

  it.each([
    ["255 characters", "p".repeat(255), "p".repeat(255)],
    ["255 characters before .md", `${"q".repeat(252)}.md`, "q".repeat(252)],
    ["255 letters outside the basic plane", "𐐨".repeat(255), "𐐨".repeat(255)],
    ["one character", "a", "a"],
    ["a folder", "a/b/c/d", "a/b/c/d"],
    ["other scripts", "日記/京都", "日記/京都"],
    ["composed and decomposed", "notes/Mu\u0308ller", "notes/Müller"],
    ["one .md", "notes/plan.md", "notes/plan"],
    ["a dot in front", ".hidden/page", ".hidden/page"],
    ["spaces and signs inside", "a b/c (d) & e, f!", "a b/c (d) & e, f!"],
    ["a reserved word inside a name", "console/auxiliary", "console/auxiliary"],
    ["a percent sign", "rates/5% up", "rates/5% up"],
  ])("%s", async (_, path, expected) => {
    const result = await written(path);
    expect(result.structuredContent).toMatchObject({ path: expected, applied: true });
    expect(await world.ok("memory_read", { path })).toMatchObject({ path: expected });
    expect(await world.ok("memory_read", { path: expected })).toMatchObject({ path: expected });
  });

  it.each([
    ["nothing", ""],
    ["only the ending", ".md"],
    ["the ending twice", "a.md.md"],
    ["256 characters", "p".repeat(256)],
    ["a leading slash", "/a"],
    ["a trailing slash", "a/"],
    ["a double slash", "a//b"],
    ["a dot segment", "a/./b"],
    ["two dots", "../a"],
    ["two dots inside", "a/../b"],
    ["a dot at the end", "a."],
    ["a space at the end of a folder", "a /b"],
    ["a tab", "a\tb"],
    ["a line feed", "a\nb"],
    ["NUL", "a\u0000b"],
    ["DEL", "a\u007fb"],
    ["a C1 control", "a\u0085b"],
    ["bidi override", "a\u202eb"],
    ["bidi isolate", "a\u2066b"],
    ["a left-to-right mark", "a\u200eb"],
    ["zero width space", "a\u200bb"],
    ["zero width joiner", "a\u200db"],
    ["byte order mark", "a\ufeffb"],
    ["tag characters", "a\u{e0041}b"],
    ["a backslash", "a\\b"],
    ...[...':*?"<>|'].map((sign) => [sign, `a${sign}b`]),
    ["con", "con"],
    ["NUL in capitals", "a/NUL"],
    ["com1 with an ending", "com1.txt"],
    ["lpt9", "lpt9"],
    ["a hidden dot segment", "%2e%2e/a"],
    ["a hidden slash", "a%2fb"],
    ["half of a surrogate pair", "a\ud800b"],
  ])("are refused with %s", async (_, path) => {
    const before = await world.state();
    for (const [tool, args] of [
      ["memory_write", { path, body: "x" }],
      ["memory_read", { path }],
      ["memory_write", { path: "links", body: "x", frontmatter: { title: "t", derived_from: [path] } }],
      [
        "memory_write",
        { path: "links", body: "x", frontmatter: { title: "t", relations: [{ rel: "about", target: path }] } },
      ],
    ] as const) {
      const error = await world.refused(tool, args);
      expect(error.code).toBe("invalid_input");
      expect(error.violations?.length).toBeGreaterThan(0);
    }
    expect(await world.state()).toBe(before);
  });

  it("are listed, found and indexed whatever letters they begin with", async () => {
    const own = World.open();
    const paths = ["a", "Z", "é", "日", "\ue000x", "\uffffx", "😀", "\u{10ffff}", "\u{10ffff}\u{10ffff}/x", "~", "!"];
    for (const path of paths) await own.write(path, "marker\n");
    const listed = await own.ok<{ pages: { path: string }[] }>("memory_list", {});
    expect(listed.pages.map(({ path }) => path).sort()).toEqual([...paths].sort());
    expect((await own.walk({ query: "marker", limit: 3 })).map(({ path }) => path).sort()).toEqual([...paths].sort());
    for (const path of paths) {
      const found = await own.ok<{ pages: { path: string }[] }>("memory_list", { prefix: path });
      expect(found.pages.map((page) => page.path)).toContain(path);
    }
  });
});

describe("limits of other arguments", () => {
  const world = World.open();
  const rows: [
    name: string,
    tool: "memory_search" | "memory_list" | "context_brief",
    inside: Record<string, unknown>[],
    outside: Record<string, unknown>[],
  ][] = [
    [
      "query",
      "memory_search",
      [{ query: "x" }, { query: " " }, { query: "x".repeat(2000) }, { query: "😀".repeat(2000) }],
      [{ query: "" }, { query: "x".repeat(2001) }, { query: 1 }, {}],
    ],
    [
      "limit of a search",
      "memory_search",
      [
        { query: "x", limit: 1 },
        { query: "x", limit: 100 },
      ],
      [
        { query: "x", limit: 0 },
        { query: "x", limit: 101 },
        { query: "x", limit: 1.5 },
        { query: "x", limit: "1" },
        { query: "x", limit: -1 },
      ],
    ],
    [
      "limit of a list",
      "memory_list",
      [{ limit: 1 }, { limit: 100 }],
      [{ limit: 0 }, { limit: 101 }, { limit: 1e300 }],
    ],
    [
      "cursor",
      "memory_list",
      [],
      [{ cursor: "x" }, { cursor: "x".repeat(512) }, { cursor: "x".repeat(513) }, { cursor: 1 }],
    ],
    ["prefix", "memory_list", [{ prefix: "" }, { prefix: "x".repeat(255) }], [{ prefix: "x".repeat(256) }]],
    [
      "token_budget",
      "context_brief",
      [{ token_budget: 200 }, { token_budget: 50_000 }],
      [{ token_budget: 199 }, { token_budget: 50_001 }, { token_budget: 200.5 }, { token_budget: "200" }],
    ],
    [
      "focus",
      "context_brief",
      [{ focus: "x" }, { focus: "x".repeat(2000) }],
      [{ focus: "x".repeat(2001) }, { focus: 1 }],
    ],
  ];

  it.each(rows)("%s", async (_, tool, inside, outside) => {
    for (const args of inside) expect(await world.outcome(tool, args), JSON.stringify(args).slice(0, 80)).toBe("ok");
    for (const args of outside)
      expect(await world.outcome(tool, args), JSON.stringify(args).slice(0, 80)).toBe("invalid_input");
    expect(world.faults).toEqual([]);
  });

  it.each([
    ["memory_search", { query: "x" }],
    ["memory_read", { path: "_index" }],
    ["memory_list", {}],
    ["memory_write", { path: "u", body: "x" }],
    ["profile_get", {}],
    ["profile_update", { patch: { name: "x" } }],
    ["partition_list", {}],
    ["context_brief", {}],
  ] as const)("%s refuses an unknown argument by its name", async (tool, args) => {
    const before = await world.state();
    for (const name of ["unheard_of", "Path", "__proto__", "constructor", "idempotencykey", ""]) {
      const odd = JSON.parse(
        `${JSON.stringify(args).slice(0, -1)}${Object.keys(args).length ? "," : ""}${JSON.stringify(name)}:1}`,
      );
      const error = await world.refused(tool, odd);
      expect(error.code).toBe("invalid_input");
      expect(error.violations?.join()).toContain(name);
    }
    expect(await world.state()).toBe(before);
    expect(await world.outcome(tool, args)).toBe("ok");
  });

  it.each(["partition_list", "profile_get", "context_brief", "memory_list"] as const)(
    "%s takes {}, null and nothing",
    async (tool) => {
      for (const args of [{}, null, undefined]) expect(await world.outcome(tool, args)).toBe("ok");
      for (const args of [[], "x", 1, true]) expect(await world.outcome(tool, args)).toBe("invalid_input");
    },
  );
});

describe("limits of the profile", () => {
  it("a document: 64 KiB of JSON", async () => {
    const world = World.open();
    await world.ok("profile_update", { patch: { name: "Someone" } });
    const fill = (bytes: number) => ({ namespace: "org.example", patch: { x: "x".repeat(bytes - '{"x":""}'.length) } });
    expect(await world.outcome("profile_update", fill(64 * kib))).toBe("ok");
    const before = await world.state();
    expect(await world.outcome("profile_update", fill(64 * kib + 1))).toBe("too_large");
    expect(await world.outcome("profile_update", { patch: { ai_instructions: "x".repeat(64 * kib) } })).toBe(
      "too_large",
    );
    expect(await world.state()).toBe(before);
  });

  it("grows over no number of patches", async () => {
    const world = World.open();
    const patch = (key: string) =>
      world.outcome("profile_update", { namespace: "org.example", patch: { [key]: "x".repeat(30 * kib) } });
    expect([await patch("a"), await patch("b"), await patch("c")]).toEqual(["ok", "ok", "too_large"]);
  });

  it("is closed: an unknown member, a wrong type and a missing name change nothing", async () => {
    const world = World.open();
    expect(await world.outcome("profile_update", { patch: { pronouns: "they" } })).toBe("invalid_input");
    await world.ok("profile_update", { patch: { name: "Someone" } });
    const before = await world.state();
    for (const patch of [
      { shoe_size: 40 },
      { name: null },
      { name: 1 },
      { languages: "en" },
      { communication: { verbosity: "loud" } },
    ]) {
      expect(await world.outcome("profile_update", { patch }), JSON.stringify(patch)).toBe("invalid_input");
    }
    expect(await world.state()).toBe(before);
  });
});

describe("expected_updated", () => {
  const world = World.open();
  let page: Written;

  beforeAll(async () => {
    page = await world.write("p", "one\n");
  });

  const write = (expected_updated: unknown) =>
    world.outcome("memory_write", { path: "p", body: "two\n", expected_updated });

  it("is the same instant in every form that RFC 3339 has", async () => {
    const at = new Date(page.updated);
    const forms = (updated: string) => {
      const ms = Date.parse(updated);
      const shifted = (hours: number) => new Date(ms + hours * 3_600_000).toISOString().slice(0, -1);
      return [
        updated,
        `${shifted(9)}+09:00`,
        `${shifted(-5)}-05:00`,
        updated.replace("Z", "000Z"),
        updated.toLowerCase(),
      ];
    };
    expect(at.toISOString()).toBe(page.updated);
    for (const index of [0, 1, 2, 3, 4]) {
      const form = forms(page.updated)[index]!;
      page = await world.ok<Written>("memory_write", { path: "p", body: `${index}\n`, expected_updated: form });
    }
  });

  it("without a fraction means the whole second", async () => {
    world.clock.ms += 5000;
    const whole = await world.write("second", "x\n");
    expect(whole.updated).toMatch(/\.000Z$/);
    const expected_updated = whole.updated.replace(".000Z", "Z");
    expect(await world.outcome("memory_write", { path: "second", body: "y\n", expected_updated })).toBe("ok");
  });

  it("is a conflict when it is not the page's, with the value to go on with", async () => {
    page = await world.write("p", "now\n");
    const stale = new Date(Date.parse(page.updated) - 1).toISOString();
    const error = await world.refused("memory_write", { path: "p", body: "two\n", expected_updated: stale });
    expect(error.code).toBe("conflict");
    expect(error.message).toContain(page.updated);
    expect(await world.text("p")).toBe("now\n");
    expect(await world.outcome("memory_write", { path: "absent", body: "x", expected_updated: page.updated })).toBe(
      "conflict",
    );
    expect(await world.outcome("memory_read", { path: "absent" })).toBe("not_found");
  });

  it.each([
    "",
    "now",
    "2026-03-01",
    "2026-03-01 12:00:00Z",
    "2026-03-01T12:00:00",
    "2026-02-30T12:00:00Z",
    1,
    null,
    "2026-03-01T24:00:00Z",
  ])("%j is no date-time", async (value) => {
    expect(await write(value)).toBe("invalid_input");
  });
});

describe("updated", () => {
  it("rises with every change, with a clock that stands and one that goes back", async () => {
    const world = World.open();
    const other = world.again();
    let last = "";
    for (let step = 0; step < 60; step++) {
      const writer = step % 2 === 0 ? world : other;
      const { updated } =
        step % 5 === 4
          ? await writer.ok<Written>("profile_update", { patch: { name: `Name ${step}` } })
          : await writer.write(`p/${step % 3}`, `${step}\n`);
      expect(updated > last, `${updated} after ${last}`).toBe(true);
      expect(updated).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      last = updated;
      if (step === 30) world.clock.ms -= 86_400_000;
    }
  });

  it("is the value every answer shows and the next write needs", async () => {
    const world = World.open();
    const { updated, id } = await world.write("p", "marker\n");
    const read = await world.ok<{ frontmatter: { updated: string; id: string } }>("memory_read", { path: "p" });
    expect(read.frontmatter).toMatchObject({ updated, id });
    expect((await world.search({ query: "marker" })).results[0]).toMatchObject({ updated, id });
    expect(await world.ok("memory_list", {})).toMatchObject({ pages: [{ updated, id }] });
    expect(await world.ok("context_brief", {})).toMatchObject({ memory: [{ updated }] });
  });
});

interface Brief {
  profile?: Record<string, unknown> | null;
  memory: { path: string }[];
  partitions?: unknown[];
  omitted: string[];
  truncated: boolean;
}

/** A context with some profile and pages of unlike sizes and scripts. */
async function randomState(seed: number): Promise<World> {
  const choices = new Choices(seed);
  const world = World.open();
  const text = () =>
    choices
      .many(choices.integer(1, 120), () =>
        choices.pick(["stone", "naïve", "京都", "🙂🙂", "0xFFEE", "\t", "ä".repeat(20)]),
      )
      .join(" ");
  if (choices.next() < 0.8) {
    await world.ok("profile_update", {
      patch: {
        name: "Someone",
        ai_instructions: choices.next() < 0.3 ? text().repeat(6) : "Be brief.",
        interests: choices.many(choices.integer(0, 9), () => "walking"),
      },
    });
  }
  await world.addPages(
    choices.many(choices.integer(0, 40), (index) => ({
      path: `p/${index}`,
      frontmatter: {
        title: [...text()].slice(0, 200).join("").trim() || "t",
        lifecycle: choices.pick(["active", "validated", "stale"]),
      },
      body: `${text()}\n`,
    })),
  );
  return world;
}

describe("context_brief", () => {
  const focuses = [undefined, "stone", "京都", "nothing of this"];

  it(
    "is never over its budget, the same for the same state, and drops partitions, then memory, then the profile",
    async () => {
      const choices = new Choices(testSeed());
      const budgets = () => [
        200,
        50_000,
        choices.integer(200, 1000),
        choices.integer(200, 4000),
        choices.integer(200, 20_000),
      ];
      const states = scaled(100);
      for (let state = 0; state < states; state++) {
        const world = await randomState(testSeed() + state);
        const caller = choices.pick([owner, assistant(limitedScopes), assistant("memory:read")]);
        const focus = choices.pick(focuses);
        const given = focus === undefined ? {} : { focus };
        const whole = await world.ok<Brief>("context_brief", { ...given, token_budget: 50_000 }, caller);
        for (const token_budget of budgets()) {
          const result = await world.call("context_brief", { ...given, token_budget }, caller);
          const text = result.content[0]!.text;
          expect(countTokens(text)).toBeLessThanOrEqual(token_budget);
          const brief = result.structuredContent as unknown as Brief;
          expect((await world.again().call("context_brief", { ...given, token_budget }, caller)).content[0]!.text).toBe(
            text,
          );
          expectOrder(brief, whole, token_budget);
        }
        expect(whole.truncated).toBe(false);
        expect("profile" in whole).toBe(coversScope(caller.scopes, "profile.core:read"));
      }
    },
    fullTimeoutMs,
  );

  /** What is left out is the end of the memory, after the partitions and before the profile. */
  function expectOrder(brief: Brief, whole: Brief, budget: number): void {
    expect(brief.omitted).toEqual(whole.omitted);
    expect(brief.memory).toEqual(whole.memory.slice(0, brief.memory.length));
    const lacks = {
      partitions: !brief.partitions,
      memory: brief.memory.length < whole.memory.length,
      profile: !("profile" in brief) && "profile" in whole,
    };
    expect(brief.truncated).toBe(lacks.partitions || lacks.memory || lacks.profile);
    if (lacks.memory) expect(lacks.partitions).toBe(true);
    if (!lacks.profile) return;
    expect(lacks.partitions).toBe(true);
    const alone = { ...brief, profile: whole.profile, memory: [] };
    expect(countTokens(JSON.stringify(alone))).toBeGreaterThan(budget);
  }

  it("leaves out no more than it must", async () => {
    const world = World.open();
    await world.addPages(list(30, (index) => ({ path: `p/${index}`, body: `stone number ${index}\n` })));
    const whole = await world.ok<Brief>("context_brief", { token_budget: 50_000 });
    for (const token_budget of [200, 400, 800, 1200]) {
      const brief = await world.ok<Brief>("context_brief", { token_budget });
      const next = whole.memory[brief.memory.length];
      if (!brief.truncated || !next) continue;
      const more = { ...brief, memory: [...brief.memory, next] };
      expect(countTokens(JSON.stringify(more))).toBeGreaterThan(token_budget);
    }
  });

  it("says so when there is more memory than it holds, whatever the budget", async () => {
    const world = World.open();
    await world.addPages(list(320, (index) => ({ path: `p/${index}`, body: "stone\n" })));
    for (const focus of [undefined, "stone"]) {
      const brief = await world.ok<Brief>("context_brief", { token_budget: 50_000, ...(focus && { focus }) });
      expect(brief.truncated || brief.memory.length === 320, `${brief.memory.length} pages`).toBe(true);
    }
  });

  it("takes a blank focus for none", async () => {
    const world = World.open();
    await world.write("p", "stone\n");
    const none = await world.ok<Brief>("context_brief", {});
    for (const focus of ["", " ", "\n\t "]) expect(await world.ok<Brief>("context_brief", { focus })).toEqual(none);
  });

  it("holds 2,000 tokens unless told otherwise", async () => {
    const world = World.open();
    await world.addPages(list(100, (index) => ({ path: `p/${index}`, body: `${"stone ".repeat(100)}\n` })));
    const { content } = await world.call("context_brief", {});
    expect(countTokens(content[0]!.text)).toBeLessThanOrEqual(2000);
    expect(countTokens(content[0]!.text)).toBeGreaterThan(1500);
  });
});
