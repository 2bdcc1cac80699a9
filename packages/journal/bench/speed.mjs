// Measures a journal of its own making. First `npx tsc -b packages/journal`, then: node packages/journal/bench/speed.mjs [calls]
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { appendEntries, generateSigningKey, makeCheckpoint, proveEntry, startLog, verifyLog } from "../dist/index.js";
import { createSqliteJournal, journalTables } from "../dist/sqlite.js";

const calls = Number(process.argv[2] ?? 30_000);
const callsPerCheckpoint = 85;
const origin = `satchel/${randomUUID()}`;
const tools = { randomBytes };

function openJournal(file) {
  const database = new Database(file);
  database.pragma("journal_mode = WAL");
  database.pragma("synchronous = NORMAL");
  database.exec(journalTables);
  const statements = new Map();
  const statement = (sql) => statements.get(sql) ?? statements.set(sql, database.prepare(sql)).get(sql);
  const journal = createSqliteJournal({
    run: (sql, ...parameters) => statement(sql).run(...parameters),
    get: (sql, ...parameters) => statement(sql).get(...parameters),
    all: (sql, ...parameters) => statement(sql).all(...parameters),
  });
  return { database, journal };
}

const id = (prefix) =>
  `${prefix}_${BigInt(`0x${randomBytes(16).toString("hex")}`)
    .toString(32)
    .padStart(26, "0")}`;
const digest = () => `sha256:${randomBytes(32).toString("hex")}`;

/** Input, audit and result of one call, with the ids and digests of the real ones. */
function buildCall(at) {
  const callId = `call_${randomUUID()}`;
  const [auditId, itemId] = [id("aud"), `item_${randomUUID()}`];
  const shared = {
    schema: "paperclip.prp.semantic_tool.v1",
    schemaVersion: 1,
    operationId: "memory_search",
    callId,
    correlation: { runId: "run_01", normalizedSessionId: "session_01", turnId: `turn_${randomUUID()}`, itemId },
    idempotencyKey: null,
  };
  const content = () => ({ digest: digest(), redactionDisposition: "digest_only", references: [] });
  const audit = { id: auditId, principal: "user:owner", client: "client-a", tool: "memory_search", category: "memory" };
  const result = {
    outcome: "succeeded",
    code: "ok",
    retryable: false,
    authorizationBoundary: "active_task",
    operationReceiptId: `semantic_receipt:${createHash("sha256").update(callId).digest("hex").slice(0, 32)}`,
    auditReceiptId: auditId,
    causalRefs: [{ kind: "audit", id: auditId }],
  };
  return [
    { at, kind: "prp.input", bodies: [{ ...shared, phase: "input", content: content() }] },
    { at, kind: "audit", bodies: [{ ...audit, action: "read", outcome: "ok" }, { targets: [id("pg"), id("ver")] }] },
    { at, kind: "prp.result", bodies: [{ ...shared, phase: "result", content: content(), ...result }] },
  ];
}

async function fill({ database, journal }, key) {
  const made = Array.from({ length: calls }, (_, i) => buildCall(new Date(1.78e12 + i).toISOString()));
  let appendMs = 0;
  for (const [index, entries] of made.entries()) {
    database.exec("BEGIN IMMEDIATE");
    const { ms } = await time(() => appendEntries(journal, entries, tools));
    appendMs += ms;
    if (index % callsPerCheckpoint === 0) await makeCheckpoint(journal, key);
    database.exec("COMMIT");
  }
  return appendMs;
}

/** Processor time, which other work on the machine does not stretch as it does real time. */
async function time(work) {
  const [startedMs, before] = [performance.now(), process.cpuUsage()];
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  return { result, ms: (user + system) / 1000, realMs: performance.now() - startedMs };
}

async function measure(file) {
  const store = openJournal(file);
  const key = generateSigningKey(origin, randomBytes(32));
  await startLog(store.journal, key, { at: new Date(1.78e12).toISOString(), randomBytes });
  const emptyBytes = statSync(file).size;
  const appendMs = await fill(store, key);
  await makeCheckpoint(store.journal, key);
  store.database.pragma("wal_checkpoint(TRUNCATE)");
  const verified = await time(() => verifyLog(store.journal, { trusted: [key.verifier], origin }));
  const proved = await time(() => proveEntry(store.journal, Math.floor(calls * 1.5)));
  const { size, verdict } = verified.result;
  const rate = (ms) => Math.round(size / (ms / 1000));
  console.log(
    `verify      ${verdict}, ${size} entries, ${rate(verified.ms)} a second (${rate(verified.realMs)} by the clock)`,
  );
  console.log(`append      ${((appendMs / calls) * 1000).toFixed(0)} µs per call of 3 entries, without the commit`);
  console.log(
    `database    ${((statSync(file).size - emptyBytes) / calls).toFixed(0)} bytes per call, checkpoints included`,
  );
  console.log(`proof       ${JSON.stringify(proved.result).length} bytes, ${proved.ms.toFixed(1)} ms`);
}

const folder = mkdtempSync(join(tmpdir(), "journal-speed-"));
try {
  await measure(join(folder, "journal.sqlite"));
} finally {
  rmSync(folder, { recursive: true });
}
process.exit();
