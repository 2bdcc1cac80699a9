import { createHash } from "node:crypto";
import Database from "better-sqlite3";
import {
  appendEntries,
  generateSigningKey,
  type JournalStorage,
  type NewEntry,
  type SigningKey,
  startLog,
  type VerifierKey,
} from "./index.js";
import { createSqliteJournal, journalTables, type SqliteConnection } from "./sqlite.js";

export const origin = "satchel/0190c7a2-5b1e-7c3d-8a4f-2f6f1f3a9b10";
export const at = "2026-05-04T10:20:30.456Z";

/** The same bytes for the same seed, and other bytes for every call. */
export function seededBytes(seed: string): (count: number) => Uint8Array {
  let calls = 0;
  return (count) => {
    calls += 1;
    return createHash("shake256", { outputLength: count }).update(`${seed} ${calls}`).digest();
  };
}

export function makeKey(label: string, name = origin): SigningKey {
  return generateSigningKey(name, createHash("sha256").update(label).digest());
}

// Never collected: better-sqlite3 12 aborts on some Nodes when a database is (see the server's connection.ts).
const retained: unknown[] = [];

export interface TestDatabase extends SqliteConnection {
  copy(): TestDatabase;
  /** The file's bytes. */
  bytes(): Buffer;
}

function wrap(database: Database.Database): TestDatabase {
  const statements = new Map<string, Database.Statement>();
  retained.push(database, statements);
  const statement = (sql: string) => {
    const known = statements.get(sql) ?? database.prepare(sql);
    statements.set(sql, known);
    return known;
  };
  return {
    run: (sql, ...parameters) => statement(sql).run(...parameters),
    get: <Row>(sql: string, ...parameters: unknown[]) => statement(sql).get(...parameters) as Row | undefined,
    all: <Row>(sql: string, ...parameters: unknown[]) => statement(sql).all(...parameters) as Row[],
    copy: () => wrap(new Database(database.serialize())),
    bytes: () => database.serialize(),
  };
}

export function openDatabase(): TestDatabase {
  const database = new Database(":memory:");
  database.pragma("secure_delete = ON");
  database.exec(journalTables);
  return wrap(database);
}

/** The bodies of one call as the server writes them: input, audit, result. */
export function makeCall(num: number): NewEntry[] {
  const hex = createHash("sha256").update(`call ${num}`).digest("hex");
  const uuid = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  const id = (prefix: string) =>
    `${prefix}_01k8${createHash("sha256")
      .update(prefix + hex)
      .digest("hex")
      .slice(0, 22)}`;
  const shared = {
    schema: "paperclip.prp.semantic_tool.v1",
    schemaVersion: 1,
    operationId: num % 3 === 0 ? "memory_write" : "memory_search",
    callId: `call_${uuid}`,
    correlation: { runId: "run_7f3a", normalizedSessionId: "session_91c2", turnId: `turn_${num}`, itemId: id("item") },
    idempotencyKey: null,
  };
  const content = { digest: `sha256:${hex}`, redactionDisposition: "digest_only", references: [] };
  const audit = { id: id("aud"), principal: "user:owner", client: "client-a", tool: shared.operationId };
  const facts = { category: "memory", action: "read", outcome: "ok" };
  const result = {
    outcome: "succeeded",
    code: "ok",
    retryable: false,
    authorizationBoundary: "active_task",
    operationReceiptId: `semantic_receipt:${hex.slice(32)}`,
    auditReceiptId: audit.id,
    currentRevision: id("ver"),
    causalRefs: [{ kind: "audit", id: audit.id }],
  };
  return [
    { at, kind: "prp.input", bodies: [{ ...shared, phase: "input", content }] },
    { at, kind: "audit", bodies: [{ ...audit, ...facts }, { targets: [id("pg"), id("ver")] }] },
    {
      at,
      kind: "prp.result",
      bodies: [
        {
          ...shared,
          phase: "result",
          content: { ...content, digest: `sha256:${[...hex].reverse().join("")}` },
          ...result,
        },
      ],
    },
  ];
}

export interface TestLog {
  database: TestDatabase;
  storage: JournalStorage;
  key: SigningKey;
  tools: { randomBytes(count: number): Uint8Array };
  trusted: VerifierKey[];
  append(calls: number): Promise<void>;
}

/** A started log in a database of its own. */
export async function startTestLog(label = "log"): Promise<TestLog> {
  const database = openDatabase();
  const storage = createSqliteJournal(database);
  const key = makeKey(label);
  const tools = { randomBytes: seededBytes(label) };
  await startLog(storage, key, { at, ...tools });
  let calls = 0;
  const append = async (count: number) => {
    for (let i = 0; i < count; i++) await appendEntries(storage, makeCall(calls++), tools);
  };
  return { database, storage, key, tools, trusted: [key.verifier], append };
}
