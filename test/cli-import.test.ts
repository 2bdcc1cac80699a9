import { chmodSync, chownSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import SqliteDatabase from "better-sqlite3";
import { beforeAll, describe, expect, it } from "vitest";
import { connectStdio, makeData, onEnd, type Ran, run, runOk, temporaryFolder } from "./harness.js";

interface Summary {
  added: string[];
  changed: string[];
  same: number;
  refused: { file: string; line?: number; reason: string }[];
  applied: boolean;
}

function makeFolder(files: Record<string, string | Buffer>): string {
  const folder = temporaryFolder("satchel-notes-");
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

const importing = (data: string, folder: string, more: string[] = []) =>
  run(["import", "--data", data, folder, ...more]);

async function summaryOf(
  data: string,
  folder: string,
  more: string[] = [],
): Promise<Summary & { code: number | null }> {
  const { code, stdout, stderr } = await importing(data, folder, ["--json", ...more]);
  expect(stderr).toBe("");
  return { code, ...(JSON.parse(stdout) as Summary) };
}

async function pages(data: string): Promise<{ path: string; partition: string; updated: string }[]> {
  const { stdout } = await runOk(["page", "ls", "--data", data, "--json"]);
  return (JSON.parse(stdout) as { pages: { path: string; partition: string; updated: string }[] }).pages;
}

const paths = async (data: string) => (await pages(data)).map(({ path }) => path);
const cat = async (data: string, path: string) => (await runOk(["page", "cat", "--data", data, path])).stdout;

/** A vault as a note application leaves it, with what is not a note. */
const vault: Record<string, string | Buffer> = {
  "Home.md": "# Home\n\nSee [[Projects/Garden plan|the garden]], [[Home#Top]] and ![[photo.png]].\n",
  "Projects/Garden plan.md":
    "---\ntags:\n  - garden\n  - plan\naliases: [Beds]\ncssclass: wide\n---\n- [ ] Sow [[Seeds]] ^block\n%% hidden %%\n",
  "Projects/Ünïcode – 日本.md": "No heading here, no line end",
  "Daily/2024-01-02.md": "---\ndate: 2024-01-02\n---\n\n---\n\nA rule above.\n",
  "Empty.md": "",
  "LOUD.MD": "Upper-case extension.\r\nSecond line.\r\n",
  "long name.markdown": "The other extension.\n",
  ".obsidian/app.json": '{"theme": "dark"}',
  ".obsidian/plugins/readme.md": "# Not a note\n",
  ".trash/Deleted.md": "# Deleted\n",
  "photo.png": Buffer.from([0x89, 0x50, 0x4e, 0x47]),
  "data.csv": "a,b\n",
};
const vaultPaths = [
  "Daily/2024-01-02",
  "Empty",
  "Home",
  "LOUD",
  "Projects/Garden plan",
  "Projects/Ünïcode – 日本",
  "long name",
];

describe("satchel import", () => {
  it("takes the notes of a vault and nothing else, byte for byte", async () => {
    const [data, folder] = [await makeData("me"), makeFolder(vault)];
    const outside = makeFolder({ "outside.md": "Not in the folder.\n" });
    symlinkSync(outside, join(folder, "link"));
    symlinkSync(join(outside, "outside.md"), join(folder, "linked.md"));
    const summary = await summaryOf(data, folder);
    expect(summary).toMatchObject({ code: 0, changed: [], same: 0, refused: [], applied: true });
    expect(summary.added.sort()).toEqual(vaultPaths);
    expect(await paths(data)).toEqual(vaultPaths);
    for (const path of vaultPaths) {
      const name = Object.keys(vault).find((file) => file.replace(/\.(md|markdown)$/i, "") === path) ?? "";
      expect(await cat(data, path), path).toBe(String(vault[name]).replaceAll("\r\n", "\n"));
    }
    expect(await cat(data, "Home")).toContain("[[Projects/Garden plan|the garden]], [[Home#Top]] and ![[photo.png]]");
  });

  it("changes nothing when run twice, and only what changed after that", async () => {
    const [data, folder] = [await makeData("me"), makeFolder(vault)];
    await summaryOf(data, folder);
    const before = await pages(data);
    expect(await summaryOf(data, folder)).toMatchObject({ code: 0, added: [], changed: [], same: 7, refused: [] });
    expect(await pages(data)).toEqual(before);
    writeFileSync(join(folder, "Home.md"), "# Home\n\nMoved.\n");
    writeFileSync(join(folder, "New.md"), "New.\n");
    rmSync(join(folder, "Empty.md"));
    expect(await summaryOf(data, folder)).toMatchObject({ added: ["New"], changed: ["Home"], same: 5, applied: true });
    const after = await pages(data);
    const untouched = before.filter(({ path }) => path !== "Home");
    expect(after).toEqual(expect.arrayContaining(untouched));
    expect(after).toHaveLength(8);
  });

  it("does not undo what an assistant changed when the files are as they were", async () => {
    const [data, folder] = [await makeData("me"), makeFolder({ "a.md": "One.\n", "b.md": "Two.\n" })];
    await summaryOf(data, folder);
    const client = await connectStdio("v2 auto", ["--data", data]);
    await client.callTool("memory_write", { path: "a", body: "One, better.\n" });
    await client.close();
    expect(await summaryOf(data, folder)).toMatchObject({ added: [], changed: [], same: 2 });
    expect(await cat(data, "a")).toBe("One, better.\n");
    writeFileSync(join(folder, "a.md"), "One, by hand.\n");
    expect(await summaryOf(data, folder)).toMatchObject({ changed: ["a"], same: 1 });
    expect(await cat(data, "a")).toBe("One, by hand.\n");
  });

  it("only says what would happen with --dry-run", async () => {
    const [data, folder] = [await makeData("me"), makeFolder(vault)];
    const summary = await summaryOf(data, folder, ["--dry-run", "--partition", "notes"]);
    expect(summary).toMatchObject({ code: 0, changed: [], same: 0, applied: false });
    expect(summary.added.sort()).toEqual(vaultPaths);
    expect(await paths(data)).toEqual([]);
    const text = await importing(data, folder, ["--dry-run"]);
    expect(text).toEqual({ code: 0, stdout: "Would be: added 7, changed 0, same 0, refused 0.\n", stderr: "" });
    const client = await connectStdio("v2 auto", ["--data", data]);
    expect(JSON.stringify((await client.callTool("partition_list")).structuredContent)).not.toContain("notes");
    await client.close();
  });

  it("puts pages that name no partition where --partition says", async () => {
    const files = { "a.md": "One.\n", "b.md": "---\ntitle: B\npartition: main\n---\nTwo.\n" };
    const [data, folder] = [await makeData("me"), makeFolder(files)];
    expect(await summaryOf(data, folder, ["--partition", "notes"])).toMatchObject({ code: 0, applied: true });
    const placed = (await pages(data)).map(({ path, partition }) => [path, partition]);
    expect(placed).toEqual([
      ["a", "notes"],
      ["b", "main"],
    ]);
    expect(await cat(data, "a")).toBe("One.\n");
    expect(await summaryOf(data, folder, ["--partition", "notes"])).toMatchObject({ same: 2, changed: [] });
    expect((await importing(data, folder, ["--partition", "No Such"])).code).toBe(1);
  });

  describe("refused files", () => {
    const files: Record<string, string | Buffer> = {
      "good.md": "Good.\n",
      "bad-yaml.md": "---\ntitle: Bad\ntags: [a\n---\nText.\n",
      "double.md": "---\ntitle: A\ntype: semantic\ntitle: B\n---\n",
      "latin.md": Buffer.from("caf\xe9\n", "latin1"),
      "secret.md": `First.\nkey ${["AKIA", "IOSFODNN7ABCDEFG"].join("")}\n`,
      "large.md": "x".repeat(256 * 1024 + 1),
      "what?.md": "A name that is none on every system.\n",
    };
    const refusedNames = Object.keys(files).filter((name) => name !== "good.md");

    it("are named with file and line, and keep everything out", async () => {
      const [data, folder] = [await makeData("me"), makeFolder(files)];
      await runOk(["page", "put", "--data", data, "before"], { input: "x" });
      const summary = await summaryOf(data, folder);
      expect(summary).toMatchObject({ code: 1, applied: false });
      expect([...new Set(summary.refused.map(({ file }) => file))].sort()).toEqual([...refusedNames].sort());
      const lineOf = (name: string) => summary.refused.find(({ file }) => file === name)?.line;
      expect([3, 4]).toContain(lineOf("bad-yaml.md"));
      expect(lineOf("double.md")).toBe(4);
      expect(lineOf("secret.md")).toBe(2);
      expect(JSON.stringify(summary)).not.toContain("IOSFODNN");
      expect(await paths(data)).toEqual(["before"]);

      const { code, stdout, stderr } = await importing(data, folder);
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toMatch(/^refused bad-yaml\.md:[34]: /m);
      expect(stderr).toMatch(/^refused secret\.md:2: /m);
      expect(stderr).toMatch(/--skip-refused/);
      expect(stderr).not.toMatch(/\u001b|IOSFODNN|\n\s+at /);
    });

    it("are left out with --skip-refused", async () => {
      const [data, folder] = [await makeData("me"), makeFolder(files)];
      const summary = await summaryOf(data, folder, ["--skip-refused"]);
      expect(summary).toMatchObject({ code: 0, added: ["good"], applied: true });
      expect(new Set(summary.refused.map(({ file }) => file)).size).toBe(refusedNames.length);
      expect(await paths(data)).toEqual(["good"]);
    });

    it("include names that are one page", async () => {
      const composed = "caf\u00e9.md";
      const decomposed = "cafe\u0301.md";
      const folder = makeFolder({ "Note.md": "1\n", "note.md": "2\n", [composed]: "3\n", [decomposed]: "4\n" });
      // File systems that see these as one name leave nothing to refuse.
      const collisions = readdirSync(folder).length - 2;
      const data = await makeData("me");
      const summary = await summaryOf(data, folder);
      expect(summary.refused).toHaveLength(collisions);
      for (const { reason } of summary.refused) expect(reason).toMatch(/same page name as/);
      expect(await paths(data)).toHaveLength(collisions > 0 ? 0 : 2);
    });
  });

  it("takes a single file, and says when there is nothing", async () => {
    const data = await makeData("me");
    const folder = makeFolder({ "one.md": "One.\n", "empty/readme.txt": "x" });
    expect(await summaryOf(data, join(folder, "one.md"))).toMatchObject({ added: ["one"], applied: true });
    expect((await importing(data, join(folder, "empty"))).stderr).toMatch(/no Markdown files/);
    const absent = await importing(data, join(folder, "absent"));
    expect(absent).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringMatching(/^satchel: [^\n]*absent[^\n]*\n$/),
    });
  });
});

describe("satchel doctor and a data directory that is not as it should be", () => {
  const doctor = async (data: string) => {
    const { code, stdout } = await run(["doctor", "--data", data, "--json"]);
    const { ok, findings } = JSON.parse(stdout) as {
      ok: boolean;
      findings: { check: string; ok: boolean; detail: string }[];
    };
    return { code, ok, wrong: findings.filter((finding) => !finding.ok) };
  };
  const folderOf = (data: string, handle = "me") => join(data, "contexts", handle);

  /** Every command that opens the context says one line, changes nothing and prints no data. */
  async function expectRefused(data: string, message: RegExp, uid?: number): Promise<void> {
    const commands = [["page", "ls"], ["page", "put", "x"], ["search", "x"], ["mcp"], ["serve", "--port", "0"]];
    for (const command of commands) {
      const ran: Ran = await run([...command, "--data", data], { input: "x", ...(uid !== undefined && { uid }) });
      expect({ code: ran.code, stdout: ran.stdout }, command.join(" ")).toEqual({ code: 2, stdout: "" });
      expect(ran.stderr, command.join(" ")).toMatch(/^satchel: [^\n]+\n$/);
      expect(ran.stderr).toMatch(message);
      expect(ran.stderr).not.toMatch(/Error:|file:\/\//);
    }
  }

  it("finds nothing wrong with a new context, and prints plain lines", async () => {
    const data = await makeData("me");
    expect(await doctor(data)).toEqual({ code: 0, ok: true, wrong: [] });
    const { stdout, stderr } = await runOk(["doctor", "--data", data]);
    expect(stderr).toBe("");
    for (const line of stdout.trimEnd().split("\n")) expect(line).toMatch(/^ok {4}[a-z]+[^:]*: .+$/);
  });

  it("misses a context", async () => {
    const data = temporaryFolder();
    expect(await doctor(data)).toMatchObject({ code: 1, ok: false, wrong: [{ check: "data" }] });
    expect(readdirSync(data)).toEqual([]);
  });

  it("finds files that others can read", async () => {
    const data = await makeData("me");
    chmodSync(join(folderOf(data), "key"), 0o644);
    expect(await doctor(data)).toMatchObject({
      code: 1,
      wrong: [{ check: "access me/key", detail: expect.stringContaining("chmod") }],
    });
  });

  it("looks at the other contexts when one is broken", async () => {
    const data = await makeData("atlas", "borealis");
    writeFileSync(join(folderOf(data, "atlas"), "key"), "short");
    const found = await doctor(data);
    expect(found).toMatchObject({ code: 1, wrong: [{ check: "context atlas" }] });
    expect((await run(["doctor", "--data", data])).stdout).toContain("integrity borealis: sound");
  });

  it.each([
    ["too short", Buffer.alloc(31)],
    ["too long", Buffer.alloc(64)],
    ["empty", Buffer.alloc(0)],
    ["missing", undefined],
  ])("says that the key is %s", async (_name, key) => {
    const data = await makeData("me");
    const file = join(folderOf(data), "key");
    if (key) writeFileSync(file, key);
    else rmSync(file);
    await expectRefused(data, /key.+[Rr]estore/);
    expect(await doctor(data)).toMatchObject({
      code: 1,
      wrong: [{ check: "context me", detail: expect.stringContaining("key") }],
    });
  });

  it("says that a later release wrote the context, and leaves it alone", async () => {
    const data = await makeData("me");
    const database = new SqliteDatabase(join(folderOf(data), "context.db"));
    database.pragma("user_version = 99");
    database.close();
    await expectRefused(data, /later release.+99.+Update Satchel/);
    expect(await doctor(data)).toMatchObject({
      code: 1,
      wrong: [{ detail: expect.stringContaining("later release") }],
    });
    const after = new SqliteDatabase(join(folderOf(data), "context.db"), { readonly: true });
    expect(after.pragma("user_version", { simple: true })).toBe(99);
    after.close();
  });

  it.each([
    ["no database", Buffer.from("This was a database once.".repeat(200))],
    ["empty", Buffer.alloc(0)],
  ])("says that the database is %s", async (_name, content) => {
    const data = await makeData("me");
    writeFileSync(join(folderOf(data), "context.db"), content);
    await expectRefused(data, /damaged|no context/);
    expect(await doctor(data)).toMatchObject({ code: 1, ok: false });
  });

  it("says that the data directory is a file", async () => {
    const file = join(temporaryFolder(), "file");
    writeFileSync(file, "x");
    const { code, stdout, stderr } = await run(["init", "--data", file]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^satchel: [^\n]+\n$/);
  });

  describe("that is read-only", () => {
    // Root may write anywhere, so it runs the command under an account without rights.
    const uid = process.getuid?.() === 0 ? 65_534 : undefined;
    let data: string;

    beforeAll(async () => {
      data = await makeData("me");
      await runOk(["page", "put", "--data", data, "kept"], { input: "x" });
      const entries = ["", ...readdirSync(data, { recursive: true, encoding: "utf8" })].map((name) => join(data, name));
      for (const entry of entries) if (uid !== undefined) chownSync(entry, uid, uid);
      for (const entry of entries.reverse()) chmodSync(entry, statSync(entry).isFile() ? 0o400 : 0o500);
      onEnd(() => {
        for (const folder of [data, join(data, "contexts"), folderOf(data)]) chmodSync(folder, 0o700);
      });
    });

    it("says so", async () => {
      await expectRefused(data, /can't be written.+--data/, uid);
      const { code, stderr } = await run(
        ["init", "--data", data, "--context", "other"],
        uid === undefined ? {} : { uid },
      );
      expect(code).toBe(2);
      expect(stderr).toMatch(/^satchel: [^\n]*(permission|written)[^\n]*\n$/);
    });
  });
});
