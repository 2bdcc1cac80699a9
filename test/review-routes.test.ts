import type { ToolName } from "@satchel/pcp";
import {
  importOperation,
  pageRemoveOperation,
  pageRestoreOperation,
  partitionSetOperation,
  settingOperation,
} from "@satchel/server";
import { describe, expect, it } from "vitest";
import { assistant, owner, person, type Read, Shared } from "./shared-context.js";

const proposer = assistant("memory:read memory:propose");

/** A context whose partition `main` wants review, with one approved page, and proposals of two clients. */
async function reviewed() {
  const shared = Shared.open();
  await shared.partition("open");
  await shared.partition("main", {}, { review: "clients" });
  const keys = { title: "Rules", mood: "calm" };
  const first = await shared.propose({ path: "house/rules", body: "old\n", frontmatter: keys }, assistant());
  await shared.resolve("house/rules", first, "approve");
  const own = await shared.propose({ path: "house/rules", body: "mine\n" }, assistant());
  const other = await shared.propose(
    { path: "house/rules", body: "theirs\n" },
    assistant(undefined, { client: "other" }),
  );
  const page = await shared.read("house/rules");
  return { shared, page, own, other };
}

/** What must stay as it was: the page, and everything about it but the proposals for it. */
async function standing(shared: Shared): Promise<unknown> {
  const { pending_revisions: _, ...page } = await shared.read("house/rules");
  const all = await shared.context.store.read(async (t) => {
    const id = String((await t.page({ path: "house/rules" }))?.id);
    return { versions: await t.versions(id), partitions: await t.partitions() };
  });
  return { page, all };
}

const options = { dryRun: false, skipRefused: false };

describe("an approved page where review is required", () => {
  type Route = [
    name: string,
    tool: ToolName,
    args: (made: Awaited<ReturnType<typeof reviewed>>) => Record<string, unknown>,
  ];
  const write = (name: string, more: Record<string, unknown>): Route[] =>
    (["memory_write", "memory_propose"] as const).map((tool) => [
      `${tool}: ${name}`,
      tool,
      ({ page }) => {
        const { expected_updated, ...rest } = more;
        const expected = expected_updated === true && { expected_updated: page.frontmatter.updated };
        return { path: "house/rules", body: "changed\n", ...rest, ...expected };
      },
    ]);
  const keys = (frontmatter: Record<string, unknown>) => ({ frontmatter: { title: "Rules", ...frontmatter } });
  const resolve = (name: string, whose: "own" | "other", verb: string): Route => [
    `review_resolve: ${name}`,
    "review_resolve",
    (made) => ({ path: "house/rules", revision: made[whose], verb, note: "approved by the owner" }),
  ];
  const routes: Route[] = [
    ...write("a new body", {}),
    ...write("an empty body", { body: "" }),
    ...write("the file's name", { path: "house/rules.md" }),
    ...write("a twin's name", { path: "House/RULES" }),
    ...write("new keys", keys({ mood: "wild" })),
    ...write("a block in the body", { body: "---\ntitle: Changed\n---\nchanged\n" }),
    ...write("another partition", keys({ partition: "open" })),
    ...write("sensitive", keys({ sensitivity: "sensitive" })),
    ...write("archived", keys({ lifecycle: "archived" })),
    ...write("validated", keys({ lifecycle: "validated" })),
    ...write("the right expected_updated", { expected_updated: true }),
    ...write("a review of its own", keys({ review: { state: "approved", by: "user:owner" } })),
    ...write("the page's own id", keys({ id: "pg_01" })),
    ...write("made by the owner", keys({ generated: { principal: "user:owner", client: "client:local" } })),
    ...write("an origin of its own", keys({ source: { origin: "user" } })),
    ...verbs.flatMap((verb) => [
      resolve(`its own, ${verb}`, "own", verb),
      resolve(`another's, ${verb}`, "other", verb),
    ]),
    [
      "profile_update: by the name of memory",
      "profile_update",
      () => ({ namespace: "memory", patch: { "house/rules": "x" } }),
    ],
    ["export_create", "export_create", () => ({})],
    ["erase_request", "erase_request", () => ({ paths: ["house/rules"], dry_run: false })],
  ];
  it.each(routes)("an assistant can't change it: %s", async (_name, tool, args) => {
    const made = await reviewed();
    const before = await standing(made.shared);
    for (const caller of [
      assistant(),
      assistant("memory:read memory:write memory:review memory.sensitive:read", { client: "x" }),
    ]) {
      const { isError, structuredContent } = await made.shared.call(tool, args(made), caller);
      const kept = { review_state: "proposed", revision: expect.any(String) };
      if (!isError && tool !== "export_create") expect(structuredContent).toMatchObject(kept);
      expect(await standing(made.shared)).toEqual(before);
    }
    for (const revision of [made.own, made.other]) {
      expect(await made.shared.items()).toContainEqual(expect.objectContaining({ revision, state: "proposed" }));
    }
  });

  it("what the terminal offers is closed to assistants and to services", async () => {
    const { shared, own } = await reviewed();
    const before = await standing(shared);
    const [version] = await shared.context.store.read(async (t) =>
      t.versions(String((await t.page({ path: "house/rules" }))?.id)),
    );
    const file = { file: "house/rules.md", path: "house/rules", text: "changed\n" };
    for (const caller of [
      assistant(),
      { ...owner, principal: "service:owner" },
      { ...owner, client: "client:stdio" },
    ]) {
      const results = [
        await shared.run(pageRemoveOperation, { path: "house/rules" }, caller),
        await shared.run(pageRestoreOperation, { path: "house/rules", version: version?.version }, caller),
        await shared.run(importOperation({ pages: [file], refused: [] }, options), {}, caller),
        await shared.run(settingOperation, { name: "secrets", value: "off" }, caller),
        await shared.run(partitionSetOperation, { name: "main", review: "nobody", grant: [], revoke: [] }, caller),
      ];
      for (const result of results) expect(result).toMatchObject({ ok: false, refusal: { refused: "forbidden" } });
    }
    expect(await standing(shared)).toEqual(before);
    expect((await shared.items()).map(({ revision }) => revision)).toContain(own);
  });

  it("another user in person has only what the access list gives", async () => {
    const { shared } = await reviewed();
    await shared.users("bob");
    await shared.partition("main", { "user:bob": "read review" });
    const before = await standing(shared);
    const bob = person("bob");
    const version = (await shared.context.store.read(async (t) => t.page({ path: "house/rules" })))?.version;
    for (const result of [
      await shared.run(pageRemoveOperation, { path: "house/rules" }, bob),
      await shared.run(pageRestoreOperation, { path: "house/rules", version }, bob),
      await shared.run(
        importOperation(
          { pages: [{ file: "house/rules.md", path: "house/rules", text: "changed\n" }], refused: [] },
          options,
        ),
        {},
        bob,
      ),
      await shared.run(settingOperation, { name: "secrets", value: "off" }, bob),
      await shared.run(
        partitionSetOperation,
        { name: "main", grant: [{ principal: "user:bob", rights: ["write"] }], revoke: [] },
        bob,
      ),
    ]) {
      expect(result).toMatchObject({ ok: false, refusal: { refused: "forbidden" } });
    }
    expect(await standing(shared)).toEqual(before);
  });
});

const verbs = ["approve", "reject", "satchel:approve_archive", "satchel:defer"];

describe("stamped keys", () => {
  const forged = {
    id: "pg_00000000000000000000000000",
    created: "2001-01-01T00:00:00.000Z",
    updated: "2001-01-01T00:00:00.000Z",
    generated: { principal: "user:forged", at: "2001-01-01T00:00:00.000Z" },
    review: { state: "approved", by: "user:forged", note: "forged" },
  };
  const claims = { lifecycle: "validated", source: { origin: "user", session: "s1" } };
  const yaml = `---\n${Object.entries({ title: "T", ...forged, ...claims })
    .map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
    .join("\n")}\n---\ntext\n`;
  const forms: [name: string, args: Record<string, unknown>][] = [
    ["as frontmatter", { body: "text\n", frontmatter: { title: "T", ...forged, ...claims } }],
    ["in the body", { body: yaml }],
    ["in a body with a byte order mark and CRLF", { body: `\uFEFF${yaml.replaceAll("\n", "\r\n")}` }],
  ];

  function expectStamped(page: Read, claimed: boolean): void {
    expect(JSON.stringify(page)).not.toMatch(/forged|2001-01-01|pg_0{26}/);
    const { lifecycle, source } = page.frontmatter;
    expect(lifecycle).toBe(claimed ? "validated" : "active");
    expect(source).toEqual({ origin: claimed ? "user" : "chat", session: "s1" });
  }

  it.each(forms)("are the server's: a direct write, %s", async (_name, args) => {
    const shared = Shared.open();
    await shared.ok("memory_write", { path: "a", ...args }, assistant());
    expectStamped(await shared.read("a"), false);
    expect((await shared.read("a")).frontmatter).not.toHaveProperty("review");
    await shared.ok("memory_write", { path: "a", ...args });
    expectStamped(await shared.read("a"), true);
    const listed = await shared.ok("memory_list", {});
    expect(JSON.stringify(listed)).not.toMatch(/forged|2001-01-01|pg_0{26}|approved/);
  });

  it.each(forms)("are the server's: a proposal and its approval, %s", async (_name, args) => {
    const shared = Shared.open();
    for (const tool of ["memory_propose", "memory_write"] as const) {
      const { revision } = await shared.ok<{ revision: string }>(tool, { path: tool, ...args }, proposer);
      const proposed = await shared.read(tool, { revision });
      expect(JSON.stringify(proposed)).not.toMatch(/forged|2001-01-01|pg_0{26}/);
      expect(proposed.frontmatter.review).toEqual({ state: "proposed" });
      expect(proposed.frontmatter.generated).toMatchObject({ client: "client:notes" });
      await shared.resolve(tool, revision, "approve");
      const page = await shared.read(tool);
      expectStamped(page, true);
      expect(page.frontmatter.review).toMatchObject({ state: "approved", by: "user:owner" });
    }
  });

  it("a claim that was kept from a page is not given back by writing only the body", async () => {
    const shared = Shared.open();
    await shared.ok("memory_write", { path: "a", ...forms[1]![1] }, assistant());
    await shared.ok("memory_write", { path: "a", body: "again\n" }, assistant());
    expectStamped(await shared.read("a"), false);
  });
});

describe("who sees a proposal", () => {
  it("its author through the same client, and reviewers of what is proposed and what is there", async () => {
    const shared = Shared.open();
    await shared.users("bob", "ann", "eve");
    await shared.partition("work", { "user:bob": "propose", "user:ann": "review", "user:eve": "write" });
    const bob = assistant(undefined, { user: "bob" });
    const keys = { title: "t", partition: "work" };
    const plain = await shared.propose({ path: "plain", body: "secretword\n", frontmatter: keys, note: "why" }, bob);
    const sensitive = await shared.propose(
      { path: "s", body: "secretword\n", frontmatter: { ...keys, sensitivity: "sensitive" } },
      bob,
    );
    await shared.write("taken", "x\n");
    const unseen = await shared.propose({ path: "taken", body: "secretword\n", frontmatter: keys }, bob);
    const all = [unseen, sensitive, plain];
    const noSecrets = "memory:read memory:propose memory:review";
    const rows: [name: string, caller: ReturnType<typeof assistant>, sees: string[]][] = [
      ["the author", bob, all],
      ["the author without the scope for sensitive ones", assistant(noSecrets, { user: "bob" }), [unseen, plain]],
      ["the author through another client", assistant(undefined, { user: "bob", client: "other" }), []],
      ["the author in person", person("bob"), []],
      ["another user through the same client", assistant(undefined, { user: "eve" }), []],
      ["a reviewer", person("ann"), [sensitive, plain]],
      ["a reviewer's assistant", assistant(undefined, { user: "ann", client: "x" }), [sensitive, plain]],
      ["a reviewer without the scope for sensitive ones", assistant(noSecrets, { user: "ann" }), [plain]],
      ["a reviewer without the scope to review", assistant("memory:read memory:propose", { user: "ann" }), []],
      ["a writer", person("eve"), []],
      ["a stranger", person("nobody"), []],
      ["the owner", owner, all],
      ["the owner's assistant", assistant(undefined, { client: "x" }), all],
    ];
    for (const [name, caller, sees] of rows) {
      expect(
        (await shared.items({}, caller)).map(({ revision }) => revision),
        name,
      ).toEqual(sees);
      for (const [path, revision] of [
        ["plain", plain],
        ["s", sensitive],
        ["taken", unseen],
      ] as const) {
        const code = sees.includes(revision) ? "ok" : "not_found";
        expect(await shared.outcome("memory_read", { path, revision }, caller), `${name}: ${path}`).toBe(code);
      }
      if (!caller.scopes.has("memory:read")) continue;
      const found = await shared.ok<{ results: { revision?: string }[] }>(
        "memory_search",
        { query: "secretword", include_review: ["proposed", "rejected"] },
        caller,
      );
      expect(found.results.map(({ revision }) => revision).sort(), name).toEqual([...sees].sort());
      const listed = await shared.ok<{ pages: { revision?: string }[] }>(
        "memory_list",
        { include_review: ["proposed"] },
        caller,
      );
      const revisions = listed.pages.flatMap(({ revision }) => revision ?? []);
      expect(revisions.sort(), name).toEqual([...sees].sort());
    }
  });

  it("pending_revisions counts those the reader may see", async () => {
    const shared = Shared.open();
    await shared.partition("main", { "user:bob": "read propose" });
    const bob = assistant(undefined, { user: "bob" });
    await shared.write("p", "x\n");
    await shared.propose({ path: "p", body: "a\n" }, bob);
    await shared.propose({ path: "p", body: "b\n" }, assistant());
    const done = await shared.propose({ path: "p", body: "c\n" }, bob);
    await shared.resolve("p", done, "reject");
    const pending = async (caller: typeof owner) => (await shared.read("p", {}, caller)).pending_revisions;
    expect(await pending(owner)).toBe(2);
    expect(await pending(bob)).toBe(1);
    expect(await pending(person("bob"))).toBe(0);
    expect(await pending(assistant("memory:read"))).toBe(1);
    expect(await pending(assistant("memory:read", { client: "x" }))).toBe(0);
  });

  it("a hit of its own where it is asked for: with its own time, and no id where no page is", async () => {
    const shared = Shared.open();
    const page = await shared.write("old", "stone\n");
    const change = await shared.propose({ path: "old", body: "stone stone\n" }, proposer);
    const fresh = await shared.propose({ path: "new", body: "stone\n" }, proposer);
    const ask = { query: "stone", include_review: ["proposed"] };
    const { results } = await shared.ok<{ results: Record<string, unknown>[] }>("memory_search", ask);
    const byRevision = (revision?: string) => results.find((hit) => hit.revision === revision);
    expect(results).toHaveLength(3);
    expect(byRevision()).toMatchObject({ id: page.id, updated: page.updated });
    expect(byRevision(change)).toMatchObject({ id: page.id, review_state: "proposed" });
    expect(byRevision(change)?.updated).not.toBe(page.updated);
    expect(byRevision(fresh)).not.toHaveProperty("id");
    expect(await shared.outcome("memory_read", { path: "new" })).toBe("not_found");
  });

  it("review_list goes on by cursor, newest first, while others propose", async () => {
    const shared = Shared.open();
    const made: string[] = [];
    for (let n = 0; n < 7; n++) made.unshift(await shared.propose({ path: `p${n}`, body: "x" }, proposer));
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const answer = await shared.ok<{ items: { revision: string }[]; next_cursor?: string }>("review_list", {
        limit: 3,
        ...(cursor !== undefined && { cursor }),
      });
      seen.push(...answer.items.map(({ revision }) => revision));
      cursor = answer.next_cursor;
      await shared.propose({ path: "later", body: "x" }, proposer);
      if (cursor === undefined) continue;
      expect(await shared.outcome("review_list", { limit: 3, cursor }, assistant())).toBe("invalid_input");
      expect(await shared.outcome("review_list", { state: "rejected", cursor })).toBe("invalid_input");
    } while (cursor !== undefined);
    expect(seen).toEqual(made);
  });
});

describe("credentials in a note", () => {
  const note = `use ghp_${"a1B2".repeat(9)}`;
  it("are refused in a proposal and in a decision, and not repeated", async () => {
    const shared = Shared.open();
    const error = await shared.refused("memory_propose", { path: "p", body: "x\n", note }, proposer);
    expect(error.code).toBe("invalid_input");
    expect(JSON.stringify(error)).not.toContain("ghp_");
    expect(await shared.items()).toEqual([]);
    const revision = await shared.propose({ path: "p", body: "x\n", note: "fine" }, proposer);
    for (const verb of verbs) {
      const refused = await shared.refused("review_resolve", { path: "p", revision, verb, note });
      expect(refused.code).toBe("invalid_input");
      expect(JSON.stringify(refused)).not.toContain("ghp_");
    }
    expect(await shared.items()).toMatchObject([{ revision, state: "proposed", note: "fine" }]);
  });

  it("are let through where the owner chose so", async () => {
    const shared = Shared.open();
    await shared.setting("secrets", "off");
    const revision = await shared.propose({ path: "p", body: "x\n", note }, proposer);
    expect(await shared.outcome("review_resolve", { path: "p", revision, verb: "reject", note })).toBe("ok");
  });
});
