import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Context, callTool, createContext, openContext, verifyContextJournal } from "@satchel/server";
import SqliteDatabase from "better-sqlite3";
import { beforeAll, describe, expect, it } from "vitest";
import { Choices } from "./choices.js";
import { environmentOf } from "./environment.js";
import { divide, expectNoTrace, type RealRun, type Survey, survey, verifyJournalOf } from "./erasure-world.js";
import { cleanEnvironment, onEnd, run, startCommand, temporaryFolder } from "./harness.js";
import { scaled, testSeed } from "./scale.js";
import { owner } from "./shared-context.js";

/*
 * An erasure whose process is killed at any instant has not begun, or is finished by whoever comes next. Needs the
 * built command.
 */

const victimScript = fileURLToPath(new URL("erasure-victim.mjs", import.meta.url));
const subject = "quillon vexforth";
const taken = new Set(["gone/by-body", "gone/quillon-vexforth", "gone/made"]);
const realArgs = { subject, dry_run: false };

/** The clock of the processes that are killed. */
const clock = {
  get ms() {
    return Date.now();
  },
};

interface Opened {
  context: Context;
  dataDir: string;
  call(name: Parameters<typeof callTool>[0], args?: Record<string, unknown>): Promise<Record<string, unknown>>;
}

function open(dataDir: string): Opened {
  const context = openContext(dataDir, "me", environmentOf(clock));
  onEnd(() => context.store.close());
  const log = { fault: ({ error }: { error: unknown }) => console.error(error) };
  return {
    context,
    dataDir,
    call: async (name, args = {}) =>
      (await callTool(name, { context, caller: owner, args, log })).structuredContent as Record<string, unknown>,
  };
}

const codeOf = (answer: Record<string, unknown>) => (answer.error as { code: string } | undefined)?.code ?? "ok";

let template: string;
let before: Survey;
let stepNames: string[];

/** A copy of the context that is erased in. */
function copyOf(): string {
  const dataDir = temporaryFolder("satchel-erasure-");
  cpSync(template, dataDir, { recursive: true });
  return dataDir;
}

beforeAll(async () => {
  template = temporaryFolder("satchel-erasure-");
  createContext(template, { handle: "me", kind: "personal" }, environmentOf(clock));
  const { context, call } = open(template);
  const pages: [path: string, body: string, keys?: Record<string, unknown>][] = [
    ["gone/by-body", "Quillon Vexforth and his whistlewood\n"],
    ["gone/quillon-vexforth", `${"cindermoss peppercornelia ".repeat(2000)}\n`],
    ["gone/made", "marzipanella\n", { title: "Made", derived_from: ["gone/by-body"] }],
    ["kept", "lanterns before\n"],
    ["kept", "lanterns and whistles\n"],
  ];
  for (const [path, body, frontmatter] of pages)
    expect(codeOf(await call("memory_write", { path, body, ...(frontmatter && { frontmatter }) }))).toBe("ok");
  before = await survey({ context });
  await context.store.close();
  const dataDir = copyOf();
  stepNames = (await victim(dataDir, { stopAt: 0, mode: "count" }).ended).steps;
  await verifyFinished(open(dataDir), "prp.result");
}, 60_000);

interface Victim {
  child: ChildProcess;
  ended: Promise<{ steps: string[]; stderr: string }>;
  /** Settles when it printed the step. */
  reached(step: number): Promise<void>;
}

function victim(
  dataDir: string,
  { stopAt, mode, args = realArgs }: { stopAt: number; mode: string; args?: Record<string, unknown> },
): Victim {
  const given = [victimScript, dataDir, JSON.stringify(args), String(stopAt), mode];
  const child = spawn(process.execPath, given, { env: cleanEnvironment(), stdio: ["ignore", "pipe", "pipe"] });
  onEnd(() => child.kill("SIGKILL"));
  let stdout = "";
  let stderr = "";
  const waiting: (() => void)[] = [];
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
    for (const look of waiting) look();
  });
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  const steps = () => stdout.split("\n").filter(Boolean);
  const ended = new Promise<{ steps: string[]; stderr: string }>((resolve) => {
    child.once("close", () => resolve({ steps: steps(), stderr }));
  });
  const reached = (step: number) =>
    new Promise<void>((resolve) => waiting.push(() => steps().length >= step && resolve()));
  return { child, ended, reached };
}

/** What the files say before anybody resumes. */
async function rawState(dataDir: string): Promise<{ kinds: string[]; unsettled: string[] }> {
  const { unsettled, verdict } = await verifyContextJournal({ dataDir, handle: "me" }, { keys: [], checkpoints: [] });
  expect(verdict).toBe("valid");
  return { kinds: (await verifyJournalOf(dataDir)).entries.map(({ kind }) => kind), unsettled };
}

const jobIsThere = (dataDir: string) =>
  ["erasure.job", "erasure.job.new"].some((name) => existsSync(join(dataDir, "contexts/me", name)));

async function verifyFinished(opened: Opened, terminal: "prp.result" | "prp.reconciled"): Promise<void> {
  const { context, dataDir } = opened;
  const { gone, kept } = divide(before, { paths: taken });
  expect(await survey({ context })).toEqual(kept);
  expectNoTrace({ dataDir }, { gone, kept });
  const { verdict, entries } = await verifyJournalOf(dataDir);
  expect(verdict.verdict).toBe("valid");
  const bodies = entries.map(({ kind, openings }) => ({ kind, body: JSON.parse(openings[0]?.body ?? "{}") }));
  const receipts = bodies.filter(({ kind }) => kind === "erasure").map(({ body }) => body);
  expect(receipts).toHaveLength(1);
  expect(receipts[0]).toMatchObject({ counts: { pages: 2, derived: 1, versions: 3 }, residual: { clean: true } });
  const ends = bodies.filter(({ kind, body }) => body.operationId === "erase_request" && kind !== "prp.input");
  const phase = terminal.slice("prp.".length);
  expect(ends).toMatchObject([{ kind: terminal, body: { phase, outcome: "succeeded", code: "ok" } }]);
  const { entries: audit } = (await opened.call("audit_list", { category: "erase" })) as { entries: object[] };
  expect(audit).toMatchObject([
    { tool: "erase_request", action: "erase", outcome: "ok", targets: [receipts[0].id], principal: "user:owner" },
  ]);
}

/** After the next call: nothing was begun and nothing changed, or all is done. @returns which of the two */
async function verifyAfterwards(
  dataDir: string,
  finishedAs: "prp.result" | "prp.reconciled" = "prp.result",
): Promise<"not begun" | "finished" | "resumed"> {
  const raw = await rawState(dataDir);
  const opened = open(dataDir);
  expect(codeOf(await opened.call("memory_list"))).toBe("ok");
  expect(jobIsThere(dataDir)).toBe(false);
  expect((await rawState(dataDir)).unsettled).toEqual([]);
  const unsettled = await opened.context.store.read((transaction) => transaction.stagedCalls());
  expect(unsettled).toEqual([]);
  const wasBegun = raw.kinds.includes("erasure") || raw.unsettled.length > 0;
  if (!wasBegun) {
    expect(await survey(opened)).toEqual(before);
    return "not begun";
  }
  const wasFinished = raw.unsettled.length === 0;
  await verifyFinished(opened, wasFinished ? finishedAs : "prp.reconciled");
  return wasFinished ? "finished" : "resumed";
}

describe("kill -9 of an erasure", () => {
  it("at any step of its way: not begun, or finished by the next call", { timeout: 600_000 }, async () => {
    const choices = new Choices(testSeed());
    const all = stepNames.map((_, at) => at + 1);
    const steps = scaled(all.length * 2) >= all.length ? all : choices.some(all, 20 / all.length);
    const outcomes = new Map<string, number>();
    for (const stopAt of steps) {
      const dataDir = copyOf();
      const { steps: taken } = await victim(dataDir, { stopAt, mode: "die" }).ended;
      const at = `step ${taken.at(-1)}`;
      expect(taken.length, at).toBe(stopAt);
      const outcome = await verifyAfterwards(dataDir).catch((cause) => {
        throw new Error(`killed at ${at}: ${cause instanceof Error ? cause.message : cause}`, { cause });
      });
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
    console.log(`${steps.length} of ${all.length} steps: ${JSON.stringify([...outcomes])}`);
    expect(outcomes.get("resumed")).toBeGreaterThan(0);
  });

  it("twice: of the erasure, and of the one who finishes it", { timeout: 600_000 }, async () => {
    const choices = new Choices(testSeed());
    const begun = stepNames.findIndex((name) => name.endsWith("after write")) + 1;
    for (let round = 0; round < scaled(40); round++) {
      const dataDir = copyOf();
      await victim(dataDir, { stopAt: choices.integer(begun, begun + 40), mode: "die" }).ended;
      const next = startCommand(["journal", "unsettled", "--data", dataDir]);
      setTimeout(() => next.child.kill("SIGKILL"), choices.integer(150, 700));
      await next.exit;
      await verifyAfterwards(dataDir, "prp.reconciled");
    }
  });

  it("of satchel erase --yes at any instant", { timeout: 10 * 60_000 }, async () => {
    const choices = new Choices(testSeed());
    const outcomes: string[] = [];
    for (let round = 0; round < scaled(100); round++) {
      const dataDir = copyOf();
      const command = startCommand(["erase", "--subject", subject, "--yes", "--data", dataDir]);
      setTimeout(() => command.child.kill("SIGKILL"), choices.integer(100, 900));
      await command.exit;
      outcomes.push(await verifyAfterwards(dataDir));
      expect((await run(["journal", "verify", "--data", dataDir])).code).toBe(0);
    }
    console.log(outcomes.join(", "));
  });
});

describe("kill -9 of an erasure that can't be planned", () => {
  const spoil = (dataDir: string, change: string) => {
    const database = new SqliteDatabase(join(dataDir, "contexts/me/context.db"));
    database.exec(`UPDATE versions SET keys = ${change} WHERE body LIKE 'lanterns before%'`);
    database.close();
  };

  it("at any step of its way: nothing was changed, nothing is left, and the next one can begin", async () => {
    const damaged = copyOf();
    spoil(damaged, "'{' || keys");
    const copy = () => {
      const dataDir = temporaryFolder("satchel-erasure-");
      cpSync(damaged, dataDir, { recursive: true });
      return dataDir;
    };
    const { steps } = await victim(copy(), { stopAt: 0, mode: "count" }).ended;
    const phases = new Set<unknown>();
    for (const [at, name] of steps.entries()) {
      const dataDir = copy();
      await victim(dataDir, { stopAt: at + 1, mode: "die" }).ended;
      const opened = open(dataDir);
      expect(codeOf(await opened.call("memory_list")), `killed at ${name}`).toBe("ok");
      expect(jobIsThere(dataDir), `killed at ${name}`).toBe(false);
      expect(await rawState(dataDir)).toMatchObject({ unsettled: [] });
      const { entries } = await verifyJournalOf(dataDir);
      const ends = entries.map(({ kind, openings }) => ({ kind, body: JSON.parse(openings[0]?.body ?? "{}") }));
      const [end, ...more] = ends.filter(({ body }) => body.operationId === "erase_request" && body.phase !== "input");
      if (end) expect(end.body).toMatchObject({ outcome: "failed", code: "internal" });
      expect(more).toEqual([]);
      phases.add(end?.body.phase);
      spoil(dataDir, "substr(keys, 2)");
      expect(await survey(opened)).toEqual(before);
      if (at % 5 === 0) expect(codeOf(await opened.call("erase_request", realArgs))).toBe("ok");
      await opened.context.store.close();
    }
    expect([...phases].sort()).toEqual(["reconciled", "result", undefined]);
  }, 120_000);
});

describe("in the middle of an erasure", () => {
  const middle = () => stepNames.findIndex((name) => name.includes("before scrub")) + 1;

  it("its call is seen as unsettled, and whatever command comes next finishes it", async () => {
    const commands = [["journal", "unsettled"], ["search", "lanterns"], ["doctor"]];
    for (const command of commands) {
      const dataDir = copyOf();
      await victim(dataDir, { stopAt: middle(), mode: "die" }).ended;
      expect(jobIsThere(dataDir)).toBe(true);
      const verify = await run(["journal", "verify", "--data", dataDir]);
      expect([verify.code, verify.stdout]).toEqual([3, expect.stringContaining("unsettled: call_")]);
      expect(jobIsThere(dataDir)).toBe(true);
      const preview = await run(["erase", "--subject", "lanterns", "--data", dataDir]);
      expect([preview.code, preview.stderr]).toEqual([2, expect.stringContaining("context is locked")]);
      const ran = await run([...command, "--data", dataDir]);
      expect([ran.code, ran.stderr], command.join(" ")).toEqual([0, expect.any(String)]);
      await verifyFinished(open(dataDir), "prp.reconciled");
      expect((await run(["journal", "verify", "--data", dataDir])).code).toBe(0);
      expect((await run(["journal", "unsettled", "--data", dataDir, "--json"])).stdout).toContain('"calls": []');
    }
  });

  it("every other process is told locked, goes on by itself when the eraser dies, and so does one that started meanwhile", async () => {
    const dataDir = copyOf();
    const open1 = open(dataDir);
    expect(codeOf(await open1.call("memory_list"))).toBe("ok");
    const eraser = victim(dataDir, { stopAt: middle(), mode: "hold" });
    await eraser.reached(middle());
    const open2 = open(dataDir);
    for (const opened of [open1, open2, open1, open2]) {
      const startedMs = performance.now();
      expect(codeOf(await opened.call("memory_list"))).toBe("locked");
      expect(codeOf(await opened.call("memory_write", { path: "new", body: "x\n" }))).toBe("locked");
      expect(codeOf(await opened.call("erase_request", { paths: ["kept"], dry_run: false }))).toBe("locked");
      expect(performance.now() - startedMs).toBeLessThan(2000);
    }
    const command = await run(["page", "ls", "--data", dataDir]);
    expect([command.code, command.stderr]).toEqual([1, expect.stringContaining("locked")]);
    expect(jobIsThere(dataDir)).toBe(true);
    eraser.child.kill("SIGKILL");
    await eraser.ended;
    const answers = await Promise.all([open1, open2, open1, open2].map((opened) => opened.call("memory_list")));
    expect(answers.map(codeOf).filter((code) => code === "ok").length).toBeGreaterThan(0);
    for (const opened of [open1, open2]) expect(codeOf(await opened.call("memory_list"))).toBe("ok");
    await verifyFinished(open2, "prp.reconciled");
  });

  it("a key that was being erased under answers with the receipt afterwards, without the salt", async () => {
    const dataDir = copyOf();
    const args = { ...realArgs, idempotencyKey: "once" };
    await victim(dataDir, { stopAt: middle(), mode: "die", args }).ended;
    const opened = open(dataDir);
    const answer = (await opened.call("erase_request", args)) as unknown as RealRun;
    expect(answer).toMatchObject({ dry_run: false, receipt: { counts: { pages: 2, derived: 1 } } });
    expect(answer).not.toHaveProperty("salt");
    const { entries } = await verifyJournalOf(dataDir);
    expect(entries.filter(({ kind }) => kind === "erasure")).toHaveLength(1);
  });
});
