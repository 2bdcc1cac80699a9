import { describe, expect, it } from "vitest";
import { scaled } from "../../../test/scale.js";
import { makeCheckpoint, redactEntries } from "./index.js";
import { createSqliteJournal } from "./sqlite.js";
import { describeStorage } from "./storage.contract.js";
import { at, openDatabase, startTestLog } from "./test-log.contract.js";

describeStorage("a journal in SQLite", () => createSqliteJournal(openDatabase()));

describe("the SQLite file", () => {
  it("grows by at most 1,200 bytes for the four bodies of a call, checkpoints included", async () => {
    const { database, storage, key, append } = await startTestLog();
    const before = database.bytes().length;
    const calls = scaled(20_000);
    for (let done = 0; done < calls; done += 85) {
      await append(Math.min(85, calls - done));
      await makeCheckpoint(storage, key);
    }
    const perCall = (database.bytes().length - before) / calls;
    console.log(`${perCall.toFixed(0)} bytes of SQLite for each call`);
    expect(perCall).toBeLessThan(1200);
  });

  it("keeps no byte of what was erased", async () => {
    const { database, storage, tools, append } = await startTestLog();
    await append(20);
    const stored = database.all<{ seq: number; opening: Buffer; detail: Buffer | null }>(
      "SELECT seq, opening, detail FROM journal_entries WHERE seq BETWEEN 10 AND 40",
    );
    const secrets = stored.flatMap(({ opening, detail }) => (detail ? [opening, detail] : [opening]));
    const found = () =>
      secrets.filter((secret) => [0, secret.length / 2].some((from) => isIn(secret.subarray(from, from + 16))));
    const isIn = (part: Buffer) => database.bytes().includes(part);
    expect(found()).toHaveLength(secrets.length);
    const entries = stored.map(({ seq, detail }) => ({ seq, slots: detail ? [0, 1] : [0] }));
    await redactEntries(storage, { receipt: "era_1", at, entries }, tools);
    expect(found()).toEqual([]);
  });

  it.each([
    ["UPDATE journal_tree SET size = 5", (journal) => journal.state()],
    ["UPDATE journal_tree SET frontier = zeroblob(65)", (journal) => journal.state()],
    ["UPDATE journal_entries SET at = -9e15 WHERE seq = 3", (journal) => journal.entries({ from: 0, limit: 9 })],
    ["UPDATE journal_entries SET at = 9e15 WHERE seq = 3", (journal) => journal.lastTime()],
    ["UPDATE journal_entries SET kind = 9 WHERE seq = 3", (journal) => journal.entries({ from: 0, limit: 9 })],
    [
      "UPDATE journal_entries SET leaf = x'00' WHERE seq = 3",
      (journal) => journal.subtrees({ level: 0, from: 0, limit: 9 }),
    ],
    ["DELETE FROM journal_entries WHERE seq = 2", (journal) => journal.subtrees({ level: 0, from: 0, limit: 9 })],
    ["UPDATE journal_checkpoints SET note = 'x'", (journal) => journal.lastCheckpoint()],
    ["UPDATE journal_checkpoints SET size = 3", (journal) => journal.checkpoints({ after: 0 })],
  ] satisfies [string, (journal: ReturnType<typeof createSqliteJournal>) => Promise<unknown>][])(
    "is not guessed at after %s",
    async (sql, read) => {
      const { database, storage, key, append } = await startTestLog();
      await append(1);
      await makeCheckpoint(storage, key);
      database.run(sql);
      await expect(read(storage)).rejects.toMatchObject({ name: "JournalError", code: "damaged" });
    },
  );
});
