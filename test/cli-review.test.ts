import { describe, expect, it } from "vitest";
import { Terminal } from "./command.js";

interface Items {
  items: { path: string; revision: string; state: string; note?: string }[];
}

const escapeCode = "\u001b[";

async function withProposals(proposals: Record<string, unknown>[], prepare?: (terminal: Terminal) => Promise<unknown>) {
  const terminal = await Terminal.open();
  await prepare?.(terminal);
  const assistant = await terminal.connect("--client", "client:notes", "--scopes", "memory:read memory:propose");
  const revisions: string[] = [];
  for (const proposal of proposals) revisions.push(String((await assistant.call("memory_propose", proposal)).revision));
  await assistant.close();
  return { terminal, revisions: revisions as [string, string, ...string[]] };
}

const rejected = async (terminal: Terminal) => (await terminal.json<Items>(["review", "list", "--rejected"])).items;
const waiting = async (terminal: Terminal) => (await terminal.json<Items>(["review", "list"])).items;

describe("satchel review", () => {
  it("list shows what waits, newest first, also in a pipe", async () => {
    const { terminal, revisions } = await withProposals(
      [
        { path: "old", body: "changed\n", note: "first\nsecond" },
        { path: "new", body: "x\n" },
      ],
      (made) => made.put("old", "was\n"),
    );
    const rows = (await terminal.ok(["review", "list"]))
      .trimEnd()
      .split("\n")
      .map((row) => row.split("\t"));
    expect(rows.map(([revision, path, change, by, , note]) => [revision, path, change, by, note])).toEqual([
      [revisions[1], "new", "new", "client:notes", ""],
      [revisions[0], "old", "change", "client:notes", "first second"],
    ]);
    expect(await terminal.run(["review", "list", "--rejected"])).toMatchObject({
      code: 0,
      stdout: "",
      stderr: expect.stringMatching(/Nothing/),
    });
    expect(await terminal.json<Items>(["review", "list", "--partition", "other"])).toEqual({ items: [] });
  });

  it("show gives a diff against the page, in colour where that is wanted, with hidden characters shown", async () => {
    const body = "one\nTWO \u202e\u001b[31m\nthree\n";
    const { terminal, revisions } = await withProposals(
      [
        { path: "p", body, note: "because" },
        { path: "fresh", body: "hello\n" },
      ],
      (made) => made.put("p", "one\ntwo\nthree\n"),
    );
    const shown = await terminal.ok(["review", "show", revisions[0]]);
    expect(shown).toMatch(/^p {2}proposed, by client:notes at \S+\nNote: because\n--- p\n\+\+\+ rev_/);
    expect(shown).toContain("-two\n+TWO \\u{202e}\\u{1b}[31m\n three\n");
    expect(shown).not.toContain("\u001b");
    expect(shown).not.toContain("\u202e");
    const coloured = await terminal.ok(["review", "show", revisions[0]], { env: { FORCE_COLOR: "1" } });
    expect(coloured).toContain(`${escapeCode}31m-two`);
    expect(coloured).toContain(`${escapeCode}32m+TWO`);
    expect(coloured).not.toContain(`TWO \u202e`);
    expect(await terminal.ok(["review", "show", revisions[1]])).toMatch(
      /--- nothing\n\+\+\+ rev_\S+\n@@ -0,0 \+1,1 @@\n\+hello\n/,
    );
    expect(await terminal.run(["review", "show", "rev_none"])).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/not_found/),
    });
  });

  it("approve and reject decide, with a note, and a decision is final", async () => {
    const { terminal, revisions } = await withProposals([
      { path: "a", body: "yes\n" },
      { path: "b", body: "no\n" },
    ]);
    expect(await terminal.ok(["review", "approve", revisions[0], "--note", "fine"])).toMatch(
      /^a: approved \(updated \S+Z\)\n$/,
    );
    expect(await terminal.ok(["page", "cat", "a"])).toBe("yes\n");
    expect(await terminal.json(["page", "cat", "a"])).toMatchObject({
      frontmatter: { review: { state: "approved", by: "user:owner", note: "fine" } },
    });
    expect(await terminal.ok(["review", "reject", revisions[1], "--defer", "--note", "later"])).toBe("b: proposed\n");
    expect(await terminal.ok(["review", "reject", revisions[1], "--note", "no need"])).toBe("b: rejected\n");
    expect(await waiting(terminal)).toEqual([]);
    expect((await rejected(terminal)).map(({ revision }) => revision)).toEqual([revisions[1]]);
    for (const revision of revisions) {
      const again = await terminal.run(["review", "approve", revision]);
      expect(again).toMatchObject({ code: 1, stdout: "" });
      expect(again.stderr).toMatch(/^satchel: (conflict|not_found): [^\n]+\n$/);
    }
    expect(await terminal.run(["page", "cat", "b"])).toMatchObject({ code: 1 });
  });

  it("approve merges what it can, archives what is superseded where asked, and says what it can't", async () => {
    const relations = [{ rel: "supersedes", target: "old" }];
    const { terminal, revisions } = await withProposals(
      [
        { path: "p", body: "one\ntwo\nTHREE\n" },
        { path: "p", body: "uno\ntwo\nthree\n" },
        { path: "new", body: "x\n", frontmatter: { title: "New", relations } },
      ],
      async (made) => {
        await made.put("p", "one\ntwo\nthree\n");
        await made.put("old", "x\n");
      },
    );
    await terminal.put("p", "ONE\ntwo\nthree\n");
    await terminal.ok(["review", "approve", revisions[0]]);
    expect(await terminal.ok(["page", "cat", "p"])).toBe("ONE\ntwo\nTHREE\n");
    expect(await terminal.run(["review", "approve", revisions[1]])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^satchel: conflict: /),
    });
    expect(await terminal.ok(["page", "cat", "p"])).toBe("ONE\ntwo\nTHREE\n");
    await terminal.ok(["review", "approve", String(revisions[2]), "--archive-superseded"]);
    expect(await terminal.ok(["page", "ls"])).not.toMatch(/^old/m);
    expect(await terminal.ok(["page", "ls", "--archived"])).toMatch(/^old\t.*archived/m);
  });
});

describe("satchel page history, diff and restore", () => {
  interface History {
    versions: { version: string; updated: string; title: string; generated: { principal: string; client: string } }[];
  }

  it("lists versions newest first, shows what changed, and brings one back as a new version", async () => {
    const terminal = await Terminal.open();
    await terminal.put("p", "one\ntwo\n");
    await terminal.put("p", "---\ntitle: Second\n---\none\n2\n");
    const { versions } = await terminal.json<History>(["page", "history", "p"]);
    const [second, first] = versions as [History["versions"][0], History["versions"][0]];
    expect(versions.map(({ title }) => title)).toEqual(["Second", "p"]);
    expect(second.updated > first.updated).toBe(true);
    expect(first.generated).toMatchObject({ principal: "user:owner", client: "client:local" });
    const table = (await terminal.ok(["page", "history", "p"]))
      .trimEnd()
      .split("\n")
      .map((row) => row.split("\t"));
    expect(table.map(([version]) => version)).toEqual([second.version, first.version]);
    const diff = await terminal.ok(["page", "diff", "p"]);
    expect(diff).toMatch(/^--- ver_\S+\n\+\+\+ ver_/);
    expect(diff).toContain("-two\n+2\n");
    expect(await terminal.ok(["page", "diff", "p", second.version, first.version])).toContain("-2\n+two\n");
    expect(await terminal.ok(["page", "diff", "p", first.version, first.version])).toBe("No difference.\n");
    expect(await terminal.ok(["page", "cat", "p", "--as-of", first.updated])).toBe("one\ntwo\n");
    expect(await terminal.ok(["page", "restore", "p", first.version])).toMatch(/^Restored p \(updated \S+Z\)\.\n$/);
    expect(await terminal.ok(["page", "cat", "p"])).toBe("one\ntwo\n");
    const after = await terminal.json<History>(["page", "history", "p"]);
    expect(after.versions.map(({ title }) => title)).toEqual(["p", "Second", "p"]);
    expect(after.versions.slice(1)).toEqual(versions);
  });

  it("refuses what is not there, and changes nothing", async () => {
    const terminal = await Terminal.open();
    await terminal.put("p", "one\n");
    await terminal.put("q", "other\n");
    const { versions } = await terminal.json<History>(["page", "history", "q"]);
    const foreign = String(versions[0]?.version);
    const rows = [
      ["page", "history", "absent"],
      ["page", "diff", "absent"],
      ["page", "diff", "p", foreign],
      ["page", "diff", "p", "ver_none"],
      ["page", "restore", "p", foreign],
      ["page", "restore", "p", "ver_none"],
      ["page", "restore", "absent", foreign],
      ["page", "cat", "p", "--as-of", "2001-01-01T00:00:00Z"],
      ["page", "cat", "p", "--as-of", "2999-01-01T00:00:00Z"],
      ["page", "cat", "p", "--as-of", "yesterday"],
    ];
    for (const args of rows) {
      const ran = await terminal.run(args);
      expect(ran, args.join(" ")).toMatchObject({ code: 1, stdout: "" });
      expect(ran.stderr).toMatch(/^satchel: (not_found|invalid_input): [^\n]+\n$/);
    }
    expect(await terminal.ok(["page", "cat", "p"])).toBe("one\n");
    expect((await terminal.json<History>(["page", "history", "p"])).versions).toHaveLength(1);
  });

  it("the first version's diff is against nothing", async () => {
    const terminal = await Terminal.open();
    await terminal.put("p", "one\n");
    expect(await terminal.ok(["page", "diff", "p"])).toMatch(/^--- nothing\n.*\n.*\n\+one\n/);
  });
});
