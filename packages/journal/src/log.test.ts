import canonicalize from "canonicalize";
import { describe, expect, it } from "vitest";
import { commit, entryText, hashEntry, isEntry, isTime } from "./entry.js";
import { appendEntries, currentKey, makeCheckpoint, type NewEntry, parseCheckpoint, startLog } from "./index.js";
import { createSqliteJournal } from "./sqlite.js";
import { at, makeCall, makeKey, openDatabase, origin, seededBytes, startTestLog } from "./test-log.contract.js";

const later = "2026-05-04T10:20:31.000Z";

describe("entries", () => {
  const opening = { salt: Buffer.alloc(32, 1), body: '{"a":1}' };
  const entry = { seq: 7, at, kind: "prp.input", commitments: [commit(opening)] } as const;

  it("have the bytes that are documented", () => {
    // Computed with other tools: sha256sum over tag, salt and body, and over 0x00 and the text.
    expect(entry.commitments[0]).toBe("0d91c699c273d7df2dcde704f5dfd158962d76a08e352f7f2103df980fe5c0dd");
    const text = entryText({ ...entry, commitments: [...entry.commitments] });
    expect(text).toBe(canonicalize(entry));
    expect(Buffer.from(hashEntry({ ...entry, commitments: [...entry.commitments] })).toString("hex")).toBe(
      "1decb7c98a71d97773c2b87c35d154f5ef6df2e692cb58209aabe9374444dcd8",
    );
  });

  it.each([
    "2026-05-04T10:20:30Z",
    "2026-02-30T00:00:00.000Z",
    "2026-05-04T24:00:00.000Z",
    "2026-05-04 10:20:30.456Z",
    "2026-05-04T10:20:30.456+00:00",
    "",
    5,
  ])("have no time like %s", (time) => {
    expect(isTime(time)).toBe(false);
    expect(isEntry({ ...entry, at: time })).toBe(false);
  });

  it.each([
    { seq: -1 },
    { seq: 1.5 },
    { seq: 2 ** 53 },
    { kind: "other" },
    { kind: "audit" },
    { commitments: [] },
    { commitments: ["A".repeat(64)] },
    { commitments: "0" },
  ])("are none with %j", (wrong) => {
    expect(isEntry({ ...entry, ...wrong })).toBe(false);
    expect(isEntry(entry)).toBe(true);
  });
});

describe("startLog", () => {
  it("writes the key as entry 0, once", async () => {
    const { storage, key, tools } = await startTestLog();
    const [entry, ...more] = await storage.entries({ from: 0, limit: 9 });
    expect(more).toEqual([]);
    expect(entry).toMatchObject({ seq: 0, at, kind: "key" });
    expect(JSON.parse(entry!.openings[0]!.body)).toMatchObject({ key: key.verifier.text });
    expect((await currentKey(storage)).text).toBe(key.verifier.text);
    await expect(startLog(storage, key, { at, ...tools })).rejects.toMatchObject({ code: "already_started" });
  });
});

describe("appendEntries", () => {
  it("numbers and commits, and takes fresh salt for every body", async () => {
    const { storage, tools } = await startTestLog();
    const written = await appendEntries(storage, makeCall(1), tools);
    expect(written.map(({ seq, kind }) => [seq, kind])).toEqual([
      [1, "prp.input"],
      [2, "audit"],
      [3, "prp.result"],
    ]);
    const stored = await storage.entries({ from: 1, limit: 9 });
    for (const [i, entry] of stored.entries()) {
      expect(entry.openings.map((opening) => commit(opening!))).toEqual(written[i]!.commitments);
      expect(entry.openings.map((opening) => opening!.body)).toEqual(
        makeCall(1)[i]!.bodies.map((body) => canonicalize(body)),
      );
    }
    const salts = stored.flatMap(({ openings }) =>
      openings.map((opening) => Buffer.from(opening!.salt).toString("hex")),
    );
    expect(new Set(salts).size).toBe(4);
    expect(await storage.state()).toMatchObject({ size: 4 });
  });

  it("raises the time when the clock went back", async () => {
    const { storage, tools } = await startTestLog();
    const entry = (time: string): NewEntry => ({ at: time, kind: "prp.input", bodies: [1] });
    const times = [later, at, "2026-05-04T10:20:31.001Z", "1999-01-01T00:00:00.000Z"];
    const written = await appendEntries(storage, times.map(entry), tools);
    expect(written.map((each) => each.at)).toEqual([later, later, times[2], times[2]]);
    const [again] = await appendEntries(storage, [entry(at)], tools);
    expect(again!.at).toBe(times[2]);
  });

  it("of nothing changes nothing", async () => {
    const { storage, tools } = await startTestLog();
    expect(await appendEntries(storage, [], tools)).toEqual([]);
    expect((await storage.state()).size).toBe(1);
  });

  const cyclic: unknown[] = [];
  cyclic.push(cyclic);
  it.each([
    ["no body", { bodies: [] }],
    ["two bodies", { bodies: [1, 2] }],
    ["one body of an audit entry", { kind: "audit", bodies: [1] }],
    ["an unknown kind", { kind: "other" }],
    ["a key entry", { kind: "key" }],
    ["a redaction", { kind: "redaction" }],
    ["another time", { at: "2026-05-04" }],
    ["undefined", { bodies: [undefined] }],
    ["a function", { bodies: [{ a: () => 1 }] }],
    ["NaN", { bodies: [Number.NaN] }],
    ["a big integer", { bodies: [1n] }],
    ["a lone surrogate", { bodies: ["\ud800"] }],
    ["a cycle", { bodies: [cyclic] }],
  ])("refuses %s and writes nothing", async (_, wrong) => {
    const { storage, tools } = await startTestLog();
    const good: NewEntry = { at, kind: "prp.input", bodies: [1] };
    const entries = [good, { ...good, ...wrong } as NewEntry];
    await expect(appendEntries(storage, entries, tools)).rejects.toMatchObject({ code: "bad_entry" });
    expect((await storage.state()).size).toBe(1);
    expect(await storage.entries({ from: 1, limit: 1 })).toEqual([]);
  });

  it("needs a started log", async () => {
    const storage = createSqliteJournal(openDatabase());
    const tools = { randomBytes: seededBytes("none") };
    await expect(appendEntries(storage, makeCall(1), tools)).rejects.toMatchObject({ code: "not_started" });
    await expect(makeCheckpoint(storage, makeKey("a"))).rejects.toMatchObject({ code: "not_started" });
    await expect(currentKey(storage)).rejects.toMatchObject({ code: "not_started" });
  });
});

describe("makeCheckpoint", () => {
  it("signs what is there, and nothing twice", async () => {
    const { storage, key, append } = await startTestLog();
    await append(2);
    const first = await makeCheckpoint(storage, key);
    expect(parseCheckpoint(first.note)).toMatchObject({ origin, size: 7 });
    expect(await makeCheckpoint(storage, key)).toEqual(first);
    await append(1);
    const second = await makeCheckpoint(storage, key);
    expect(second.size).toBe(10);
    expect(await storage.checkpoints({ after: 0 })).toEqual([first.note, second.note]);
    expect(await storage.checkpoints({ after: 7 })).toEqual([second.note]);
  });

  it("refuses a key that is not the log's", async () => {
    const { storage } = await startTestLog();
    await expect(makeCheckpoint(storage, makeKey("other"))).rejects.toMatchObject({ code: "bad_key" });
    expect(await storage.lastCheckpoint()).toBeUndefined();
  });

  it("never signs a log that has become smaller", async () => {
    const { database, storage, key, append } = await startTestLog();
    await append(2);
    const { note, size } = await makeCheckpoint(storage, key);
    await append(1);
    const old = await startTestLog();
    old.database.run("INSERT INTO journal_checkpoints VALUES (?, ?)", size, note);
    await expect(makeCheckpoint(old.storage, key)).rejects.toMatchObject({ code: "damaged" });
    expect((await makeCheckpoint(createSqliteJournal(database), key)).size).toBe(10);
  });

  it("never signs a log that does not continue what it signed", async () => {
    const { database, storage, key, append } = await startTestLog();
    await append(100);
    await makeCheckpoint(storage, key);
    await append(1);
    const changes = [
      "UPDATE journal_entries SET leaf = zeroblob(32) WHERE seq = 300",
      "UPDATE journal_subtrees SET hash = zeroblob(32)",
      "UPDATE journal_tree SET frontier = zeroblob(length(frontier))",
    ];
    for (const sql of changes) {
      const copy = database.copy();
      copy.run(sql);
      await expect(makeCheckpoint(createSqliteJournal(copy), key)).rejects.toMatchObject({ code: "damaged" });
    }
    expect((await makeCheckpoint(storage, key)).size).toBe(304);
  });
});
