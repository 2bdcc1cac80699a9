import type { Access, Caller } from "../domain/access.js";
import { mergeTexts } from "../domain/merge-texts.js";
import { decideWrite, type WriteRequest, type WriteState } from "../domain/page-write.js";
import type { PageRecord, PageVersion, Part } from "../domain/records.js";
import { isRefusal } from "../domain/refusal.js";
import type { RefusedEntry } from "../foreign/foreign-format.js";
import type { ReadTransaction, WriteTransaction } from "../store/store.js";
import { loadAccess } from "./access.js";
import type { Context } from "./context.js";
import { parsePage, toRefusedEntries } from "./import-pages.js";
import { Undo } from "./imported.js";
import { endPage } from "./remove-page.js";
import { textDigest } from "./sync-compare.js";
import { applyWrite, loadWriteState, parseWrite } from "./write-page.js";

/** What a folder asks of the context. `expected` is the version it has seen at the path; absent: no page. */
export type SyncChange = SyncWrite | { kind: "remove"; path: string; expected: string };

export interface SyncWrite {
  kind: "write";
  path: string;
  /** The file's name, for messages. */
  file: string;
  text: string;
  expected?: string;
  /** Both sides changed since `base`, or since nothing that is known: a clean merge is written, else nothing. */
  merge?: { base?: string };
  /** The page whose text this is, under its earlier name: it ends when this one is written. */
  from?: { path: string; expected: string };
}

/** `version` and `digest` are of the file's own text; after a merge the page is further on. */
interface Written extends Part {
  path: string;
  id: string;
  version: string;
  digest: string;
  /** The path it had before. */
  from?: string;
}

export type SyncOutcome =
  | ({ outcome: "added" | "changed" | "merged" | "same" } & Written)
  | { outcome: "removed" | "conflict" | "moved"; path: string }
  | { outcome: "refused"; path: string; problems: RefusedEntry[] };

export interface SyncWriteInput {
  changes: SyncChange[];
  dryRun: boolean;
  /** Where pages go that name no partition; a file that names another one is refused. */
  partition?: string;
}

type Parsed = { change: SyncChange; request?: WriteRequest; refused?: RefusedEntry[] };

/**
 * Writes what was changed by hand in a folder, in one transaction (pcp sections 3 and 9). Each change stands alone: one that
 * is refused, or that meets a page that moved meanwhile, keeps no other one out. @returns the outcomes, in the order asked
 */
export async function writeSyncChanges(
  context: Context,
  caller: Caller,
  { changes, dryRun, partition }: SyncWriteInput,
): Promise<SyncOutcome[]> {
  const parsed: Parsed[] = [];
  for (const change of changes) parsed.push(await parseChange(context, change, partition));
  let outcomes: SyncOutcome[] = [];
  try {
    return await context.store.write(async (transaction) => {
      const access = await loadAccess(transaction, caller);
      outcomes = [];
      for (const one of parsed) outcomes.push(await applyChange(context, transaction, { caller, access, ...one }));
      if (dryRun) throw new Undo();
      return outcomes;
    });
  } catch (error) {
    if (error instanceof Undo) return outcomes;
    throw error;
  }
}

async function parseChange(context: Context, change: SyncChange, partition: string | undefined): Promise<Parsed> {
  if (change.kind === "remove") return { change };
  const { file, path, text } = change;
  const request = await parsePage(context, { file, path, text }, partition === undefined ? {} : { partition });
  if (isRefusal(request)) return { change, refused: toRefusedEntries({ file }, request) };
  const named = request.keys?.partition;
  if (partition !== undefined && named !== partition) {
    const reason = `names the partition "${named}", and this folder is synced with "${partition}" alone`;
    return { change, refused: [{ file, reason }] };
  }
  return { change, request: asWrittenByHand(request) };
}

/** A person's edit (pcp section 3), whatever the text itself says. The text stays as it is. */
function asWrittenByHand(request: WriteRequest): WriteRequest {
  const { keys = {} } = request;
  return { ...request, keys: { ...keys, source: { ...keys.source, origin: "user" } } };
}

interface Applying extends Parsed {
  caller: Caller;
  access: Access;
}

async function applyChange(
  context: Context,
  transaction: WriteTransaction,
  { change, request, refused, ...by }: Applying,
): Promise<SyncOutcome> {
  const { path } = change;
  if (refused) return { outcome: "refused", path, problems: refused };
  if (change.kind === "remove") return removeSynced(context, transaction, { ...by, ...change });
  if (!request) throw new Error("a write without a request");
  const { existing } = await loadWriteState(transaction, by.access, path);
  const found = existing?.path === path ? existing : undefined;
  if (found && found.head + found.body === change.text) return { outcome: "same", ...describe(found) };
  if (found?.version !== change.expected) return { outcome: "moved", path };
  const writing = { ...by, change, request, ...(found && { existing: found }) };
  if (change.merge) return mergeSynced(context, transaction, writing);
  return writeSynced(context, transaction, writing);
}

interface Writing extends Omit<Applying, "change" | "refused"> {
  change: SyncWrite;
  request: WriteRequest;
  existing?: PageVersion;
}

async function writeSynced(
  context: Context,
  transaction: WriteTransaction,
  { caller, access, change, request, existing }: Writing,
): Promise<SyncOutcome> {
  const { path, file, from } = change;
  const earlier = from && (await transaction.page({ path: from.path }));
  if (from && earlier?.version !== from.expected) return { outcome: "moved", path };
  const state = await loadWriteState(transaction, access, path);
  const isTwin = earlier && state.existing?.id === earlier.id;
  const decided = decideWrite(access, inPlaceOf(request, earlier), isTwin ? free : state);
  if (isRefusal(decided)) return { outcome: "refused", path, problems: toRefusedEntries({ file }, decided) };
  if (earlier) await endPage(context, transaction, { caller, page: earlier });
  const written = await applyWrite(context, transaction, { caller, path, decided, ...(existing && { existing }) });
  const { partition, sensitivity } = decided;
  const outcome = existing ? "changed" : "added";
  const digest = textDigest(change.text);
  return { outcome, ...written, partition, sensitivity, digest, ...(earlier && { from: earlier.path }) };
}

/** The path's only twin is the page that ends. */
const free: WriteState = { isTakenUnseen: false, hiddenLinks: new Set() };

/** A renamed page stays where it lay, and as sensitive as it was, unless the text says otherwise. */
function inPlaceOf(request: WriteRequest, earlier: PageRecord | undefined): WriteRequest {
  if (!earlier) return request;
  const { partition, sensitivity } = earlier;
  return { ...request, keys: { partition, sensitivity, ...request.keys } };
}

/**
 * The file's own text becomes a version first and the merge the next one, so that nothing that was written is lost, and the
 * folder has a version to go on from.
 */
async function mergeSynced(context: Context, transaction: WriteTransaction, writing: Writing): Promise<SyncOutcome> {
  const { change, existing, access, caller } = writing;
  const { path } = change;
  const base = await findBase(transaction, change);
  const theirs = existing && existing.head + existing.body;
  if (base === undefined || theirs === undefined) return { outcome: "conflict", path };
  const text = mergeTexts({ base, theirs, ours: change.text });
  const request = text === undefined ? undefined : parseWrite({ path, body: text });
  if (text === undefined || !request || isRefusal(request)) return { outcome: "conflict", path };
  const ours = await writeSynced(context, transaction, writing);
  if (text === change.text || ours.outcome !== "changed") return ours;
  const state = await loadWriteState(transaction, access, path);
  const decided = decideWrite(access, asWrittenByHand(request), state);
  if (isRefusal(decided) || !state.existing) throw new Error("a merge of two pages that may be written is refused");
  await applyWrite(context, transaction, { caller, path, decided, existing: state.existing });
  return { ...ours, outcome: "merged" };
}

async function findBase(transaction: ReadTransaction, { merge }: SyncWrite): Promise<string | undefined> {
  const base = merge?.base === undefined ? undefined : await transaction.version(merge.base);
  return base && base.head + base.body;
}

async function removeSynced(
  context: Context,
  transaction: WriteTransaction,
  { path, expected, caller }: { path: string; expected: string; caller: Caller },
): Promise<SyncOutcome> {
  const page = await transaction.page({ path });
  if (page?.version !== expected) return { outcome: "moved", path };
  await endPage(context, transaction, { caller, page });
  return { outcome: "removed", path };
}

function describe({ path, id, version, partition, sensitivity, head, body }: PageVersion): Written {
  return { path, id, version, partition, sensitivity, digest: textDigest(head + body) };
}
