import { describe, expect, test } from "vitest";
import { SCHEMAS } from "./generated/schemas.js";
import { TOOL_NAMES, type ToolName } from "./tools.js";
import { validateExtension, validateInput, validateManifest, validateOutput, validateProfile } from "./validate.js";

const AT = "2026-01-02T03:04:05.000Z";

describe("validateInput", () => {
  test.each<[ToolName, unknown]>([
    ["partition_list", undefined],
    ["partition_list", null],
    ["partition_list", {}],
    ["profile_get", null],
    ["context_brief", undefined],
    ["memory_propose", { path: "a", body: "", expected_updated: AT }],
    ["memory_read", { path: "a", as_of: "2026-01-02T03:04:05+02:00" }],
    ["memory_list", { as_of: AT, include_stale: false }],
    ["memory_write", { path: "日記/京都", body: "x", frontmatter: { title: "x", id: 5, review: null, mine: [1] } }],
    ["review_resolve", { path: "a", revision: "r", verb: "satchel:defer" }],
  ])("%s %j is fine", (tool, value) => {
    expect(validateInput(tool, value)).toEqual([]);
  });

  test.each<[ToolName, unknown, string]>([
    ["memory_search", undefined, "/: must have required property 'query'"],
    ["memory_search", [], "/: must be object"],
    ["memory_search", "x", "/: must be object"],
    ["memory_search", { query: "x", as_off: AT }, "/as_off: unknown argument"],
    ["memory_search", { query: "x", __proto__x: 1 }, "/__proto__x: unknown argument"],
    ["memory_search", { query: "" }, "/query: "],
    ["memory_search", { query: "x", limit: 101 }, "/limit: "],
    ["memory_search", { query: "x", limit: "5" }, "/limit: must be integer"],
    ["memory_search", { query: "x", as_of: "2026-02-30T00:00:00Z" }, "/as_of: must be an RFC 3339 date-time"],
    ["memory_search", { query: "x", tags: Array(1001).fill("a") }, "/tags: must have at most 1000 entries"],
    [
      "memory_search",
      { query: "x", include_review: ["approved"] },
      "/include_review/0: must be one of proposed, rejected",
    ],
    ["memory_write", { path: "a//b", body: "x" }, "/path: "],
    ["memory_write", { path: "a", body: "x", frontmatter: {} }, "/frontmatter: must have required property 'title'"],
    [
      "memory_write",
      { path: "a", body: "x", frontmatter: { title: "x", relations: Array(1001).fill(0) } },
      "/frontmatter/relations: ",
    ],
    ["memory_write", { path: "a", body: "x", as_of: AT }, "/as_of: unknown argument"],
    ["partition_list", { x: 1 }, "/x: unknown argument"],
    ["erase_request", { paths: [] }, "/paths: "],
    ["review_resolve", { path: "a", revision: "r", verb: "defer" }, "/verb: "],
  ])("%s %j is refused", (tool, value, message) => {
    expect(validateInput(tool, value)).toEqual(expect.arrayContaining([expect.stringContaining(message)]));
  });

  test("own keys only: __proto__ as an argument is unknown, and values never show", () => {
    expect(validateInput("memory_search", JSON.parse('{"query":"x","__proto__":{"a":1}}'))).toEqual([
      "/__proto__: unknown argument",
    ]);
    const found = validateInput("memory_write", {
      path: 5,
      body: "x",
      frontmatter: { title: "x", type: "hunter2", valid_from: "hunter2" },
    });
    expect(found.length).toBe(3);
    expect(found.join()).not.toContain("hunter2");
  });

  test("the number of violations is bounded", () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`x${i}`, i]));
    expect(
      validateInput("memory_search", { query: "x", tags: Array(1000).fill(1), ...many }).length,
    ).toBeLessThanOrEqual(40);
  });
});

describe("documents", () => {
  test("every schema of ours compiles and every tool has both sides", () => {
    for (const tool of TOOL_NAMES) {
      expect(validateInput(tool, { "": 1 })).toContain("/: unknown argument");
      expect(validateOutput(tool, null)).toEqual(["/: must be object"]);
    }
    expect(Object.keys(SCHEMAS)).toHaveLength(10);
  });

  test("profile.core: only the name is required, and it is closed", () => {
    const full = {
      pcp_version: "0.3",
      name: "N",
      preferred_name: "n",
      pronouns: "they",
      languages: [{ code: "en", proficiency: "native", contexts: ["work"] }],
      locale: "en-GB",
      timezone: "Europe/Stockholm",
      location: { city: "c", country: "SE" },
      communication: { tone: "t", verbosity: "concise", formatting: "f" },
      work: { role: "r", organization: "o", field: "f", context: "c" },
      interests: ["i"],
      ai_instructions: "a",
      updated: AT,
    };
    expect(validateProfile("core", full)).toEqual([]);
    expect(validateProfile("core", { name: "N" })).toEqual([]);
    expect(validateProfile("core", {})).toEqual(["/: must have required property 'name'"]);
    expect(validateProfile("core", { name: "N", nick: "x" })).toEqual(["/: has the unknown member nick"]);
    expect(validateProfile("core", { name: "N", work: { employer: "x" } })).toEqual([
      "/work: has the unknown member employer",
    ]);
    expect(validateProfile("core", { name: "N", languages: [{ code: "en", proficiency: "good" }] })).toHaveLength(1);
    expect(validateProfile("core", null)).toEqual(["/: must be object"]);
  });

  test("profile.team", () => {
    const full = {
      name: "T",
      purpose: "p",
      members: [{ principal: "user:a", name: "A", role: "r" }],
      conventions: ["c"],
      glossary: [{ term: "t", meaning: "m" }],
      links: [{ title: "t", url: "https://example.org" }],
      ai_instructions: "a",
      updated: AT,
    };
    expect(validateProfile("team", full)).toEqual([]);
    expect(validateProfile("team", { name: "T", members: [{ principal: "a" }] })).toHaveLength(1);
    expect(validateProfile("team", { name: "T", links: [{ url: "not a link" }] })).toEqual([
      "/links/0/url: must be a URI",
    ]);
    expect(validateProfile("team", { name: "T", interests: [] })).toHaveLength(1);
  });

  test("extensions: pcp.health by its schema, others any object", () => {
    expect(validateExtension("pcp.health", { allergies: ["nuts", { substance: "x" }], blood_type: "0" })).toEqual([]);
    expect(validateExtension("pcp.health", { allergies: "nuts" })).toHaveLength(1);
    expect(validateExtension("acme.travel", { anything: [1] })).toEqual([]);
    for (const value of [null, [], "x", 1])
      expect(validateExtension("acme.travel", value)).toEqual(["/: must be object"]);
  });

  test("outputs: the full schema is the standard's, with the extras typed", () => {
    const page = { path: "a", title: "A", updated: AT };
    expect(
      validateOutput("memory_search", {
        results: [{ ...page, stale: true, superseded_by: "b" }],
        stale_fallback: true,
      }),
    ).toEqual([]);
    expect(validateOutput("memory_search", { results: [{ ...page, stale: "yes" }] })).toEqual([
      "/results/0/stale: must be boolean",
    ]);
    expect(
      validateOutput("memory_read", { path: "a", frontmatter: { title: "A", updated: AT, mine: 1 }, body: "" }),
    ).toEqual([]);
    expect(validateOutput("memory_read", { path: "a", frontmatter: { title: "A" }, body: "" })).toHaveLength(1);
    expect(
      validateOutput("memory_propose", { path: "a", revision: "r", review_state: "approved", target_exists: false }),
    ).toHaveLength(1);
  });
});

describe("validateManifest", () => {
  const file = (path: string) => ({ path, sha256: "0".repeat(64), bytes: 0 });
  const manifest = {
    pcp_version: "0.3",
    created: AT,
    context: { handle: "me", kind: "personal", profile_type: "core" },
    coverage: "full",
    page_count: 0,
    files: Array.from({ length: 2500 }, (_, index) => file(`f${index}`)),
    omitted: [{ part: "audit", reason: "not asked for" }],
  };

  test.each<[string, object]>([
    ["a long list", {}],
    ["no file", { files: [] }],
    ["members of its own", { context: { ...manifest.context, label: "Me" }, "org.example": 1 }],
  ])("lets through %s", (_name, change) => expect(validateManifest({ ...manifest, ...change })).toEqual([]));

  test.each<[string, unknown, string]>([
    ["nothing", undefined, "/: must be object"],
    ["another version", { ...manifest, pcp_version: "0.2" }, "/pcp_version"],
    ["no list", { ...manifest, files: undefined }, "must have required property 'files'"],
    ["a list that is none", { ...manifest, files: {} }, "/files: must be array"],
    ["no time", { ...manifest, created: "yesterday" }, "/created"],
    ["a wrong entry far down", { ...manifest, files: manifest.files.with(2222, file("")) }, "/files/2222/path"],
    ["an unknown member", { ...manifest, files: [{ ...file("a"), mode: 1 }] }, "/files/0: has the unknown member mode"],
    ["a wrong reason", { ...manifest, omitted: Array(1500).fill({ part: "x" }) }, "/omitted/0"],
  ])("refuses %s", (_name, value, violation) => {
    expect(validateManifest(value)).toEqual(expect.arrayContaining([expect.stringContaining(violation)]));
  });

  test("names no more than the first violations, however many there are", () => {
    expect(validateManifest({ ...manifest, files: Array(200_000).fill(1) })).toHaveLength(20);
  });
});
