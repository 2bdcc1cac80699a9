import { TOOL_NAMES, type ToolName, validateOutput } from "@satchel/pcp";
import {
  type Caller,
  type Context,
  extensionAddOperation,
  groupSetOperation,
  groupsOperation,
  importOperation,
  inspectOperation,
  type Operation,
  pageHistoryOperation,
  pageRemoveOperation,
  pageRestoreOperation,
  pageTextOperation,
  partitionSetOperation,
  partitionsOperation,
  reviewTextOperation,
  settingOperation,
  settingsOperation,
  tokenCreateOperation,
  tokenRevokeOperation,
  tokensOperation,
  userAddOperation,
  userRemoveOperation,
  usersOperation,
} from "@satchel/server";
import { describe, expect, it } from "vitest";
import { assistant, owner, person, Shared } from "./shared-context.js";

interface Entry {
  id: string;
  at: string;
  principal: string;
  client: string;
  tool: string;
  category: string;
  action: string;
  outcome: string;
  targets: string[];
}

/** Every entry there is, oldest first. */
async function entries({ context }: Shared): Promise<Entry[]> {
  return context.store.read(async ({ journal }) => {
    const all = await journal.entries({ from: 0, limit: 100_000 });
    const audit = all.filter(({ kind }) => kind === "audit");
    return audit.map(({ openings }) =>
      Object.assign({}, ...openings.map((opening) => JSON.parse(opening?.body ?? "{}"))),
    );
  });
}

/** The entries that `act` leaves. */
async function left(shared: Shared, act: () => Promise<unknown>): Promise<Entry[]> {
  const before = (await entries(shared)).length;
  await act();
  return (await entries(shared)).slice(before);
}

type Facts = [category: string, action: string, outcome: string, targets: string[] | number];

function expectOne(found: Entry[], who: { caller: Caller; tool: string }, facts: Facts): void {
  const { caller, tool } = who;
  const [category, action, outcome, targets] = facts;
  const list = typeof targets === "number" ? expect.any(Array) : targets;
  expect(found).toEqual([
    {
      id: expect.stringMatching(/^aud_[0-9a-hjkmnp-tv-z]{26}$/),
      at: expect.any(String),
      principal: caller.principal,
      client: caller.client,
      tool,
      category,
      action,
      outcome,
      targets: list,
      receipt: expect.stringMatching(/^semantic_receipt:[0-9a-f]{32}$/),
      call_id: expect.stringMatching(/^call_/),
    },
  ]);
  if (typeof targets === "number") expect(found[0]?.targets).toHaveLength(targets);
}

describe("every call of a tool leaves one entry", () => {
  const notes = assistant();
  const reader = assistant("memory:read");
  const nothing = assistant("");

  interface Call {
    tool: ToolName;
    args: unknown;
    caller?: Caller;
    facts: Facts;
    prepare?: (shared: Shared) => Promise<Record<string, unknown> | undefined>;
  }

  const proposal = async (shared: Shared) => ({ revision: await shared.propose({ path: "new", body: "x\n" }, notes) });
  const calls: Call[] = [
    { tool: "profile_get", args: {}, facts: ["profile.core", "read", "ok", ["profile.core", "profile.health"]] },
    {
      tool: "profile_get",
      args: { namespaces: ["pcp.health"] },
      caller: assistant("profile.core:read"),
      facts: ["profile.health", "deny", "forbidden", []],
    },
    { tool: "profile_get", args: {}, caller: nothing, facts: ["profile.core", "deny", "forbidden", []] },
    {
      tool: "profile_update",
      args: { patch: { name: "New" } },
      facts: ["profile.core", "write", "ok", ["profile.core"]],
    },
    {
      tool: "profile_update",
      args: { namespace: "pcp.health", patch: { blood_type: "0" } },
      facts: ["profile.health", "write", "ok", ["profile.health"]],
    },
    {
      tool: "profile_update",
      args: { namespace: "pcp.health", patch: {} },
      caller: assistant("profile.core:write"),
      facts: ["profile.health", "deny", "forbidden", []],
    },
    { tool: "profile_update", args: { patch: { name: 1 } }, facts: ["profile.core", "write", "invalid_input", []] },
    { tool: "memory_search", args: { query: "stone" }, facts: ["memory.sensitive", "read", "ok", 2] },
    { tool: "memory_search", args: { query: "stone" }, caller: reader, facts: ["memory", "read", "ok", ["plain"]] },
    { tool: "memory_search", args: { query: "absent" }, facts: ["memory", "read", "ok", []] },
    { tool: "memory_search", args: {}, facts: ["memory", "read", "invalid_input", []] },
    { tool: "memory_search", args: { query: "stone", cursor: "AAAA" }, facts: ["memory", "read", "invalid_input", []] },
    { tool: "memory_read", args: { path: "plain" }, facts: ["memory", "read", "ok", ["plain"]] },
    { tool: "memory_read", args: { path: "secret" }, facts: ["memory.sensitive", "read", "ok", ["secret"]] },
    { tool: "memory_read", args: { path: "secret" }, caller: reader, facts: ["memory", "read", "not_found", []] },
    { tool: "memory_read", args: { path: "_index" }, facts: ["memory", "read", "ok", ["_index"]] },
    { tool: "memory_read", args: null, facts: ["memory", "read", "invalid_input", []] },
    { tool: "memory_read", args: "plain", facts: ["memory", "read", "invalid_input", []] },
    { tool: "memory_list", args: {}, caller: reader, facts: ["memory", "read", "ok", ["plain"]] },
    { tool: "memory_list", args: {}, caller: nothing, facts: ["memory", "deny", "forbidden", []] },
    { tool: "memory_write", args: { path: "plain", body: "x\n" }, facts: ["memory", "write", "ok", ["plain"]] },
    {
      tool: "memory_write",
      args: { path: "secret", body: "x\n" },
      facts: ["memory.sensitive", "write", "ok", ["secret"]],
    },
    {
      tool: "memory_write",
      args: { path: "new", body: "x\n" },
      caller: assistant("memory:propose"),
      facts: ["memory", "propose", "ok", 1],
    },
    {
      tool: "memory_write",
      args: { path: "plain", body: "x\n", expected_updated: "2020-01-01T00:00:00Z" },
      facts: ["memory", "write", "conflict", []],
    },
    {
      tool: "memory_write",
      args: { path: "big", body: "x".repeat(300_000) },
      facts: ["memory", "write", "too_large", []],
    },
    {
      tool: "memory_write",
      args: { path: "plain", body: "x" },
      caller: reader,
      facts: ["memory", "deny", "forbidden", []],
    },
    { tool: "memory_propose", args: { path: "new", body: "x\n" }, facts: ["memory", "propose", "ok", 2] },
    { tool: "memory_propose", args: { path: "..", body: "x\n" }, facts: ["memory", "propose", "invalid_input", []] },
    { tool: "review_list", args: {}, prepare: proposal, facts: ["review", "read", "ok", 1] },
    { tool: "review_list", args: {}, caller: reader, facts: ["review", "deny", "forbidden", []] },
    {
      tool: "review_resolve",
      args: { path: "new", verb: "approve" },
      prepare: proposal,
      caller: owner,
      facts: ["review", "resolve", "ok", 2],
    },
    {
      tool: "review_resolve",
      args: { path: "new", verb: "approve" },
      prepare: proposal,
      facts: ["review", "deny", "forbidden", []],
    },
    {
      tool: "review_resolve",
      args: { path: "new", verb: "reject", revision: "rev_0" },
      caller: owner,
      facts: ["review", "resolve", "not_found", []],
    },
    { tool: "partition_list", args: {}, facts: ["memory", "read", "ok", []] },
    { tool: "context_brief", args: {}, facts: ["memory.sensitive", "read", "ok", ["profile.core", "secret", "plain"]] },
    { tool: "context_brief", args: {}, caller: nothing, facts: ["memory", "deny", "forbidden", []] },
    { tool: "audit_list", args: { limit: 2 }, facts: ["audit", "read", "ok", 2] },
    { tool: "audit_list", args: {}, caller: reader, facts: ["audit", "deny", "forbidden", []] },
    { tool: "export_create", args: {}, facts: ["export", "export", "ok", 1] },
    { tool: "export_create", args: { encrypt_to: ["x"] }, facts: ["export", "export", "invalid_input", []] },
    { tool: "erase_request", args: {}, facts: ["erase", "erase", "invalid_input", []] },
  ];

  async function world(): Promise<Shared> {
    const shared = Shared.open();
    await shared.ok("profile_update", { patch: { name: "Someone" } });
    await shared.ok("profile_update", { namespace: "pcp.health", patch: { conditions: ["secretword"] } });
    await shared.write("plain", "stone\n");
    await shared.write("secret", "stone\n", { title: "t", sensitivity: "sensitive" });
    return shared;
  }

  it.each(calls.map((call) => ({ ...call, outcome: call.facts[2], text: JSON.stringify(call.args).slice(0, 60) })))(
    "$tool $text: $outcome",
    async ({ tool, args, caller = notes, facts, prepare }) => {
      const shared = await world();
      const more = await prepare?.(shared);
      const given = tool === "review_resolve" ? { ...more, ...(args as object) } : args;
      expectOne(await left(shared, () => shared.call(tool, given, caller)), { caller, tool }, facts);
      expect(shared.faults).toEqual([]);
    },
  );

  it("is asked of every tool there is", () => {
    expect(new Set(calls.map(({ tool }) => tool))).toEqual(new Set(TOOL_NAMES));
  });

  it("holds no content: no title, no text, no words of a search, no note, no value of a profile", async () => {
    const shared = await world();
    const secret = "zebracrossing";
    const keys = { title: secret, tags: [secret] };
    await shared.as(notes).write("p", `${secret}\n`, keys);
    const revision = await shared.propose({ path: "p", body: `${secret}\n`, frontmatter: keys, note: secret }, notes);
    const asked: [ToolName, unknown][] = [
      ["memory_search", { query: secret }],
      ["memory_search", { query: secret, tags: [secret], partitions: [secret] }],
      ["memory_read", { path: "p", revision }],
      ["memory_list", { prefix: secret }],
      ["memory_read", { path: `${secret}/absent` }],
      ["memory_write", { path: `${secret}:`, body: secret }],
      ["context_brief", { focus: secret }],
      ["profile_update", { patch: { interests: [secret] } }],
      ["profile_update", { patch: { [secret]: 1 } }],
      ["audit_list", { category: secret }],
      ["review_resolve", { path: "p", revision, verb: secret, note: secret }],
    ];
    for (const [tool, args] of asked) await shared.call(tool, args, notes);
    await shared.ok("review_resolve", { path: "p", revision, verb: "reject", note: secret });
    const text = JSON.stringify(await entries(shared));
    expect(text).not.toContain(secret);
    expect(text).not.toMatch(/stone|Someone|secretword/);
  });
});

describe("every operation of the terminal leaves one entry", () => {
  const reading = { pages: [{ file: "a.md", path: "a", text: "x\n" }], refused: [] };
  const options = { dryRun: false, skipRefused: false };
  // biome-ignore lint/suspicious/noExplicitAny: operations of every input and output stand in one table.
  type Any = Operation<any, any>;
  type Row = [
    operation: Any,
    args: (made: { revision: string; version: string; token: string }) => unknown,
    facts: Facts,
  ];
  const user = { principal: "user:bob", isOwner: false };
  const rows: Row[] = [
    [pageTextOperation, () => ({ path: "p" }), ["memory", "read", "ok", ["p"]]],
    [pageTextOperation, () => ({ path: "absent" }), ["memory", "read", "not_found", []]],
    [pageHistoryOperation, () => ({ path: "p" }), ["memory", "read", "ok", ["p"]]],
    [pageRestoreOperation, ({ version }) => ({ path: "p", version }), ["memory", "write", "ok", ["p"]]],
    [pageRemoveOperation, () => ({ path: "p" }), ["memory", "write", "ok", ["p"]]],
    [reviewTextOperation, ({ revision }) => ({ revision }), ["review", "read", "ok", 1]],
    [importOperation(reading, options), () => ({}), ["memory", "write", "ok", ["a"]]],
    [importOperation(reading, { ...options, dryRun: true }), () => ({}), ["memory", "write", "ok", []]],
    [
      importOperation({ ...reading, refused: [{ file: "b.md", reason: "unreadable" }] }, options),
      () => ({}),
      ["memory", "write", "ok", []],
    ],
    [inspectOperation, () => ({}), ["admin", "read", "ok", []]],
    [settingsOperation, () => ({}), ["admin", "read", "ok", []]],
    [settingOperation, () => ({ name: "secrets", value: "warn" }), ["admin", "write", "ok", ["secrets"]]],
    [settingOperation, () => ({ name: "secrets", value: "never" }), ["admin", "write", "invalid_input", []]],
    [partitionSetOperation, () => ({ name: "work", grant: [], revoke: [] }), ["admin", "write", "ok", ["work"]]],
    [partitionSetOperation, () => ({ name: "Work", grant: [], revoke: [] }), ["admin", "write", "invalid_input", []]],
    [partitionsOperation, () => ({}), ["admin", "read", "ok", []]],
    [userAddOperation, () => user, ["admin", "write", "ok", ["user:bob"]]],
    [userRemoveOperation, () => ({ principal: "user:owner" }), ["admin", "write", "conflict", []]],
    [usersOperation, () => ({}), ["admin", "read", "ok", []]],
    [groupSetOperation, () => ({ principal: "group:a", members: [] }), ["admin", "write", "ok", ["group:a"]]],
    [groupsOperation, () => ({}), ["admin", "read", "ok", []]],
    [
      extensionAddOperation,
      () => ({ namespace: "org.example.diet", schema: {} }),
      ["admin", "write", "ok", ["org.example.diet"]],
    ],
    [
      tokenCreateOperation,
      () => ({ scopes: "memory:read", user: "user:owner", client: "client:x" }),
      ["auth", "grant", "ok", 1],
    ],
    [
      tokenCreateOperation,
      () => ({ scopes: "everything", user: "user:owner", client: "client:x" }),
      ["auth", "grant", "invalid_input", []],
    ],
    [tokenRevokeOperation, ({ token }) => ({ id: token }), ["auth", "revoke", "ok", 1]],
    [tokenRevokeOperation, () => ({ id: "tok_none" }), ["auth", "revoke", "not_found", []]],
    [tokensOperation, () => ({}), ["auth", "read", "ok", []]],
  ];

  async function world() {
    const shared = Shared.open();
    await shared.write("p", "one\n");
    await shared.write("p", "two\n");
    const revision = await shared.propose({ path: "p", body: "three\n" }, assistant());
    const made = await shared.done(tokenCreateOperation, {
      scopes: "memory:read",
      user: "user:owner",
      client: "client:t",
    });
    const version = await shared.context.store.read(async (t) => (await t.page({ path: "p" }))?.version);
    return { shared, made: { revision, version: String(version), token: made.record.id, secret: made.token } };
  }

  it.each(
    rows.map(([operation, args, facts]) => ({ name: operation.name, outcome: facts[2], operation, args, facts })),
  )("$name: $outcome", async ({ operation, args, facts }) => {
    const { shared, made } = await world();
    const given = args(made);
    expectOne(await left(shared, () => shared.run(operation, given)), { caller: owner, tool: operation.name }, facts);
    const denied = await left(shared, () => shared.run(operation, given, assistant()));
    expectOne(denied, { caller: assistant(), tool: operation.name }, [facts[0], "deny", "forbidden", []]);
    expect(JSON.stringify(await entries(shared))).not.toContain(made.secret);
    expect(shared.faults).toEqual([]);
  });
});

describe("effect and entry", () => {
  /** The same context, whose next `failures` commits fail after everything was done. */
  function breaking({ context }: Shared, failures: number): Context {
    let remaining = failures;
    const write: Context["store"]["write"] = (use, options) =>
      context.store.write(async (transaction) => {
        const result = await use(transaction);
        if (remaining-- > 0) throw new Error("the disk is full");
        return result;
      }, options);
    return { ...context, store: { ...context.store, write } };
  }

  const pageCount = (shared: Shared) =>
    shared.context.store.read((t) =>
      t.list({ parts: [{ partition: "main", sensitivity: "normal" }], includeArchived: true, limit: 10 }),
    );
  const mutations: [tool: ToolName, args: Record<string, unknown>, caller: Caller][] = [
    ["memory_write", { path: "p", body: "x\n" }, assistant()],
    ["memory_propose", { path: "p", body: "x\n" }, assistant()],
    ["profile_update", { patch: { name: "N" } }, assistant()],
    ["review_resolve", { path: "q", verb: "approve" }, owner],
  ];

  it.each(mutations)("%s: when the commit fails there is neither", async (tool, more, caller) => {
    const shared = Shared.open();
    const revision = await shared.propose({ path: "q", body: "q\n" }, assistant());
    const args = tool === "review_resolve" ? { ...more, revision } : more;
    for (const failures of [1, 2]) {
      const state = async () => [
        await pageCount(shared),
        await shared.items(),
        await shared.context.store.read((t) => t.profiles()),
      ];
      const before = await state();
      const found = await left(shared, async () => {
        const result = await shared.over(breaking(shared, failures)).call(tool, args, caller);
        expect(result.structuredContent).toMatchObject({ error: { code: "internal" } });
        expect(JSON.stringify(result)).not.toContain("disk");
      });
      expect(
        found.map(({ outcome }) => outcome),
        "only that it failed, if that can be written",
      ).toEqual(failures === 1 ? ["internal"] : []);
      expect(await state()).toEqual(before);
    }
    expect(shared.faults).toHaveLength(2);
    expectOne(await left(shared, () => shared.ok(tool, args, caller)), { caller, tool }, [
      (await entries(shared)).at(-1)?.category ?? "",
      (await entries(shared)).at(-1)?.action ?? "",
      "ok",
      (await entries(shared)).at(-1)?.targets ?? [],
    ]);
  });

  it("a read whose entry can't be kept is not answered", async () => {
    const shared = Shared.open();
    await shared.write("p", "secretword\n");
    const found = await left(shared, async () => {
      const result = await shared.over(breaking(shared, 2)).call("memory_read", { path: "p" }, assistant());
      expect(JSON.stringify(result)).not.toContain("secretword");
      expect(result.isError).toBe(true);
    });
    expect(found).toEqual([]);
  });

  it("calls at once leave one entry each", async () => {
    const shared = Shared.open();
    const doors = [shared, shared.again(), shared.again()];
    const found = await left(shared, () =>
      Promise.all(
        Array.from({ length: 60 }, (_, n) =>
          doors[n % 3]!.call(
            n % 2 === 0 ? "memory_write" : "memory_read",
            { path: `p${n % 7}`, ...(n % 2 === 0 && { body: "x" }) },
            assistant(),
          ),
        ),
      ),
    );
    expect(found).toHaveLength(60);
    expect(new Set(found.map(({ id }) => id)).size).toBe(60);
  });
});

describe("audit_list", () => {
  const list = (shared: Shared, args: Record<string, unknown> = {}, caller = owner) =>
    shared.ok<{ entries: Entry[]; next_cursor?: string }>("audit_list", { limit: 100, ...args }, caller);

  it("shows owners all, and others their own user's without targets they may not read now", async () => {
    const shared = Shared.open();
    await shared.users("bob", "ann");
    await shared.partition("work", { "user:bob": "write" });
    const bob = assistant(undefined, { user: "bob" });
    const keys = { title: "t", partition: "work" };
    for (const path of ["stays", "moves", "goes", "profile.secret"]) await shared.as(bob).write(path, "x\n", keys);
    await shared.write("hidden", "x\n");
    await shared.call("memory_read", { path: "stays" }, assistant(undefined, { user: "ann" }));
    await shared.write("moves", "x\n", { title: "t", partition: "main" });
    await shared.write("profile.secret", "x\n", { title: "t", partition: "main" });
    await shared.remove("goes");
    const own = (await list(shared, {}, bob)).entries;
    expect(own.map(({ principal, targets }) => [principal, targets])).toEqual([
      ["user:bob", []],
      ["user:bob", []],
      ["user:bob", []],
      ["user:bob", ["stays"]],
    ]);
    expect((await list(shared, { principal: "user:ann" }, bob)).entries).toEqual([]);
    expect((await list(shared, { principal: "user:bob" }, bob)).entries.length).toBeGreaterThan(0);
    const all = (await list(shared)).entries;
    expect(all.map(({ principal }) => principal)).toContain("user:ann");
    expect(all.flatMap(({ targets }) => targets)).toEqual(expect.arrayContaining(["hidden", "goes", "moves"]));
  });

  it("filters, newest first, and every entry passes its schema", async () => {
    const shared = Shared.open();
    await shared.users("bob");
    const times: string[] = [];
    for (const tool of ["memory_list", "profile_get", "review_list"] as const) {
      shared.clock.ms += 60_000;
      times.push(shared.now);
      await shared.call(tool, {}, assistant());
    }
    shared.clock.ms += 60_000;
    const tools = async (args: Record<string, unknown>) => (await list(shared, args)).entries.map(({ tool }) => tool);
    const since = times[0]!;
    const until = shared.now;
    expect(await tools({ since, until })).toEqual(["review_list", "profile_get", "memory_list"]);
    expect(await tools({ since: times[1], until: times[2] })).toEqual(["profile_get"]);
    expect(await tools({ since: "2026-03-01T14:02:00+02:00", until: times[2] })).toEqual(["profile_get"]);
    expect(await tools({ category: "review", until })).toEqual(["review_list"]);
    expect(await tools({ category: "memory", since, until })).toEqual(["memory_list"]);
    expect(await tools({ principal: "user:owner", since, until })).toHaveLength(3);
    expect(await tools({ principal: "user:bob" })).toEqual([]);
    expect(await tools({ since: until, until: since })).toEqual([]);
    expect(validateOutput("audit_list", await list(shared))).toEqual([]);
    for (const args of [{ since: "yesterday" }, { principal: "bob" }, { limit: 0 }, { tool: "memory_read" }]) {
      expect(await shared.outcome("audit_list", args), JSON.stringify(args)).toBe("invalid_input");
    }
  });

  it("goes on by cursor to the very first, and not for another grant or question", async () => {
    const shared = Shared.open();
    for (let n = 0; n < 10; n++) await shared.call("memory_list", {}, assistant());
    const before = (await entries(shared)).map(({ id }) => id).reverse();
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const answer = await list(shared, { limit: 3, ...(cursor !== undefined && { cursor }) });
      seen.push(...answer.entries.map(({ id }) => id));
      cursor = answer.next_cursor;
      if (cursor === undefined) continue;
      expect(await shared.outcome("audit_list", { cursor, category: "memory" })).toBe("invalid_input");
      expect(await shared.outcome("audit_list", { cursor }, assistant())).toBe("invalid_input");
      expect(await shared.outcome("audit_list", { cursor: `${cursor.slice(0, -2)}AA` })).toBe("invalid_input");
    } while (cursor !== undefined);
    expect(seen).toEqual(before);
  });

  it("needs its scope", async () => {
    const shared = Shared.open();
    const error = await shared.refused("audit_list", {}, assistant("memory:read memory:write"));
    expect(error).toMatchObject({ code: "forbidden", required_scopes: ["audit:read"] });
    expect(await shared.outcome("audit_list", {}, person("stranger"))).toBe("ok");
  });
});
