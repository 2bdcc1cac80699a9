import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Context, callTool, createContext, openContext, verifyContextJournal } from "@satchel/server";
import { beforeAll, describe, expect, it } from "vitest";
import { Choices } from "./choices.js";
import { environmentOf } from "./environment.js";
import { verifyJournalOf } from "./erasure-world.js";
import { openArchive } from "./exported-archive.js";
import { cleanEnvironment, onEnd, run, runOk, startCommand, temporaryFolder } from "./harness.js";
import { scaled, testSeed } from "./scale.js";
import { owner } from "./shared-context.js";

/*
 * An export or import whose process is killed at any instant is done with all its records, or nothing of it is left and
 * whoever comes next says so. Needs the built command.
 */

const victimScript = fileURLToPath(new URL("export-victim.mjs", import.meta.url));
const pageCount = 12;
/** The clock of the processes that are killed. */
const clock = {
  get ms() {
    return Date.now();
  },
};

interface Job {
  out?: string;
  import?: string;
}

let filled: string;
let empty: string;
let archive: string;
const stepNames: Record<"export" | "out" | "import", string[]> = { export: [], out: [], import: [] };

function open(dataDir: string): Context {
  const context = openContext(dataDir, "me", environmentOf(clock));
  onEnd(() => context.store.close());
  return context;
}

const log = { fault: ({ error }: { error: unknown }) => console.error(error) };

async function listed(context: Context): Promise<string[]> {
  const { structuredContent } = await callTool("memory_list", { context, caller: owner, args: { limit: 100 }, log });
  return (structuredContent as { pages: { path: string }[] }).pages.map(({ path }) => path);
}

/** A copy of the context that a job is killed in. */
function copyOf(template: string): string {
  const dataDir = temporaryFolder("satchel-export-");
  cpSync(template, dataDir, { recursive: true });
  return dataDir;
}

function newOut(): string {
  const folder = join(temporaryFolder("satchel-out-"), "made");
  mkdirSync(folder);
  return join(folder, "archive");
}

function victim(dataDir: string, { job, stopAt, mode }: { job: Job; stopAt: number; mode: string }) {
  const given = [victimScript, dataDir, JSON.stringify(job), String(stopAt), mode];
  const child: ChildProcess = spawn(process.execPath, given, {
    env: cleanEnvironment(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  onEnd(() => child.kill("SIGKILL"));
  const output = { stdout: "", stderr: "" };
  const waiting: (() => void)[] = [];
  child.stdout?.on("data", (chunk) => {
    output.stdout += chunk;
    for (const look of waiting) look();
  });
  child.stderr?.on("data", (chunk) => {
    output.stderr += chunk;
  });
  const steps = () => output.stdout.split("\n").filter(Boolean);
  const ended = new Promise<{ steps: string[]; stderr: string }>((resolve) => {
    child.once("close", () => resolve({ steps: steps(), stderr: output.stderr }));
  });
  const reached = new Promise<void>((resolve) => waiting.push(() => steps().length >= stopAt && resolve()));
  return { child, ended, reached };
}

beforeAll(async () => {
  filled = temporaryFolder("satchel-export-");
  empty = temporaryFolder("satchel-export-");
  for (const dataDir of [filled, empty])
    createContext(dataDir, { handle: "me", kind: "personal" }, environmentOf(clock));
  const context = open(filled);
  for (let page = 0; page < pageCount; page++) {
    const args = { path: `notes/${page}`, body: "tea ".repeat(page * 500) };
    await callTool("memory_write", { context, caller: owner, args, log });
  }
  await context.store.close();
  const fresh = open(empty);
  await listed(fresh);
  await fresh.store.close();
  const out = newOut();
  stepNames.out = (await victim(copyOf(filled), { job: { out }, stopAt: 0, mode: "count" }).ended).steps;
  archive = out;
  stepNames.export = (await victim(copyOf(filled), { job: {}, stopAt: 0, mode: "count" }).ended).steps;
  stepNames.import = (await victim(copyOf(empty), { job: { import: archive }, stopAt: 0, mode: "count" }).ended).steps;
}, 60_000);

const folderOf = (dataDir: string) => join(dataDir, "contexts/me");
const exportFiles = (dataDir: string) =>
  existsSync(join(folderOf(dataDir), "exports")) ? readdirSync(join(folderOf(dataDir), "exports")) : [];
const lockFiles = (dataDir: string) => readdirSync(folderOf(dataDir)).filter((name) => name.includes("-job-"));

async function unsettledOf(dataDir: string): Promise<string[]> {
  const found = await verifyContextJournal({ dataDir, handle: "me" }, { keys: [], checkpoints: [] });
  expect(found.verdict).toBe("valid");
  return found.unsettled;
}

type Outcome = "not begun" | "reconciled" | "done";

/** What the journal says of the call. */
async function endOf(dataDir: string, operation: string): Promise<Outcome> {
  const { verdict, entries } = await verifyJournalOf(dataDir);
  expect(verdict.verdict).toBe("valid");
  const bodies = entries.map(({ openings }) => JSON.parse(openings[0]?.body ?? "{}"));
  const own = bodies.filter(({ operationId }) => operationId === operation);
  const audited = bodies.filter(({ tool }) => tool === operation);
  if (own.length === 0) {
    expect(audited).toEqual([]);
    return "not begun";
  }
  expect(own.map(({ phase }) => phase)).toEqual(["input", expect.stringMatching(/^result$|^reconciled$/)]);
  const [, end] = own;
  const isDone = end.phase === "result";
  expect(end).toMatchObject(isDone ? { outcome: "succeeded", code: "ok" } : { outcome: "failed", code: "internal" });
  expect(audited).toMatchObject([{ outcome: isDone ? "ok" : "internal", principal: "user:owner" }]);
  return isDone ? "done" : "reconciled";
}

async function verifySettled(dataDir: string): Promise<Context> {
  const context = open(dataDir);
  await listed(context);
  expect(await unsettledOf(dataDir)).toEqual([]);
  expect(lockFiles(dataDir)).toEqual([]);
  expect((await context.store.inspect()).problems).toEqual([]);
  return context;
}

/** After the next call. */
async function verifyExport(dataDir: string, out?: string): Promise<Outcome> {
  const context = await verifySettled(dataDir);
  const outcome = await endOf(dataDir, "export_create");
  const records = await context.store.read((transaction) => transaction.exports());
  const known = records.map(({ made }) => made !== undefined);
  const isOut = out !== undefined && existsSync(out);
  if (outcome === "done" || isOut)
    expect(known).toEqual([true]); // Erasures have to know of it.
  else if (out === undefined) expect(known).toEqual([]);
  expect(exportFiles(dataDir)).toEqual(records.flatMap(({ file }) => file ?? []));
  for (const name of exportFiles(dataDir)) await openArchive(join(folderOf(dataDir), "exports", name));
  if (out !== undefined) {
    expect(readdirSync(join(out, "..")).filter((name) => name !== "archive")).toEqual([]);
    if (outcome === "done") expect(existsSync(out)).toBe(true);
    if (outcome === "not begun") expect(existsSync(out)).toBe(false);
    if (existsSync(out)) expect((await openArchive(out)).manifest.page_count).toBe(pageCount);
  }
  await context.store.close();
  return outcome;
}

async function verifyImport(dataDir: string): Promise<Outcome> {
  const context = await verifySettled(dataDir);
  const outcome = await endOf(dataDir, "import");
  expect(await listed(context)).toHaveLength(outcome === "done" ? pageCount : 0);
  await context.store.close();
  return outcome;
}

/** All steps at full count, else as many of them as are drawn. */
function drawn(names: string[], count: number): number[] {
  const all = names.map((_, at) => at + 1);
  const wanted = scaled(all.length * count);
  return wanted >= all.length ? all : new Choices(testSeed()).some(all, Math.max(wanted, 12) / all.length);
}

async function killAtSteps(kind: keyof typeof stepNames, verify: (dataDir: string, out?: string) => Promise<Outcome>) {
  const outcomes = new Map<Outcome, number>();
  for (const stopAt of drawn(stepNames[kind], 2)) {
    const dataDir = copyOf(kind === "import" ? empty : filled);
    const out = kind === "out" ? newOut() : undefined;
    const job = kind === "import" ? { import: archive } : { ...(out !== undefined && { out }) };
    const { steps } = await victim(dataDir, { job, stopAt, mode: "die" }).ended;
    const at = `step ${steps.at(-1)}`;
    expect(steps.length, at).toBe(stopAt);
    const outcome = await verify(dataDir, out).catch((cause) => {
      throw new Error(`killed at ${at}: ${cause instanceof Error ? cause.message : cause}`, { cause });
    });
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  console.log(`${kind}: ${stepNames[kind].length} steps, ${JSON.stringify([...outcomes])}`);
  expect(outcomes.get("reconciled")).toBeGreaterThan(0);
}

describe("kill -9 at any step", { timeout: 600_000 }, () => {
  it("of an export that can be fetched: whole with its records, or nothing is left", () =>
    killAtSteps("export", verifyExport));

  it("of an export into a file: the file is whole or absent, and nothing lies beside it", () =>
    killAtSteps("out", verifyExport));

  it("of an import: everything is there, or nothing is", () => killAtSteps("import", verifyImport));
});

describe("kill -9 at any instant", { timeout: 600_000 }, () => {
  it("of satchel export", async () => {
    const choices = new Choices(testSeed());
    for (let round = 0; round < scaled(60); round++) {
      const [dataDir, out] = [copyOf(filled), newOut()];
      const command = startCommand(["export", "--out", out, "--data", dataDir]);
      setTimeout(() => command.child.kill("SIGKILL"), choices.integer(150, 900));
      await command.exit;
      await verifyExport(dataDir, out);
      expect((await run(["journal", "unsettled", "--data", dataDir, "--json"])).stdout).toContain('"calls": []');
    }
  });

  it("of satchel import", async () => {
    const choices = new Choices(testSeed());
    for (let round = 0; round < scaled(60); round++) {
      const dataDir = copyOf(empty);
      const command = startCommand(["import", archive, "--data", dataDir]);
      setTimeout(() => command.child.kill("SIGKILL"), choices.integer(150, 900));
      await command.exit;
      await verifyImport(dataDir);
    }
  });
});

describe("several processes", { timeout: 120_000 }, () => {
  it("that export at once all succeed", async () => {
    const dataDir = copyOf(filled);
    const outs = [newOut(), newOut(), newOut()];
    await Promise.all(outs.map((out) => runOk(["export", "--out", out, "--data", dataDir])));
    for (const out of outs) expect((await openArchive(out)).manifest.page_count).toBe(pageCount);
    await verifySettled(dataDir);
  });

  it("that would write one file: one does, the others are told, and the file is whole", async () => {
    const dataDir = copyOf(filled);
    const out = newOut();
    const ran = await Promise.all([1, 2, 3].map(() => run(["export", "--out", out, "--data", dataDir])));
    expect(ran.map(({ code }) => code).sort()).toEqual([0, 1, 1]);
    for (const { code, stderr } of ran) if (code === 1) expect(stderr).toContain("exists already");
    await openArchive(out);
    expect(readdirSync(join(out, ".."))).toEqual(["archive"]);
    await verifySettled(dataDir);
  });

  it("one that starts while another one exports leaves it alone, and settles it when that one has died", async () => {
    const dataDir = copyOf(filled);
    const stopAt = stepNames.export.findIndex((name) => name.endsWith("before linkSync")) + 1;
    const exporter = victim(dataDir, { job: {}, stopAt, mode: "hold" });
    await exporter.reached;
    await runOk(["page", "ls", "--data", dataDir]);
    const [calls] = await Promise.all([runOk(["journal", "unsettled", "--data", dataDir, "--json"])]);
    expect(calls.stdout).toContain("export_create");
    expect(exportFiles(dataDir)).toHaveLength(1);
    expect(lockFiles(dataDir).length).toBeGreaterThan(0);
    exporter.child.kill("SIGKILL");
    await exporter.ended;
    expect(await verifyExport(dataDir)).toBe("reconciled");
  });

  it("one that looks after an export which is done meanwhile does not take its file", async () => {
    const dataDir = copyOf(filled);
    const exporting = run(["export", "--out", newOut(), "--data", dataDir]);
    const [first, ...others] = await Promise.all([
      victim(dataDir, { job: {}, stopAt: 0, mode: "count" }).ended,
      ...[1, 2, 3].map(() => run(["page", "ls", "--data", dataDir])),
      exporting,
    ]);
    expect(first.stderr).toBe("");
    for (const ran of others) expect((ran as { code: number }).code).toBe(0);
    expect(exportFiles(dataDir)).toHaveLength(1);
  });
});
