import { statSync } from "node:fs";
import { createSqliteJournal } from "@satchel/journal/sqlite";
import type { ContextRecord } from "../../domain/records.js";
import type { ReadTransaction, Store, StoreReport, WriteTransaction } from "../store.js";
import { StoreError } from "../store.js";
import * as audit from "./audit.js";
import * as claims from "./claims.js";
import { Connection, isDamage, misusedError } from "./connection.js";
import * as erasure from "./erasure.js";
import * as exported from "./exports.js";
import { FileLock } from "./file-lock.js";
import * as history from "./history.js";
import * as pages from "./pages.js";
import { listParts, partNumbers } from "./parts.js";
import * as people from "./people.js";
import * as profiles from "./profiles.js";
import * as revisions from "./revisions.js";
import { migrate, schemaVersion, verifyMigrated } from "./schema.js";
import * as tokens from "./tokens.js";
import * as words from "./words.js";

/**
 * Makes the database of a new context at `file`, which must not exist, and closes it again, so that the file alone is
 * the whole database.
 */
export function createSqliteStore(file: string, context: ContextRecord): void {
  const connection = new Connection(file, { create: true });
  try {
    connection.pragma("journal_mode = WAL");
    migrate(connection);
    connection.exclusively(() => {
      connection.run(
        "INSERT INTO context (id, handle, kind, profile_type, created, clock) VALUES (?, ?, ?, ?, ?, ?)",
        context.id,
        context.handle,
        context.kind,
        context.profileType,
        context.created,
        Date.parse(context.created),
      );
      connection.run("INSERT INTO partitions (name) VALUES ('main')");
    });
  } finally {
    connection.close();
  }
}

/**
 * Opens the database of an existing context. Reads have a connection of their own, so that they go on while a write
 * waits for another process. While none does, they take the writer's: a connection forgets all pages it knows when
 * another one has written. @throws StoreError `newer`, `damaged`
 */
export function openSqliteStore(file: string): Store {
  const writer = openWriter(file);
  const reader = new Connection(file);
  const reads = new Map([reader, writer].map((connection) => [connection, readTransaction(connection)] as const));
  const readsOf = (connection: Connection) => reads.get(connection) as ReadTransaction;
  const writes = writeTransaction(writer, readsOf(writer));
  const erasureLock = new FileLock(`${file}-erasure`);
  return {
    contextId: contextRecord(writer).id,
    read: (use, { isErasing = false } = {}) => {
      const connection = writer.isIdle ? writer : reader;
      return connection.transact("BEGIN", async (isOpen) => {
        if (!isErasing) verifyUnlocked(connection);
        return use(whileOpen(readsOf(connection), isOpen));
      });
    },
    write: (use, { durability = "power", isErasing = false } = {}) =>
      writer.transact(
        "BEGIN IMMEDIATE",
        async (isOpen) => {
          if (!isErasing) verifyUnlocked(writer);
          return use(whileOpen(writes, isOpen));
        },
        durability,
      ),
    lockErasure: () => erasureLock.take(),
    lockJob: (job) => new FileLock(`${file}-job-${job}`).takeOnce(),
    lockedJobs: () => FileLock.list(`${file}-job-`),
    scrub: (options) => erasure.scrub(writer, listParts(writer), options?.waitMs),
    inspect: () => inspectAfresh(file),
    close: async () => {
      erasureLock.close();
      reader.close();
      writer.close();
    },
  };
}

/**
 * What the database of a context holds now, without changing a byte of any file: while nobody has it open it is read
 * into memory. @throws StoreError `damaged`, `locked`
 */
export function openSqliteSnapshot(file: string): Pick<Store, "read" | "close"> {
  const connection = Connection.snapshot(file);
  const reads = readTransaction(connection);
  return {
    read: async (use, { isErasing = false } = {}) => {
      try {
        verifyMigrated(connection);
        migrate(connection); // Of an earlier release, in memory.
        return await connection.transact("BEGIN", async (isOpen) => {
          if (!isErasing) verifyUnlocked(connection);
          return use(whileOpen(reads, isOpen));
        });
      } catch (cause) {
        throw toStoreError(cause);
      }
    },
    close: async () => connection.close(),
  };
}

function toStoreError(cause: unknown): unknown {
  return isDamage(cause) ? new StoreError("damaged", "The database of this context is damaged.", { cause }) : cause;
}

function verifyUnlocked(connection: Connection): void {
  if (erasure.erasureState(connection))
    throw new StoreError("locked", "An erasure is under way. Try again in a minute.");
}

/** A database that holds a context of this release, or one that was brought up to it. */
function openWriter(file: string): Connection {
  let writer: Connection | undefined;
  try {
    writer = new Connection(file);
    verifyMigrated(writer);
    migrate(writer);
    contextRecord(writer);
    writer.useShortWaits();
    return writer;
  } catch (cause) {
    writer?.close();
    throw toStoreError(cause);
  }
}

/** What a use case keeps of its transaction is refused afterwards: it would act outside any transaction, or in another one. */
function whileOpen<T extends ReadTransaction>(transaction: T, isOpen: () => boolean): T {
  return new Proxy(transaction, {
    get(target, name, receiver) {
      if (!isOpen()) throw misusedError("This transaction has ended.");
      return Reflect.get(target, name, receiver);
    },
  });
}

function readTransaction(connection: Connection): ReadTransaction {
  return {
    context: async () => contextRecord(connection),
    recordedTime: async () =>
      new Date(connection.get<{ clock: number }>("SELECT clock FROM context")?.clock ?? 0).toISOString(),
    setting: async (name) =>
      connection.get<{ value: string }>("SELECT value FROM settings WHERE name = ?", name)?.value,
    partitions: async () => people.listPartitions(connection),
    membership: async (principal) => people.findMembership(connection, principal),
    users: async () => people.listUsers(connection),
    groups: async () => people.listGroups(connection),
    page: async (selector) => pages.findPage(connection, selector),
    pathOf: async (id) => connection.get<{ path: string }>("SELECT path FROM pages WHERE id = ?", id)?.path,
    currentVersion: async (page) => history.currentVersion(connection, page),
    list: async (query) => pages.listPages(connection, query),
    recent: async (query) => pages.recentPages(connection, query),
    superseders: async (query) => pages.findSuperseders(connection, query),
    readablePaths: async (query) => pages.findReadablePaths(connection, query),
    newestUpdate: async (query) => pages.newestUpdate(connection, query),
    countPages: async ({ parts }) =>
      connection.get<{ count: number }>(
        "SELECT coalesce(sum(documents), 0) AS count FROM parts WHERE num IN (SELECT value FROM json_each(?))",
        JSON.stringify(partNumbers(connection, parts)),
      )?.count ?? 0,
    bestMatches: async (query) => words.bestMatches(connection, query),
    furtherMatches: async (query) => words.furtherMatches(connection, query),
    wordStatistics: async (query) => words.wordStatistics(connection, query),
    termsByPrefix: async (query) => words.termsByPrefix(connection, query),
    candidates: async (query) => words.loadCandidates(connection, query),
    profile: async (namespace) => profiles.findProfile(connection, namespace),
    profiles: async () => profiles.listProfiles(connection),
    profileChanges: async (namespace) => profiles.listProfileChanges(connection, namespace),
    versions: async (pageId) => history.allVersions(connection, pageId),
    version: async (id) => history.findVersion(connection, id),
    versionAt: async (page, updated) => history.findVersionAt(connection, page, updated),
    past: async (query) => history.pastPages(connection, query),
    pastPage: async (query) => history.pastPage(connection, query),
    revision: async (id) => revisions.findRevision(connection, id),
    revisions: async (query) => revisions.listRevisions(connection, query),
    extensionSchema: async (namespace) => profiles.findExtensionSchema(connection, namespace),
    extensionNamespaces: async () => profiles.listExtensionNamespaces(connection),
    audit: async (query) => audit.listAudit(connection, query),
    auditLines: async (range) => audit.listAuditLines(connection, range),
    erasure: async () => erasure.erasureState(connection),
    lastErasure: async () => erasure.lastErasure(connection),
    storedPages: async (range) => erasure.listStoredPages(connection, range),
    storedRevisions: async (range) => erasure.listStoredRevisions(connection, range),
    storedAnswers: async (range) => erasure.listAnswers(connection, range),
    storedTexts: () => erasure.storedTexts(connection),
    journal: createSqliteJournal(connection),
    claim: async (id) => claims.findClaim(connection, id),
    exports: async () => exported.listExports(connection),
    exportedItems: async (id) => exported.exportedItems(connection, id),
    attachments: async () => exported.listAttachments(connection),
    isUsed: async (id) => history.isUsed(connection, id),
    recordedTimes: async () => history.recordedTimes(connection),
    stagedCalls: async () => claims.listStagedCalls(connection),
    tokens: async () => tokens.listTokens(connection),
    tokenByDigest: async (digest) => tokens.findToken(connection, digest),
  };
}

function writeTransaction(connection: Connection, reads: ReadTransaction): WriteTransaction {
  return {
    ...reads,
    tick: async (nowMs) => setClock(connection, (clock) => Math.max(clock + 1, Math.trunc(nowMs))),
    setSetting: async (name, value) => {
      connection.run(
        "INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        name,
        value,
      );
    },
    putPartition: async (partition) => people.putPartition(connection, partition),
    putUser: async (user) => people.putUser(connection, user),
    removeUser: async (principal) => people.removeUser(connection, principal),
    putGroup: async (group) => people.putGroup(connection, group),
    putExtensionSchema: async (namespace, schema) => profiles.putExtensionSchema(connection, namespace, schema),
    addRevision: async (revision) => revisions.addRevision(connection, revision),
    decideRevision: async (id, state, decision) => revisions.decideRevision(connection, { id, state, decision }),
    journal: createSqliteJournal(connection),
    setErasure: async (state, erased) => erasure.setErasure(connection, state, erased),
    erasePage: async (num) => erasure.erasePage(connection, num),
    eraseVersion: async (id) => erasure.eraseVersion(connection, id),
    eraseRevision: async (id) => erasure.eraseRevision(connection, id),
    eraseAnswer: async (id) => erasure.eraseAnswer(connection, id),
    rewriteProfile: async (namespace, changes) => erasure.rewriteProfile(connection, namespace, changes),
    indexAudit: async (seq, entry) => audit.indexAudit(connection, seq, entry),
    takeEarlierAudit: async () => audit.takeEarlierAudit(connection),
    putClaim: async (claim) => claims.putClaim(connection, claim),
    endClaim: async (id) => claims.endClaim(connection, id),
    putStagedCall: async (call) => claims.putStagedCall(connection, call),
    endStagedCall: async (seq) => claims.endStagedCall(connection, seq),
    putExport: async (record) => exported.putExport(connection, record),
    putExportedItems: async (id, items) => exported.putExportedItems(connection, id, items),
    endExport: async (id) => exported.endExport(connection, id),
    putAttachment: async (attachment) => exported.putAttachment(connection, attachment),
    advanceTime: async (recorded) => {
      setClock(connection, (clock) => Math.max(clock, Date.parse(recorded)));
    },
    restorePage: async (page) => pages.restorePage(connection, page),
    createPage: async (id, version) => pages.createPage(connection, id, version),
    addVersion: async (page, version) => pages.addVersion(connection, page, version),
    removePage: async (page, tombstone) => pages.removePage(connection, page, tombstone),
    putProfile: async (change) => profiles.putProfile(connection, change),
    addToken: async (token) => tokens.addToken(connection, token),
    revokeToken: async (id, at) => tokens.revokeToken(connection, id, at),
  };
}

/** By its key: a change that could be of many rows makes FTS5 write out all it holds, once for each page of an import. */
function setClock(connection: Connection, choose: (clock: number) => number): string {
  const row = connection.get<{ id: string; clock: number }>("SELECT id, clock FROM context");
  const clock = choose(row?.clock ?? 0);
  connection.run("UPDATE context SET clock = ? WHERE id = ?", clock, row?.id);
  return new Date(clock).toISOString();
}

function contextRecord(connection: Connection): ContextRecord {
  const row = connection.get<ContextRecord>(
    "SELECT id, handle, kind, profile_type AS profileType, created FROM context",
  );
  if (!row) throw new StoreError("damaged", "This database holds no context.");
  return row;
}

/**
 * On a connection of its own: FTS5 checks a word index against what the connection last read of it, so one that another
 * connection has written to since would pass for damaged.
 */
async function inspectAfresh(file: string): Promise<StoreReport> {
  const connection = new Connection(file);
  try {
    return await connection.transact("BEGIN", async () => inspect(connection, file));
  } finally {
    connection.close();
  }
}

function inspect(connection: Connection, file: string): StoreReport {
  const problems = connection
    .all<{ integrity_check: string }>("PRAGMA integrity_check(20)")
    .map((row) => row.integrity_check)
    .filter((line) => line !== "ok");
  const broken = connection.all("PRAGMA foreign_key_check");
  if (broken.length > 0) problems.push(`${broken.length} rows refer to rows that do not exist`);
  const count = (table: string, where = "true") =>
    connection.get<{ count: number }>(`SELECT count(*) AS count FROM ${table} WHERE ${where}`)?.count ?? 0;
  const { version } = connection.get<{ version: string }>("SELECT sqlite_version() AS version") ?? { version: "?" };
  return {
    engine: `SQLite ${version}`,
    schemaVersion,
    bytes: statSync(file).size,
    pages: count("pages", "removed IS NULL"),
    versions: count("versions"),
    problems,
  };
}
