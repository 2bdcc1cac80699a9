import { describe, expect, it } from "vitest";
import { signCheckpoint } from "./checkpoint.js";
import { type JournalReader, makeCheckpoint, proveConsistency, type StoredEntry, verifyLog } from "./index.js";
import { createSqliteJournal } from "./sqlite.js";
import { makeKey, openDatabase, origin, startTestLog } from "./test-log.contract.js";

describe("verifyLog", () => {
  it("says what it checked", async () => {
    const { storage, key, trusted, append } = await startTestLog();
    await append(400);
    const { note } = await makeCheckpoint(storage, key);
    await append(1);
    const checked: number[] = [];
    const entries: StoredEntry[] = [];
    const verdict = await verifyLog(storage, {
      trusted,
      origin,
      checkpoints: [note],
      onProgress: (progress) => checked.push(progress.checked),
      onEntry: (entry) => entries.push(entry),
    });
    expect(verdict).toEqual({
      verdict: "valid",
      message: "The log is what was signed.",
      size: 1204,
      root: expect.stringMatching(/^[A-Za-z0-9+/]{43}=$/),
      checkpointSize: 1201,
      redacted: 0,
      key: key.verifier.text,
    });
    expect(checked).toEqual(checked.toSorted((one, other) => one - other));
    expect(checked.at(-1)).toBe(1204);
    expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: 1204 }, (_, seq) => seq));
    expect(entries[1]!.openings[0]!.body).toContain('"phase":"input"');
  });

  it("passes on what the caller's own functions throw", async () => {
    const { storage, trusted } = await startTestLog();
    const fault = new Error("of the caller");
    const onEntry = () => {
      throw fault;
    };
    await expect(verifyLog(storage, { trusted, origin, onEntry })).rejects.toBe(fault);
  });

  it("finds a log that was never signed valid only when its key is trusted", async () => {
    const { storage, trusted, append } = await startTestLog();
    await append(1);
    const verdict = await verifyLog(storage, { trusted, origin });
    expect(verdict).toMatchObject({ verdict: "valid", size: 4 });
    expect(verdict).not.toHaveProperty("checkpointSize");
    expect((await verifyLog(storage, { trusted: [], origin })).verdict).toBe("unknown_key");
  });

  it("takes an empty log for one that lost its entries", async () => {
    const storage = createSqliteJournal(openDatabase());
    expect(await verifyLog(storage, { trusted: [], origin })).toMatchObject({ verdict: "truncated", size: 0 });
  });

  it.each(["state", "entries", "checkpoints", "subtrees"] as const)(
    "is unreadable when %s can't be read",
    async (name) => {
      const { storage, trusted } = await startTestLog();
      const cause = new Error("disk");
      const broken: JournalReader = { ...storage, [name]: () => Promise.reject(cause) };
      expect(await verifyLog(broken, { trusted, origin })).toMatchObject({ verdict: "unreadable", cause });
    },
  );

  it("reports the first of several entries", async () => {
    const { database, storage, trusted, append } = await startTestLog();
    await append(10);
    database.run("UPDATE journal_entries SET opening = x'00' WHERE seq = 20");
    database.run("UPDATE journal_entries SET at = at + 1 WHERE seq = 12");
    expect(await verifyLog(storage, { trusted, origin })).toMatchObject({ verdict: "changed", seq: 12, size: 12 });
  });
});

describe("checkpoints from outside", () => {
  it("are of this log and in its past, whatever is stored", async () => {
    const { database, storage, key, trusted, append } = await startTestLog();
    await append(2);
    const first = await makeCheckpoint(storage, key);
    await append(2);
    const second = await makeCheckpoint(storage, key);
    database.run("DELETE FROM journal_checkpoints");
    const verify = (...checkpoints: string[]) => verifyLog(storage, { trusted, origin, checkpoints });
    expect(await verify(second.note, first.note)).toMatchObject({ verdict: "valid" });
    const sign = (size: number, signer = key) => signCheckpoint({ size, root: Buffer.alloc(32, 1) }, signer);
    expect(await verify(sign(7))).toMatchObject({ verdict: "forked" });
    expect(await verify(sign(13))).toMatchObject({ verdict: "forked" });
    expect(await verify(sign(0))).toMatchObject({ verdict: "forked" });
    expect(await verify(first.note, sign(14))).toMatchObject({ verdict: "truncated", size: 13 });
    expect(await verify(sign(7, makeKey("other")))).toMatchObject({ verdict: "unknown_key" });
    expect(await verify(sign(99, makeKey("other")))).toMatchObject({ verdict: "unknown_key" });
    expect(await verify(sign(7, makeKey("x", "satchel/other")))).toMatchObject({ verdict: "unreadable" });
    expect(await verify("no note")).toMatchObject({ verdict: "unreadable" });
    expect(await verify(first.note.replace("\n7\n", "\n8\n"))).toMatchObject({ verdict: "unreadable" });
    expect(await proveConsistency(storage, { from: first.size, to: second.size })).not.toEqual([]);
  });
});
