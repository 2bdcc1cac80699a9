import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scaled, testSeed } from "./scale.js";
import { assistant, owner, person, Shared } from "./shared-context.js";

const proposer = assistant("memory:read memory:propose");
const verbs = ["approve", "reject", "satchel:approve_archive", "satchel:defer"];

describe("what becomes a proposal", () => {
  type Row = [
    name: string,
    prepare: (shared: Shared) => Promise<unknown>,
    caller: ReturnType<typeof assistant>,
    applied: boolean,
  ];
  const rule = (review: "nobody" | "clients" | "everyone") => (shared: Shared) =>
    shared.partition("main", { "user:bob": "write" }, { review });
  const bob = assistant(undefined, { user: "bob" });
  const rows: Row[] = [
    ["no rule: an assistant with the scope to write", rule("nobody"), assistant(), true],
    ["no rule: a user with the right to write", rule("nobody"), bob, true],
    ["scope: propose only", rule("nobody"), proposer, false],
    ["rule clients: the owner's assistant", rule("clients"), assistant(), false],
    ["rule clients: a user's assistant", rule("clients"), bob, false],
    ["rule clients: a user in person", rule("clients"), person("bob"), true],
    ["rule clients: the owner in person", rule("clients"), owner, true],
    ["rule everyone: a user in person", rule("everyone"), person("bob"), false],
    ["rule everyone: the owner in person", rule("everyone"), owner, true],
    ["right: propose only", (shared) => shared.partition("main", { "user:bob": "read propose" }), bob, false],
    ["right: propose only, blind", (shared) => shared.partition("main", { "user:bob": "propose" }), bob, false],
    [
      "right: the client's entry",
      (shared) => shared.partition("main", { "user:bob": "write", "client:notes": "read propose" }),
      bob,
      false,
    ],
  ];
  it.each(rows)("%s", async (_name, prepare, caller, applied) => {
    const shared = Shared.open();
    await prepare(shared);
    const written = await shared.as(caller).write("p", "text\n");
    expect(written.applied).toBe(applied);
    if (applied) {
      expect(written).not.toHaveProperty("revision");
      expect(await shared.items()).toEqual([]);
      expect((await shared.read("p")).body).toBe("text\n");
      return;
    }
    expect(written).toMatchObject({ review_state: "proposed", revision: expect.stringMatching(/^rev_/) });
    expect(Object.keys(written).sort()).toEqual(["applied", "path", "review_state", "revision"]);
    expect(await shared.outcome("memory_read", { path: "p" })).toBe("not_found");
    expect((await shared.items()).map(({ revision }) => revision)).toEqual([written.revision]);
  });

  it("a page that the writer may not see at the path or a twin of it", async () => {
    const shared = Shared.open();
    await shared.partition("shared", { "user:bob": "write" });
    await shared.write("plans/summer", "secretword\n");
    for (const path of ["plans/summer", "Plans/Summer"]) {
      const written = await shared.as(person("bob")).write(path, "mine\n", { title: "t", partition: "shared" });
      expect(written).toMatchObject({ path, applied: false, review_state: "proposed" });
      const proposed = await shared.ok(
        "memory_propose",
        { path, body: "mine\n", frontmatter: { title: "t", partition: "shared" } },
        person("bob"),
      );
      expect(proposed).toMatchObject({ path, target_exists: false });
    }
    expect((await shared.read("plans/summer")).body).toBe("secretword\n");
    for (const item of await shared.items()) {
      const resolve = { path: item.path, revision: item.revision, verb: "approve" };
      expect(await shared.outcome("review_resolve", resolve), "no base, so nothing to merge").toBe("conflict");
    }
    expect((await shared.read("plans/summer")).body).toBe("secretword\n");
    expect(await shared.items()).toHaveLength(4);
  });

  it("memory_propose always proposes, and changes nothing that others see", async () => {
    const shared = Shared.open();
    await shared.write("p", "old\n");
    const before = await shared.ok("memory_search", { query: "old" });
    const args = { path: "p", body: "new\n", note: "because" };
    expect(await shared.ok("memory_propose", args)).toEqual({
      path: "p",
      revision: expect.stringMatching(/^rev_/),
      review_state: "proposed",
      target_exists: true,
    });
    expect(await shared.ok("memory_search", { query: "old" })).toEqual(before);
    expect(await shared.ok("memory_search", { query: "new" })).toMatchObject({ results: [] });
    const [item] = await shared.items();
    expect(item).toMatchObject({ note: "because", target_exists: true, generated: { client: "client:local" } });
    expect((await shared.read("p")).body).toBe("old\n");
  });

  it("without the right to propose there is no proposal and no hint", async () => {
    const shared = Shared.open();
    await shared.partition("work", { "user:bob": "read" });
    const bob = assistant(undefined, { user: "bob" });
    const into = (partition: string) => ({ path: "p", body: "x", frontmatter: { title: "t", partition } });
    for (const tool of ["memory_write", "memory_propose"] as const) {
      expect(await shared.outcome(tool, into("work"), bob)).toBe("forbidden");
      expect(await shared.outcome(tool, into("main"), bob)).toBe("not_found");
      expect(await shared.outcome(tool, into("nowhere"), bob)).toBe("not_found");
      expect(await shared.outcome(tool, into("work"), assistant("memory:read", { user: "bob" }))).toBe("forbidden");
    }
    expect(await shared.items()).toEqual([]);
  });
});

describe("the base of a proposal", () => {
  it("is the version that expected_updated names, else the current one", async () => {
    const shared = Shared.open();
    const first = await shared.write("p", "a\nb\nc\n");
    await shared.write("p", "A\nb\nc\n");
    const older = await shared.propose({ path: "p", body: "a\nb\nC\n", expected_updated: first.updated }, proposer);
    expect(await shared.resolve("p", older, "approve")).toMatchObject({ state: "approved" });
    expect((await shared.read("p")).body).toBe("A\nb\nC\n");
    const current = await shared.propose({ path: "p", body: "a\nb\nC\n" }, proposer);
    await shared.resolve("p", current, "approve");
    expect((await shared.read("p")).body).toBe("a\nb\nC\n");
  });

  it("has to be a version of the page that is there", async () => {
    const shared = Shared.open();
    const first = await shared.write("p", "a\n");
    const propose = (expected_updated: unknown, path = "p") =>
      shared.outcome("memory_propose", { path, body: "b\n", expected_updated }, proposer);
    expect(await propose("2020-01-01T00:00:00Z")).toBe("conflict");
    expect(await propose(first.updated, "absent")).toBe("conflict");
    expect(await propose("yesterday")).toBe("invalid_input");
    await shared.remove("p");
    await shared.write("p", "other\n");
    expect(await propose(first.updated), "of the removed page").toBe("conflict");
    expect(await shared.items()).toEqual([]);
  });

  it("is no way to a version that the author may not read", async () => {
    const shared = Shared.open();
    const secret = await shared.write("p", "x\n", { title: "t", sensitivity: "sensitive" });
    await shared.write("p", "x\n", { title: "t", sensitivity: "normal" });
    const args = { path: "p", body: "y\n", expected_updated: secret.updated };
    const unknown = { ...args, expected_updated: "2020-01-01T00:00:00.000Z" };
    const [a, b] = [
      await shared.refused("memory_propose", args, proposer),
      await shared.refused("memory_propose", unknown, proposer),
    ];
    expect(a.message.replace(String(secret.updated), "T")).toBe(b.message.replace(unknown.expected_updated, "T"));
  });
});

describe("verbs", () => {
  it("approve: the revision becomes the page, with the author and the decision", async () => {
    const shared = Shared.open();
    const revision = await shared.propose({ path: "p", body: "text\n", frontmatter: { title: "T" } }, proposer);
    const resolved = await shared.ok("review_resolve", { path: "p", revision, verb: "approve", note: "fine" });
    const page = await shared.read("p");
    expect(resolved).toEqual({ path: "p", revision, state: "approved", updated: page.frontmatter.updated });
    expect(page.frontmatter).toMatchObject({
      title: "T",
      generated: { principal: "user:owner", client: "client:notes" },
      review: { state: "approved", by: "user:owner", at: expect.any(String), note: "fine" },
    });
    const found = await shared.ok<{ results: { review_state?: string }[] }>("memory_search", { query: "text" });
    expect(found.results.map(({ review_state }) => review_state)).toEqual(["approved"]);
    expect(await shared.items()).toEqual([]);
  });

  it("review_state approved is shown only after an approval, and of that version only", async () => {
    const shared = Shared.open();
    const revision = await shared.propose({ path: "p", body: "text\n" }, proposer);
    await shared.resolve("p", revision, "approve");
    await shared.write("p", "text again\n");
    await shared.write("q", "text\n");
    expect(JSON.stringify(await shared.ok("memory_list", {}))).not.toMatch(/approved/);
    for (const path of ["p", "q"]) expect((await shared.read(path)).frontmatter).not.toHaveProperty("review");
  });

  it("reject: kept, with the note, and the page as it was", async () => {
    const shared = Shared.open();
    await shared.write("p", "old\n");
    const revision = await shared.propose({ path: "p", body: "new\n", note: "please" }, proposer);
    const args = { path: "p", revision, verb: "reject", note: "no need" };
    expect(await shared.ok("review_resolve", args)).toEqual({ path: "p", revision, state: "rejected" });
    expect((await shared.read("p")).body).toBe("old\n");
    expect(await shared.items()).toEqual([]);
    expect(await shared.items({ state: "rejected" }, proposer)).toMatchObject([{ revision, state: "rejected" }]);
    const kept = await shared.read("p", { revision }, proposer);
    expect(kept).toMatchObject({ body: "new\n", frontmatter: { review: { state: "rejected", note: "no need" } } });
  });

  it("satchel:defer: stays proposed with the note, and is decided later", async () => {
    const shared = Shared.open();
    const revision = await shared.propose({ path: "p", body: "text\n" }, proposer);
    for (const note of ["later", "still later"]) {
      const args = { path: "p", revision, verb: "satchel:defer", note };
      expect(await shared.ok("review_resolve", args)).toEqual({ path: "p", revision, state: "proposed" });
      expect((await shared.read("p", { revision })).frontmatter.review).toMatchObject({ state: "proposed", note });
    }
    expect(await shared.outcome("memory_read", { path: "p" })).toBe("not_found");
    expect(await shared.resolve("p", revision, "approve")).toMatchObject({ state: "approved" });
  });

  it("satchel:approve_archive: archives what it supersedes, once each, and never itself", async () => {
    const shared = Shared.open();
    await shared.write("old", "---\ntitle: Old # as it was\nlifecycle: active\n---\nold text\n");
    await shared.write("other", "other text\n");
    await shared.write("new", "before\n");
    const relations = ["old", "old", "new", "absent"].map((target) => ({ rel: "supersedes", target }));
    relations.push({ rel: "about", target: "other" });
    const args = { path: "new", body: "after\n", frontmatter: { title: "New", relations } };
    const revision = await shared.propose(args, proposer);
    await shared.resolve("new", revision, "satchel:approve_archive");
    const page = await shared.read("new");
    expect(page.body).toBe("after\n");
    expect(page.frontmatter).toMatchObject({ lifecycle: "active", review: { state: "approved" } });
    expect(await shared.read("old")).toMatchObject({
      body: "old text\n",
      frontmatter: { title: "Old", lifecycle: "archived" },
    });
    expect((await shared.read("other")).frontmatter.lifecycle).toBe("active");
    const versions = await shared.context.store.read(async (t) =>
      t.versions(String((await t.page({ path: "old" }))?.id)),
    );
    expect(versions).toHaveLength(2);
    expect(versions[1]?.head, "the text says what the keys say").toMatch(/lifecycle: archived/);
  });

  it("satchel:approve_archive needs write where the superseded page lies, and does not show one that is hidden", async () => {
    const shared = Shared.open();
    await shared.partition("work", { "user:bob": "review" });
    await shared.partition("other", { "user:bob": "read" });
    await shared.write("seen", "x\n", { title: "t", partition: "other" });
    await shared.write("hidden", "x\n");
    const propose = (path: string, target: string) =>
      shared.propose(
        {
          path,
          body: "x\n",
          frontmatter: { title: "t", partition: "work", relations: [{ rel: "supersedes", target }] },
        },
        assistant(),
      );
    const archive = (path: string, revision: string) =>
      shared.outcome("review_resolve", { path, revision, verb: "satchel:approve_archive" }, person("bob"));
    expect(await archive("a", await propose("a", "seen"))).toBe("forbidden");
    expect(await archive("b", await propose("b", "hidden"))).toBe("ok");
    for (const path of ["seen", "hidden"]) expect((await shared.read(path)).frontmatter.lifecycle).toBe("active");
    expect(await shared.outcome("memory_read", { path: "a" })).toBe("not_found");
  });

  it.each(["", "Approve", "approved", "satchel:approve", "delete"])("refuses the verb %j", async (verb) => {
    const shared = Shared.open();
    const revision = await shared.propose({ path: "p", body: "x" }, proposer);
    expect(await shared.outcome("review_resolve", { path: "p", revision, verb })).toBe("invalid_input");
    expect(await shared.items()).toHaveLength(1);
  });

  it("a resolved revision is final", async () => {
    const shared = Shared.open();
    for (const [path, first] of Object.entries({ a: "approve", r: "reject", s: "satchel:approve_archive" })) {
      const revision = await shared.propose({ path, body: "x\n" }, proposer);
      await shared.resolve(path, revision, first);
      for (const verb of verbs) {
        const error = await shared.refused("review_resolve", { path, revision, verb });
        expect(error.code, `${first}, then ${verb}`).toBe("conflict");
        expect(error.message).toMatch(/final/);
      }
    }
    expect((await shared.ok<{ pages: unknown[] }>("memory_list", {})).pages).toHaveLength(2);
  });

  it("a revision is named by its path and its id together", async () => {
    const shared = Shared.open();
    const revision = await shared.propose({ path: "p", body: "x" }, proposer);
    for (const [path, id] of [
      ["q", revision],
      ["P", revision],
      ["p", "rev_0"],
      ["p", revision.toUpperCase()],
    ] as const) {
      expect(await shared.outcome("review_resolve", { path, revision: id, verb: "approve" })).toBe("not_found");
      expect(await shared.outcome("memory_read", { path, revision: id })).toBe("not_found");
    }
  });
});

describe("who decides", () => {
  it("an assistant never does: not its own proposal, not another's, with whatever scope", async () => {
    const shared = Shared.open();
    const revision = await shared.propose({ path: "p", body: "x" }, proposer);
    const callers: [caller: ReturnType<typeof assistant>, code: string][] = [
      [assistant(), "forbidden"],
      [assistant(undefined, { client: "other" }), "forbidden"],
      [assistant("memory:review memory:read"), "forbidden"],
      [assistant("memory:review memory:propose"), "forbidden"],
      [assistant("memory:review", { client: "other" }), "not_found"],
      [assistant("memory:read memory:write"), "forbidden"],
      [assistant("memory:review", { user: "bob" }), "not_found"],
      [{ ...person("owner"), principal: "service:owner" }, "not_found"],
    ];
    for (const [caller, code] of callers) {
      for (const verb of verbs) {
        expect(await shared.outcome("review_resolve", { path: "p", revision, verb }, caller), caller.grant).toBe(code);
      }
    }
    expect(await shared.items()).toMatchObject([{ revision, state: "proposed" }]);
  });

  it("four eyes: another user than the author, both in person", async () => {
    const shared = Shared.open();
    await shared.users("ann", "bob");
    await shared.partition(
      "work",
      { "user:ann": "write review", "user:bob": "write review" },
      { fourEyes: true, review: "everyone" },
    );
    const keys = { title: "t", partition: "work" };
    const { revision } = await shared.as(person("ann")).write("p", "by ann\n", keys);
    for (const verb of verbs) {
      const args = { path: "p", revision, verb };
      expect(await shared.outcome("review_resolve", args, person("ann")), verb).toBe("forbidden");
    }
    const through = await shared.as(assistant(undefined, { user: "ann" })).write("q", "by ann's assistant\n", keys);
    const args = { path: "q", revision: through.revision, verb: "approve" };
    expect(await shared.outcome("review_resolve", args, person("ann"))).toBe("forbidden");
    expect(await shared.as(person("bob")).resolve("p", String(revision), "approve")).toMatchObject({
      state: "approved",
    });
    expect((await shared.read("p")).frontmatter).toMatchObject({
      review: { by: "user:bob" },
      generated: { principal: "user:ann" },
    });
    const own = await shared.propose({ path: "r", body: "x", frontmatter: keys }, assistant());
    expect(await shared.outcome("review_resolve", { path: "r", revision: own, verb: "approve" })).toBe("forbidden");
    await shared.partition("work", {}, { fourEyes: false });
    expect(await shared.outcome("review_resolve", { path: "r", revision: own, verb: "approve" })).toBe("ok");
  });

  it("moving a page and lowering its sensitivity need write at approval too", async () => {
    const shared = Shared.open();
    await shared.partition("work", { "user:bob": "review" });
    await shared.partition("home", { "user:bob": "write review" });
    const put = (path: string, partition: string, sensitivity: string) =>
      shared.write(path, "x\n", { title: "t", partition, sensitivity });
    const propose = (path: string, partition: string, sensitivity: string) =>
      shared.propose({ path, body: "y\n", frontmatter: { title: "t", partition, sensitivity } }, assistant());
    const approve = (path: string, revision: string) =>
      shared.outcome("review_resolve", { path, revision, verb: "approve" }, person("bob"));
    const rows: [from: [string, string], to: [string, string], code: string][] = [
      [["work", "normal"], ["home", "normal"], "forbidden"],
      [["home", "normal"], ["work", "normal"], "forbidden"],
      [["work", "sensitive"], ["work", "normal"], "forbidden"],
      [["work", "normal"], ["work", "sensitive"], "ok"],
      [["home", "sensitive"], ["home", "normal"], "ok"],
      [["work", "normal"], ["work", "normal"], "ok"],
      [["main", "normal"], ["home", "normal"], "not_found"],
      [["home", "normal"], ["main", "normal"], "not_found"],
    ];
    for (const [index, [from, to, code]] of rows.entries()) {
      const path = `p${index}`;
      await put(path, ...from);
      expect(await approve(path, await propose(path, ...to)), `${from} to ${to}`).toBe(code);
      const { frontmatter } = await shared.read(path);
      expect([frontmatter.partition, frontmatter.sensitivity]).toEqual(code === "ok" ? to : from);
    }
  });
});

describe("three-way merge at approval", () => {
  const text = (keys: string, body: string) => `---\n${keys}---\n${body}`;
  const before = text("title: T\nmood: calm\n", "one\ntwo\nthree\nfour\n");

  interface Case {
    name: string;
    /** What the owner does after the proposal was made. */
    meanwhile: (shared: Shared) => Promise<unknown>;
    proposed: string;
    /** Body and some keys of the approved page; absent when it has to be a conflict. */
    made?: { body: string; keys: Record<string, unknown> };
  }

  const put = (body: string) => (shared: Shared) => shared.write("p", body);
  const cases: Case[] = [
    {
      name: "clean body",
      meanwhile: put(before.replace("one", "ONE")),
      proposed: before.replace("four", "FOUR"),
      made: { body: "ONE\ntwo\nthree\nFOUR\n", keys: { mood: "calm" } },
    },
    {
      name: "clean key",
      meanwhile: put(before.replace("calm", "wild")),
      proposed: before.replace("title: T", "title: New"),
      made: { body: "one\ntwo\nthree\nfour\n", keys: { title: "New", mood: "wild" } },
    },
    {
      name: "body here, key there",
      meanwhile: put(before.replace("calm", "wild")),
      proposed: before.replace("four", "FOUR"),
      made: { body: "one\ntwo\nthree\nFOUR\n", keys: { mood: "wild" } },
    },
    {
      name: "both the same",
      meanwhile: put(before.replace("four", "FOUR")),
      proposed: before.replace("four", "FOUR"),
      made: { body: "one\ntwo\nthree\nFOUR\n", keys: { mood: "calm" } },
    },
    {
      name: "written again as it was",
      meanwhile: put(before),
      proposed: before.replace("four", "FOUR"),
      made: { body: "one\ntwo\nthree\nFOUR\n", keys: { mood: "calm" } },
    },
    {
      name: "moved",
      meanwhile: (shared) =>
        shared.write("p", text("title: T\nmood: calm\npartition: work\n", "one\ntwo\nthree\nfour\n")),
      proposed: before.replace("four", "FOUR"),
      made: { body: "one\ntwo\nthree\nFOUR\n", keys: { partition: "work" } },
    },
    {
      name: "made sensitive",
      meanwhile: (shared) =>
        shared.write("p", text("title: T\nmood: calm\nsensitivity: sensitive\n", "one\ntwo\nthree\nfour\n")),
      proposed: before.replace("four", "FOUR"),
      made: { body: "one\ntwo\nthree\nFOUR\n", keys: { sensitivity: "sensitive" } },
    },
    { name: "the same line", meanwhile: put(before.replace("two", "zwei")), proposed: before.replace("two", "deux") },
    { name: "the same key", meanwhile: put(before.replace("calm", "wild")), proposed: before.replace("calm", "sad") },
    {
      name: "clean body, but one key differs",
      meanwhile: put(before.replace("calm", "wild").replace("one", "ONE")),
      proposed: before.replace("calm", "sad").replace("four", "FOUR"),
    },
    { name: "removed", meanwhile: (shared) => shared.remove("p"), proposed: before.replace("two", "deux") },
    {
      name: "removed and made anew with the same text",
      meanwhile: async (shared) => {
        await shared.remove("p");
        await shared.write("p", before);
      },
      proposed: before.replace("two", "deux"),
    },
    {
      name: "removed, and a twin made",
      meanwhile: async (shared) => {
        await shared.remove("p");
        await shared.write("P", before);
      },
      proposed: before.replace("two", "deux"),
    },
  ];
  it.each(cases)("$name", async ({ meanwhile, proposed, made }) => {
    const shared = Shared.open();
    await shared.partition("work");
    await shared.write("p", before);
    const revision = await shared.propose({ path: "p", body: proposed }, proposer);
    await meanwhile(shared);
    const pages = await shared.ok("memory_list", { include_archived: true });
    const args = { path: "p", revision, verb: "approve" };
    if (made) {
      expect(await shared.outcome("review_resolve", args)).toBe("ok");
      const page = await shared.read("p");
      expect(page).toMatchObject({ body: made.body, frontmatter: { ...made.keys, review: { state: "approved" } } });
      return;
    }
    expect(await shared.outcome("review_resolve", args)).toBe("conflict");
    expect(await shared.ok("memory_list", { include_archived: true })).toEqual(pages);
    expect(await shared.items(), "the proposal stays").toMatchObject([{ revision, state: "proposed" }]);
    expect(await shared.outcome("review_resolve", { ...args, verb: "reject" })).toBe("ok");
  });

  it("a new page at a path that was taken since is a conflict", async () => {
    const shared = Shared.open();
    const first = await shared.propose({ path: "p", body: "first\n" }, proposer);
    const second = await shared.propose({ path: "p", body: "second\n" }, proposer);
    await shared.resolve("p", second, "approve");
    expect(await shared.outcome("review_resolve", { path: "p", revision: first, verb: "approve" })).toBe("conflict");
    expect((await shared.read("p")).body).toBe("second\n");
  });

  it("disjoint edits give both, whichever is approved first, and nothing is ever lost silently", async () => {
    const shared = Shared.open();
    const lines = Array.from({ length: 9 }, (_, line) => `line ${line}`);
    const line = fc.integer({ min: 0, max: 8 });
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(line, line, fc.boolean(), async (a, b, swap) => {
        const path = `p${runs++}`;
        const change = (at: number, to: string) => `${lines.map((old, n) => (n === at ? to : old)).join("\n")}\n`;
        await shared.write(path, `${lines.join("\n")}\n`);
        const first = await shared.propose({ path, body: change(a, "mine") }, proposer);
        const second = await shared.propose(
          { path, body: change(b, "yours") },
          assistant(undefined, { client: "other" }),
        );
        const order = swap ? [second, first] : [first, second];
        await shared.resolve(path, String(order[0]), "approve");
        const code = await shared.outcome("review_resolve", { path, revision: order[1], verb: "approve" });
        const { body } = await shared.read(path);
        if (Math.abs(a - b) > 1) expect(code).toBe("ok");
        if (a === b) expect(code).toBe("conflict");
        if (code === "ok") {
          const both = lines.map((old, n) => (n === a ? "mine" : n === b ? "yours" : old));
          expect(body).toBe(`${both.join("\n")}\n`);
        } else {
          expect(body).toBe(swap ? change(b, "yours") : change(a, "mine"));
          expect(await shared.items()).toContainEqual(
            expect.objectContaining({ revision: order[1], state: "proposed" }),
          );
        }
      }),
      { seed: testSeed(), numRuns: scaled(1000) },
    );
  }, 300_000);
});

describe("many approvals at once", () => {
  it("one wins, the rest are conflicts, and there is one version", async () => {
    const shared = Shared.open();
    const doors = [shared, ...Array.from({ length: 4 }, () => shared.again())];
    const revision = await shared.propose({ path: "p", body: "text\n" }, proposer);
    const count = Math.max(20, scaled(100));
    const outcomes = await Promise.all(
      Array.from({ length: count }, (_, n) =>
        doors[n % doors.length]!.outcome("review_resolve", {
          path: "p",
          revision,
          verb: n % 7 === 6 ? "reject" : "approve",
        }),
      ),
    );
    expect(outcomes.filter((code) => code === "ok")).toHaveLength(1);
    expect(outcomes.filter((code) => code === "conflict")).toHaveLength(count - 1);
    const report = await shared.context.store.inspect();
    expect(report).toMatchObject({ problems: [], versions: report.pages });
  }, 120_000);
});
