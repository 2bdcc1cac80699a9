import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { isHandle, PcpError } from "@satchel/pcp";
import type { ContextKind, ContextRecord } from "../domain/records.js";
import { createSqliteStore, openSqliteSnapshot, openSqliteStore } from "../store/sqlite/store.js";
import { StoreError } from "../store/store.js";
import { createCallKeys } from "./call-keys.js";
import { readCheckpoints } from "./checkpoint-file.js";
import type { Context, Environment } from "./context.js";
import { createCursorSeal } from "./cursor.js";
import { createDocumentSeal } from "./document-seal.js";
import { type ErasurePlan, type ErasureRequest, planErasure } from "./erasure-plan.js";
import { guardStore } from "./guarded-store.js";
import { makeOnce, syncFolder, writeSecret } from "./key-file.js";
import { checkpointsFile, journalKeyFile, journalKeysFile, newSigningKey, openJournal } from "./open-journal.js";
import { RateLimiter } from "./rate-limit.js";
import { createSecretScan } from "./secret-scan.js";
import { type JournalVerdict, verifyJournal } from "./verify-journal.js";

/*
 * A data directory holds contexts/<handle>/{context.db, key, documents.key, journal.key,
 * journal.pub, checkpoints.log}. A new context is made whole under a name that starts with
 * a dot and then renamed into place, so that processes that start at once on an empty directory all find one complete
 * context, and a crash in between leaves nothing that counts.
 */
const databaseFile = "context.db";
const keyFile = "key";
/** Encrypts the documents that need it; lost, only they are lost. */
const documentKeyFile = "documents.key";
const unfinishedAfterMs = 3_600_000;

export interface ContextSpec {
  handle: string;
  kind: ContextKind;
}

function contextsFolder(dataDir: string): string {
  return join(dataDir, "contexts");
}

/** Handles of the contexts in a data directory, sorted. */
export function listContexts(dataDir: string): string[] {
  const folder = contextsFolder(dataDir);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => isHandle(name) && existsSync(join(folder, name, databaseFile)))
    .sort();
}

/** Makes the context unless it is there. @returns whether it was made now */
export function createContext(dataDir: string, spec: ContextSpec, environment: Environment): boolean {
  const folder = contextsFolder(dataDir);
  const target = join(folder, spec.handle);
  if (existsSync(join(target, databaseFile))) return false;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  removeUnfinished(folder, environment.now());
  const making = join(folder, `.new-${environment.newUuid()}`);
  mkdirSync(making, { mode: 0o700 });
  try {
    const record = newRecord(spec, environment);
    for (const name of [keyFile, documentKeyFile]) writeSecret(join(making, name), environment.randomBytes(32));
    const { secret, known } = newSigningKey({ origin: `satchel/${record.id}`, environment });
    writeSecret(join(making, journalKeyFile), secret);
    writeFileSync(join(making, journalKeysFile), known, { flush: true });
    createSqliteStore(join(making, databaseFile), record);
    chmodSync(join(making, databaseFile), 0o600);
    syncFolder(making);
    renameSync(making, target);
    syncFolder(folder);
    return true;
  } catch (error) {
    rmSync(making, { recursive: true, force: true });
    if (existsSync(join(target, databaseFile))) return false;
    throw error;
  }
}

function newRecord({ handle, kind }: ContextSpec, environment: Environment): ContextRecord {
  return {
    id: environment.newUuid(),
    handle,
    kind,
    profileType: kind === "team" ? "team" : "core",
    created: new Date(environment.now()).toISOString(),
  };
}

function removeUnfinished(folder: string, nowMs: number): void {
  for (const name of readdirSync(folder).filter((entry) => entry.startsWith(".new-"))) {
    const path = join(folder, name);
    const made = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? nowMs;
    if (nowMs - made > unfinishedAfterMs) rmSync(path, { recursive: true, force: true });
  }
}

/**
 * What an erasure would take, read without changing a byte of any file (pcp section 10).
 * @throws PcpError `not_found`, `locked`
 */
export async function previewErasure(
  place: { dataDir: string; handle: string; environment: Environment },
  request: ErasureRequest,
): Promise<Pick<ErasurePlan, "items" | "counts">> {
  const { dataDir, handle, environment } = place;
  const folder = findContext(dataDir, handle);
  const documentKey = join(folder, documentKeyFile);
  const documents = createDocumentSeal(existsSync(documentKey) ? readKey(documentKey) : Buffer.alloc(32), environment);
  const store = openSqliteSnapshot(join(folder, databaseFile));
  try {
    const { items, counts } = await planErasure({ documents, store }, request);
    return { items, counts };
  } catch (cause) {
    if (!(cause instanceof StoreError)) throw cause;
    if (cause.code !== "locked") throw new PcpError("internal", cause.message, { cause });
    const message = "The context is locked: an erasure is under way, or the next call finishes one that was cut off.";
    throw new PcpError("locked", message, { cause });
  } finally {
    await store.close();
  }
}

/**
 * Verifies the journal of a context, read without changing a byte of any file, against the checkpoints and keys kept
 * beside it and those that are given. Given keys are the only ones trusted.
 * @throws PcpError `not_found`; StoreError, JournalError when it can't be read
 */
export async function verifyContextJournal(
  place: { dataDir: string; handle: string },
  given: { keys: string[]; checkpoints: string[]; onProgress?: (checked: number, size: number) => void },
): Promise<JournalVerdict> {
  const folder = findContext(place.dataDir, place.handle);
  const known = join(folder, journalKeysFile);
  const own = given.keys.length === 0 && existsSync(known) ? readFileSync(known, "utf8").trim().split("\n") : [];
  const checkpoints = [...readCheckpoints(join(folder, checkpointsFile)), ...given.checkpoints];
  const store = openSqliteSnapshot(join(folder, databaseFile));
  try {
    return await verifyJournal(store, { ...given, keys: [...given.keys, ...own], checkpoints });
  } finally {
    await store.close();
  }
}

function findContext(dataDir: string, handle: string): string {
  const folder = join(contextsFolder(dataDir), handle);
  if (isHandle(handle) && existsSync(join(folder, databaseFile))) return folder;
  throw new PcpError("not_found", `There is no context "${handle}" in ${dataDir}. satchel init makes one.`);
}

/** @throws PcpError `not_found`, `internal` (not ours to write, written by a later release, or damaged) */
export function openContext(dataDir: string, handle: string, environment: Environment): Context {
  const folder = findContext(dataDir, handle);
  verifyAccess(folder);
  const key = readKey(join(folder, keyFile));
  const documentKey = readDocumentKey(join(folder, documentKeyFile), environment);
  try {
    const store = openSqliteStore(join(folder, databaseFile));
    const { journal, start } = openJournal(store, { folder, environment });
    const context = {
      handle,
      folder,
      store,
      journal,
      environment,
      callKeys: createCallKeys(key),
      cursors: createCursorSeal(key, environment),
      documents: createDocumentSeal(documentKey, environment),
      rateLimiter: new RateLimiter(environment),
      scanSecrets: createSecretScan(),
    };
    return { ...context, store: guardStore(context, start) };
  } catch (cause) {
    if (cause instanceof StoreError) throw new PcpError("internal", cause.message, { cause });
    throw cause;
  }
}

/** Reading needs write access too: SQLite keeps files beside the database while it is open. */
function verifyAccess(folder: string): void {
  for (const path of [folder, join(folder, databaseFile)]) {
    try {
      accessSync(path, constants.R_OK | constants.W_OK);
    } catch (cause) {
      const message = `${path} can't be written by this account. Give it write access, or choose another directory with --data.`;
      throw new PcpError("internal", message, { cause });
    }
  }
}

/** Contexts of earlier releases have none, and a lost one must not keep the rest from opening. */
function readDocumentKey(file: string, environment: Environment): Buffer {
  if (!existsSync(file)) makeOnce(file, { bytes: environment.randomBytes(32), environment });
  return readKey(file);
}

function readKey(file: string): Buffer {
  const key = existsSync(file) ? readFileSync(file) : undefined;
  if (key?.length !== 32)
    throw new PcpError("internal", `${file} is not a key of this context. Restore it from a backup.`);
  return key;
}
