import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseVerifierKey, type StoredEntry, verifyLog } from "@satchel/journal";
import { createSqliteJournal } from "@satchel/journal/sqlite";
import type { ErasureReceipt } from "@satchel/pcp";
import { type AnsweredCall, type Context, erasureSaltMetaKey, type JournalLine } from "@satchel/server";
import SqliteDatabase from "better-sqlite3";
import { expect } from "vitest";
import { findTraces, listFiles, readTerms } from "./erased-traces.js";
import { owner, type Shared } from "./shared-context.js";

/*
 * A context before and after an erasure: everything that is stored in it, what of that went and what stayed.
 */

type Read = Parameters<Parameters<Context["store"]["read"]>[0]>[0];
type Version = Awaited<ReturnType<Read["versions"]>>[number];
type Revision = Awaited<ReturnType<Read["storedRevisions"]>>[number];

export interface StoredPage {
  num: number;
  id: string;
  path: string;
  isLive: boolean;
  versions: Version[];
}

/** Everything people put into a context. */
export interface Survey {
  pages: StoredPage[];
  revisions: Revision[];
  profiles: Record<string, unknown[]>;
}

export function survey({ context }: Pick<Shared, "context">): Promise<Survey> {
  return context.store.read(async (transaction) => {
    const all = { after: 0, limit: 100_000 };
    const pages: StoredPage[] = [];
    for (const page of await transaction.storedPages(all))
      pages.push({ ...page, versions: await transaction.versions(page.id) });
    const profiles: Survey["profiles"] = {};
    for (const { namespace } of await transaction.profiles())
      profiles[namespace] = (await transaction.profileChanges(namespace)).map((change) => ({
        ...change,
        document: context.documents.open(namespace, change.document),
      }));
    return { pages, revisions: await transaction.storedRevisions(all), profiles };
  });
}

/** What an erasure is to take: whole pages by path or id, versions by id, proposals by id. */
export interface Taken {
  paths?: ReadonlySet<string>;
  ids?: ReadonlySet<string>;
  versions?: ReadonlySet<string>;
  revisions?: ReadonlySet<string>;
}

/** What stays, and what goes, of a survey. */
export function divide({ pages, revisions, profiles }: Survey, taken: Taken): { gone: Survey; kept: Survey } {
  const isGone = (page: StoredPage) => (taken.paths?.has(page.path) ?? false) || (taken.ids?.has(page.id) ?? false);
  const isVersionGone = ({ version }: Version) => taken.versions?.has(version) ?? false;
  const isRevisionGone = ({ id }: Revision) => taken.revisions?.has(id) ?? false;
  const partial = (page: StoredPage, goes: boolean) => ({
    ...page,
    versions: page.versions.filter((version) => isVersionGone(version) === goes),
  });
  const rest = pages.filter((page) => !isGone(page));
  const goneVersions = new Set([
    ...pages.filter(isGone).flatMap(({ versions }) => versions.map(({ version }) => version)),
    ...(taken.versions ?? []),
  ]);
  return {
    gone: {
      pages: [
        ...pages.filter(isGone),
        ...rest.map((page) => partial(page, true)).filter(({ versions }) => versions.length > 0),
      ],
      revisions: revisions.filter(isRevisionGone),
      profiles: {},
    },
    kept: {
      pages: rest.map((page) => partial(page, false)),
      revisions: revisions
        .filter((one) => !isRevisionGone(one))
        .map((one) => (one.base !== undefined && goneVersions.has(one.base) ? { ...one, base: "erased" } : one)),
      profiles,
    },
  };
}

/** Everything in it that is text, and every id. Of pages that lost versions, `gone` names no path and page id. */
export function textsOf({ pages, revisions, profiles }: Survey, whole: ReadonlySet<string>): string[] {
  const contents = pages.flatMap(({ id, path, versions }) => [
    ...(whole.has(path) ? [id, path] : []),
    ...versions.flatMap(({ version, head, body, keys, review }) => [
      version,
      head,
      body,
      ...stringsIn(keys),
      ...stringsIn(review?.note),
    ]),
  ]);
  const proposed = revisions.flatMap(({ id, path, head, body, keys, note, decision, base }) => [
    id,
    ...(whole.has(path) ? [path] : []),
    head,
    body,
    ...stringsIn([keys, note, decision?.note, base]),
  ]);
  return [...contents, ...proposed, ...stringsIn(profiles)];
}

function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, item]) => [...(Array.isArray(value) ? [] : [name]), ...stringsIn(item)]);
}

/** Words of our own files, which a page may hold too. */
const schemaFile = new URL("../packages/server/src/store/sqlite/schema.ts", import.meta.url);
const ownWords = [readFileSync(schemaFile, "utf8"), "derived profile exports embeddings succeeded sensitive clinic"];

/** No file holds anything of what went that nothing which stayed holds. */
export function expectNoTrace(shared: Pick<Shared, "dataDir">, { gone, kept }: { gone: Survey; kept: Survey }): void {
  const everyPath = new Set([...gone.pages, ...gone.revisions].map(({ path }) => path));
  const keptPaths = new Set([...kept.pages, ...kept.revisions].map(({ path }) => path));
  const whole = new Set([...everyPath].filter((path) => !keptPaths.has(path)));
  const keptTexts = [...textsOf(kept, keptPaths), ...indexedNames(kept), ...ownWords];
  expect(findTraces(shared.dataDir, { erased: textsOf(gone, whole), kept: keptTexts })).toEqual([]);
  expectNoTerm(shared, { gone, kept });
  expect(listFiles(shared.dataDir).filter((name) => name.includes("erasure.job"))).toEqual([]);
}

/** The words of path and tags, and of the body, as the index holds them one after the other. */
function indexedNames({ pages }: Survey): string[] {
  const texts = pages.flatMap(({ path, versions }) =>
    versions.flatMap(({ keys, body }) => [`${path} ${(keys.tags ?? []).join(" ")}`, body]),
  );
  return texts.map((text) => text.replace(/[\s/._-]+/g, " "));
}

/** The full-text indexes know no word, however short, that only what went held. */
function expectNoTerm({ dataDir }: Pick<Shared, "dataDir">, { gone, kept }: { gone: Survey; kept: Survey }): void {
  const keptText = JSON.stringify(kept).toLowerCase();
  const wordsOf = (survey: Survey) =>
    new Set(
      survey.pages
        .flatMap((page) => textsOf({ ...survey, pages: [page] }, new Set([page.path])))
        .join(" ")
        .toLowerCase()
        .match(/[a-z0-9]+/g),
    );
  const terms = readTerms(join(dataDir, "contexts/me/context.db"));
  const left = [...wordsOf(gone)].filter((word) => terms.has(word) && !keptText.includes(word));
  expect(left).toEqual([]);
}

export interface RealRun {
  dry_run: false;
  receipt: Required<ErasureReceipt> & {
    counts: Record<string, number>;
    residual: { clean: boolean; traced?: string[] };
  };
  salt: string;
}

export type Selector = { subject: string } | { paths: string[] } | { ids: string[] };

/** The owner in person erases for good. */
export async function erase(shared: Shared, args: Record<string, unknown>): Promise<RealRun> {
  const answer = await shared.call("erase_request", { ...args, dry_run: false }, owner);
  const { isError, structuredContent, _meta } = answer as AnsweredCall;
  if (isError) throw new Error(`erase_request failed: ${JSON.stringify(structuredContent)}`);
  return { ...structuredContent, salt: _meta?.[erasureSaltMetaKey] } as RealRun;
}

export function dryRun(
  shared: Shared,
  args: Record<string, unknown>,
): Promise<{ would_erase: Record<string, number> }> {
  return shared.ok("erase_request", args, owner);
}

/** The counts that are not 0. */
export function some(counts: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}

/** Reads a journal without the product's own way to it. */
export async function verifyJournalOf(dataDir: string) {
  const folder = join(dataDir, "contexts/me");
  const database = new SqliteDatabase(join(folder, "context.db"), { readonly: true });
  try {
    const journal = createSqliteJournal({
      run: () => undefined,
      get: <Row>(sql: string, ...parameters: unknown[]) => database.prepare(sql).get(...parameters) as Row | undefined,
      all: <Row>(sql: string, ...parameters: unknown[]) => database.prepare(sql).all(...parameters) as Row[],
    });
    const { id } = database.prepare("SELECT id FROM context").get() as { id: string };
    const keys = readFileSync(join(folder, "journal.pub"), "utf8").trim().split("\n");
    const entries: StoredEntry[] = [];
    const verdict = await verifyLog(journal, {
      trusted: keys.map((key) => parseVerifierKey(key)),
      origin: `satchel/${id}`,
      onEntry: (entry) => entries.push(entry),
    });
    return { verdict, entries, keys };
  } finally {
    database.close();
  }
}

export type { JournalLine };
