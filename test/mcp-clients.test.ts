import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type ClientKind,
  clientKinds,
  connectHttp,
  connectStdio,
  type ListedTool,
  makeData,
  makeToken,
  type Served,
  startServe,
  type TestClient,
  type ToolAnswer,
} from "./harness.js";

const toolNames = [
  "profile_get",
  "profile_update",
  "memory_search",
  "memory_read",
  "memory_list",
  "memory_write",
  "memory_propose",
  "review_list",
  "review_resolve",
  "partition_list",
  "context_brief",
  "audit_list",
  "export_create",
  "erase_request",
];
const everything =
  "profile.core:read profile.core:write memory:read memory:write memory:review memory.sensitive:read audit:read export:read erase:write";
const nothingHere = "memory.sensitive:read";

type Wire = "stdio" | "HTTP";
const combinations = clientKinds.flatMap((kind) => (["stdio", "HTTP"] as Wire[]).map((wire) => [kind, wire] as const));

let data: string;
let server: Served;
let tokens: { all: string; none: string };

beforeAll(async () => {
  data = await makeData("me");
  server = await startServe(data);
  tokens = { all: await makeToken(data, everything), none: await makeToken(data, nothingHere) };
});

function connect(kind: ClientKind, wire: Wire, rights: "all" | "none" = "all"): Promise<TestClient> {
  if (wire === "HTTP") return connectHttp(kind, `${server.origin}/mcp`, tokens[rights]);
  return connectStdio(kind, ["--data", data, "--scopes", rights === "all" ? everything : nothingHere]);
}

interface WireError {
  code: string;
  message: string;
  required_scopes?: string[];
  violations?: string[];
}

/** The published schemas as both dialects that clients use read them. */
function resultChecks(tools: ListedTool[]): (name: string, answer: ToolAnswer) => void {
  const dialects = [Ajv, Ajv2020].map((Dialect) => {
    const ajv = new Dialect({ strict: false, allErrors: true, validateFormats: false });
    return new Map(tools.map(({ name, outputSchema }) => [name, ajv.compile(outputSchema ?? { not: {} })]));
  });
  return (name, answer) => {
    for (const validators of dialects) {
      const validate = validators.get(name);
      expect(validate, name).toBeDefined();
      validate?.(answer.structuredContent);
      expect(validate?.errors ?? [], name).toEqual([]);
    }
  };
}

/** A result always holds one text block with the JSON of its structured content. */
function expectTwoForms(answer: ToolAnswer): void {
  expect(answer.content).toHaveLength(1);
  expect(answer.content[0]?.type).toBe("text");
  expect(JSON.parse(answer.content[0]?.text ?? "")).toEqual(answer.structuredContent);
}

function errorOf(answer: ToolAnswer): WireError {
  expectTwoForms(answer);
  expect(answer.isError).toBe(true);
  expect(Object.keys(answer.structuredContent ?? {})).toEqual(["error"]);
  return (answer.structuredContent as { error: WireError }).error;
}

const largeBody = "x".repeat(256 * 1024 + 1);
const noSuchId = "pg_0000000000000000000000000";

/** Tool, arguments, code, what the message says, and whether violations come with it. */
const errorCases: [string, unknown, string, RegExp, boolean][] = [
  ["memory_read", { path: "nowhere/at-all" }, "not_found", /no page at "nowhere\/at-all"/, false],
  ["memory_read", { id: noSuchId }, "not_found", /no page with this id/, false],
  ["memory_read", {}, "invalid_input", /exactly one of path and id/, true],
  ["memory_read", { path: "a", as_of: "2999-01-01T00:00:00Z" }, "invalid_input", /as_of/, true],
  ["memory_write", { path: "../up", body: "x" }, "invalid_input", /path/, true],
  ["memory_write", { path: "no-body" }, "invalid_input", /body/, true],
  ["memory_write", { path: "extra", body: "x", colour: "red" }, "invalid_input", /unknown argument/, true],
  ["memory_write", { path: "bad-yaml", body: "---\na: [\n---\nx" }, "invalid_input", /line \d+/, true],
  ["memory_write", { path: "large", body: largeBody }, "too_large", /256 KiB/, true],
  [
    "memory_write",
    { path: "p", body: "x", frontmatter: { title: "T", partition: "other" } },
    "not_found",
    /par/,
    false,
  ],
  ["memory_list", { cursor: "made-up" }, "invalid_input", /cursor/, true],
  ["memory_list", { limit: 0 }, "invalid_input", /limit/, true],
  ["memory_search", {}, "invalid_input", /query/, true],
  ["memory_search", { query: "x", cursor: "made-up" }, "invalid_input", /cursor/, true],
  ["profile_update", { patch: { shoe_size: 43 } }, "invalid_input", /shoe_size/, true],
  ["profile_update", { patch: { name: null } }, "invalid_input", /name/, true],
  ["profile_get", { namespaces: ["not a namespace"] }, "invalid_input", /namespace/, true],
  ["partition_list", { which: "all" }, "invalid_input", /unknown argument/, true],
  ["context_brief", { token_budget: -1 }, "invalid_input", /token_budget/, true],
];

/** Each served tool, arguments that would do, and the scopes that `forbidden` names. */
const scopeCases: [string, unknown, string[]][] = [
  ["profile_get", {}, ["profile.core:read"]],
  ["profile_update", { patch: { name: "N" } }, ["profile.core:write"]],
  ["memory_search", { query: "x" }, ["memory:read"]],
  ["memory_read", { path: "x" }, ["memory:read"]],
  ["memory_list", {}, ["memory:read"]],
  ["memory_write", { path: "forbidden-write", body: "x" }, ["memory:write", "memory:propose"]],
  ["memory_propose", { path: "forbidden-write", body: "x" }, ["memory:propose"]],
  ["review_list", {}, ["memory:review", "memory:propose"]],
  ["review_resolve", { path: "a", revision: "rev_x", verb: "approve" }, ["memory:review"]],
  ["audit_list", {}, ["audit:read"]],
  ["partition_list", {}, ["memory:read", "memory:propose", "memory:write", "memory:review"]],
  ["context_brief", {}, ["profile.core:read", "memory:read"]],
  ["export_create", {}, ["export:read"]],
];

describe.each(combinations)("%s over %s", (kind, wire) => {
  const folder = `${kind} ${wire}`.replaceAll(" ", "-").toLowerCase();
  let client: TestClient;
  let check: (name: string, answer: ToolAnswer) => void;

  async function call(name: string, args?: unknown): Promise<Record<string, unknown>> {
    const answer = await client.callTool(name, args);
    expect(answer.isError ?? false, JSON.stringify(answer.structuredContent)).toBe(false);
    expectTwoForms(answer);
    check(name, answer);
    return answer.structuredContent ?? {};
  }

  beforeAll(async () => {
    client = await connect(kind, wire);
    check = resultChecks(await client.listTools());
  });
  afterAll(() => client.close());

  it("agrees on the protocol that was asked for", () => {
    const expected = { "v2 legacy": "2025-11-25", "v2 auto": "2026-07-28", "v2 pinned": "2026-07-28", v1: undefined };
    expect(client.protocol()).toBe(expected[kind]);
  });

  it("lists the tools in their order and no other", async () => {
    expect((await client.listTools()).map(({ name }) => name)).toEqual(toolNames);
  });

  it("writes, replaces, reads and finds a page", async () => {
    const path = `${folder}/page`;
    const created = await call("memory_write", { path, body: `# Blue kettle\n\nDescale ${folder} monthly.\n` });
    expect(created).toMatchObject({ path, applied: true, id: expect.stringMatching(/^pg_/) });
    const frontmatter = { title: "Green kettle", tags: ["kitchen"], type: "semantic", colour: "green" };
    const replaced = await call("memory_write", {
      path,
      body: "Descale it weekly.\n",
      frontmatter,
      expected_updated: created.updated,
    });
    expect(replaced.id).toBe(created.id);
    expect(String(replaced.updated) > String(created.updated)).toBe(true);

    const byPath = await call("memory_read", { path });
    expect(byPath).toMatchObject({
      path,
      body: "Descale it weekly.\n",
      frontmatter: { ...frontmatter, id: created.id, updated: replaced.updated },
    });
    expect(await call("memory_read", { id: created.id })).toEqual(byPath);

    const listed = await call("memory_list", { prefix: `${folder}/` });
    expect(listed.pages).toEqual([expect.objectContaining({ path, title: "Green kettle" })]);
    const found = await call("memory_search", { query: "green kettle weekly", tags: ["kitchen"], limit: 50 });
    expect(found.results).toContainEqual(expect.objectContaining({ path, id: created.id }));
  });

  it("refuses a write that is based on an older page, and names the current one", async () => {
    const path = `${folder}/contested`;
    const first = await call("memory_write", { path, body: "one" });
    const second = await call("memory_write", { path, body: "two", expected_updated: first.updated });
    const answer = await client.callTool("memory_write", { path, body: "three", expected_updated: first.updated });
    check("memory_write", answer);
    const error = errorOf(answer);
    expect(error.code).toBe("conflict");
    expect(error.message).toContain(String(second.updated));
    expect(await call("memory_read", { path })).toMatchObject({ body: "two" });
    const absent = { path: `${folder}/absent`, body: "x", expected_updated: String(first.updated) };
    expect(errorOf(await client.callTool("memory_write", absent))).toMatchObject({ code: "conflict" });
    expect(errorOf(await client.callTool("memory_read", { path: absent.path })).code).toBe("not_found");
  });

  it("changes and reads the profile", async () => {
    const updated = await call("profile_update", { patch: { name: `Owner of ${folder}`, work: { role: folder } } });
    expect(updated).toMatchObject({ namespace: "core", changed: expect.arrayContaining(["/name"]) });
    const read = await call("profile_get");
    expect(read).toMatchObject({
      profile_type: "core",
      profile: { name: `Owner of ${folder}`, work: { role: folder } },
    });
    const same = await call("profile_update", { patch: { name: `Owner of ${folder}` } });
    expect(same).toMatchObject({ changed: [], updated: updated.updated });
  });

  it("briefs and lists partitions", async () => {
    await call("profile_update", { patch: { name: "Somebody" } });
    const brief = await call("context_brief", { focus: "kettle", token_budget: 4000 });
    expect(brief).toMatchObject({ kind: "personal", profile: { name: "Somebody" }, omitted: [] });
    expect(await call("partition_list")).toEqual({
      partitions: [expect.objectContaining({ name: "main", access: ["read", "propose", "write", "review"] })],
    });
  });

  it.each(["profile_get", "memory_list", "partition_list", "context_brief"])(
    "%s takes {}, null and nothing alike",
    async (name) => {
      const empty = await call(name, {});
      expect(await call(name, null)).toEqual(empty);
      expect(await call(name)).toEqual(empty);
    },
  );

  it.each(errorCases)("%s %o: %s", async (name, args, code, message, hasViolations) => {
    const answer = await client.callTool(name, args);
    check(name, answer);
    const error = errorOf(answer);
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
    expect(error.violations !== undefined && error.violations.length > 0).toBe(hasViolations);
    expect(error).not.toHaveProperty("required_scopes");
  });

  it("says an unknown tool with a protocol error", async () => {
    for (const name of ["memory_delete", "", "__proto__"]) {
      await expect(client.callTool(name, {})).rejects.toMatchObject({ code: -32602 });
    }
  });

  it("names the missing scopes, lists no tool that needs them, and does nothing", async () => {
    const limited = await connect(kind, wire, "none");
    expect(await limited.listTools()).toEqual([]);
    for (const [name, args, scopes] of scopeCases) {
      const answer = await limited.callTool(name, args);
      check(name, answer);
      expect(errorOf(answer), name).toMatchObject({ code: "forbidden", required_scopes: scopes });
    }
    await limited.close();
    expect(errorOf(await client.callTool("memory_read", { path: "forbidden-write" })).code).toBe("not_found");
  });
});

describe("one store behind both transports", () => {
  it("shows a write on one transport at once on the other", async () => {
    const [stdio, http] = await Promise.all([connect("v2 auto", "stdio"), connect("v1", "HTTP")]);
    await stdio.callTool("memory_write", { path: "shared/a", body: "from stdio, zebra" });
    await http.callTool("memory_write", { path: "shared/b", body: "from HTTP, zebra" });
    expect((await http.callTool("memory_read", { path: "shared/a" })).structuredContent).toMatchObject({
      body: "from stdio, zebra",
    });
    expect((await stdio.callTool("memory_read", { path: "shared/b" })).structuredContent).toMatchObject({
      body: "from HTTP, zebra",
    });
    for (const client of [stdio, http]) {
      const { results } = (await client.callTool("memory_search", { query: "zebra" })).structuredContent as {
        results: { path: string }[];
      };
      expect(results.map(({ path }) => path).sort()).toEqual(["shared/a", "shared/b"]);
      await client.close();
    }
  });

  it("keeps pages, profile and tokens over a restart", async () => {
    const own = await makeData("me");
    const token = await makeToken(own, everything);
    const first = await startServe(own);
    const before = await connectHttp("v2 legacy", `${first.origin}/mcp`, token);
    await before.callTool("memory_write", { path: "kept", body: "Kept over night.\n" });
    await before.callTool("profile_update", { patch: { name: "Kept" } });
    const page = (await before.callTool("memory_read", { path: "kept" })).structuredContent;
    await before.close();
    expect(await first.stop()).toEqual({ code: 0, signal: null });

    const second = await startServe(own);
    const after = await connectHttp("v2 pinned", `${second.origin}/mcp`, token);
    expect((await after.callTool("memory_read", { path: "kept" })).structuredContent).toEqual(page);
    expect((await after.callTool("profile_get")).structuredContent).toMatchObject({ profile: { name: "Kept" } });
    const found = await after.callTool("memory_search", { query: "over night" });
    expect(found.structuredContent).toMatchObject({ results: [{ path: "kept" }] });
    await after.close();
    await second.stop();
  });
});

describe("--schemas exact", () => {
  it.each([
    ["v2 legacy", "stdio"],
    ["v2 pinned", "stdio"],
    ["v2 auto", "HTTP"],
  ] as const)("works with the %s client over %s", async (kind, wire) => {
    const own = await makeData("me");
    const args = ["--schemas", "exact"];
    const server = wire === "HTTP" ? await startServe(own, args) : undefined;
    const client = server
      ? await connectHttp(kind, `${server.origin}/mcp`, await makeToken(own, everything))
      : await connectStdio(kind, ["--data", own, ...args]);
    const tools = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(toolNames);
    expect(JSON.stringify(tools[0]?.outputSchema)).toContain("$defs");
    const calls: [string, unknown][] = [
      ["memory_write", { path: "exact", body: "An exact page." }],
      ["memory_read", { path: "exact" }],
      ["memory_list", {}],
      ["memory_search", { query: "exact" }],
      ["profile_update", { patch: { name: "Exact" } }],
      ["profile_get", {}],
      ["partition_list", {}],
      ["context_brief", {}],
    ];
    for (const [name, input] of calls) {
      const answer = await client.callTool(name, input);
      expect(answer.isError ?? false, `${name} ${answer.content[0]?.text}`).toBe(false);
      expectTwoForms(answer);
    }
    expect(errorOf(await client.callTool("memory_read", { path: "absent" })).code).toBe("not_found");
    expect(errorOf(await client.callTool("memory_read", {})).violations).toBeDefined();
    await client.close();
    await server?.stop();
  });
});
