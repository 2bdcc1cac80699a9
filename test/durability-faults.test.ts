import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import SqliteDatabase from "better-sqlite3";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Assistant,
  buildBody,
  isWholeBody,
  listPaths,
  type Outcome,
  pause,
  readBody,
  startAssistant,
  verifyIndexed,
  verifySound,
} from "./durable-store.js";
import {
  commandLine,
  connectHttp,
  makeData,
  makeToken,
  run,
  runOk,
  startCommand,
  startServe,
  temporaryFolder,
} from "./harness.js";
import { scaled, testSeed } from "./scale.js";

const minutes = 60_000;
const fileCount = 300;

const databaseOf = (data: string) => join(data, "contexts", "me", "context.db");

/** Waits that a printed seed repeats. */
function sampleWaits(count: number, maxMs: number): number[] {
  return fc.sample(fc.integer({ min: 0, max: maxMs }), { numRuns: count, seed: testSeed() });
}

function makeFiles(mark: string): string {
  const folder = temporaryFolder("satchel-files-");
  mkdirSync(join(folder, "in"));
  for (let i = 0; i < fileCount; i++) writeFileSync(join(folder, "in", `${mark}${i}.md`), buildBody(`${mark}${i}`));
  return folder;
}

describe("kill -9 during a command", () => {
  it("import is all or nothing, and doing it again completes it", { timeout: 10 * minutes }, async () => {
    const folder = makeFiles("f");
    const started = performance.now();
    await runOk(["import", "--data", await makeData("me"), folder]);
    const wholeMs = performance.now() - started;
    const seen = new Set<number>();
    // The first kill comes before anything can be committed, so that "none" is seen at any scale.
    for (const waitMs of [20, ...sampleWaits(scaled(40), Math.ceil(wholeMs * 1.1))]) {
      const data = await makeData("me");
      const command = startCommand(["import", "--data", data, folder]);
      await pause(waitMs);
      await command.stop("SIGKILL");
      const reader = await startAssistant(data);
      const paths = await listPaths(reader, "in/");
      expect([0, fileCount]).toContain(paths.length);
      seen.add(paths.length);
      if (paths.length > 0) await verifyIndexed(reader, "in/f7", buildBody("f7"));
      else expect((await reader.call("memory_search", { query: "endf7 keeps" })).results).toEqual([]);
      await reader.close();
      await verifySound(data);
      await runOk(["import", "--data", data, folder]);
      const { stdout } = await runOk(["import", "--data", data, folder, "--json"]);
      expect(JSON.parse(stdout)).toMatchObject({ added: [], changed: [], same: fileCount });
    }
    expect(seen.has(0)).toBe(true);
  });

  it("init leaves either a whole context or none, and the next init works", { timeout: 10 * minutes }, async () => {
    for (const waitMs of sampleWaits(scaled(100), 400)) {
      const data = temporaryFolder("satchel-init-");
      const command = startCommand(["init", "--data", data]);
      await pause(waitMs);
      await command.stop("SIGKILL");
      const { stdout } = await runOk(["init", "--data", data, "--json"]);
      expect(JSON.parse(stdout)).toMatchObject({ context: "me" });
      const complete = readdirSync(join(data, "contexts")).filter((name) => !name.startsWith("."));
      expect(complete).toEqual(["me"]);
      await verifySound(data);
    }
  });
});

/** Another program that holds the write lock. */
function holdWriteLock(data: string): { release(): void } {
  const database = new SqliteDatabase(databaseOf(data));
  database.exec("BEGIN IMMEDIATE");
  return {
    release: () => {
      database.exec("ROLLBACK");
      database.close();
    },
  };
}

describe("a foreign process holds the write lock", () => {
  it("for 3 s: a write waits and succeeds", { timeout: minutes }, async () => {
    const data = await makeData("me");
    const assistant = await startAssistant(data);
    await assistant.call("memory_write", { path: "before", body: buildBody("before") });
    const lock = holdWriteLock(data);
    let ended = false;
    const write = assistant.call("memory_write", { path: "a", body: buildBody("a") }).finally(() => {
      ended = true;
    });
    await pause(3000);
    const early = ended;
    lock.release();
    expect([early, (await write).error]).toEqual([false, undefined]);
    expect(await readBody(assistant, "a")).toBe(buildBody("a"));
    await assistant.close();
  });

  it("for 12 s: writes answer locked, so do reads (their audit can't be stored), and /healthz 503", {
    timeout: 2 * minutes,
  }, async () => {
    const data = await makeData("me");
    const server = await startServe(data);
    const client = await connectHttp(
      "v2 auto",
      `${server.origin}/mcp`,
      await makeToken(data, "memory:read memory:write"),
    );
    const call = async (name: string, args: object) => (await client.callTool(name, args)).structuredContent as Outcome;
    const health = async () => (await fetch(`${server.origin}/healthz`)).status;
    await call("memory_write", { path: "a", body: buildBody("a") });
    expect(await health()).toBe(200);
    const lock = holdWriteLock(data);
    const writes = [0, 1, 2].map((i) => call("memory_write", { path: `w${i}`, body: buildBody(`w${i}`) }));
    const read = call("memory_read", { path: "a" });
    const held = pause(12_000);
    expect(await health()).toBe(503);
    await pause(5000);
    expect(await health()).toBe(503);
    expect((await read).error?.code).toBe("locked");
    expect(await read).not.toHaveProperty("body");
    const refused = await Promise.all(writes);
    await held;
    lock.release();
    expect(refused.map(({ error }) => error?.code)).toEqual(["locked", "locked", "locked"]);
    expect(JSON.stringify(refused)).not.toMatch(/SQLITE|node_modules|\bat /);
    expect((await call("memory_write", { path: "w9", body: buildBody("w9") })).error).toBeUndefined();
    expect(await health()).toBe(200);
    const { pages } = await call("memory_list", {});
    expect((pages as { path: string }[]).map(({ path }) => path)).toEqual(["a", "w9"]);
    await client.close();
    await server.stop();
    await verifySound(data);
  });
});

describe("reading beside writing", () => {
  it("one process reads while another writes: no error, no half text", { timeout: 2 * minutes }, async () => {
    const data = await makeData("me");
    const [reader, writer] = await Promise.all([startAssistant(data), startAssistant(data)]);
    const paths = ["a", "b", "c", "d"];
    for (const path of paths) await writer.call("memory_write", { path, body: buildBody(`${path}0`) });
    const until = performance.now() + scaled(60_000);
    const writing = (async () => {
      for (let i = 1; performance.now() < until; i++) {
        const path = paths[i % paths.length]!;
        const outcome = await writer.call("memory_write", { path, body: buildBody(`${path}${i}`) });
        expect(outcome.error).toBeUndefined();
      }
    })();
    while (performance.now() < until) {
      for (const path of paths) expect(isWholeBody((await readBody(reader, path)) ?? "")).toBe(true);
      expect((await reader.call("memory_search", { query: "keeps its words" })).results).toHaveLength(paths.length);
      expect(await listPaths(reader)).toEqual(paths);
    }
    await writing;
    await Promise.all([reader.close(), writer.close()]);
    await verifySound(data);
  });

  it("a search during an import sees none of it or all of it", { timeout: 2 * minutes }, async () => {
    const data = await makeData("me");
    const folders = [makeFiles("first"), makeFiles("second")];
    const reader = await startAssistant(data);
    for (const [done, folder] of folders.entries()) {
      const command = startCommand(["import", "--data", data, folder]);
      let ended = false;
      const exit = command.exit.finally(() => {
        ended = true;
      });
      const counts = new Set<number>();
      while (!ended) {
        const { error } = await reader.call("memory_search", { query: "keeps", limit: 5 });
        expect(error).toBeUndefined();
        counts.add((await listPaths(reader)).length);
      }
      expect(await exit).toMatchObject({ code: 0 });
      expect([done * fileCount, (done + 1) * fileCount]).toEqual(expect.arrayContaining([...counts]));
      expect((await listPaths(reader)).length).toBe((done + 1) * fileCount);
    }
    await reader.close();
    await verifySound(data);
  });
});

/** Writes until one is refused. @returns the accepted ones and the refusal */
async function writeUntilRefused(assistant: Assistant, limit: number) {
  const accepted = new Map<string, string>();
  for (let i = 0; i < limit; i++) {
    const body = buildBody(`x${i}`, 400);
    const outcome = await assistant.call("memory_write", { path: `p${i}`, body });
    if (outcome.error) return { accepted, refusal: outcome.error, refused: `p${i}` };
    accepted.set(`p${i}`, body);
  }
  throw new Error(`none of ${limit} writes was refused`);
}

function expectClearRefusal(refusal: { code: string; message: string }): void {
  expect(["internal", "locked"]).toContain(refusal.code);
  expect(refusal.message).not.toMatch(/SQLITE|disk|node_modules|\bat |\.js/);
}

async function verifyNothingHalf(data: string, accepted: Map<string, string>): Promise<void> {
  const reader = await startAssistant(data);
  expect((await listPaths(reader)).sort()).toEqual([...accepted.keys()].sort());
  for (const [path, body] of accepted) expect(await readBody(reader, path)).toBe(body);
  for (const [path, body] of [...accepted].slice(-3)) await verifyIndexed(reader, path, body);
  const body = buildBody("again");
  expect((await reader.call("memory_write", { path: "again", body })).error).toBeUndefined();
  await reader.close();
  await verifySound(data);
}

const isPosix = process.platform !== "win32";

describe("a disk that refuses", () => {
  it.runIf(isPosix)(
    "full in the middle: a clear error, no answer without its records, nothing is half",
    { timeout: 3 * minutes },
    async () => {
      const data = await makeData("me");
      // No file of this process may grow beyond 2 MiB (the unit of ulimit -f in sh is 512 bytes).
      const command = (args: string[]): [string, string[]] => {
        const [program, programArguments] = commandLine(args);
        return ["/bin/sh", ["-c", 'ulimit -f 4096; exec "$0" "$@"', program, ...programArguments]];
      };
      const assistant = await startAssistant(data, { command });
      const { accepted, refusal, refused } = await writeUntilRefused(assistant, 2000);
      expect(accepted.size).toBeGreaterThan(3);
      expectClearRefusal(refusal);
      await expect.poll(() => assistant.stderr()).toMatch(/fault/);
      for (const path of ["p0", refused, "p0"]) {
        const read = await assistant.call("memory_read", { path });
        if (read.error?.code === "internal") expectClearRefusal(read.error);
        else
          expect([read.body, read.error?.code]).toEqual(
            path === "p0" ? [accepted.get("p0"), undefined] : [undefined, "not_found"],
          );
      }
      await assistant.kill();
      await verifyNothingHalf(data, accepted);
    },
  );

  it.runIf(isPosix)("a store that may only be read: a clear error, no stack trace", { timeout: minutes }, async () => {
    const data = await makeData("me");
    const page = join(data, "page.md");
    writeFileSync(page, buildBody("first"));
    await runOk(["page", "put", "first", "--file", page, "--data", data]);
    const place = join(data, "contexts", "me");
    const modes = new Map(
      [place, ...readdirSync(place).map((name) => join(place, name)), page].map((path) => [path, statSync(path).mode]),
    );
    const asNobody = process.getuid?.() === 0;
    makeReadOnly(data, [...modes.keys()]);
    const attempt = await runAs(asNobody, ["page", "put", "second", "--file", page, "--data", data]);
    for (const [path, mode] of modes) chmodSync(path, mode & 0o7777);
    expect(attempt.code).not.toBe(0);
    expect(attempt.stderr).not.toBe("");
    expect(attempt.stderr).not.toMatch(/\n\s+at |node_modules/);
    expect((await run(["page", "cat", "second", "--data", data])).code).not.toBe(0);
    expect((await runOk(["page", "cat", "first", "--data", data])).stdout).toBe(buildBody("first"));
    await verifySound(data);
  });
});

/** Everyone may read, nobody but a superuser may write. */
function makeReadOnly(data: string, paths: string[]): void {
  for (const path of [data, join(data, "contexts")]) chmodSync(path, 0o755);
  for (const path of paths) {
    chmodSync(path, statSync(path).isDirectory() ? 0o555 : 0o444);
    if (process.getuid?.() === 0) chownSync(path, 0, 0);
  }
}

const nobody = 65_534;

/** A superuser may write everywhere, so the command runs as somebody else then. */
async function runAs(asNobody: boolean, args: string[]): Promise<{ code: number | null; stderr: string }> {
  if (!asNobody) return run(args);
  const [program, programArguments] = commandLine(args);
  const child = spawn(program, programArguments, {
    uid: nobody,
    gid: nobody,
    stdio: ["ignore", "ignore", "pipe"],
    env: { PATH: process.env.PATH },
  });
  const errors: Buffer[] = [];
  child.stderr.on("data", (chunk: Buffer) => errors.push(chunk));
  const [code] = await once(child, "close");
  return { code: code as number | null, stderr: Buffer.concat(errors).toString("utf8") };
}
