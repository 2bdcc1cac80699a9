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
import { connectHttp, makeData, makeToken, startServe, temporaryFolder } from "./harness.js";
import { scaled, testSeed } from "./scale.js";

const minutes = 60_000;

/** Numbers that a printed seed repeats. */
function makeRandom(): (below: number) => number {
  const numbers = fc.infiniteStream(fc.integer({ min: 0, max: 2 ** 30 }));
  const [values] = fc.sample(numbers, { numRuns: 1, seed: testSeed() });
  return (below) => (values!.next().value as number) % below;
}

describe("processes that start at once on an empty directory", () => {
  it("all come up on one context and answer", { timeout: 15 * minutes }, async () => {
    for (let round = 0; round < scaled(100); round++) {
      const data = temporaryFolder("satchel-start-");
      const started = round % 2 === 0 ? await startThree(data) : await startServeAndTwo(data);
      const written = await Promise.all(started.writers.map((write, i) => write(`p${i}`)));
      expect(written.map(({ error }) => error)).toEqual(written.map(() => undefined));
      expect((await listPaths(started.reader)).sort()).toEqual(written.map((_, i) => `p${i}`));
      if (round < 2) await verifySound(data);
      await started.end();
    }
  });
});

type Write = (path: string) => Promise<Outcome>;

async function startThree(data: string) {
  const assistants = await Promise.all([1, 2, 3].map(() => startAssistant(data)));
  const writers = assistants.map(
    (one): Write =>
      (path) =>
        one.call("memory_write", { path, body: buildBody(path) }),
  );
  const end = async () => {
    await Promise.all(assistants.map((one) => one.close()));
  };
  return { writers, reader: assistants[0]!, end };
}

async function startServeAndTwo(data: string) {
  const [server, one, two] = await Promise.all([startServe(data), startAssistant(data), startAssistant(data)]);
  const token = await makeToken(data, "memory:read memory:write");
  const client = await connectHttp("v2 auto", `${server.origin}/mcp`, token);
  const byHttp: Write = async (path) =>
    (await client.callTool("memory_write", { path, body: buildBody(path) })).structuredContent as Outcome;
  const byStdio = [one, two].map(
    (each): Write =>
      (path) =>
        each.call("memory_write", { path, body: buildBody(path) }),
  );
  const end = async () => {
    await Promise.all([client.close(), one.close(), two.close()]);
    await server.stop();
  };
  return { writers: [byHttp, ...byStdio], reader: one, end };
}

/** Every recorded time in the order of recording, as the database itself has it. */
function recordedTimes(data: string): string[] {
  const database = new SqliteDatabase(join(data, "contexts", "me", "context.db"), { readonly: true });
  try {
    return database.prepare("SELECT recorded FROM versions ORDER BY num").pluck().all() as string[];
  } finally {
    database.close();
  }
}

function expectStrictlyIncreasing(times: string[]): void {
  const firstWrong = times.findIndex((time, i) => i > 0 && time <= times[i - 1]!);
  expect(firstWrong).toBe(-1);
}

interface Ledger {
  /** `updated` of every accepted write. */
  updated: string[];
  /** What accepted replacements expected: each `updated` can be replaced only once. */
  replaced: string[];
  /** The last accepted text of each page that one process alone writes. */
  own: Map<string, string>;
  created: Set<string>;
  outcomes: Set<string>;
}

describe("two processes that write to one store", () => {
  it("lose no page, accept no stale write and never answer locked", { timeout: 10 * minutes }, async () => {
    const data = await makeData("me");
    const random = makeRandom();
    const ledger: Ledger = { updated: [], replaced: [], own: new Map(), created: new Set(), outcomes: new Set() };
    const assistants = await Promise.all([startAssistant(data), startAssistant(data)]);
    await Promise.all(
      assistants.map((assistant, i) => writeMixed(assistant, { name: `w${i}`, count: scaled(1000), random, ledger })),
    );
    expect([...ledger.outcomes].filter((code) => code !== "ok" && code !== "conflict")).toEqual([]);
    expect(new Set(ledger.updated).size).toBe(ledger.updated.length);
    expect(new Set(ledger.replaced).size).toBe(ledger.replaced.length);
    expect(ledger.replaced.length).toBeGreaterThan(0);
    expectStrictlyIncreasing(recordedTimes(data));
    expect(recordedTimes(data).slice().sort()).toEqual(ledger.updated.slice().sort());
    await verifyPages(assistants[1]!, ledger);
    await Promise.all(assistants.map((one) => one.close()));
    await verifySound(data);
  });

  it("of all that replace the same version at once exactly one wins", { timeout: 5 * minutes }, async () => {
    const data = await makeData("me");
    const assistants = await Promise.all([startAssistant(data), startAssistant(data)]);
    let { updated } = await assistants[0]!.call("memory_write", { path: "race", body: buildBody("start") });
    for (let round = 0; round < scaled(40); round++) {
      const racers = Array.from({ length: 100 }, async (_, i) => {
        const body = buildBody(`r${round}x${i}`, 1);
        const outcome = await assistants[i % 2]!.call("memory_write", {
          path: "race",
          body,
          expected_updated: updated,
        });
        return { body, outcome };
      });
      const ended = await Promise.all(racers);
      const won = ended.filter(({ outcome }) => !outcome.error);
      const codes = new Set(ended.map(({ outcome }) => outcome.error?.code ?? "ok"));
      expect([won.length, [...codes].sort()]).toEqual([1, ["conflict", "ok"]]);
      expect(await readBody(assistants[round % 2]!, "race")).toBe(won[0]!.body);
      updated = won[0]!.outcome.updated;
    }
    await Promise.all(assistants.map((one) => one.close()));
    expectStrictlyIncreasing(recordedTimes(data));
  });
});

interface MixedWrites {
  name: string;
  count: number;
  random: (below: number) => number;
  ledger: Ledger;
}

/** A third each: a page of its own, its own page again, a page that both write with what they last read of it. */
async function writeMixed(assistant: Assistant, { name, count, random, ledger }: MixedWrites): Promise<void> {
  for (let i = 0; i < count; i++) {
    const kind = random(3);
    const shared = `shared/${random(5)}`;
    const path = kind === 0 ? `${name}/${i}` : kind === 1 ? `${name}/again` : shared;
    const read = kind === 2 ? await assistant.call("memory_read", { path }) : undefined;
    const expected = (read?.frontmatter as { updated?: string } | undefined)?.updated;
    const body = buildBody(`${name}x${i}`);
    const args = { path, body, ...(expected !== undefined && { expected_updated: expected }) };
    const outcome = await assistant.call("memory_write", args);
    ledger.outcomes.add(outcome.error?.code ?? "ok");
    if (outcome.error) continue;
    ledger.updated.push(outcome.updated as string);
    if (expected !== undefined) ledger.replaced.push(expected);
    ledger.created.add(path);
    if (kind !== 2) ledger.own.set(path, body);
  }
}

async function verifyPages(assistant: Assistant, { created, own }: Ledger): Promise<void> {
  expect((await listPaths(assistant)).sort()).toEqual([...created].sort());
  for (const path of created) {
    const body = await readBody(assistant, path);
    expect(isWholeBody(body ?? ""), path).toBe(true);
    if (own.has(path)) expect(body).toBe(own.get(path));
  }
  for (const [path, body] of [...own].slice(0, 50)) await verifyIndexed(assistant, path, body);
}

describe("kill -9", () => {
  it("while it writes: every acknowledged write is there and none is half", { timeout: 20 * minutes }, async () => {
    const data = await makeData("me");
    const random = makeRandom();
    const all = new Map<string, string>();
    for (let round = 0; round < scaled(100); round++) {
      const now = new Map<string, string>();
      const assistant = await startAssistant(data);
      const sent = writeUntilGone(assistant, `k${round}`, now);
      // The first answer shows that it is up; some rounds end before it.
      const isDone = sent.then(
        () => true,
        () => true,
      );
      while (round % 10 !== 9 && now.size === 0 && !(await Promise.race([isDone, pause(1)])));
      await pause(random(250));
      await assistant.kill();
      const next = await startAssistant(data);
      await verifyAfterKill(next, { all, now, unanswered: await sent });
      await next.close();
      if (round % 5 === 0) await verifySound(data);
    }
    expect(all.size).toBeGreaterThan(0);
    const last = await startAssistant(data);
    for (const [path, body] of all) expect(await readBody(last, path)).toBe(body);
    await last.close();
    await verifySound(data);
  });
});

interface Killed {
  /** The text of each page before this round; brought up to date. */
  all: Map<string, string>;
  /** What was acknowledged in this round. */
  now: Map<string, string>;
  /** The write under way when the process ended: it may be there whole, or not at all. */
  unanswered: { path: string; body: string };
}

async function verifyAfterKill(assistant: Assistant, { all, now, unanswered }: Killed): Promise<void> {
  for (const [path, body] of now) all.set(path, body);
  const found = await readBody(assistant, unanswered.path);
  expect([all.get(unanswered.path), unanswered.body]).toContain(found);
  if (found !== undefined) all.set(unanswered.path, found);
  expect((await listPaths(assistant)).sort()).toEqual([...all.keys()].sort());
  for (const path of now.keys()) {
    expect(await readBody(assistant, path)).toBe(all.get(path));
    await verifyIndexed(assistant, path, all.get(path)!);
  }
  if (found === undefined) {
    const { results } = await assistant.call("memory_search", { query: `end${/^\S+/.exec(unanswered.body)?.[0]}` });
    expect((results as { path: string }[]).map(({ path }) => path)).not.toContain(unanswered.path);
  }
}

/** Writes, alternating new pages and one page again, until the process is gone. @returns the write without an answer */
async function writeUntilGone(assistant: Assistant, name: string, acknowledged: Map<string, string>) {
  for (let i = 0; ; i++) {
    const path = i % 2 === 0 ? `${name}/${i}` : "again";
    const body = buildBody(`${name}x${i}`, i % 5 === 0 ? 400 : 40);
    const outcome = await assistant.call("memory_write", { path, body }).catch(() => undefined);
    if (!outcome) return { path, body };
    expect(outcome.error).toBeUndefined();
    acknowledged.set(path, body);
  }
}
