import { PCP_ERROR_CODES, TOOL_NAMES, type ToolName, validateOutput } from "@satchel/pcp";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assistant, limitedScopes, owner, World } from "./in-process.js";
import { scaled, testSeed } from "./scale.js";

/*
 * Whatever arrives, a tool answers with its output or with an error that says what was wrong, never with a fault of
 * ours; and where it answers with an error nothing was written.
 */

/** For the full counts; a twentieth takes seconds. */
const fullTimeoutMs = 900_000;

type Json = unknown;
type Members = Record<string, Json>;

const halves = fc.constantFrom("\ud800", "\udfff", "a\ud800", "\udc00\ud800");
/** Well-formed text: halves come by `odd` only, so that most inputs get past the first check. */
const text = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: "grapheme", maxLength: 30 }) },
  { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 30 }) },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      "",
      " ",
      "\u0000",
      "__proto__",
      "constructor",
      "toString",
      "../../etc/passwd",
      "%2e%2e",
      "a".repeat(3000),
      "\u{10ffff}",
      "NaN",
      "-0",
      "null",
      '"',
      "' OR 1=1 --",
      "$\u007bx}",
      "2026-02-30",
      "9999-12-31T23:59:59.999Z",
      "0000-01-01T00:00:00+23:59",
    ),
  },
);
const number = fc.constantFrom(
  0,
  -0,
  -1,
  1,
  1.5,
  1e308,
  -1e308,
  5e-324,
  2 ** 53,
  2 ** 53 + 2,
  1e21,
  99,
  100,
  101,
  200,
  50_000,
);

/** Parsed from text, so that `__proto__` is a member like any other, as it is when it comes over the wire. */
const json = fc
  .oneof(fc.json({ stringUnit: "binary", maxDepth: 4 }), fc.json({ maxDepth: 3 }))
  .map((source): Json => JSON.parse(source));

const odd: fc.Arbitrary<Json> = fc.oneof(
  json,
  text,
  halves,
  number,
  fc.constantFrom<Json>(null, true, false, [], {}),
  fc.integer({ min: 1, max: 400 }).map((depth) => nest(depth, (inner) => [inner])),
  fc.integer({ min: 1, max: 400 }).map((depth) => nest(depth, (inner) => ({ x: inner }))),
  fc.constant(JSON.parse('{"__proto__":{"admin":true},"constructor":{"prototype":1}}') as Json),
  fc.integer({ min: 900, max: 1100 }).map((length) => Array.from({ length }, (_, index) => index)),
);

function nest(depth: number, wrap: (inner: Json) => Json): Json {
  let value: Json = 1;
  for (let level = 0; level < depth; level++) value = wrap(value);
  return value;
}

/** Paths, so that calls meet pages that earlier ones wrote. */
const path = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom("a", "A", "b/c", "b/C", "style/x", "_index", "b/_index", "京/都", "a.md") },
  { weight: 2, arbitrary: text },
  { weight: 1, arbitrary: fc.array(text, { maxLength: 4 }).map((parts) => parts.join("/")) },
);

const yamlPieces = fc.constantFrom(
  "title: t",
  "title:",
  'title: "a',
  "title: [1, 2]",
  "tags: [a, b]",
  "tags: a, b",
  "tags: {a: b}",
  "tags: [[[[]]]]",
  "? complex\n: key",
  "? [a]\n: b",
  "a: &x [1, 2]\nb: *x",
  "a: &x [*x]",
  "<<: {title: t}",
  "<<: *missing",
  "a: !!js/function 'x'",
  "a: !!binary AAAA",
  "a: !custom {x: 1}",
  "%YAML 1.1",
  "%TAG ! tag:x,2000:",
  "__proto__: {admin: true}",
  "constructor: x",
  "id: pg_1\nupdated: 1\ngenerated: x\nreview: no",
  "a: 1\na: 2",
  "\ta: b",
  "a: |\n  block\n  text",
  "a: >-\n  folded",
  "date: 2026-03-16",
  "n: 0x1F\no: 0o17\nf: .inf\nx: .nan\ny: 1e400",
  "z: 123456789012345678901234567890",
  "yes: no\noff: on\nnull: ~",
  "relations: [{rel: supersedes, target: a}]",
  "relations: [{rel: about}]",
  "derived_from: [a, ../b]",
  "valid_from: 2026-01-01\nvalid_until: soon",
  "source: {origin: user, at: 2026-01-01T00:00:00Z}",
  "source: chat",
  "confidence: .5",
  "confidence: 1e400",
  "sensitivity: sensitive",
  "lifecycle: validated",
  "partition: nowhere",
  "partition: main",
  "...",
  "---",
  "- x: [",
  `deep: ${"[".repeat(300)}`,
  `deep: ${"{a: ".repeat(80)}1${"}".repeat(80)}`,
  `${"a: &a [x, x]\nb: &b [*a, *a, *a]\nc: &c [*b, *b, *b]\nd: &d [*c, *c, *c]\ne: [*d, *d, *d]"}`,
  "\u0000: x",
  "a: \ufffe",
  "\u2028a: b",
);

const body = fc.oneof(
  fc
    .tuple(
      fc.array(yamlPieces, { maxLength: 5 }),
      fc.constantFrom("\n---\n", "\n--- \n", "\n...\n", "\n", "\r\n---\r\n"),
      text,
    )
    .map(([pieces, end, rest]) => `---\n${pieces.join("\n")}${end}${rest}`),
  fc
    .array(fc.oneof(text, fc.constantFrom("# ", "\n", "```\n", "---\n", "[x](y)", "<script>", "**")), { maxLength: 12 })
    .map((parts) => parts.join("")),
);

/** Mostly what is allowed: an input of many members has to get past the first check often enough. */
const mostly = <T>(valid: fc.Arbitrary<T>, other: fc.Arbitrary<Json>): fc.Arbitrary<Json> =>
  fc.oneof({ weight: 20, arbitrary: valid as fc.Arbitrary<Json> }, { weight: 1, arbitrary: other });

const record = (members: Record<string, fc.Arbitrary<Json>>, ...requiredKeys: string[]): fc.Arbitrary<Members> =>
  fc.record(members, { requiredKeys });

const date = mostly(
  fc.constantFrom("2026-03-01", "2026-03-01T12:00:00Z", "2026-03-01T12:00:00.001Z", "2026-03-01T21:00:00+09:00"),
  fc.constantFrom("2026-13-01", "x", ""),
);
const type = mostly(fc.constantFrom("episodic", "semantic", "procedural"), text);
const partition = mostly(fc.constant("main"), fc.constantFrom("nowhere", "Main", ""));
const rarely = (arbitrary: fc.Arbitrary<Json>): fc.Arbitrary<Json> =>
  fc.oneof({ weight: 8, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
const limit = mostly(fc.integer({ min: 1, max: 100 }), number);
const cursor = fc.oneof(text, fc.constant("AAAA".repeat(30)));
const title = mostly(fc.oneof(fc.constant("t"), fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 })), text);

const relation = record(
  { rel: mostly(fc.constantFrom("supersedes", "about"), text), target: path, confidence: rarely(number) },
  "rel",
  "target",
);
const origin = mostly(fc.constantFrom("user", "chat", "import"), text);

const frontmatter = record(
  {
    title,
    type,
    tags: mostly(
      fc.array(fc.constantFrom("a", "b", "#c", "京", "x y"), { maxLength: 4 }),
      fc.oneof(text, fc.array(text)),
    ),
    partition,
    sensitivity: mostly(fc.constantFrom("normal", "sensitive"), text),
    lifecycle: mostly(fc.constantFrom("active", "validated", "stale", "archived"), text),
    confidence: mostly(fc.double({ min: 0, max: 1, noNaN: true }), number),
    valid_from: date,
    valid_until: date,
    source: record({ origin, at: rarely(date), more: rarely(json) }, "origin"),
    derived_from: fc.array(mostly(fc.constantFrom("a", "b/c"), path), { maxLength: 3 }),
    relations: fc.array(relation, { maxLength: 2 }),
    id: json,
    updated: json,
    generated: json,
    review: json,
    extra: mostly(json, odd),
  },
  "title",
);

const languages = fc.array(record({ code: fc.constantFrom("en", "nb"), proficiency: fc.constant("native") }, "code"));
const coreMembers = {
  name: mostly(fc.constant("Someone"), text),
  languages: mostly(languages, json),
  interests: mostly(fc.array(fc.string({ unit: "grapheme", maxLength: 9 })), json),
  communication: mostly(record({ tone: fc.constant("dry"), verbosity: fc.constant("concise") }), json),
  location: mostly(record({ city: text, country: fc.constant("NO") }), json),
  pcp_version: json,
  updated: json,
  more: rarely(odd),
};
const namespaces = ["core", "org.example", "pcp.health", "team", "pcp.core", "x", "__proto__.x"];

const wholePage = { path, body, frontmatter, expected_updated: rarely(date) };

/** Inputs of the shape each tool takes. */
const inputs: Record<ToolName, fc.Arbitrary<Members>> = {
  profile_get: record({ namespaces: fc.array(mostly(fc.constantFrom("pcp.health", "org.example"), text)) }),
  profile_update: fc.oneof(
    record({ patch: record(coreMembers, "name") }, "patch"),
    record(
      { namespace: fc.constantFrom(...namespaces), patch: record({ allergies: json, " ": odd, name: text }) },
      "patch",
    ),
    record({ namespace: fc.constant("org.example"), patch: fc.dictionary(text, json) }, "namespace", "patch"),
  ),
  memory_search: record(
    {
      query: mostly(fc.string({ unit: "grapheme", minLength: 1 }), text),
      limit,
      type,
      tags: fc.array(text, { maxLength: 2 }),
      partitions: fc.array(partition, { maxLength: 2 }),
      include_stale: fc.boolean(),
      include_archived: fc.boolean(),
      include_review: rarely(fc.constant(["proposed"])),
      as_of: rarely(date),
      cursor: rarely(cursor),
    },
    "query",
  ),
  memory_read: fc.oneof(
    record({ path, revision: rarely(text), as_of: rarely(date) }, "path"),
    record({ id: fc.oneof(text, fc.constant("pg_00000000000000000000000000")) }, "id"),
    record({ path, id: text }),
  ),
  memory_list: record({
    prefix: path,
    partition,
    include_archived: fc.boolean(),
    include_stale: fc.boolean(),
    type,
    limit,
    cursor: rarely(cursor),
    as_of: rarely(date),
  }),
  memory_write: record(wholePage, "path", "body"),
  memory_propose: record({ path, body, frontmatter, note: text }, "path", "body"),
  review_list: record({ state: text, partition, limit, cursor }),
  review_resolve: record({ path, revision: text, verb: fc.constantFrom("approve", "reject", "x:y"), note: text }),
  partition_list: fc.constant({}),
  context_brief: record({ focus: text, token_budget: mostly(fc.integer({ min: 200, max: 50_000 }), number) }),
  audit_list: record({ limit, cursor, since: date }),
  export_create: record({ format: text }),
  erase_request: record({ subject: text, paths: fc.array(path, { maxLength: 2 }), dry_run: fc.boolean() }),
};

/** Nothing where a member is undefined: that is how it comes over the wire. */
const onWire = (value: Json): Json => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));

/** A member changed, taken away or added, at the top or one level below. */
function mutate(input: Members, [where, value, name]: [number, Json, string]): Members {
  const keys = Object.keys(input);
  const key = keys[where % (keys.length + 1)];
  if (key === undefined) return { ...input, [name]: value };
  const inner = input[key];
  if (where % 3 === 0 && typeof inner === "object" && inner !== null && !Array.isArray(inner)) {
    return { ...input, [key]: { ...inner, [name]: value } };
  }
  if (where % 5 === 0) return Object.fromEntries(Object.entries(input).filter(([member]) => member !== key));
  return { ...input, [key]: value };
}

const frequent: ToolName[] = ["memory_write", "memory_write", "memory_write", "memory_search", "profile_update"];

const call: fc.Arbitrary<[ToolName, Json]> = fc.constantFrom(...TOOL_NAMES, ...frequent).chain((tool) => {
  const change = fc.tuple(fc.nat(60), odd, text);
  const args = fc.oneof(
    { weight: 1, arbitrary: odd },
    { weight: 5, arbitrary: inputs[tool] as fc.Arbitrary<Json> },
    { weight: 3, arbitrary: fc.tuple(inputs[tool], change).map(([input, made]): Json => mutate(input, made)) },
  );
  return fc.tuple(fc.constant(tool), args.map(onWire));
});

const callers = [
  owner,
  owner,
  assistant(),
  assistant(limitedScopes),
  assistant("memory:read memory:propose"),
  assistant("memory:write", "user:bob"),
];

async function expectAnswered(world: World, [tool, args]: [ToolName, Json], caller = owner): Promise<string> {
  const before = await world.state();
  const result = await world.call(tool, args, caller);
  expect(world.faults.splice(0)).toEqual([]);
  expect(result.content[0]?.text).toBe(JSON.stringify(result.structuredContent));
  if (!result.isError) {
    expect(validateOutput(tool, JSON.parse(result.content[0]!.text))).toEqual([]);
    return "ok";
  }
  const { error } = result.structuredContent as { error: { code: string; message: string; violations?: unknown } };
  expect(PCP_ERROR_CODES).toContain(error.code);
  expect(error.code).not.toBe("internal");
  expect(error.message.length).toBeGreaterThan(0);
  expect(error.message.length).toBeLessThan(5000);
  expect(await world.state()).toBe(before);
  return error.code;
}

describe("fuzzed inputs", () => {
  it("cover every tool", () => {
    expect(Object.keys(inputs).sort()).toEqual([...TOOL_NAMES].sort());
  });

  it(
    "never end in a fault of ours, and an error leaves everything as it was",
    async () => {
      const world = World.open();
      await world.write("a", "first\n");
      const seen = new Map<string, number>();
      const property = fc.asyncProperty(call, fc.constantFrom(...callers), async (asked, caller) => {
        const outcome = await expectAnswered(world, asked, caller);
        const key = `${asked[0]} ${outcome}`;
        seen.set(key, (seen.get(key) ?? 0) + 1);
      });
      await fc.assert(property, { seed: testSeed(), numRuns: scaled(10_000) });
      for (const outcome of [
        "memory_write ok",
        "memory_write invalid_input",
        "memory_search ok",
        "profile_update ok",
      ]) {
        expect(seen.get(outcome), `${outcome} of ${JSON.stringify([...seen])}`).toBeGreaterThan(0);
      }
      const { problems } = await world.context.store.inspect();
      expect(problems).toEqual([]);
    },
    fullTimeoutMs,
  );

  it(
    "that were written are read, found and listed again",
    async () => {
      const property = fc.asyncProperty(
        path,
        body,
        fc.option(frontmatter, { nil: undefined }),
        async (at, content, keys) => {
          const world = World.open();
          const args = onWire({ path: at, body: content, ...(keys && { frontmatter: keys }) });
          const outcome = await expectAnswered(world, ["memory_write", args]);
          const reread = await expectAnswered(world, ["memory_read", { path: at }]);
          expect(outcome === "ok" ? reread : "ok").toBe("ok");
          if (outcome !== "ok") return;
          const text = await world.text(at);
          const again = await expectAnswered(world, ["memory_write", { path: at, body: text }]);
          expect(again).toBe("ok");
          expect(await world.text(at)).toBe(text);
          for (const tool of ["memory_list", "context_brief", "memory_search"] as const) {
            const more = { memory_list: {}, context_brief: {}, memory_search: { query: "t", include_stale: true } }[
              tool
            ];
            expect(await expectAnswered(world, [tool, more])).toBe("ok");
          }
        },
      );
      await fc.assert(property, { seed: testSeed(), numRuns: scaled(1500) });
    },
    fullTimeoutMs,
  );

  it("of __proto__ pollute nothing", async () => {
    const world = World.open();
    const hostile = JSON.parse(
      '{"title":"t","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
    ) as Members;
    await expectAnswered(world, ["memory_write", { path: "p", body: "x", frontmatter: hostile }]);
    await expectAnswered(world, [
      "memory_write",
      { path: "q", body: "---\ntitle: t\n__proto__: {polluted: 1}\n---\n" },
    ]);
    await expectAnswered(world, ["profile_update", { namespace: "org.example", patch: hostile }]);
    expect(({} as Members).polluted).toBeUndefined();
    const read = await world.call("memory_read", { path: "q" });
    expect(JSON.parse(read.content[0]!.text).frontmatter).toHaveProperty(["__proto__"], { polluted: 1 });
  });
});
