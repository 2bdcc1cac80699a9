import type { ToolName } from "@satchel/pcp";
import type { SemanticToolEnvelope } from "@satchel/prp";
import { type Context, openContext } from "@satchel/server";
import { beforeAll, describe, expect, it } from "vitest";
import { environmentOf } from "./environment.js";
import { makeData, makeToken, startServe } from "./harness.js";
import {
  type Asked,
  ask,
  auditsOf,
  codeOf,
  envelopesOf,
  expectSound,
  journalOf,
  type Recorded,
  receiptMetaKey,
  receiptOf,
} from "./recorded-calls.js";
import { assistant, owner, Shared } from "./shared-context.js";
import { startSession } from "./stdio-session.js";

/*
 * Many callers with one key: one does it. The callers share a grant, as the retries of one client do.
 */

const callers = 100;
const notes = assistant();
const names = { idempotencyKey: "one key", runId: "run-1" };

/** One succeeded, and everybody else was told so or has to wait; all of it is settled in the journal. */
function expectOneEffect(receipts: (SemanticToolEnvelope | undefined)[], entries: Recorded[]): void {
  const codes = receipts.map((receipt) => receipt?.code);
  expect(codes).toHaveLength(callers);
  expect(codes.filter((code) => code === "ok" || code === "proposal_stored")).toHaveLength(1);
  const others = codes.filter((code) => code === "duplicate" || code === "idempotency_in_progress");
  expect(others).toHaveLength(callers - 1);
  expect(new Set(receipts.map((receipt) => receipt?.operationReceiptId)).size).toBe(1);
  expectSound(entries);
  const envelopes = envelopesOf(entries);
  expect(envelopes.filter(({ phase }) => phase === "input")).toHaveLength(callers);
  expect(envelopes.filter(({ phase }) => phase === "result")).toHaveLength(callers);
  const duplicates = codes.filter((code) => code === "duplicate").length;
  expect(auditsOf(entries), "a duplicate has no audit entry").toHaveLength(callers - duplicates);
}

describe("100 callers in one process, over four connections", () => {
  const calls: [tool: ToolName, args: Record<string, unknown>, asked: Asked][] = [
    ["memory_write", { path: "p", body: "x\n" }, { caller: notes }],
    ["memory_propose", { path: "p", body: "x\n" }, { caller: notes }],
    ["profile_update", { patch: { name: "N" } }, { caller: notes }],
    ["erase_request", { paths: ["p"] }, { caller: owner }],
  ];

  async function callAtOnce(shared: Shared, call: (through: Shared, n: number) => ReturnType<typeof ask>) {
    const doors = [shared, shared.again(), shared.again(), shared.again()];
    const before = (await journalOf(shared)).length;
    const answers = await Promise.all(Array.from({ length: callers }, (_, n) => call(doors[n % 4]!, n)));
    expect(shared.faults).toEqual([]);
    return { answers, entries: (await journalOf(shared)).slice(before) };
  }

  it.each(calls)("%s: one effect", async (tool, args, asked) => {
    const shared = Shared.open();
    const { answers, entries } = await callAtOnce(shared, (through) => ask(through, tool, args, { ...asked, names }));
    expectOneEffect(answers.map(receiptOf), entries);
    const distinct = new Set(answers.map(({ structuredContent }) => JSON.stringify(structuredContent)));
    expect(distinct.size, "everybody has the one answer").toBe(1);
    const after = await shared.context.store.read(async (transaction) => [
      (await transaction.storedPages({ after: 0, limit: 10 })).length,
      (await transaction.storedRevisions({ after: 0, limit: 10 })).length,
      (await transaction.profiles()).length,
    ]);
    expect(after).toEqual([tool === "memory_write", tool === "memory_propose", tool === "profile_update"].map(Number));
  });

  it("with inputs of their own: one is done, and the key belongs to its input", async () => {
    const shared = Shared.open();
    const { answers, entries } = await callAtOnce(shared, (through, n) =>
      ask(through, "memory_write", { path: `p${n % 10}`, body: "x\n" }, { caller: notes, names }),
    );
    const codes = answers.map(codeOf);
    expect(codes.filter((code) => code === "ok")).toHaveLength(1);
    expect(codes.filter((code) => code === "duplicate")).toHaveLength(9);
    expect(codes.filter((code) => code === "idempotency_conflict")).toHaveLength(90);
    expectSound(entries);
    const pages = await shared.ok<{ pages: unknown[] }>("memory_list", {});
    expect(pages.pages).toHaveLength(1);
  });

  it("with one call id: one call in the journal, and the one receipt for all", async () => {
    const shared = Shared.open();
    const { answers, entries } = await callAtOnce(shared, (through) =>
      ask(through, "memory_write", { path: "p", body: "x\n" }, { caller: notes, names: { callId: "c" } }),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer.structuredContent))).size).toBe(1);
    expect(new Set(answers.map((answer) => receiptOf(answer).auditReceiptId)).size).toBe(1);
    expect(envelopesOf(entries)).toHaveLength(2);
  });

  it("with one call id for reads and for refused calls: each is a call of its own", async () => {
    const shared = Shared.open();
    const { answers, entries } = await callAtOnce(shared, (through, n) =>
      n % 2 === 0
        ? ask(through, "memory_list", {}, { caller: notes, names: { callId: "r" } })
        : ask(through, "memory_write", { path: "..", body: "" }, { caller: notes, names: { callId: "w" } }),
    );
    expect(new Set(answers.map((answer) => receiptOf(answer).callId)).size).toBe(callers);
    expectSound(entries);
  });
});

describe("100 callers through processes", () => {
  let data: string;
  beforeAll(async () => {
    data = await makeData("me");
  });

  const parameters = (path: string) => ({
    name: "memory_write",
    arguments: { path, body: "x\n" },
    _meta: { "dev.satchel/prp": names },
  });
  interface Answer {
    _meta?: { [receiptMetaKey]?: SemanticToolEnvelope };
  }
  const receiptIn = (answer: Answer | undefined) => answer?._meta?.[receiptMetaKey];

  async function withContext<T>(use: (context: Context) => Promise<T>): Promise<T> {
    const context = openContext(data, "me", environmentOf({ ms: Date.now() }));
    try {
      return await use(context);
    } finally {
      await context.store.close();
    }
  }

  async function expectOnePage(path: string, receipts: (SemanticToolEnvelope | undefined)[]): Promise<void> {
    await withContext(async (context) => {
      const entries = await journalOf({ context });
      const calls = new Set(receipts.map((receipt) => receipt?.callId));
      const isOurs = ({ bodies }: Recorded) => bodies.some((body) => calls.has(String(body?.callId ?? body?.call_id)));
      expectOneEffect(receipts, entries.filter(isOurs));
      const versions = await context.store.read(async (transaction) => {
        const page = await transaction.page({ path });
        return transaction.versions(page?.id ?? "");
      });
      expect(versions).toHaveLength(1);
    });
  }

  it("over stdio, four of them", async () => {
    const sessions = Array.from({ length: 4 }, () => startSession(data));
    for (const session of sessions) await session.until(0);
    const perSession = callers / sessions.length;
    for (let id = 1; id <= perSession; id++)
      for (const { send } of sessions) send({ id, method: "tools/call", params: parameters("stdio") });
    for (const { until } of sessions) for (let id = 1; id <= perSession; id++) await until(id);
    const results = sessions.flatMap(({ answers }) => answers().filter(({ id }) => id !== 0));
    for (const { stop } of sessions) await stop();
    await expectOnePage(
      "stdio",
      results.map(({ result }) => receiptIn(result as Answer)),
    );
    for (const { stderr } of sessions) expect(stderr()).not.toMatch(/fault|rror:/);
  });

  it("over HTTP, two servers and one token", async () => {
    const token = await makeToken(data, "memory:read memory:write");
    const servers = await Promise.all([startServe(data), startServe(data)]);
    const call = async (n: number) => {
      const response = await fetch(`${servers[n % 2]!.origin}/mcp`, {
        method: "POST",
        headers: {
          Authorization: `Bearer ${token}`,
          "Content-Type": "application/json",
          Accept: "application/json, text/event-stream",
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: n, method: "tools/call", params: parameters("http") }),
      });
      const text = await response.text();
      const data = text.split("\n").find((line) => line.startsWith("data:"));
      const { result } = JSON.parse(data?.slice("data:".length) ?? text) as { result: Answer };
      return receiptIn(result);
    };
    const receipts = await Promise.all(Array.from({ length: callers }, (_, n) => call(n)));
    for (const { stop } of servers) await stop();
    await expectOnePage("http", receipts);
    for (const { stderr } of servers) expect(stderr()).not.toMatch(/fault|rror:/);
  });
});
