import { createHash } from "node:crypto";
import { type Caller, readableParts } from "../domain/access.js";
import type { PageRecord, Part } from "../domain/records.js";
import type { ReadTransaction } from "../store/store.js";
import { loadAccess } from "./access.js";
import type { Context } from "./context.js";

/** Which pages a folder is kept equal with. */
export interface SyncScope {
  /** Only paths that begin like this. */
  prefix: string;
  partition?: string;
  /** Sensitive pages too; otherwise only those whose text lies in the folder already. */
  sensitive: boolean;
}

export interface CompareInput {
  scope: SyncScope;
  /** What the folder was last equal with, by path. */
  known: ReadonlyMap<string, { id: string; version: string }>;
  /** The paths of the folder's files. */
  present: ReadonlySet<string>;
}

export interface SyncedPage extends Part {
  path: string;
  id: string;
  version: string;
  updated: string;
  /** Hex SHA-256 of its text. */
  digest: string;
}

/** What differs from what the folder was last equal with. Pages at a known version are left out. */
export interface SyncComparison {
  context: string;
  handle: string;
  /** The recorded time this is true of. */
  recorded: string;
  changed: SyncedPage[];
  /** Known pages that are there no longer. Of an erased one nothing is left, of another one its history. */
  gone: { path: string; isErased: boolean }[];
  /** Pages at known paths, or at the folder's, that are not synced. */
  outside: { path: string; why: "sensitive" | "partition" }[];
  /** How many sensitive pages are left out. */
  sensitive: number;
}

/** Compares the live pages with what a folder was last equal with, reading only the texts of those that changed. */
export async function comparePages(
  context: Context,
  caller: Caller,
  { scope, known, present }: CompareInput,
): Promise<SyncComparison> {
  return context.store.read(async (transaction) => {
    const parts = readableParts(await loadAccess(transaction, caller));
    const live = await transaction.list({ parts, prefix: scope.prefix, includeArchived: true, limit: everyPage });
    const comparison: SyncComparison = {
      context: (await transaction.context()).id,
      handle: context.handle,
      recorded: await transaction.recordedTime(),
      changed: [],
      gone: await findGone(transaction, known, live),
      outside: [],
      sensitive: 0,
    };
    for (const page of live) {
      const { path } = page;
      const why = isLeftOut(page, scope, present.has(path));
      if (why === "sensitive") comparison.sensitive++;
      if (why && (known.has(path) || present.has(path))) comparison.outside.push({ path, why });
      if (!why && known.get(path)?.version !== page.version)
        comparison.changed.push(await describePage(transaction, page));
    }
    return comparison;
  });
}

const everyPage = 2 ** 31 - 1;

function isLeftOut(page: PageRecord, scope: SyncScope, isPresent: boolean): "sensitive" | "partition" | undefined {
  if (scope.partition !== undefined && page.partition !== scope.partition) return "partition";
  return page.sensitivity === "sensitive" && !scope.sensitive && !isPresent ? "sensitive" : undefined;
}

async function findGone(
  transaction: ReadTransaction,
  known: CompareInput["known"],
  live: PageRecord[],
): Promise<SyncComparison["gone"]> {
  const there = new Set(live.map(({ path }) => path));
  const gone: SyncComparison["gone"] = [];
  for (const [path, { id }] of known) {
    if (!there.has(path)) gone.push({ path, isErased: (await transaction.pathOf(id)) === undefined });
  }
  return gone;
}

async function describePage(transaction: ReadTransaction, page: PageRecord): Promise<SyncedPage> {
  const { path, id, version, updated, partition, sensitivity } = page;
  const { head, body } = await transaction.currentVersion(page);
  return { path, id, version, updated, partition, sensitivity, digest: textDigest(head + body) };
}

/** Hex SHA-256 of a page's text. */
export function textDigest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

export interface SyncText extends Part {
  path: string;
  id: string;
  version: string;
  text: string;
}

/** The texts of pages that still stand at these versions; others are left out. */
export async function readSyncTexts(
  context: Context,
  caller: Caller,
  { pages }: { pages: { path: string; version: string }[] },
): Promise<SyncText[]> {
  return context.store.read(async (transaction) => {
    const parts = new Set(readableParts(await loadAccess(transaction, caller)).map(partKey));
    const texts: SyncText[] = [];
    for (const { path, version } of pages) {
      const page = await transaction.page({ path });
      if (page?.version !== version || !parts.has(partKey(page))) continue;
      const { head, body, id, partition, sensitivity } = await transaction.currentVersion(page);
      texts.push({ path, id, version, partition, sensitivity, text: head + body });
    }
    return texts;
  });
}

function partKey({ partition, sensitivity }: Part): string {
  return `${partition} ${sensitivity}`;
}

/**
 * When the context last changed. It tells nothing of a page, and is no call: a folder that is watched asks it again and
 * again, and compares only when the answer is another one.
 * @throws StoreError `locked`
 */
export async function readRecordedTime(context: Context): Promise<string> {
  return context.store.read((transaction) => transaction.recordedTime());
}
