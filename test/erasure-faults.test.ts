import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AnsweredCall, type Context, erasureSaltMetaKey } from "@satchel/server";
import SqliteDatabase from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { divide, erase, expectNoTrace, type RealRun, survey, verifyJournalOf } from "./erasure-world.js";
import { makeData, run, runOk } from "./harness.js";
import { ask, receiptOf } from "./recorded-calls.js";
import { Shared } from "./shared-context.js";

/*
 * What fails in an erasure, at whatever stage, never keeps a context locked for ever, never says that it changed nothing
 * when it did, and never ends in a receipt that is not true.
 */

const realArgs = { paths: ["gone"], dry_run: false, idempotencyKey: "once" };

async function withPages(): Promise<Shared> {
  const shared = Shared.open();
  await shared.write("gone", "harbourlights first\n");
  await shared.write("gone", "harbourlights whistlewood\n");
  await shared.write("kept", "calm first\n");
  await shared.write("kept", "calm\n");
  return shared;
}

const jobFile = ({ context }: Shared) => join(context.folder, "erasure.job");

/** The context of a process that ends after `begin`, or when its files are to be cleaned. */
function dying({ context }: Shared, at: "planned" | "deleted"): Context {
  let isDead = false;
  const { store } = context;
  const die = () => {
    isDead = true;
    throw new Error("died");
  };
  const alive =
    <Arguments extends unknown[], Result>(use: (...args: Arguments) => Promise<Result>) =>
    async (...args: Arguments): Promise<Result> =>
      isDead ? die() : use(...args);
  const write: typeof store.write = async (use, options) => {
    const result = await alive(() => store.write(use, options))();
    isDead ||= at === "planned";
    return result;
  };
  const read: typeof store.read = (use, options) => alive(() => store.read(use, options))();
  return { ...context, store: { ...store, read, write, scrub: async () => die() } };
}

/** An erasure that its process left at this stage. */
async function left(stage: "planned" | "deleted", args: Record<string, unknown> = realArgs): Promise<Shared> {
  const shared = await withPages();
  await leave(shared, stage, args);
  return shared;
}

async function leave(shared: Shared, stage: "planned" | "deleted", args: Record<string, unknown>): Promise<void> {
  const error = await shared.over(dying(shared, stage)).refused("erase_request", args);
  expect(error.code).toBe("internal");
  expect(existsSync(jobFile(shared))).toBe(true);
}

function damage(shared: Shared, sql: string): void {
  const database = new SqliteDatabase(join(shared.context.folder, "context.db"));
  database.exec(sql);
  database.close();
}

/** An earlier version that nobody can read, and no list needs. */
const breakPlan = `UPDATE versions SET keys = '{' || keys WHERE body = 'calm first' || char(10)`;
const mendPlan = `UPDATE versions SET keys = substr(keys, 2) WHERE body = 'calm first' || char(10)`;

async function endsOf({ dataDir }: Shared): Promise<Record<string, unknown>[]> {
  const { entries, verdict } = await verifyJournalOf(dataDir);
  expect(verdict.verdict).toBe("valid");
  const bodies = entries.map(({ openings }) => JSON.parse(openings[0]?.body ?? "{}"));
  return bodies.filter(({ operationId, phase }) => operationId === "erase_request" && phase !== "input");
}

const receiptsOf = async ({ dataDir }: Shared) =>
  (await verifyJournalOf(dataDir)).entries
    .filter(({ kind }) => kind === "erasure")
    .map(({ openings }) => JSON.parse(openings[0]!.body) as RealRun["receipt"]);

/** Nothing was done, everybody can go on, and the call ended as failed, with its audit entry. */
async function expectTakenBack(shared: Shared, phase: "result" | "reconciled"): Promise<void> {
  expect(await shared.outcome("memory_read", { path: "gone" })).toBe("ok");
  await shared.write("more", "still writable\n");
  expect(existsSync(jobFile(shared))).toBe(false);
  expect(await shared.context.store.read((t) => t.stagedCalls())).toEqual([]);
  expect(await endsOf(shared)).toMatchObject([{ phase, outcome: "failed", code: "internal" }]);
  expect(await receiptsOf(shared)).toEqual([]);
  const { entries } = await shared.ok<{ entries: object[] }>("audit_list", { category: "erase" });
  expect(entries).toMatchObject([{ tool: "erase_request", outcome: "internal", principal: "user:owner", targets: [] }]);
}

/** The names of the call that was taken back can be used: the key for the same or another input. */
async function expectKeyIsFree(shared: Shared): Promise<void> {
  const { receipt } = await erase(shared, { ...realArgs, paths: ["gone", "none"] });
  expect(receipt).toMatchObject({ counts: { pages: 1 }, residual: { clean: true } });
}

describe("a fault while nothing is deleted", () => {
  it("takes the erasure back in the process that began it", async () => {
    const shared = await withPages();
    damage(shared, breakPlan);
    const error = await shared.refused("erase_request", realArgs);
    expect([error.code, error.message]).toEqual(["internal", expect.stringContaining("Nothing was changed")]);
    expect(shared.faults).toHaveLength(1);
    await expectTakenBack(shared, "result");
    damage(shared, mendPlan);
    await expectKeyIsFree(shared);
  });

  it("and in the transaction that deletes", async () => {
    const shared = await withPages();
    const before = await survey(shared);
    damage(shared, "CREATE TRIGGER broken BEFORE DELETE ON pages BEGIN SELECT raise(ABORT, 'broken'); END");
    expect(await shared.outcome("erase_request", realArgs)).toBe("internal");
    expect(await survey(shared)).toEqual(before);
    await expectTakenBack(shared, "result");
    damage(shared, "DROP TRIGGER broken");
    await expectKeyIsFree(shared);
  });

  it("takes it back in the process that would finish it", async () => {
    const shared = await left("planned");
    damage(shared, breakPlan);
    const later = shared.again();
    expect(await later.outcome("memory_list", {})).toBe("ok");
    await expectTakenBack(later, "reconciled");
    damage(shared, mendPlan);
    await expectKeyIsFree(later);
  });

  it("leaves the call id spent: the same call again is one of its own", async () => {
    const shared = await withPages();
    damage(shared, breakPlan);
    const names = { names: { callId: "mine", idempotencyKey: "once" } };
    const call = () => ask(shared, "erase_request", { paths: ["gone"], dry_run: false }, names);
    expect((await call()).isError).toBe(true);
    damage(shared, mendPlan);
    const second = await call();
    expect(second.isError).toBeUndefined();
    expect(receiptOf(second).callId).not.toBe("mine");
  });
});

describe("a state without its job", () => {
  it.each(["missing", "of another erasure", "no JSON"])("planned, %s: taken back", async (how) => {
    const shared = await left("planned");
    spoilJob(shared, how);
    const later = shared.again();
    expect(await later.outcome("memory_list", {})).toBe("ok");
    await expectTakenBack(later, "reconciled");
    await expectKeyIsFree(later);
  });

  it.each(["missing", "of another erasure", "no JSON"])("deleted, %s: ended unsearched", async (how) => {
    const shared = await withPages();
    const before = await survey(shared);
    await leave(shared, "deleted", realArgs);
    const { selector, requestedAt } = (await shared.context.store.read((t) => t.erasure(), { isErasing: true }))!;
    spoilJob(shared, how);
    const later = shared.again();
    const divided = divide(before, { paths: new Set(["gone"]) });
    expect(await survey(later)).toEqual(divided.kept);
    expectNoTrace(later, divided);
    const [receipt] = await receiptsOf(later);
    expect(receipt).toMatchObject({
      selector,
      requested_at: requestedAt,
      counts: { pages: 1, versions: 2 },
      residual: { clean: false, unsearched: true },
    });
    expect(receipt!.selector.digest).toMatch(/^[0-9a-f]{64}$/);
    expect(await endsOf(later)).toMatchObject([{ phase: "reconciled", outcome: "succeeded" }]);
    await later.write("gone", "free again\n");
    expect((await erase(later, realArgs)).receipt).toEqual(receipt);
  });

  function spoilJob(shared: Shared, how: string): void {
    if (how === "missing") rmSync(jobFile(shared));
    else if (how === "no JSON") writeFileSync(jobFile(shared), "\0\0\0");
    else {
      const job = JSON.parse(readFileSync(jobFile(shared), "utf8"));
      writeFileSync(jobFile(shared), JSON.stringify({ ...job, id: "era_other" }));
    }
  }
});

describe("a fault after the rows are gone", () => {
  it("is answered as unsettled, and the next call ends it", async () => {
    const shared = await withPages();
    const error = await shared.over(dying(shared, "deleted")).refused("erase_request", realArgs);
    expect(error.message).toMatch(/unsettled/);
    expect(error.message).not.toMatch(/Nothing was changed/);
    expect(await shared.outcome("memory_read", { path: "kept" })).toBe("ok");
    expect((await receiptsOf(shared))[0]).toMatchObject({ counts: { pages: 1 }, residual: { clean: true } });
  });

  it("that comes each time ends in a receipt that is not clean, and does not keep the context", async () => {
    const shared = await left("deleted");
    damage(shared, "UPDATE journal_entries SET opening = x'00' WHERE seq = 1");
    const later = shared.again();
    expect(await later.outcome("memory_read", { path: "kept" })).toBe("ok");
    expect(existsSync(jobFile(shared))).toBe(false);
    const { result } = await later.context.store.read(async (t) => (await t.storedAnswers({ after: 0, limit: 1 }))[0]!);
    expect(JSON.parse(result!).structuredContent.receipt.residual).toMatchObject({ clean: false, unsearched: true });
  });

  it("of a call that is recorded says nothing of changes", async () => {
    const shared = await withPages();
    const { journal } = shared.context;
    const publish = () => Promise.reject(new Error("broken"));
    const failing = shared.over({ ...shared.context, journal: { ...journal!, publish } });
    const { code, message } = await failing.refused("memory_write", { path: "written", body: "x\n" });
    expect(code).toBe("internal");
    expect(message).not.toMatch(/changed|unsettled/);
    expect((await shared.read("written")).body).toBe("x\n");
  });
});

describe("an erasure that another process left", () => {
  it.each(["planned", "deleted"] as const)(
    "%s, between this one's question and its turn, is finished first",
    async (at) => {
      const shared = await withPages();
      await shared.write("mine", "whistlewood of mine\n");
      const { store } = shared.context;
      let isFirst = true;
      const read: typeof store.read = async (use, options) => {
        const result = await store.read(use, options);
        if (isFirst) {
          isFirst = false;
          await leave(shared.again(), at, realArgs);
        }
        return result;
      };
      const beside = shared.over({ ...shared.context, store: { ...store, read } });
      const { receipt } = await erase(beside, { paths: ["mine"] });
      expect(receipt).toMatchObject({ counts: { pages: 1, versions: 1 }, residual: { clean: true } });
      expect(await receiptsOf(shared)).toMatchObject([{ counts: { pages: 1, versions: 2 } }, { id: receipt.id }]);
      expect((await endsOf(shared)).map(({ phase }) => phase)).toEqual(["reconciled", "result"]);
      expect(existsSync(jobFile(shared))).toBe(false);
    },
  );
});

describe("while another program holds the database open", () => {
  /** A transaction that reads what there is now. */
  function hold({ context }: Shared): () => void {
    const database = new SqliteDatabase(join(context.folder, "context.db"), { readonly: true });
    database.exec("BEGIN");
    database.prepare("SELECT count(*) FROM pages").get();
    return () => database.close();
  }

  it("no receipt is written: it stays locked for all and unsettled, and the next call after ends it clean", async () => {
    const shared = await withPages();
    const before = await survey(shared);
    const letGo = hold(shared);
    const impatient = shared.over({ ...shared.context, logWaitMs: 100 });
    const { code, message } = await impatient.refused("erase_request", realArgs);
    expect([code, message]).toEqual(["locked", expect.stringMatching(/Another program.*next call/)]);
    expect(existsSync(jobFile(shared))).toBe(true);
    for (const one of [shared, shared.again(), shared]) {
      const startedMs = performance.now();
      const refused = await one.refused("memory_read", { path: "kept" });
      expect([refused.code, refused.message]).toEqual(["locked", expect.stringContaining("Another program")]);
      expect(performance.now() - startedMs).toBeLessThan(3000);
    }
    expect(await receiptsOf(shared)).toEqual([]);
    letGo();
    expect(await shared.outcome("memory_read", { path: "kept" })).toBe("ok");
    const [receipt, ...more] = await receiptsOf(shared);
    expect([receipt!.residual.clean, more]).toEqual([true, []]);
    expectNoTrace(shared, divide(before, { paths: new Set(["gone"]) }));
    const again = await erase(shared, realArgs);
    expect([again.receipt, again.salt]).toEqual([receipt, undefined]);
  });

  it("it goes on as soon as that one lets go", async () => {
    const shared = await withPages();
    const before = await survey(shared);
    const letGo = hold(shared);
    setTimeout(letGo, 300);
    expect((await erase(shared, realArgs)).receipt.residual.clean).toBe(true);
    expectNoTrace(shared, divide(before, { paths: new Set(["gone"]) }));
  });
});

describe("traces that the erasure can't reach", () => {
  it("are named in the receipt, and the command exits with 1", async () => {
    const data = await makeData("me");
    await runOk(["page", "put", "gone", "--data", data], { input: "harbourlights whistlewood cindermoss\n" });
    writeFileSync(join(data, "contexts/me/copy.txt"), "harbourlights whistlewood cindermoss\n");
    const ran = await run(["erase", "--path", "gone", "--yes", "--data", data]);
    expect([ran.code, ran.stdout + ran.stderr]).toEqual([1, expect.stringContaining("copy.txt")]);
    const asked = await run(["erase", "--subject", "harbourlights", "--yes", "--json", "--data", data]);
    const { receipt, salt } = JSON.parse(asked.stdout);
    expect(asked.code).toBe(receipt.residual.clean ? 0 : 1);
    expect(Buffer.from(salt, "base64")).toHaveLength(32);
  });
});

it("the salt is in _meta of the one answer only", async () => {
  const shared = await withPages();
  const answers = [];
  for (let round = 0; round < 2; round++) answers.push((await shared.call("erase_request", realArgs)) as AnsweredCall);
  const [first, second] = answers as [AnsweredCall, AnsweredCall];
  const salt = first._meta?.[erasureSaltMetaKey] as string;
  expect(Buffer.from(salt, "base64")).toHaveLength(32);
  expect(JSON.stringify({ ...first, _meta: undefined })).not.toContain(salt);
  expect(JSON.stringify(second)).not.toContain(salt);
  expect(second._meta).not.toHaveProperty([erasureSaltMetaKey]);
  expect(second.structuredContent).toEqual(first.structuredContent);
});
