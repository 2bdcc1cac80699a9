import { mkdirSync, readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { currentKey, parseCheckpoint, parseVerifierKey, verifyNote, verifyProof } from "@satchel/journal";
import { createContext, dispatch, journalRotateOperation, openContext, parseCheckpoints } from "@satchel/server";
import SqliteDatabase from "better-sqlite3";
import { afterEach, describe, expect, it, vi } from "vitest";
import { startAssistant } from "./durable-store.js";
import { environmentOf, startMs } from "./environment.js";
import { makeData, run, runOk, startCommand, temporaryFolder } from "./harness.js";
import { owner, World } from "./in-process.js";
import { scaled } from "./scale.js";
import { startSession } from "./stdio-session.js";

const folderOf = (data: string) => join(data, "contexts", "me");
const fileOf = (data: string, name: string) => join(folderOf(data), name);
const linesOf = (file: string) => readFileSync(file, "utf8").trimEnd().split("\n");
const knownKeys = (data: string) => linesOf(fileOf(data, "journal.pub"));
const fileNotes = (data: string) => parseCheckpoints(readFileSync(fileOf(data, "checkpoints.log"), "utf8"));
const signersOf = (note: string, keys: string[]) =>
  verifyNote(note, keys.map(parseVerifierKey)).signers.map(({ text }) => text);

async function verify(data: string, ...more: string[]) {
  const { code, stdout, stderr } = await run(["journal", "verify", "--json", "--data", data, ...more]);
  return {
    code,
    stderr,
    ...(JSON.parse(stdout) as { verdict: string; key: string; size: number; checkpointSize: number }),
  };
}

async function rotate(data: string): Promise<{ key: string; previous: string }> {
  return JSON.parse((await runOk(["journal", "rotate-key", "--json", "--data", data])).stdout);
}

/** What the journal of an open context holds. */
function journalOf({ context }: World) {
  return context.store.read(async ({ journal }) => ({
    size: (await journal.state()).size,
    notes: await journal.checkpoints({ after: 0 }),
    key: (await currentKey(journal)).text,
  }));
}
const sizesOf = (notes: string[]) => notes.map((note) => parseCheckpoint(note).size);

describe("satchel journal rotate-key", () => {
  it("twice: the first key alone leads to all that was signed, also before", { timeout: 120_000 }, async () => {
    const data = await makeData("me");
    const [first = ""] = knownKeys(data);
    const before = join(temporaryFolder(), "before.txt");
    writeFileSync(before, (await runOk(["journal", "checkpoint", "--data", data])).stdout);
    const one = await rotate(data);
    const said = await runOk(["journal", "rotate-key", "--data", data]);
    const [, third = ""] = /^The journal is signed by (\S+) from now on\.\nBefore: (\S+)\n$/.exec(said.stdout) ?? [];
    expect(one.previous).toBe(first);
    expect(knownKeys(data)).toEqual([first, one.key, third]);
    expect(linesOf(fileOf(data, "journal.key"))[0]).toContain(third.split("+")[1]);
    expect(statSync(fileOf(data, "journal.key")).mode & 0o777).toBe(0o600);
    const given = ["--checkpoint", before];
    expect(await verify(data)).toMatchObject({ code: 0, verdict: "valid", key: third });
    expect(await verify(data, "--key", first)).toMatchObject({ code: 0, verdict: "valid" });
    expect(await verify(data, "--key", first, ...given)).toMatchObject({ code: 0, verdict: "valid" });
    // A key vouches for those after it, never for those before.
    expect(await verify(data, "--key", third)).toMatchObject({ code: 1, verdict: "unknown_key" });
    const other = knownKeys(await makeData("me"))[0]!;
    expect(await verify(data, "--key", other)).toMatchObject({ code: 1, verdict: "unknown_key" });
    const proof = JSON.parse((await runOk(["journal", "prove", "1", "--data", data])).stdout);
    const trusting = (key: string) => verifyProof(proof, [parseVerifierKey(key)]);
    expect([trusting(third).valid, trusting(first)]).toEqual([true, { valid: false, reason: "unknown_key" }]);
  });

  it("leaves two open processes working, and what they sign is by the new key", { timeout: 120_000 }, async () => {
    const data = await makeData("me");
    const open = await Promise.all([startAssistant(data), startAssistant(data)]);
    const writeAll = async (name: string) => {
      for (const [i, each] of open.entries()) {
        expect((await each.call("memory_write", { path: `${name}${i}`, body: "x" })).error).toBeUndefined();
      }
    };
    await writeAll("before");
    const { key } = await rotate(data);
    const { size } = await verify(data);
    await writeAll("after");
    for (const each of open) await each.close();
    expect(await verify(data)).toMatchObject({ code: 0, verdict: "valid", key });
    const later = fileNotes(data).filter((note) => parseCheckpoint(note).size > size);
    expect(later.length).toBeGreaterThan(0);
    for (const note of later) expect(signersOf(note, knownKeys(data))).toEqual([key]);
  });

  it("several at once take turns and lose no key", { timeout: 120_000 }, async () => {
    const data = await makeData("me");
    const all = await Promise.all(Array.from({ length: 4 }, () => rotate(data)));
    const known = knownKeys(data);
    expect(known).toHaveLength(5);
    expect(all.map(({ key }) => key).sort()).toEqual(known.slice(1).sort());
    for (const { key, previous } of all) expect(known.indexOf(key)).toBe(known.indexOf(previous) + 1);
    await runOk(["page", "put", "p", "--data", data], { input: "x" });
    expect(await verify(data, "--key", known[0]!)).toMatchObject({ code: 0, verdict: "valid", key: known.at(-1) });
  });
});

describe("a rotation that a crash ends", () => {
  /** Ends the process like kill -9 at one step of the rotation. */
  const crashingAt = (step: string) => {
    const file = join(temporaryFolder(), "crash.mjs");
    writeFileSync(
      file,
      `import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
const [wanted, when, name] = ${JSON.stringify(step.split(" "))};
const original = fs[wanted];
const die = () => process.kill(process.pid, "SIGKILL");
fs[wanted] = (file, ...rest) => {
  if (!String(file).endsWith(name)) return original(file, ...rest);
  if (when === "before") die();
  if (when === "half") original(file, String(rest[0]).slice(0, 60), ...rest.slice(1)), die();
  const result = original(file, ...rest);
  die();
  return result;
};
syncBuiltinESMExports();
`,
    );
    return ["--import", file];
  };

  it.each([
    ["writeFileSync before journal.key.next", 1],
    ["writeFileSync half journal.key.next", 1],
    ["writeFileSync after journal.key.next", 1],
    ["writeFileSync before journal.pub.new", 2],
    ["writeFileSync half journal.pub.new", 2],
    ["writeFileSync after journal.pub.new", 2],
    ["renameSync after journal.pub.new", 2],
    ["renameSync before journal.key.next", 2],
    ["renameSync after journal.key.next", 2],
  ])("at %s is settled at the next start", { timeout: 120_000 }, async (step, keys) => {
    const data = await makeData("me");
    const [first = ""] = knownKeys(data);
    const crashed = startCommand(["journal", "rotate-key", "--data", data], { nodeArguments: crashingAt(step) });
    expect(await crashed.exit).toMatchObject({ signal: "SIGKILL" });
    await runOk(["page", "put", "p", "--data", data], { input: "x" });
    expect(() => statSync(fileOf(data, "journal.key.next"))).toThrow(/ENOENT/);
    const verdict = await verify(data, "--key", first);
    expect(verdict).toMatchObject({ code: 0, verdict: "valid" });
    expect(verdict.checkpointSize).toBe(verdict.size);
    expect(verdict.key === first).toBe(keys === 1);
    expect(knownKeys(data)).toContain(verdict.key);
    expect(await verify(data)).toMatchObject({ code: 0, verdict: "valid" });
  });

  it("between its entry and its file: a process that was open all the time signs with the new key", async () => {
    const world = World.open();
    await world.write("p", "x");
    const { dataDir: data } = world;
    const { secret, known } = { secret: fileOf(data, "journal.key"), known: fileOf(data, "journal.pub") };
    const before = { secret: readFileSync(secret), known: readFileSync(known) };
    const other = world.again();
    const rotated = await dispatch(journalRotateOperation, {
      context: other.context,
      caller: owner,
      args: {},
      log: { fault: () => undefined },
    });
    expect(rotated.ok).toBe(true);
    renameSync(secret, `${secret}.next`);
    writeFileSync(secret, before.secret, { mode: 0o600 });
    writeFileSync(known, before.known);
    await world.write("q", "x");
    await world.context.store.close();
    const after = await journalOf(world.again());
    expect(sizesOf(after.notes).at(-1)).toBe(after.size);
    expect(signersOf(after.notes.at(-1)!, [after.key])).toEqual([after.key]);
    expect(knownKeys(data)).toEqual([before.known.toString().trim(), after.key]);
  });
});

describe("the file of checkpoints", () => {
  it("is made again from the store when it is gone", async () => {
    const world = World.open();
    for (let i = 0; i < 100; i++) await world.write(`p${i}`, "x");
    await world.context.store.close();
    const whole = fileNotes(world.dataDir);
    expect(whole.length).toBeGreaterThan(1);
    rmSync(fileOf(world.dataDir, "checkpoints.log"));
    const again = world.again();
    await again.context.store.close();
    expect(fileNotes(world.dataDir)).toEqual(whole);
    expect(statSync(fileOf(world.dataDir, "checkpoints.log")).mode & 0o777).toBe(0o600);
  });

  it("holds each checkpoint once, of processes that are open at once too", async () => {
    const world = World.open();
    const other = world.again();
    for (let i = 0; i < 200; i++) {
      await world.write(`p${i}`, "x");
      await other.write(`q${i}`, "x");
    }
    rmSync(fileOf(world.dataDir, "checkpoints.log"));
    for (let i = 0; i < 100; i++) await other.write(`q${i}`, "y");
    await world.context.store.close();
    await other.context.store.close();
    const { notes } = await journalOf(world.again());
    expect(notes.length).toBeGreaterThan(5);
    expect(fileNotes(world.dataDir)).toEqual(notes);
  });

  it("may be cut off anywhere: the next start completes it, and nothing after the cut is lost", async () => {
    const world = World.open();
    for (let i = 0; i < 90; i++) await world.write(`p${i}`, "x");
    await world.context.store.close();
    const file = fileOf(world.dataDir, "checkpoints.log");
    const length = readFileSync(file).length;
    const step = Math.max(1, Math.round(length / scaled(600)));
    for (let cut = 0; cut < length; cut += step) {
      truncateSync(file, Math.min(statSync(file).size, cut));
      const next = world.again();
      await next.write("q", `x${cut}`);
      await next.context.store.close();
      const reader = world.again();
      const { notes } = await journalOf(reader);
      await reader.context.store.close();
      expect(new Set(fileNotes(world.dataDir)), `cut at ${cut}`).toEqual(new Set(notes));
    }
    expect(await verify(world.dataDir)).toMatchObject({ code: 0, verdict: "valid" });
  });

  it("fails no call when it can't be written, and is completed later", async () => {
    const world = World.open();
    const file = fileOf(world.dataDir, "checkpoints.log");
    rmSync(file, { force: true });
    mkdirSync(file);
    for (let i = 0; i < 100; i++) expect(await world.outcome("memory_write", { path: `p${i}`, body: "x" })).toBe("ok");
    expect(world.faults).toEqual([]);
    rmSync(file, { recursive: true });
    const { notes } = await journalOf(world);
    expect(notes.length).toBeGreaterThan(0);
    await world.context.store.close();
    expect(fileNotes(world.dataDir).slice(0, notes.length)).toEqual(notes);
  });
});

describe("when a checkpoint is signed", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it("after at most 256 entries", async () => {
    const world = World.open();
    for (let i = 0; i < 400; i++) await world.call("memory_read", { path: `p${i}` });
    const { notes, size } = await journalOf(world);
    const sizes = [0, ...sizesOf(notes), size];
    const gaps = sizes.slice(1).map((each, i) => each - sizes[i]!);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(256 + 2);
    expect(Math.min(...gaps.slice(0, -1))).toBeGreaterThanOrEqual(256);
    expect(fileNotes(world.dataDir)).toEqual(notes);
  });

  it("with the first call after 60 s of unsealed ones", async () => {
    const world = World.open();
    await world.write("p", "x");
    expect((await journalOf(world)).notes).toEqual([]);
    world.clock.ms += 59_999;
    await world.write("q", "x");
    expect((await journalOf(world)).notes).toEqual([]);
    world.clock.ms += 1;
    await world.write("r", "x");
    const { notes, size } = await journalOf(world);
    expect(sizesOf(notes)).toEqual([size]);
  });

  it("60 s after the last call when no other comes, and again later", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const world = World.open();
    for (const path of ["p", "q"]) {
      await world.write(path, "x");
      const { size } = await journalOf(world);
      await vi.advanceTimersByTimeAsync(59_999);
      expect(sizesOf((await journalOf(world)).notes)).not.toContain(size);
      await vi.advanceTimersByTimeAsync(1);
      await vi.waitFor(async () => expect(sizesOf((await journalOf(world)).notes)).toContain(size));
    }
  });

  it.each(["the client closes", "SIGTERM", "SIGINT"])("at the end of satchel mcp: %s", async (how) => {
    const data = await makeData("me");
    const session = startSession(data);
    session.write(1, "p", "x");
    await session.until(1);
    expect((await verify(data)).checkpointSize ?? 0).toBe(0);
    if (how === "the client closes") session.child.stdin.end();
    else session.child.kill(how as NodeJS.Signals);
    expect(await session.exit).toMatchObject({ code: 0 });
    const verdict = await verify(data);
    expect(verdict).toMatchObject({ code: 0, verdict: "valid", checkpointSize: verdict.size });
    expect(sizesOf(fileNotes(data))).toEqual([verdict.size]);
  });
});

describe("a context of the release before the journal", () => {
  const earlier = Array.from({ length: 40 }, (_, i) => ({
    id: `aud_0000000000000000000000${String(i).padStart(4, "0")}`,
    at: new Date(startMs - 1_000_000 + i * 1000).toISOString(),
    principal: i % 3 === 0 ? "user:bob" : "user:owner",
    client: "client:notes",
    tool: "memory_read",
    category: i % 2 === 0 ? "memory" : "memory.sensitive",
    action: "read",
    outcome: "ok",
    targets: JSON.stringify([`p${i}`]),
  }));

  /** With no journal, and the given entries in its audit table. */
  function makeEarlier(): string {
    const data = temporaryFolder();
    createContext(data, { handle: "me", kind: "personal" }, environmentOf({ ms: startMs }));
    for (const name of ["context.db", "journal.key", "journal.pub"]) rmSync(fileOf(data, name));
    const database = new SqliteDatabase(fileOf(data, "context.db"));
    database.pragma("journal_mode = WAL");
    database.exec(readFileSync(fileURLToPath(new URL("schema-2.sql", import.meta.url)), "utf8"));
    const made = new Date(startMs - 2_000_000).toISOString();
    const context = ["01a22c00-0000-7000-8000-000000000001", "me", "personal", "core", made, startMs - 2_000_000];
    database.prepare("INSERT INTO context VALUES (?, ?, ?, ?, ?, ?)").run(...context);
    database.exec("INSERT INTO partitions (name) VALUES ('main')");
    const insert = database.prepare(
      `INSERT INTO audit (id, at, principal, client, tool, category, action, outcome, targets)
       VALUES (:id, :at, :principal, :client, :tool, :category, :action, :outcome, :targets)`,
    );
    for (const entry of earlier) insert.run(entry);
    database.pragma("user_version = 2");
    database.close();
    return data;
  }

  it("opens, gets a key, and shows its audit as it was", { timeout: 120_000 }, async () => {
    const data = makeEarlier();
    expect(await verify(data)).toMatchObject({ code: 0, stderr: "", verdict: "valid", size: 0 });
    const shown = await runOk(["audit", "--limit", "1000", "--json", "--data", data]);
    const { entries } = JSON.parse(shown.stdout) as { entries: Record<string, unknown>[] };
    const old = entries.filter(({ id }) => earlier.some((entry) => entry.id === id)).reverse();
    expect(old).toEqual(
      earlier.map(({ targets, ...entry }) => expect.objectContaining({ ...entry, targets: JSON.parse(targets) })),
    );
    const ofBob = await runOk(["audit", "--limit", "1000", "--principal", "user:bob", "--json", "--data", data]);
    expect(JSON.parse(ofBob.stdout).entries).toHaveLength(
      earlier.filter(({ principal }) => principal === "user:bob").length,
    );
    const until = await runOk(["audit", "--until", earlier[10]!.at, "--json", "--data", data]);
    expect(JSON.parse(until.stdout).entries).toHaveLength(10);
    expect(statSync(fileOf(data, "journal.key")).mode & 0o777).toBe(0o600);
    const [key = ""] = knownKeys(data);
    expect(await verify(data, "--key", key)).toMatchObject({ code: 0, verdict: "valid", key });
    const proof = await runOk(["journal", "prove", earlier[7]!.id, "--data", data]);
    expect(verifyProof(JSON.parse(proof.stdout), [parseVerifierKey(key)]).valid).toBe(true);
  });

  it("is started once by processes that open it at once", { timeout: 120_000 }, async () => {
    const data = makeEarlier();
    const all = await Promise.all([1, 2, 3, 4].map(() => runOk(["page", "ls", "--data", data])));
    expect(all.map(({ stderr }) => stderr)).toEqual(["", "", "", ""]);
    const context = openContext(data, "me", environmentOf({ ms: startMs }));
    const entries = await context.store.read(({ journal }) => journal.entries({ from: 0, limit: 1000 }));
    await context.store.close();
    expect(entries.filter(({ kind }) => kind === "key")).toHaveLength(1);
    expect(entries.slice(1, earlier.length + 1).map(({ kind }) => kind)).toEqual(earlier.map(() => "audit"));
    expect(entries.filter(({ kind }) => kind === "audit")).toHaveLength(earlier.length + all.length);
    expect(knownKeys(data)).toHaveLength(1);
    expect(await verify(data)).toMatchObject({ code: 0, verdict: "valid" });
  });
});
