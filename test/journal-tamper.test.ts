import { randomBytes } from "node:crypto";
import { copyFileSync, cpSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { appendEntries, generateSigningKey, makeCheckpoint, startLog } from "@satchel/journal";
import { createSqliteJournal } from "@satchel/journal/sqlite";
import { buildIdentity, buildInput, buildResult } from "@satchel/prp";
import { callTool, openContext, parseCheckpoints } from "@satchel/server";
import SqliteDatabase from "better-sqlite3";
import { beforeAll, describe, expect, it } from "vitest";
import { environmentOf, startMs } from "./environment.js";
import { makeData, run, runOk, startCommand, temporaryFolder } from "./harness.js";
import { assistant, owner, World } from "./in-process.js";

/*
 * A context of some hundred calls whose files are then changed by hand: `satchel journal verify` says what is wrong.
 */

const fileOf = (data: string, name: string) => join(data, "contexts", "me", name);
const readText = (data: string, name: string) => readFileSync(fileOf(data, name), "utf8");

interface Verdict {
  code: number | null;
  verdict: string;
  seq?: number;
  size: number;
  unsettled: string[];
  stderr: string;
}

async function verify(data: string, ...more: string[]): Promise<Verdict> {
  const { code, stdout, stderr } = await run(["journal", "verify", "--json", "--data", data, ...more]);
  return { code, stderr, ...JSON.parse(stdout || "{}") };
}

/** The context, sealed; the same with 60 further calls, sealed; its key. */
let older: string;
let base: string;
let key: string;
let size: number;
/** The last checkpoint of `base`, kept elsewhere. */
let kept: string;
/** Another context, and a checkpoint of it. */
let other: string;
let foreign: string;

async function work(world: World, name: string): Promise<void> {
  for (let i = 0; i < 30; i++) {
    await world.write(`${name}/${i % 20}`, `text ${i}`);
    await world.call("memory_read", { path: `${name}/${i}` }, assistant());
  }
}

beforeAll(async () => {
  const world = World.open();
  await work(world, "one");
  await work(world, "two");
  await world.context.store.close();
  older = copyOf(world.dataDir);
  const again = world.again();
  await work(again, "three");
  await again.context.store.close();
  base = world.dataDir;
  key = readText(base, "journal.pub").trim();
  kept = join(temporaryFolder(), "kept.txt");
  writeFileSync(kept, parseCheckpoints(readText(base, "checkpoints.log")).at(-1)!);
  ({ size } = await verify(base));
  other = await makeData("me");
  foreign = join(temporaryFolder(), "foreign.txt");
  writeFileSync(foreign, (await runOk(["journal", "checkpoint", "--data", other])).stdout);
});

function copyOf(data: string): string {
  const copy = temporaryFolder("satchel-tamper-");
  cpSync(data, copy, { recursive: true });
  return copy;
}

type Row = Record<string, Buffer | number | string | null>;

/** The database of a copy, open to be changed. */
class Table {
  constructor(private readonly database: SqliteDatabase.Database) {}

  static change(data: string, change: (table: Table) => unknown): void {
    const database = new SqliteDatabase(fileOf(data, "context.db"));
    try {
      change(new Table(database));
    } finally {
      database.close();
    }
  }

  run(sql: string, ...parameters: unknown[]): void {
    expect(this.database.prepare(sql).run(...parameters).changes, sql).toBeGreaterThan(0);
  }

  get(sql: string, ...parameters: unknown[]): Row {
    return this.database.prepare(sql).get(...parameters) as Row;
  }

  /** The entry of a kind nearest to the middle of the log. */
  seqOf(kind: number): number {
    const sql = "SELECT seq FROM journal_entries WHERE kind = ? AND opening IS NOT NULL ORDER BY abs(seq - ?) LIMIT 1";
    return Number(this.get(sql, kind, Math.floor(size / 2)).seq);
  }

  /** Turns a bit of a blob in the middle. */
  flip(table: string, column: string, where: string): void {
    const bytes = Buffer.from(this.get(`SELECT ${column} AS bytes FROM ${table} WHERE ${where}`).bytes as Buffer);
    bytes[Math.floor(bytes.length / 2)]! ^= 1;
    this.run(`UPDATE ${table} SET ${column} = ? WHERE ${where}`, bytes);
  }

  journal() {
    const { database } = this;
    return createSqliteJournal({
      run: (sql, ...given) => database.prepare(sql).run(...given),
      get: (sql, ...given) => database.prepare(sql).get(...given) as never,
      all: (sql, ...given) => database.prepare(sql).all(...given) as never[],
    });
  }
}

const input = 0;
const result = 1;
const audit = 3;

describe("a database that was changed by hand", () => {
  it("is valid before", async () => {
    expect(size).toBeGreaterThan(400);
    expect(await verify(base)).toMatchObject({ code: 0, verdict: "valid", size, unsettled: [], stderr: "" });
    expect(await verify(base, "--checkpoint", kept, "--key", key)).toMatchObject({ code: 0, verdict: "valid" });
  });

  type Change = (table: Table) => unknown;
  const entry =
    (kind: number, change: (table: Table, where: string) => unknown): Change =>
    (table) => {
      const seq = table.seqOf(kind);
      change(table, `seq = ${seq}`);
      return seq;
    };
  const at =
    (seq: number, change: (table: Table) => unknown): Change =>
    (table) => {
      change(table);
      return seq;
    };
  const set = (assignment: string) => (table: Table, where: string) =>
    table.run(`UPDATE journal_entries SET ${assignment} WHERE ${where}`);
  const flip = (column: string) => (table: Table, where: string) => table.flip("journal_entries", column, where);
  const some =
    (sql: string): Change =>
    (table) =>
      table.run(sql);

  /** What `change` returns is the first entry that is wrong. */
  it.each<[string, "changed" | "truncated", Change]>([
    ["the time of an entry", "changed", entry(input, set("at = at + 1"))],
    ["the kind of an entry", "changed", entry(result, set("kind = 0"))],
    ["a kind that there is not", "changed", entry(result, set("kind = 77"))],
    ["a commitment", "changed", entry(result, flip("commitments"))],
    ["a leaf", "changed", entry(input, flip("leaf"))],
    ["a body", "changed", entry(result, flip("opening"))],
    ["the detail of an audit entry", "changed", entry(audit, flip("detail"))],
    ["a body that is gone without a redaction", "changed", entry(result, set("opening = NULL"))],
    ["a detail that is gone without a redaction", "changed", entry(audit, set("detail = NULL"))],
    ["a body that is no bytes of one", "changed", entry(input, set("opening = x'00'"))],
    [
      "a body of another entry",
      "changed",
      entry(result, set("opening = (SELECT opening FROM journal_entries WHERE seq = 1)")),
    ],
    ["the body of the key", "changed", at(0, (table) => table.flip("journal_entries", "opening", "seq = 0"))],
    [
      "an entry taken out",
      "changed",
      entry(audit, (table, where) => table.run(`DELETE FROM journal_entries WHERE ${where}`)),
    ],
    ["the first entry taken out", "changed", at(0, (table) => table.run("DELETE FROM journal_entries WHERE seq = 0"))],
    [
      "two entries exchanged",
      "changed",
      entry(input, (table, where) => {
        table.run(`UPDATE journal_entries SET seq = -1 WHERE ${where}`);
        table.run(`UPDATE journal_entries SET seq = seq - 1 WHERE ${where.replace("=", "= 1 +")}`);
        table.run(`UPDATE journal_entries SET seq = 1 + ${where.slice(6)} WHERE seq = -1`);
      }),
    ],
    [
      "an entry put before the first",
      "changed",
      (table) => {
        table.run(
          "INSERT INTO journal_entries SELECT -5, at, kind, commitments, leaf, opening, detail FROM journal_entries WHERE seq = 1",
        );
        return -5;
      },
    ],
    [
      "an entry put after the last",
      "changed",
      (table) => {
        table.run(
          "INSERT INTO journal_entries SELECT ?, at, kind, commitments, leaf, opening, detail FROM journal_entries WHERE seq = ?",
          size,
          size - 1,
        );
        return size;
      },
    ],
    [
      "the signature of a checkpoint",
      "changed",
      some(
        "UPDATE journal_checkpoints SET note = replace(note, substr(note, -20, 4), 'AAAA') WHERE size = (SELECT max(size) FROM journal_checkpoints)",
      ),
    ],
    [
      "the size of a checkpoint",
      "changed",
      some("UPDATE journal_checkpoints SET size = size - 1 WHERE size = (SELECT max(size) FROM journal_checkpoints)"),
    ],
    [
      "a checkpoint that is none",
      "changed",
      some("UPDATE journal_checkpoints SET note = 'x' WHERE size = (SELECT max(size) FROM journal_checkpoints)"),
    ],
    [
      "the note of another checkpoint",
      "changed",
      some(
        "UPDATE journal_checkpoints SET note = (SELECT note FROM journal_checkpoints ORDER BY size LIMIT 1) WHERE size = (SELECT max(size) FROM journal_checkpoints)",
      ),
    ],
    ["a hash of the tree", "changed", (table) => table.flip("journal_subtrees", "hash", "level = 8 AND position = 0")],
    [
      "a hash of the tree that is gone",
      "changed",
      some("DELETE FROM journal_subtrees WHERE level = 8 AND position = 0"),
    ],
    [
      "a hash too many",
      "changed",
      some("INSERT INTO journal_subtrees SELECT level, position + 1000, hash FROM journal_subtrees"),
    ],
    ["the state of the tree", "changed", (table) => table.flip("journal_tree", "frontier", "num = 1")],
    ["a tree said to be of another size", "changed", some("UPDATE journal_tree SET size = size + 1000")],
    [
      "the last entries gone",
      "truncated",
      some("DELETE FROM journal_entries WHERE seq > (SELECT max(seq) - 5 FROM journal_entries)"),
    ],
    ["every entry gone", "truncated", some("DELETE FROM journal_entries")],
    [
      "an audit entry that the index leaves out",
      "changed",
      entry(audit, (table, where) => table.run(`DELETE FROM audit_index WHERE ${where}`)),
    ],
    [
      "an audit entry indexed as another user's",
      "changed",
      entry(audit, (table, where) => table.run(`UPDATE audit_index SET principal = 'user:bob' WHERE ${where}`)),
    ],
    [
      "an audit entry indexed under another category",
      "changed",
      entry(audit, (table, where) => table.run(`UPDATE audit_index SET category = 'admin' WHERE ${where}`)),
    ],
    [
      "an audit entry indexed at another time",
      "changed",
      entry(audit, (table, where) => table.run(`UPDATE audit_index SET at = at + 1 WHERE ${where}`)),
    ],
    [
      "an index of an entry that is no audit",
      "changed",
      at(1, (table) => table.run("INSERT INTO audit_index VALUES (1, 1, 'user:owner', 'memory')")),
    ],
  ])("%s: %s", async (_, verdict, change) => {
    const data = copyOf(base);
    let seq: unknown;
    Table.change(data, (table) => {
      seq = change(table);
    });
    const said = await verify(data);
    expect(said).toMatchObject({ code: 1, verdict, stderr: "", ...(typeof seq === "number" && { seq }) });
  });
});

describe("an older copy in place of the database", () => {
  const given = () => ["--checkpoint", kept, "--key", key];

  function replay(): string {
    const data = copyOf(base);
    copyFileSync(fileOf(older, "context.db"), fileOf(data, "context.db"));
    return data;
  }

  it("is truncated by the checkpoints beside it", async () => {
    expect(await verify(replay())).toMatchObject({ code: 1, verdict: "truncated" });
  });

  it("is truncated by a checkpoint kept elsewhere alone", async () => {
    const data = replay();
    rmSync(fileOf(data, "checkpoints.log"));
    expect(await verify(data)).toMatchObject({ code: 0, verdict: "valid" });
    rmSync(fileOf(data, "journal.pub"));
    expect(await verify(data, ...given())).toMatchObject({ code: 1, verdict: "truncated" });
  });

  it("is forked once it has grown past what was signed", async () => {
    const data = replay();
    const context = openContext(data, "me", environmentOf({ ms: startMs }));
    for (let i = 0; i < 100; i++) {
      const args = { path: `other/${i}`, body: "x" };
      await callTool("memory_write", { context, caller: owner, args, log: { fault: () => undefined } });
    }
    await context.store.close();
    expect(await verify(data)).toMatchObject({ code: 1, verdict: "forked" });
    rmSync(fileOf(data, "checkpoints.log"));
    const said = await verify(data);
    expect([said.code, said.size > size]).toEqual([0, true]);
    expect(await verify(data, ...given())).toMatchObject({ code: 1, verdict: "forked" });
  });
});

describe("keys and checkpoints that were changed", () => {
  const madeUp = (origin: string) => generateSigningKey(origin, randomBytes(32));
  const origin = () => key.split("+")[0]!;

  /** Somebody without the key writes a log of their own in its place, with a key of the same name. */
  async function forge(data: string): Promise<void> {
    const forger = madeUp(origin());
    const at = new Date(startMs).toISOString();
    const tools = { randomBytes };
    const database = new SqliteDatabase(fileOf(data, "context.db"));
    for (const table of ["entries", "tree", "subtrees", "checkpoints"]) database.exec(`DELETE FROM journal_${table}`);
    database.exec("DELETE FROM audit_index");
    const journal = new Table(database).journal();
    await startLog(journal, forger, { ...tools, at });
    const many = Array.from({ length: size }, () => ({ at, kind: "erasure" as const, bodies: [{}] }));
    await appendEntries(journal, many, tools);
    await makeCheckpoint(journal, forger);
    database.close();
    writeFileSync(fileOf(data, "journal.key"), forger.secretText());
    writeFileSync(fileOf(data, "journal.pub"), forger.verifier.text);
  }

  const given = () => ["--checkpoint", kept, "--key", key];
  const write = (name: string, text: () => string) => (data: string) => writeFileSync(fileOf(data, name), text());
  const edit = (change: (text: string) => string) => (data: string) =>
    writeFileSync(fileOf(data, "checkpoints.log"), change(readText(data, "checkpoints.log")));

  it.each<[string, number, string, (data: string) => unknown, (() => string[])?]>([
    [
      "journal.pub is of another key of this name",
      1,
      "unknown_key",
      write("journal.pub", () => madeUp(origin()).verifier.text),
    ],
    [
      "journal.pub is of another context",
      1,
      "unknown_key",
      write("journal.pub", () => madeUp("satchel/other").verifier.text),
    ],
    ["journal.pub is gone", 1, "unknown_key", (data) => rmSync(fileOf(data, "journal.pub"))],
    [
      "journal.pub is gone and the key is given",
      0,
      "valid",
      (data) => rmSync(fileOf(data, "journal.pub")),
      () => ["--key", key],
    ],
    ["journal.pub holds no key", 2, "unreadable", write("journal.pub", () => "no key\n")],
    ["another key is given", 1, "unknown_key", () => undefined, () => ["--key", madeUp(origin()).verifier.text]],
    ["a log of another key in its place", 1, "unknown_key", forge],
    ["a log of another key, the key given", 1, "forked", forge, () => ["--key", key]],
    ["a log of another key, checkpoint and key given", 1, "forked", forge, given],
    ["checkpoints.log is gone", 0, "valid", (data) => rmSync(fileOf(data, "checkpoints.log"))],
    ["checkpoints.log is empty", 0, "valid", edit(() => "")],
    ["checkpoints.log ends in the middle of a note", 0, "valid", edit((text) => text.slice(0, -50))],
    ["checkpoints.log holds other lines", 0, "valid", edit((text) => `some text\n${text}more\n`)],
    ["a size in checkpoints.log", 2, "unreadable", edit((text) => text.replace(/^\d+$/m, "9999"))],
    [
      "a signature in checkpoints.log",
      2,
      "unreadable",
      edit((text) => text.replace(/(?<=^— \S+ \S{20})\S{4}/m, "AAAA")),
    ],
    ["the key in checkpoints.log", 1, "unknown_key", edit((text) => text.replace(/(?<=^— \S+ )\S{4}/m, "AAAA"))],
    [
      "a checkpoint of another context is given",
      2,
      "unreadable",
      () => undefined,
      () => ["--checkpoint", foreign, "--key", key],
    ],
    [
      "the database of another context",
      2,
      "unreadable",
      (data) => copyFileSync(fileOf(other, "context.db"), fileOf(data, "context.db")),
    ],
    ["the database is no database", 2, "unreadable", write("context.db", () => "x".repeat(9000))],
    ["the database is cut off", 2, "unreadable", (data) => truncateSync(fileOf(data, "context.db"), 3000)],
  ])("%s: exit code %i, %s", async (_, code, verdict, change, more = () => []) => {
    const data = copyOf(base);
    await change(data);
    expect(await verify(data, ...more())).toMatchObject({ code, verdict, stderr: "" });
  });

  it("a context that was only made has nothing to verify; one that was emptied is truncated", async () => {
    const fresh = await makeData("me");
    expect(await verify(fresh)).toMatchObject({ code: 0, verdict: "valid", size: 0 });
    const data = copyOf(base);
    rmSync(fileOf(data, "checkpoints.log"));
    Table.change(data, (table) => {
      for (const name of ["entries", "tree", "subtrees", "checkpoints"]) table.run(`DELETE FROM journal_${name}`);
    });
    expect(await verify(data)).toMatchObject({ code: 1, verdict: "truncated" });
    expect(await verify(fresh, "--checkpoint", foreign)).toMatchObject({ code: 2, verdict: "unreadable" });
  });

  it("says in one line that there is no database", async () => {
    const data = copyOf(base);
    rmSync(fileOf(data, "context.db"));
    const ran = await run(["journal", "verify", "--data", data, "--context", "me"]);
    expect(ran).toEqual({ code: 2, stdout: "", stderr: expect.stringMatching(/^satchel: [^\n]+\n$/) });
  });

  it("a log whose journal.key was exchanged is not signed on with it, and calls go on", async () => {
    const data = copyOf(base);
    writeFileSync(fileOf(data, "journal.key"), madeUp(origin()).secretText());
    const put = await run(["page", "put", "p", "--data", data], { input: "x" });
    expect(put).toMatchObject({ code: 2, stderr: expect.stringMatching(/^satchel: [^\n]*journal\.key[^\n]*\n$/) });
    expect(put.stdout).toMatch(/^Wrote p /);
    expect(await verify(data)).toMatchObject({ code: 0, verdict: "valid", key, checkpointSize: size });
  });
});

describe("calls without an end", () => {
  const identity = (runId: string, callId: string) =>
    buildIdentity({
      operationId: "erase_request",
      callId,
      correlation: { runId, normalizedSessionId: "ses_1", turnId: "turn_1", itemId: "item_1" },
      idempotencyKey: null,
    });

  it("make exit code 3 and are named, also when another caller's call of the same name has ended", async () => {
    const data = copyOf(base);
    const context = openContext(data, "me", environmentOf({ ms: startMs + 1e6 }));
    const at = new Date(startMs + 1e6).toISOString();
    const begin = (runId: string) => ({
      at,
      kind: "prp.input" as const,
      bodies: [buildInput(identity(runId, "call_7"), { arguments: {} })],
    });
    const ended = buildResult(identity("run_b", "call_7"), { code: "internal", result: {} });
    await context.store.write(async (transaction) => {
      const end = { at, kind: "prp.result" as const, bodies: [ended] };
      await context.journal?.append(transaction, [begin("run_a"), begin("run_b"), end]);
    });
    await context.store.close();
    expect(await verify(data)).toMatchObject({ code: 3, verdict: "valid", unsettled: ["call_7"] });
    const human = await run(["journal", "verify", "--data", data]);
    expect(human).toMatchObject({
      code: 3,
      stderr: "",
      stdout: expect.stringMatching(/\n1 call is unsettled: call_7\n$/),
    });
  });

  it("are those of an erasure that was killed, until the next start ends it", { timeout: 120_000 }, async () => {
    const data = await makeData("me");
    await runOk(["page", "put", "p", "--data", data], { input: "x" });
    const script = join(temporaryFolder(), "crash.mjs");
    writeFileSync(
      script,
      `import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
const rename = fs.renameSync;
let count = 0;
fs.renameSync = (from, to) => {
  rename(from, to);
  if (String(to).endsWith("erasure.job") && ++count === 2) process.kill(process.pid, "SIGKILL");
};
syncBuiltinESMExports();
`,
    );
    const erasing = startCommand(["erase", "--path", "p", "--yes", "--data", data], {
      nodeArguments: ["--import", script],
    });
    expect(await erasing.exit).toMatchObject({ signal: "SIGKILL" });
    const said = await verify(data);
    expect(said).toMatchObject({ code: 3, verdict: "valid", unsettled: [expect.stringMatching(/^call_/)] });
    const { stdout } = await runOk(["journal", "unsettled", "--json", "--data", data]);
    expect(JSON.parse(stdout)).toEqual({ calls: [] });
    expect(await verify(data)).toMatchObject({ code: 0, verdict: "valid", unsettled: [] });
    const { receipts } = JSON.parse((await runOk(["receipts", said.unsettled[0]!, "--json", "--data", data])).stdout);
    expect(receipts.map((each: { envelope: { phase: string } }) => each.envelope.phase)).toEqual([
      "reconciled",
      "input",
    ]);
  });
});
