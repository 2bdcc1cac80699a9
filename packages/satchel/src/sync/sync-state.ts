import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { UsageError } from "../usage-error.js";
import { ownFolder } from "./folder-write.js";
import type { Entry } from "./plan.js";

/** What a folder was last equal with. It lies in the folder, so that an erasure leaves no trace of it with the data. */
export interface SyncState {
  /** The context's id. */
  context: string;
  handle: string;
  prefix: string;
  partition?: string;
  /** By page path. */
  entries: Map<string, Entry>;
}

const format = 1;
const stateFile = "sync.json";

/** @returns undefined when there is none, or what lies there can't be read @throws UsageError when a later release wrote it */
export function readState(root: string): SyncState | undefined {
  let stored: Record<string, unknown>;
  try {
    stored = JSON.parse(readFileSync(join(root, ownFolder, stateFile), "utf8")) as Record<string, unknown>;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined || code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
  if (typeof stored?.format === "number" && stored.format > format)
    throw new UsageError(`${root} was synced by a later release of Satchel. Use that one.`);
  if (!isState(stored)) return undefined;
  const { format: _, files, ...named } = stored;
  return { ...named, entries: new Map(files.map(({ path, id, version, digest }) => [path, { id, version, digest }])) };
}

interface StoredState extends Omit<SyncState, "entries"> {
  format: number;
  files: ({ path: string } & Entry)[];
}

function isState(stored: unknown): stored is StoredState {
  if (typeof stored !== "object" || stored === null) return false;
  const { context, handle, prefix, partition, files } = stored as Record<string, unknown>;
  const isNamed = [context, handle, prefix, partition ?? ""].every((value) => typeof value === "string");
  return isNamed && Array.isArray(files) && files.every(isEntry);
}

function isEntry(stored: Record<string, unknown> | null): boolean {
  return ["path", "id", "version", "digest"].every((key) => typeof stored?.[key] === "string");
}

/** Replaces the state as a whole: a reader finds the earlier one or this one, also after a loss of power. */
export function writeState(root: string, { context, handle, prefix, partition, entries }: SyncState): void {
  const own = join(root, ownFolder);
  const files = [...entries]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, entry]) => JSON.stringify({ path, ...entry }));
  const head = JSON.stringify({ format, context, handle, prefix, ...(partition !== undefined && { partition }) });
  const text = `${head.slice(0, -1)},"files":[\n${files.join(",\n")}\n]}\n`;
  const aside = join(own, `${stateFile}.new`);
  writeFileSync(aside, text, { mode: 0o600, flush: true });
  renameSync(aside, join(own, stateFile));
  flushFolder(own);
}

function flushFolder(folder: string): void {
  let handle: number | undefined;
  try {
    handle = openSync(folder, "r");
    fsyncSync(handle);
  } catch {
    // Not every system flushes folders.
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}
