import { renameSync, rmSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { connectStdio, runOk, startCommand } from "./harness.js";
import { SyncedFolder } from "./sync-folder.js";

/** @returns how long it took, in ms */
async function until(isSo: () => Promise<boolean>, patienceMs = 30_000): Promise<number> {
  const begun = performance.now();
  while (!(await isSo())) {
    if (performance.now() - begun > patienceMs) throw new Error(`not so after ${patienceMs} ms`);
    await pause(20);
  }
  return performance.now() - begun;
}

async function isEqual(synced: SyncedFolder): Promise<boolean> {
  const pages = await synced.pages();
  const files = synced.files();
  return files.size === pages.size && [...files].every(([path, text]) => pages.get(path) === text);
}

async function watch(synced: SyncedFolder, ...more: string[]) {
  const watching = startCommand(synced.arguments("--watch", ...more));
  await until(async () => synced.has(".satchel/sync.json") && (await isEqual(synced)));
  return watching;
}

const callsOf = async ({ data }: SyncedFolder): Promise<number> => {
  const { stdout } = await runOk(["audit", "--data", data, "--json", "--limit", "1000"]);
  return (JSON.parse(stdout) as { entries: unknown[] }).entries.length;
};

describe("satchel sync --watch", () => {
  it("settles a burst of 500 changes within five seconds", async () => {
    const synced = await SyncedFolder.make();
    for (let i = 0; i < 400; i++) synced.write(`notes/${i % 20}/${i}.md`, `# Note ${i}\n\nSome words about ${i}.\n`);
    const watching = await watch(synced);
    await pause(500);
    const begun = performance.now();
    for (let i = 0; i < 300; i++) synced.write(`notes/${i % 20}/${i}.md`, `# Note ${i}\n\nOther words about ${i}.\r\n`);
    for (let i = 300; i < 350; i++)
      renameSync(synced.file(`notes/${i % 20}/${i}.md`), synced.file(`notes/moved-${i}.md`));
    for (let i = 0; i < 150; i++) synced.write(`new/${i % 10}/deep/${i}.md`, `# New ${i}\n`);
    const writtenMs = performance.now() - begun;
    await until(() => isEqual(synced));
    const settledMs = performance.now() - begun;
    console.log(
      `500 changes: written in ${Math.round(writtenMs)} ms, settled ${Math.round(settledMs)} ms after the first`,
    );
    expect(settledMs).toBeLessThan(5000);
    expect((await synced.pages()).size).toBe(550);
    expect(await watching.stop()).toEqual({ code: 0, signal: null });
  });

  it("takes changes from both sides as they come, and is quiet between", async () => {
    const synced = await SyncedFolder.make({ "a.md": "a\n" });
    const assistant = await connectStdio("v2 auto", ["--data", synced.data]);
    const watching = await watch(synced);
    await assistant.callTool("memory_write", { path: "deep/er/page", body: "p\n" });
    await until(() => isEqual(synced));
    synced.write("x/y/z.md", "z\n");
    synced.write("a.md", "A\n");
    await until(() => isEqual(synced));
    // Now and then one of the two is synced before the other one is written.
    for (let round = 0; round < 10 && synced.files().size <= 3; round++) {
      await assistant.callTool("memory_write", { path: "a", body: `by the context ${round}\n` });
      synced.write("a.md", `by hand ${round}\n`);
      await until(() => isEqual(synced));
    }
    expect(synced.files().size).toBeGreaterThan(3);
    await until(async () => /^conflict a: /m.test(watching.stderr()));
    await pause(1500);
    const calls = await callsOf(synced);
    await pause(3500);
    expect(await callsOf(synced)).toBe(calls + 1); // The first look itself.
    expect(await watching.stop("SIGINT")).toEqual({ code: 0, signal: null });
    await assistant.close();
  });

  it("leaves deletions and refused files open, and says so once", async () => {
    const synced = await SyncedFolder.make({ "gone.md": "g\n", "stays.md": "s\n" });
    const watching = await watch(synced);
    synced.remove("gone.md");
    synced.write("bad.md", "---\na: [\n---\n");
    await until(async () => /open gone/.test(watching.stderr()) && /refused bad.md/.test(watching.stderr()));
    synced.write("stays.md", "S\n");
    await until(async () => (await synced.pages()).get("stays") === "S\n");
    await pause(2500);
    expect(watching.stderr().match(/open gone/g)).toHaveLength(1);
    expect(watching.stderr().match(/refused bad/g)).toHaveLength(1);
    expect([...(await synced.pages()).keys()]).toEqual(["gone", "stays"]);
    synced.write("gone.md", "g\n");
    synced.remove("bad.md");
    await until(() => isEqual(synced));
    await watching.stop();
    expect(await synced.sync()).toMatchObject({ code: 0, equal: true });
  });

  it("goes on when its state is taken away, and ends when the folder is", async () => {
    const synced = await SyncedFolder.make({ "a.md": "a\n", "b.md": "b\n" });
    const watching = await watch(synced);
    rmSync(synced.file(".satchel"), { recursive: true });
    synced.write("a.md", "A\n");
    await until(async () => synced.has(".satchel/sync.json") && synced.files().size === 3 && (await isEqual(synced)));
    rmSync(synced.folder, { recursive: true });
    expect((await watching.exit).code).toBe(2);
    expect(watching.stderr()).toMatch(/no such file or folder/);
    expect((await synced.pages()).size).toBe(3);
  });

  it("removes what is deleted with --delete", async () => {
    const synced = await SyncedFolder.make({ "sub/a.md": "a\n", "b.md": "b\n" });
    const watching = await watch(synced, "--delete", "--json");
    synced.remove("b.md");
    await synced.removePage("sub/a");
    await until(async () => synced.files().size === 0 && (await synced.pages()).size === 0);
    expect(synced.has("sub")).toBe(false);
    await watching.stop();
    for (const line of watching.stdout().trim().split("\n")) expect(JSON.parse(line)).toHaveProperty("equal");
  });
});

describe("a folder of 2,000 pages", () => {
  it("that is settled is looked through in well under a second", async () => {
    const synced = await SyncedFolder.make();
    for (let i = 0; i < 2000; i++)
      synced.write(`notes/${i % 40}/${i}.md`, `# Note ${i}\n\n${"Words enough for a page. ".repeat(60)}\n`);
    const first = performance.now();
    expect(await synced.sync()).toMatchObject({ code: 0, equal: true });
    const firstMs = performance.now() - first;
    const runs: number[] = [];
    for (let i = 0; i < 3; i++) {
      const begun = performance.now();
      expect(await synced.sync()).toMatchObject({ code: 0, equal: true });
      runs.push(performance.now() - begun);
    }
    const bare = performance.now();
    await runOk(["page", "ls", "none/", "--data", synced.data]);
    const bareMs = performance.now() - bare;
    const settledMs = Math.min(...runs);
    console.log(
      `2,000 pages: first ${Math.round(firstMs)} ms, settled ${Math.round(settledMs)} ms (a command alone ${Math.round(bareMs)} ms)`,
    );
    expect(settledMs - bareMs).toBeLessThan(1000);
  });
});
