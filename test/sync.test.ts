import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { connectStdio, makeData, run, runOk, startCommand, temporaryFolder } from "./harness.js";
import { SyncedFolder } from "./sync-folder.js";

const noChanges = { added: [], changed: [], removed: [], renamed: [] };
const settled = { equal: true, code: 0, pages: noChanges, files: noChanges, conflicts: [], open: [], refused: [] };
const head = "---\n# kept\ntitle: 'One'   # as written\ncitekey: x2024\n---\n";

async function expectEqual(synced: SyncedFolder): Promise<void> {
  expect(synced.files()).toEqual(await synced.pages());
  expect(await synced.sync()).toMatchObject(settled);
}

async function keysOf(synced: SyncedFolder, path: string): Promise<Record<string, unknown>> {
  const { stdout } = await runOk(["page", "cat", "--data", synced.data, path, "--json"]);
  return (JSON.parse(stdout) as { frontmatter: Record<string, unknown> }).frontmatter;
}

describe("satchel sync", () => {
  it("brings both sides together, each text as it was written, with no key added", async () => {
    const synced = await SyncedFolder.make({ "notes/a.md": `${head}Text.\n`, "b.markdown": "No end", "Ü/é.md": "x\n" });
    await synced.put("from/context", "---\ntags: [t]\n---\n# C\n");
    const report = await synced.sync();
    expect(report).toMatchObject({ code: 0, equal: true, refused: [], open: [] });
    expect(report.pages.added.sort()).toEqual(["b", "notes/a", "Ü/é"]);
    expect(report.files.added).toEqual(["from/context"]);
    expect(synced.read("from/context.md")).toBe("---\ntags: [t]\n---\n# C\n");
    expect(synced.read("notes/a.md")).toBe(`${head}Text.\n`);
    expect((await synced.pages()).get("notes/a")).toBe(`${head}Text.\n`);
    expect(synced.has("b.md")).toBe(false);
    expect(await synced.sync()).toMatchObject(settled);
    expect(statSync(synced.file(".satchel/sync.json")).mode & 0o777).toBe(0o600);
    expect(statSync(synced.file(".satchel")).mode & 0o777).toBe(0o700);
    expect(statSync(synced.file("from/context.md")).mode & 0o777).toBe(0o600);
  });

  it("says that an edit by hand is the user's, whatever the text says of where it is from", async () => {
    const synced = await SyncedFolder.make({
      "plain.md": "# P\n",
      "own.md": "---\nsource: {origin: import}\n---\nx\n",
    });
    const assistant = await connectStdio("v2 auto", ["--data", synced.data]);
    await assistant.callTool("memory_write", { path: "theirs", body: "# T\n" });
    await synced.sync();
    expect(await keysOf(synced, "plain")).toMatchObject({ title: "P", source: { origin: "user" } });
    expect(await keysOf(synced, "own")).toMatchObject({ source: { origin: "user" } });
    expect(await keysOf(synced, "theirs")).not.toHaveProperty("source");
    synced.write("theirs.md", "# T\nMore.\n");
    await synced.sync();
    expect(await keysOf(synced, "theirs")).toMatchObject({ source: { origin: "user" } });
    expect((await synced.pages()).get("theirs")).toBe("# T\nMore.\n");
    const { stdout } = await runOk(["page", "history", "--data", synced.data, "--json", "theirs"]);
    const { versions } = JSON.parse(stdout) as { versions: { generated: { client: string } }[] };
    expect(versions.map(({ generated }) => generated.client)).toEqual(["client:local", "client:stdio"]);
    await assistant.close();
  });

  it("takes a file that differs only by line ends or a byte order mark as equal, and leaves it alone", async () => {
    const synced = await SyncedFolder.make({ "crlf.md": "\ufeffone\r\ntwo\r\n" });
    await synced.sync();
    expect((await synced.pages()).get("crlf")).toBe("one\ntwo\n");
    expect(synced.read("crlf.md")).toBe("\ufeffone\r\ntwo\r\n");
    synced.write("crlf.md", "one\ntwo\n");
    expect(await synced.sync()).toMatchObject(settled);
    synced.write("crlf.md", "one\r\nTWO\r\n");
    expect((await synced.sync()).pages.changed).toEqual(["crlf"]);
    await synced.put("crlf", "one\nTWO\nthree\n");
    expect((await synced.sync()).files.changed).toEqual(["crlf"]);
    expect(synced.read("crlf.md")).toBe("one\nTWO\nthree\n");
  });

  it("merges edits in different places, and keeps the folder's text as a version", async () => {
    const synced = await SyncedFolder.make({ "m.md": `${head}one\ntwo\nthree\n` });
    await synced.sync();
    synced.write("m.md", `${head}one\ntwo\nTHREE\n`);
    await synced.put("m", `${head.replace("One", "1")}ONE\ntwo\nthree\n`);
    const report = await synced.sync();
    expect(report).toMatchObject({ code: 0, equal: true, merged: ["m"], conflicts: [] });
    expect(synced.read("m.md")).toBe(`${head.replace("One", "1")}ONE\ntwo\nTHREE\n`);
    expect([...(await synced.history())]).toContain(`${head}one\ntwo\nTHREE\n`);
    await expectEqual(synced);
  });

  it("keeps both texts of a conflict, says so, and goes on", async () => {
    const synced = await SyncedFolder.make({ "notes/c.md": "base\n" });
    await synced.sync();
    synced.write("notes/c.md", "by hand\n");
    await synced.put("notes/c", "by the context\n");
    const report = await synced.sync();
    expect(report).toMatchObject({ code: 0, equal: true, conflicts: [{ path: "notes/c" }] });
    const copy = report.conflicts[0]?.copy ?? "";
    expect(copy).toMatch(/^notes\/c \(conflict \d{4}-\d\d-\d\d \d{6}\)$/);
    expect(synced.read("notes/c.md")).toBe("by the context\n");
    expect(synced.read(`${copy}.md`)).toBe("by hand\n");
    await expectEqual(synced);

    synced.write("notes/c.md", "again by hand\n");
    await synced.put("notes/c", "again by the context\n");
    const { code, stdout, stderr } = await synced.say();
    expect(code).toBe(0);
    expect(stdout).toBe("Done: pages: 1 added; files: 1 changed.\n");
    expect(stderr).toMatch(/^conflict notes\/c: .*"notes\/c\.md".*"notes\/c \(conflict .*\)\.md"\n$/);
  });

  it("takes a rename for one, in both directions and by case alone, without asking", async () => {
    const synced = await SyncedFolder.make({ "old/Name.md": "moved\n", "two.md": "second\n", "keep.md": "k\n" });
    await synced.sync();
    synced.remove("old/Name.md");
    synced.write("old/name.md", "moved\n");
    expect((await synced.sync()).pages).toEqual({ ...noChanges, renamed: [{ from: "old/Name", to: "old/name" }] });
    await synced.put("three", "second\n");
    await synced.removePage("two");
    const report = await synced.sync();
    expect(report.files).toEqual({ ...noChanges, renamed: [{ from: "two", to: "three" }] });
    expect(synced.has("two.md")).toBe(false);
    await expectEqual(synced);
    expect((await synced.pages()).size).toBe(3);
  });

  it("does nothing on a dry run, and says what it would do", async () => {
    const synced = await SyncedFolder.make({ "a.md": "a\n" });
    await synced.put("b", "b\n");
    expect(await synced.sync("--dry-run")).toMatchObject({ pages: { added: ["a"] }, files: { added: ["b"] } });
    expect([...(await synced.pages()).keys()]).toEqual(["b"]);
    expect([...synced.files().keys()]).toEqual(["a"]);
    expect(synced.has(".satchel")).toBe(false);
    expect((await synced.say(["--dry-run"])).stdout).toBe("Would be: pages: 1 added; files: 1 added.\n");
  });

  it("makes a folder that is not there, and refuses a file", async () => {
    const synced = await SyncedFolder.make();
    await synced.put("p", "x\n");
    const place = join(synced.folder, "new/place");
    await runOk(["sync", "--data", synced.data, place]);
    expect(readFileSync(join(place, "p.md"), "utf8")).toBe("x\n");
    expect(await run(["sync", "--data", synced.data, join(place, "p.md")])).toMatchObject({ code: 2, stdout: "" });
    expect(await synced.say(["--keep", "--delete"])).toMatchObject({ code: 2 });
    for (const inside of ["", "contexts/me/notes"]) {
      const { code, stderr } = await run(["sync", "--data", synced.data, join(synced.data, inside)]);
      expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringMatching(/data directory/) });
    }
  });
});

describe("deletions", () => {
  async function makeDeleted(): Promise<SyncedFolder> {
    const synced = await SyncedFolder.make({ "by/hand.md": "hand\n", "by/context.md": "context\n", "stays.md": "s\n" });
    await synced.sync();
    synced.remove("by/hand.md");
    await synced.removePage("by/context");
    return synced;
  }
  const open = [
    { path: "by/context", why: "page removed" },
    { path: "by/hand", why: "file deleted" },
  ];

  it("are left open without a terminal, on both sides, and said", async () => {
    const synced = await makeDeleted();
    for (let again = 0; again < 2; again++) {
      expect(await synced.sync()).toMatchObject({ code: 1, equal: false, open, pages: noChanges, files: noChanges });
    }
    const { code, stderr } = await synced.say();
    expect(code).toBe(1);
    expect(stderr).toMatch(/^open by\/context: .*\nopen by\/hand: .*\n.*--delete.*--keep/);
    expect([...synced.files().keys()]).toEqual(["by/context", "stays"]);
    expect([...(await synced.pages()).keys()]).toEqual(["by/hand", "stays"]);
  });

  it("are done with --delete, history kept and emptied folders gone", async () => {
    const synced = await makeDeleted();
    const report = await synced.sync("--delete");
    expect(report).toMatchObject({ code: 0, pages: { removed: ["by/hand"] }, files: { removed: ["by/context"] } });
    expect(synced.has("by")).toBe(false);
    expect([...(await synced.pages()).keys()]).toEqual(["stays"]);
    expect([...(await synced.history())].sort()).toEqual(["context\n", "hand\n", "s\n"]);
    await expectEqual(synced);
  });

  it("are undone with --keep", async () => {
    const synced = await makeDeleted();
    const report = await synced.sync("--keep");
    expect(report).toMatchObject({ code: 0, pages: { added: ["by/context"] }, files: { added: ["by/hand"] } });
    expect(synced.read("by/hand.md")).toBe("hand\n");
    await expectEqual(synced);
  });

  it("lose against an edit on the other side, and that is said", async () => {
    const synced = await makeDeleted();
    synced.write("by/context.md", "edited by hand\n");
    await synced.put("by/hand", "edited in the context\n");
    const report = await synced.sync();
    expect(report.revived).toEqual(
      expect.arrayContaining([
        { path: "by/context", by: "file" },
        { path: "by/hand", by: "page" },
      ]),
    );
    expect(report).toMatchObject({ code: 0, open: [], equal: true });
    expect(synced.read("by/hand.md")).toBe("edited in the context\n");
    await expectEqual(synced);
  });

  it("of both sides need nothing", async () => {
    const synced = await makeDeleted();
    synced.remove("by/context.md");
    await synced.removePage("by/hand");
    await expectEqual(synced);
  });
});

describe("an erased page", () => {
  const erase = (synced: SyncedFolder, path: string) =>
    runOk(["erase", "--data", synced.data, "--path", path, "--yes"]);

  it("does not come back: its file is open until it is deleted, whatever becomes of the file", async () => {
    const synced = await SyncedFolder.make({
      "gone.md": "secret plan\n",
      "edited.md": "edited plan\n",
      "stays.md": "s\n",
    });
    await synced.sync();
    await erase(synced, "gone");
    await erase(synced, "edited");
    synced.write("edited.md", "edited plan\nmore\n");
    const open = [
      { path: "edited", why: "page erased" },
      { path: "gone", why: "page erased" },
    ];
    expect(await synced.sync()).toMatchObject({ code: 1, open });
    expect(await synced.sync("--keep")).toMatchObject({ code: 1, open });
    synced.remove("gone.md");
    synced.write("elsewhere.md", "secret plan\n");
    expect((await synced.sync()).open).toContainEqual({ path: "elsewhere", why: "page erased" });
    expect([...(await synced.pages()).keys()]).toEqual(["stays"]);
    expect(await synced.sync("--delete")).toMatchObject({ code: 1, open: [{ path: "edited", why: "page erased" }] });
    expect([...synced.files().keys()]).toEqual(["edited", "stays"]);
    synced.remove("edited.md");
    await expectEqual(synced);
    expect(synced.read(".satchel/sync.json")).not.toMatch(/gone|edited|elsewhere/);
  });

  it("leaves no trace with the data, and can be written anew by hand", async () => {
    const synced = await SyncedFolder.make({ "gone.md": "a plan\n" });
    await synced.sync();
    await erase(synced, "gone");
    await synced.put("gone", "a plan\n");
    await expectEqual(synced);
  });
});

describe("what can't be synced", () => {
  it("is named with file and line, and keeps nothing else back", async () => {
    const synced = await SyncedFolder.make({
      "good.md": "Good.\n",
      "null-type.md": "---\ntype: null\n---\nx\n",
      "bad-yaml.md": "---\n- x: [\n---\nText.\n",
      "quotes.md": '---\ntitle: "a "b" c"\n---\nText.\n',
      "double.md": "---\ntitle: A\ntitle: B\n---\n",
      "latin.md": Buffer.from("caf\xe9\n", "latin1"),
      "token.md": `First.\nkey ${["AKIA", "IOSFODNN7ABCDEFG"].join("")}\n`,
      "large.md": "x".repeat(256 * 1024 + 1),
      "what?.md": "No name on every system.\n",
      "Twin.md": "1\n",
      "twin.md": "2\n",
    });
    await synced.put(".hidden/page", "h\n");
    await synced.put(`long/${"日".repeat(100)}`, "l\n");
    await synced.put("dir.md/inside", "i\n");
    await synced.put("dir", "d\n");
    const before = synced.read("bad-yaml.md");
    const report = await synced.sync();
    expect(report).toMatchObject({ code: 1, equal: false });
    const refused = [...new Set(report.refused.map(({ file, path }) => file ?? path))].sort();
    const long = `long/${"日".repeat(100)}`;
    const names = [".hidden/page", "Twin.md", "bad-yaml.md", "double.md", "large.md", "latin.md", long, "quotes.md"];
    const place = refused.filter((name) => name?.startsWith("dir"));
    expect(["dir", "dir.md/inside"]).toContain(place.join());
    expect(refused).toEqual([...names, ...place, "token.md", "twin.md", "what?.md"].sort());
    const reasonOf = (name: string) => report.refused.find(({ file }) => file === name);
    expect(reasonOf("token.md")).toMatchObject({ line: 2 });
    expect(reasonOf("double.md")).toMatchObject({ line: 3 });
    expect(reasonOf("Twin.md")?.reason).toMatch(/same page name as "twin.md"/);
    expect(JSON.stringify(report)).not.toContain("IOSFODNN");
    expect(report.pages.added.sort()).toEqual(["good", "null-type"]);
    expect(synced.read("bad-yaml.md")).toBe(before);

    // A page at the place of a refused file is not written over it, and a synced file stays when a twin appears.
    await synced.put("bad-yaml", "From the context.\n");
    synced.write("GOOD.md", "A twin.\n");
    synced.write("good.md", "Good again.\n");
    const later = await synced.sync();
    expect(synced.read("bad-yaml.md")).toBe(before);
    expect(later.pages.changed).toEqual(["good"]);
    expect(later.refused.find(({ file }) => file === "GOOD.md")?.reason).toMatch(/"good.md"/);
  });

  it("are links, and what lies behind them", async () => {
    const synced = await SyncedFolder.make({ "a.md": "a\n" });
    const outside = temporaryFolder();
    symlinkSync(outside, synced.file("link"));
    symlinkSync(synced.file("a.md"), synced.file("b.md"));
    expect(await synced.sync()).toMatchObject({ code: 0, pages: { added: ["a"] } });
    await synced.put("link/page", "x\n");
    await synced.put("b", "y\n");
    const { refused, code } = await synced.sync();
    expect(code).toBe(1);
    expect(refused.map(({ file, path }) => file ?? path).sort()).toEqual(["b.md", "link/page"]);
    expect(statSync(outside).nlink).toBe(2);
    expect(() => statSync(join(outside, "page.md"))).toThrow();
  });

  it("is a folder that can't be read: nothing is taken for deleted", async () => {
    const synced = await SyncedFolder.make({ "sub/a.md": "a\n" });
    await synced.sync();
    rmSync(synced.file("sub"), { recursive: true });
    mkdirSync(synced.file("sub"), { mode: 0o000 });
    if (process.getuid?.() !== 0) expect(await synced.say(["--delete"])).toMatchObject({ code: 2, stdout: "" });
    chmodSync(synced.file("sub"), 0o700);
    expect(await synced.sync()).toMatchObject({ open: [{ path: "sub/a", why: "file deleted" }] });
  });
});

describe("the state", () => {
  it("when lost, equal texts pair up, different ones are both kept, and nothing is deleted", async () => {
    const synced = await SyncedFolder.make({ "same.md": "s\n", "both.md": "1\n", "hand.md": "h\n", "page.md": "p\n" });
    await synced.sync();
    rmSync(synced.file(".satchel"), { recursive: true });
    synced.write("both.md", "2\n");
    await synced.put("both", "3\n");
    synced.remove("page.md");
    await synced.removePage("hand");
    const report = await synced.sync();
    expect(report).toMatchObject({ code: 0, equal: true, conflicts: [{ path: "both" }], open: [] });
    expect(report).toMatchObject({ pages: { removed: [] }, files: { removed: [] } });
    expect(synced.read("both.md")).toBe("3\n");
    expect([...synced.files().values()].sort()).toEqual(["2\n", "3\n", "h\n", "p\n", "s\n"]);
    await expectEqual(synced);
  });

  it("when damaged, counts as lost", async () => {
    const synced = await SyncedFolder.make({ "a.md": "a\n" });
    await synced.sync();
    synced.write(".satchel/sync.json", '{"format":1,');
    await expectEqual(synced);
  });

  it("refuses another context, another part of it, and what a later release wrote", async () => {
    const synced = await SyncedFolder.make({ "a.md": "a\n" });
    await synced.sync();
    const other = await makeData("you");
    expect(await run(["sync", "--data", other, synced.folder])).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringMatching(/another context, "me"/),
    });
    expect(await synced.say(["--prefix", "x/"])).toMatchObject({ code: 2 });
    expect([...(await synced.pages()).keys()]).toEqual(["a"]);
    synced.write(".satchel/sync.json", '{"format":2}');
    expect(await synced.say()).toMatchObject({ code: 2, stderr: expect.stringMatching(/later release/) });
  });

  it("belongs to one sync at a time", async () => {
    const synced = await SyncedFolder.make({ "a.md": "a\n" });
    const watching = startCommand(synced.arguments("--watch"));
    while (!synced.has(".satchel/sync.json")) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await synced.say()).toMatchObject({ code: 1, stderr: expect.stringMatching(/Another sync/) });
    await watching.stop("SIGKILL");
    await expectEqual(synced);
  });
});

describe("part of a context", () => {
  it("is what --prefix and --partition name, and is remembered", async () => {
    const synced = await SyncedFolder.make({ "work/a.md": "a\n", "home/b.md": "b\n" });
    await runOk(["partition", "set", "--data", synced.data, "office"]);
    await synced.put("work/main", "m\n");
    await synced.put("work/office", "---\npartition: office\n---\no\n");
    const report = await synced.sync("--prefix", "work/", "--partition", "office");
    expect(report).toMatchObject({ code: 0, pages: { added: ["work/a"] }, files: { added: ["work/office"] } });
    expect([...(await synced.pages()).keys()].sort()).toEqual(["work/a", "work/main", "work/office"]);
    expect(await keysOf(synced, "work/a")).toMatchObject({ partition: "office" });
    expect(await synced.sync()).toMatchObject(settled);
    synced.write("work/main.md", "by hand\n");
    synced.write("work/c.md", "---\npartition: main\n---\nc\n");
    const { refused } = await synced.sync();
    expect(refused.map(({ file }) => file).sort()).toEqual(["work/c.md", "work/main.md"]);
  });

  describe("without sensitive pages", () => {
    let synced: SyncedFolder;
    beforeAll(async () => {
      synced = await SyncedFolder.make({ "a.md": "a\n" });
      await synced.put("style/tone", "short\n");
    });

    it("counts them, and writes them only with --sensitive", async () => {
      expect(await synced.sync()).toMatchObject({ code: 0, left_out: { sensitive: 1 }, files: noChanges });
      expect((await synced.say()).stderr).toMatch(/1 sensitive .*--sensitive/);
      expect(await synced.sync("--sensitive")).toMatchObject({ code: 0, files: { added: ["style/tone"] } });
    });

    it("takes edits of a file that is there, writes none, and forgets a deleted one", async () => {
      synced.write("style/tone.md", "shorter\n");
      expect(await synced.sync()).toMatchObject({ code: 0, pages: { changed: ["style/tone"] } });
      await synced.put("style/tone", "longer\n");
      expect(await synced.sync()).toMatchObject({ code: 1, files: noChanges, refused: [{ file: "style/tone.md" }] });
      expect(synced.read("style/tone.md")).toBe("shorter\n");
      synced.remove("style/tone.md");
      expect(await synced.sync("--delete")).toMatchObject({ code: 0, pages: noChanges, left_out: { sensitive: 1 } });
      expect((await synced.pages()).get("style/tone")).toBe("longer\n");
    });
  });
});

describe("the journal", () => {
  it("holds an audit entry for what a sync changed, and the log stays valid", async () => {
    const synced = await SyncedFolder.make({ "a.md": "a\n", "b.md": "b\n" });
    await synced.sync();
    const { stdout } = await runOk(["audit", "--data", synced.data, "--json"]);
    const { entries } = JSON.parse(stdout) as { entries: { tool: string; action: string; targets: string[] }[] };
    const writes = entries.filter(({ action }) => action === "write").map(({ tool, targets }) => ({ tool, targets }));
    expect(writes).toContainEqual({ tool: "sync_write", targets: ["a", "b"] });
    await runOk(["journal", "verify", "--data", synced.data]);
  });
});
