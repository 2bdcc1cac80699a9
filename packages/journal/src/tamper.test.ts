import { afterAll, describe, expect, it } from "vitest";
import { scaled, testSeed } from "../../../test/scale.js";
import { signCheckpoint } from "./checkpoint.js";
import { commit, hashEntry, type StoredEntry } from "./entry.js";
import {
  appendEntries,
  makeCheckpoint,
  redactEntries,
  rotateKey,
  type SigningKey,
  startLog,
  type Verdict,
  type VerifierKey,
  verifyLog,
} from "./index.js";
import { GrowingTree } from "./merkle-tree.js";
import { createSqliteJournal } from "./sqlite.js";
import {
  at,
  makeCall,
  makeKey,
  openDatabase,
  origin,
  seededBytes,
  startTestLog,
  type TestDatabase,
} from "./test-log.contract.js";

const tried = new Map<string, number>();
const count = (what: string) => tried.set(what, (tried.get(what) ?? 0) + 1);
afterAll(() => console.log(`tampering found: ${[...tried].map(([what, times]) => `${what} ${times}`).join(", ")}`));

interface Log {
  database: TestDatabase;
  trusted: VerifierKey[];
  key: SigningKey;
  /** The last checkpoint, as its owner keeps it elsewhere. */
  note: string;
  size: number;
}

/** A small log with everything that a log can hold: sealed twice, the second time to its end. */
async function makeLog(label: string): Promise<Log> {
  const { database, storage, key, tools, append } = await startTestLog(label);
  await append(3);
  await appendEntries(storage, [{ at, kind: "prp.input", bodies: [7] }], tools);
  await makeCheckpoint(storage, key);
  const next = makeKey(`${label} next`);
  await rotateKey(storage, { from: key, to: next, at, ...tools });
  await append(1);
  await appendEntries(storage, [{ at, kind: "erasure", bodies: [{ receipt: "era_1" }] }], tools);
  const entries = [
    { seq: 1, slots: [0] },
    { seq: 2, slots: [1] },
    { seq: 5, slots: [0, 1] },
  ];
  await redactEntries(storage, { receipt: "era_1", at, entries }, tools);
  const { note, size } = await makeCheckpoint(storage, next);
  return { database, trusted: [key.verifier, next.verifier], key: next, note, size };
}

function verify(database: TestDatabase, { trusted, note }: Pick<Log, "trusted"> & { note?: string }): Promise<Verdict> {
  return verifyLog(createSqliteJournal(database), { trusted, origin, ...(note && { checkpoints: [note] }) });
}

interface Row {
  [column: string]: number | Buffer | null;
}

const rowAt = (database: TestDatabase, seq: number) =>
  database.get<Row>("SELECT * FROM journal_entries WHERE seq = ?", seq)!;
const setColumn = (database: TestDatabase, column: string, { seq, value }: { seq: number; value: unknown }) =>
  database.run(`UPDATE journal_entries SET ${column} = ? WHERE seq = ?`, value, seq);

function* alterBytes(bytes: Buffer, random: () => number): Generator<Buffer> {
  for (let i = 0; i < bytes.length; i++) {
    const copy = Buffer.from(bytes);
    copy[i]! ^= 1 + Math.floor(random() * 255);
    yield copy;
  }
  yield bytes.subarray(0, -1);
  yield bytes.subarray(1);
  yield Buffer.concat([bytes, Buffer.of(0)]);
  yield Buffer.alloc(0);
}

/** mulberry32 */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const random = seededRandom(testSeed());

/** Every other value that differs in one bit, of the columns that are numbers. */
function alterNumber(column: string, value: number): number[] {
  const bits = { seq: 40, at: 48, kind: 8 }[column] ?? 0;
  const flipped = Array.from({ length: bits }, (_, bit) => {
    const isSet = Math.floor(value / 2 ** bit) % 2 === 1;
    return isSet ? value - 2 ** bit : value + 2 ** bit;
  });
  return [...flipped, -1 - value, 2 ** 53 - 1];
}

function alterColumn(row: Row, column: string): Iterable<number | Buffer | null> {
  const value = row[column] ?? null;
  if (typeof value === "number") return alterNumber(column, value);
  if (value === null) return [Buffer.alloc(0), Buffer.alloc(37), row.opening ?? Buffer.of(1)];
  const gone = column === "opening" || column === "detail" ? [null] : [];
  return [...alterBytes(value, random), ...gone];
}

describe("one stored value", () => {
  it("that is altered is found at its entry: every byte of every column", { timeout: 3_600_000 }, async () => {
    const wanted = scaled(1000);
    for (let checked = 0, made = 0; checked < wanted; made++) {
      const log = await makeLog(`log ${made}`);
      expect(await verify(log.database, log)).toMatchObject({ verdict: "valid", size: log.size, redacted: 4 });
      for (let seq = 0; seq < log.size && checked < wanted; seq++, checked++) await alterEntry(log, seq);
      expect(await verify(log.database, log)).toMatchObject({ verdict: "valid" });
    }
  });

  async function alterEntry(log: Log, seq: number): Promise<void> {
    const row = rowAt(log.database, seq);
    for (const column of Object.keys(row)) {
      for (const value of alterColumn(row, column)) {
        const isTaken = column === "seq" && (value as number) >= 0 && (value as number) < log.size;
        if (isTaken) continue;
        setColumn(log.database, column, { seq, value });
        const verdict = await verify(log.database, log);
        const where = column === "seq" && (value as number) < 0 ? value : seq;
        expect({ column, value, ...verdict }).toMatchObject({ verdict: "changed", seq: where });
        setColumn(log.database, column, { seq: column === "seq" ? (value as number) : seq, value: row[column] });
        count(`values of ${column}`);
      }
    }
  }

  it("of the tree that is altered is found, though no entry is", async () => {
    const { database, storage, key, trusted, append } = await startTestLog("tall");
    await append(180);
    await makeCheckpoint(storage, key);
    const cases = [
      { table: "journal_tree", column: "frontier", where: "num = 1" },
      { table: "journal_subtrees", column: "hash", where: "level = 8 AND position = 0" },
      { table: "journal_subtrees", column: "hash", where: "level = 8 AND position = 1" },
    ];
    for (const { table, column, where } of cases) {
      const { value } = database.get<{ value: Buffer }>(`SELECT ${column} AS value FROM ${table} WHERE ${where}`)!;
      for (const other of [...alterBytes(value, random)].filter(() => random() < 0.2)) {
        database.run(`UPDATE ${table} SET ${column} = ? WHERE ${where}`, other);
        expect(await verify(database, { trusted })).toMatchObject({ verdict: "changed" });
        count("hashes of the tree");
      }
      database.run(`UPDATE ${table} SET ${column} = ? WHERE ${where}`, value);
    }
    const changes = [
      "DELETE FROM journal_subtrees WHERE position = 1",
      "INSERT INTO journal_subtrees VALUES (8, 2, zeroblob(32))",
      "UPDATE journal_subtrees SET position = 2 WHERE position = 1",
      "DELETE FROM journal_tree",
    ];
    for (const sql of changes) {
      const copy = database.copy();
      copy.run(sql);
      expect((await verify(copy, { trusted })).verdict).toBe("changed");
      count("hashes of the tree");
    }
    expect((await verify(database, { trusted })).verdict).toBe("valid");
  });

  it("of a checkpoint that is altered is never valid", async () => {
    const log = await makeLog("checkpoints");
    const rows = log.database.all<{ size: number; note: string }>("SELECT size, note FROM journal_checkpoints");
    for (const { size, note } of rows) {
      for (let i = 0; i < note.length; i++) {
        const other = note.slice(0, i) + String.fromCharCode(note.charCodeAt(i) ^ 1) + note.slice(i + 1);
        log.database.run("UPDATE journal_checkpoints SET note = ? WHERE size = ?", other, size);
        const { verdict } = await verify(log.database, { trusted: log.trusted });
        expect(["changed", "unknown_key"]).toContain(verdict);
        count("characters of checkpoints");
      }
      log.database.run("UPDATE journal_checkpoints SET note = ? WHERE size = ?", note, size);
      log.database.run("UPDATE journal_checkpoints SET size = size + 100 WHERE size = ?", size);
      expect((await verify(log.database, { trusted: log.trusted })).verdict).toBe("changed");
      log.database.run("UPDATE journal_checkpoints SET size = size - 100 WHERE size = ?", size + 100);
    }
    expect((await verify(log.database, log)).verdict).toBe("valid");
  });
});

describe("entries", () => {
  it("that are dropped, moved, copied, inserted or cut off are found where it begins", async () => {
    const log = await makeLog("rows");
    const { size } = log;
    const shift = (database: TestDatabase, from: number, by: number) => {
      // In two steps, so that no number is taken while rows move.
      database.run("UPDATE journal_entries SET seq = -seq - 1000000 WHERE seq >= ?", from);
      database.run("UPDATE journal_entries SET seq = -seq - 1000000 + ? WHERE seq <= -1000000", by);
    };
    const copyRow = (database: TestDatabase, seq: number, to: number) =>
      database.run(
        `INSERT INTO journal_entries SELECT ?, at, kind, commitments, leaf, opening, detail
         FROM journal_entries WHERE seq = ?`,
        to,
        seq,
      );
    const expectVerdict = async (what: string, expected: Partial<Verdict>, change: (copy: TestDatabase) => void) => {
      const copy = log.database.copy();
      change(copy);
      expect({ what, ...(await verify(copy, { trusted: log.trusted })) }).toMatchObject(expected);
      count(what);
    };
    for (let seq = 0; seq < size; seq++) {
      const isLast = seq === size - 1;
      const missing: Partial<Verdict> = isLast ? { verdict: "truncated", size: seq } : { verdict: "changed", seq };
      await expectVerdict("entries dropped", missing, (copy) => {
        copy.run("DELETE FROM journal_entries WHERE seq = ?", seq);
      });
      if (!isLast) {
        await expectVerdict("entries dropped and closed up", { verdict: "changed", seq }, (copy) => {
          copy.run("DELETE FROM journal_entries WHERE seq = ?", seq);
          shift(copy, seq + 1, -1);
        });
      }
      await expectVerdict("entries copied to the end", { verdict: "changed", seq: size }, (copy) => {
        copyRow(copy, seq, size);
      });
      await expectVerdict("entries inserted", { verdict: "changed", seq: seq + 1 }, (copy) => {
        shift(copy, seq + 1, 1);
        copyRow(copy, seq, seq + 1);
      });
      await expectVerdict("tails cut off", { verdict: "truncated", size: seq }, (copy) => {
        copy.run("DELETE FROM journal_entries WHERE seq >= ?", seq);
      });
      for (let other = seq + 1; other < size; other++) {
        await expectVerdict("entries swapped", { verdict: "changed", seq }, (copy) => {
          copy.run("UPDATE journal_entries SET seq = -1 WHERE seq = ?", seq);
          copy.run("UPDATE journal_entries SET seq = ? WHERE seq = ?", seq, other);
          copy.run("UPDATE journal_entries SET seq = ? WHERE seq = -1", other);
        });
      }
    }
  });

  it("that are cut off with all that knows of them are missed by a checkpoint kept outside", async () => {
    const log = await makeLog("cut");
    for (let size = 0; size < log.size; size++) {
      const copy = log.database.copy();
      await cutCleanly(copy, size);
      expect(await verify(copy, log)).toMatchObject({ verdict: "truncated", size });
      count("tails cut off cleanly");
    }
  });

  /** What somebody who knows the format but not the key can do: everything but signatures fits. */
  async function cutCleanly(database: TestDatabase, size: number): Promise<void> {
    database.run("DELETE FROM journal_entries WHERE seq >= ?", size);
    database.run("DELETE FROM journal_checkpoints WHERE size > ?", size);
    await rebuildTree(database);
  }

  async function rebuildTree(database: TestDatabase): Promise<void> {
    const tree = new GrowingTree();
    for (const { leaf } of database.all<{ leaf: Buffer }>("SELECT leaf FROM journal_entries ORDER BY seq"))
      tree.add(leaf);
    database.run("DELETE FROM journal_tree");
    await createSqliteJournal(database).append({ entries: [], state: tree.state(), subtrees: [] });
  }

  it("that are forged, with all hashes made to fit, break the next checkpoint", async () => {
    const log = await makeLog("forged");
    const storage = createSqliteJournal(log.database);
    const sealed = (await storage.checkpoints({ after: 0 })).map((note) => Number(note.split("\n")[1]));
    await appendEntries(storage, makeCall(99), { randomBytes: seededBytes("tail") });
    const erasable = (await storage.entries({ from: 0, limit: 99 })).filter(({ kind }) => kind.startsWith("prp."));
    for (const entry of erasable) {
      const copy = log.database.copy();
      await forge(copy, entry);
      const covered = sealed.filter((size) => size <= entry.seq).at(-1) ?? 0;
      const isSealed = entry.seq < log.size;
      const expected = isSealed ? { verdict: "changed", seq: covered } : { verdict: "valid", checkpointSize: log.size };
      expect(await verify(copy, { trusted: log.trusted })).toMatchObject(expected);
      count(isSealed ? "entries forged" : "entries forged after the last checkpoint (not found, as documented)");
    }
  });

  async function forge(database: TestDatabase, { seq, at: time, kind, openings }: StoredEntry): Promise<void> {
    const isErased = openings[0] === undefined;
    const opening = { salt: Buffer.alloc(32, 7), body: '{"forged":true}' };
    const entry = { seq, at: time, kind, commitments: [commit(opening)] };
    database.run("DELETE FROM journal_entries WHERE seq = ?", seq);
    const stored = { ...entry, leaf: hashEntry(entry), openings: isErased ? [undefined] : [opening] };
    const storage = createSqliteJournal(database);
    await storage.append({ entries: [stored], state: await storage.state(), subtrees: [] });
    await rebuildTree(database);
  }
});

describe("an old copy", () => {
  it("is truncated against a later checkpoint, and forked once it went on differently", async () => {
    const { database, storage, key, trusted, tools, append } = await startTestLog("rollback");
    const copies: TestDatabase[] = [];
    for (let i = 0; i < 12; i++) {
      await append(1);
      if (i % 2 === 0) await makeCheckpoint(storage, key);
      copies.push(database.copy());
    }
    const { note, size } = await makeCheckpoint(storage, key);
    for (const copy of copies.slice(0, -1)) {
      expect(await verify(copy, { trusted })).toMatchObject({ verdict: "valid" });
      expect(await verify(copy, { trusted, note })).toMatchObject({ verdict: "truncated" });
      count("old copies");
      const journal = createSqliteJournal(copy);
      while ((await journal.state()).size <= size) await appendEntries(journal, makeCall(1000), tools);
      await makeCheckpoint(journal, key);
      expect(await verify(copy, { trusted })).toMatchObject({ verdict: "valid" });
      expect(await verify(copy, { trusted, note })).toMatchObject({ verdict: "forked" });
      count("forks");
    }
    expect(await verify(database, { trusted, note })).toMatchObject({ verdict: "valid", checkpointSize: size });
  });
});

describe("keys", () => {
  it("that are swapped for others are not trusted", async () => {
    const log = await startTestLog("owner");
    await log.append(2);
    const { note } = await makeCheckpoint(log.storage, log.key);
    const other = await startTestLog("thief");
    await other.append(2);
    expect((await verify(other.database, log)).verdict).toBe("unknown_key");
    await makeCheckpoint(other.storage, other.key);
    expect((await verify(other.database, log)).verdict).toBe("unknown_key");
    expect((await verify(other.database, { ...log, note })).verdict).toBe("forked");
    expect((await verify(other.database, { trusted: [] })).verdict).toBe("unknown_key");
    count("keys swapped");
  });

  it("of another name than the log's are not trusted", async () => {
    const database = openDatabase();
    const storage = createSqliteJournal(database);
    const key = makeKey("owner", "satchel/other");
    await startLog(storage, key, { at, randomBytes: seededBytes("x") });
    await makeCheckpoint(storage, key);
    const verdict = await verifyLog(storage, { trusted: [key.verifier], origin });
    expect(verdict.verdict).toBe("changed");
    expect(await verifyLog(storage, { trusted: [key.verifier], origin: "satchel/other" })).toMatchObject({
      verdict: "valid",
    });
  });

  it("that were replaced, or are not yet in force, sign nothing", async () => {
    const { database, storage, key, trusted, tools, append } = await startTestLog("rotated");
    const next = makeKey("next");
    const sealAs = async (signer: SigningKey, on: TestDatabase) => {
      const { size } = await createSqliteJournal(on).state();
      const root = Buffer.from((await verify(on, { trusted })).root, "base64");
      on.run("INSERT INTO journal_checkpoints VALUES (?, ?)", size, signCheckpoint({ size, root }, signer));
    };
    await append(1);
    const early = database.copy();
    await sealAs(next, early);
    expect((await verify(early, { trusted: [...trusted, next.verifier] })).verdict).toBe("unknown_key");
    await rotateKey(storage, { from: key, to: next, at, ...tools });
    const late = database.copy();
    await sealAs(key, late);
    expect((await verify(late, { trusted: [...trusted, next.verifier] })).verdict).toBe("unknown_key");
    await sealAs(next, database);
    expect(await verify(database, { trusted })).toMatchObject({ verdict: "valid", checkpointSize: 5 });
    count("keys out of force");
  });
});
