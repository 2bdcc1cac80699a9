import { describe, expect, it } from "vitest";
import {
  appendEntries,
  makeCheckpoint,
  parseRedaction,
  proveEntry,
  redactEntries,
  verifyLog,
  verifyProof,
} from "./index.js";
import { writeEntries } from "./log.js";
import { at, origin, startTestLog } from "./test-log.contract.js";

async function makeSealedLog() {
  const log = await startTestLog();
  await log.append(4);
  await makeCheckpoint(log.storage, log.key);
  const redact = (entries: { seq: number; slots: number[] }[]) =>
    redactEntries(log.storage, { receipt: "era_1", at, entries }, log.tools);
  return { ...log, redact, verify: () => verifyLog(log.storage, { trusted: log.trusted, origin }) };
}

describe("redactEntries", () => {
  it("erases bodies and salts, names exactly them, and leaves the rest provable", async () => {
    const { storage, redact, verify, trusted, key } = await makeSealedLog();
    const entry = await redact([
      { seq: 3, slots: [0] },
      { seq: 1, slots: [0] },
      { seq: 2, slots: [1] },
      { seq: 4, slots: [0] },
      { seq: 5, slots: [1] },
      { seq: 5, slots: [0, 1] },
    ]);
    expect(entry).toMatchObject({ seq: 13, kind: "redaction" });
    const stored = await storage.entries({ from: 0, limit: 99 });
    expect(
      stored.flatMap(({ seq, openings }) => openings.flatMap((opening, slot) => (opening ? [] : [[seq, slot]]))),
    ).toEqual([
      [1, 0],
      [2, 1],
      [3, 0],
      [4, 0],
      [5, 0],
      [5, 1],
    ]);
    expect(parseRedaction(stored[13]!)).toEqual({
      receipt: "era_1",
      entries: [
        [1, 1, 1],
        [2, 1, 2],
        [3, 2, 1],
        [5, 1, 3],
      ],
    });
    expect(await verify()).toMatchObject({ verdict: "valid", redacted: 6 });
    await makeCheckpoint(storage, key);
    const proof = await proveEntry(storage, 2);
    expect(proof.openings).toEqual([expect.anything(), null]);
    expect(verifyProof(proof, trusted)).toMatchObject({ valid: true, bodies: [{ tool: "memory_write" }, undefined] });
  });

  it("names what is gone already no second time", async () => {
    const { storage, redact, verify } = await makeSealedLog();
    await redact([{ seq: 2, slots: [1] }]);
    await redact([{ seq: 2, slots: [0, 1] }]);
    await redact([{ seq: 2, slots: [0, 1] }]);
    const bodies = (await storage.entries({ from: 13, limit: 9 })).map((entry) => parseRedaction(entry).entries);
    expect(bodies).toEqual([[[2, 1, 2]], [[2, 1, 1]], []]);
    expect(await verify()).toMatchObject({ verdict: "valid", redacted: 2 });
  });

  it.each([
    ["no_such_entry", { seq: 13, slots: [0] }],
    ["no_such_entry", { seq: -1, slots: [0] }],
    ["no_such_entry", { seq: 0.5, slots: [0] }],
    ["bad_entry", { seq: 0, slots: [0] }],
    ["bad_entry", { seq: 1, slots: [1] }],
    ["bad_entry", { seq: 2, slots: [2] }],
    ["bad_entry", { seq: 2, slots: [-1] }],
  ])("refuses %s: %j, and erases nothing", async (code, wrong) => {
    const { storage, redact, verify } = await makeSealedLog();
    await expect(redact([{ seq: 2, slots: [0] }, wrong])).rejects.toMatchObject({ code });
    expect((await storage.state()).size).toBe(13);
    expect(await verify()).toMatchObject({ verdict: "valid", redacted: 0 });
  });

  it("never takes an erasure's or a redaction's own body", async () => {
    const { storage, redact, tools } = await makeSealedLog();
    await appendEntries(storage, [{ at, kind: "erasure", bodies: [{ receipt: "era_1" }] }], tools);
    await redact([]);
    await expect(redact([{ seq: 13, slots: [0] }])).rejects.toMatchObject({ code: "bad_entry" });
    await expect(redact([{ seq: 14, slots: [0] }])).rejects.toMatchObject({ code: "bad_entry" });
  });
});

describe("a body", () => {
  it.each([
    [
      "is gone without a redaction",
      4,
      async (log: Awaited<ReturnType<typeof makeSealedLog>>) => {
        await log.storage.eraseOpenings([
          { seq: 4, slot: 0 },
          { seq: 8, slot: 1 },
        ]);
      },
    ],
    [
      "is gone though another slot was named",
      2,
      async (log) => {
        await log.redact([{ seq: 2, slots: [0] }]);
        await log.storage.eraseOpenings([{ seq: 2, slot: 1 }]);
      },
    ],
    [
      "of a redaction is gone",
      13,
      async (log) => {
        await log.redact([{ seq: 2, slots: [0] }]);
        await log.storage.eraseOpenings([{ seq: 13, slot: 0 }]);
      },
    ],
    [
      "is back",
      4,
      async (log) => {
        const { opening } = log.database.get<{ opening: Buffer }>("SELECT opening FROM journal_entries WHERE seq = 4")!;
        await log.redact([{ seq: 4, slots: [0] }]);
        log.database.run("UPDATE journal_entries SET opening = ? WHERE seq = 4", opening);
      },
    ],
  ] satisfies [string, number, (log: Awaited<ReturnType<typeof makeSealedLog>>) => Promise<void>][])(
    "that %s is found at its entry",
    async (_, seq, change) => {
      const log = await makeSealedLog();
      await change(log);
      expect(await log.verify()).toMatchObject({ verdict: "changed", seq });
    },
  );

  it.each([
    [null],
    [{}],
    [{ receipt: "era_1", entries: {} }],
    [{ receipt: "era_1", entries: [[1, 1]] }],
    [{ receipt: "era_1", entries: [[1, 0, 1]] }],
    [{ receipt: "era_1", entries: [[1, 1, 4]] }],
    [{ receipt: "era_1", entries: [[1, 1, 0]] }],
    [{ receipt: "era_1", entries: [[12, 2, 1]] }],
    [{ receipt: "era_1", entries: [[1, 2 ** 53 - 1, 1]] }],
    [
      {
        receipt: "era_1",
        entries: [
          [3, 1, 1],
          [1, 1, 1],
        ],
      },
    ],
  ])("of a redaction that can't be one is found there: %j", async (body) => {
    const log = await makeSealedLog();
    await writeEntries(log.storage, [{ at, kind: "redaction", bodies: [body] }], log.tools);
    expect(await log.verify()).toMatchObject({ verdict: "changed", seq: 13 });
  });
});
