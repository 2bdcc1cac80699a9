import type { PageRecord, PageVersion } from "../domain/records.js";
import { invalidInput, type Refusal } from "../domain/refusal.js";
import { currentSuccessors, standingAt } from "../domain/standing.js";
import { type CollectedPage, createCollection } from "../retrieval/collection.js";
import { indexText } from "../retrieval/index-text.js";
import type { WordIndex } from "../retrieval/retriever.js";
import type { PastQuery, ReadTransaction } from "../store/store.js";
import type { Context } from "./context.js";

/** Refuses an instant that is later than both the clock and the last recorded change (pcp section 6). */
export async function verifyInstant(
  context: Context,
  transaction: ReadTransaction,
  asOf: string,
): Promise<Refusal | undefined> {
  const recorded = await transaction.recordedTime();
  if (asOf <= recorded || Date.parse(asOf) <= context.environment.now()) return undefined;
  return invalidInput(["/as_of: lies in the future; nothing is recorded for it yet"]);
}

/** Pages are tokenised in batches of this many, so that other calls get their turn between. */
const batchSize = 200;

/** The pages as they were, as an index: exact, because it is made from the recorded versions themselves. */
export async function indexPast(past: PageVersion[]): Promise<WordIndex> {
  const pages: CollectedPage[] = [];
  for (const [at, version] of past.entries()) {
    if (at > 0 && at % batchSize === 0) await new Promise((resolve) => setImmediate(resolve));
    pages.push(collectVersion(version));
  }
  return createCollection(pages);
}

export function collectVersion(version: PageVersion): CollectedPage {
  return {
    page: version,
    words: indexText(version),
    tags: version.keys.tags ?? [],
    supersedes: supersededPaths(version),
  };
}

function supersededPaths({ keys }: Pick<PageVersion, "keys">): string[] {
  return (keys.relations ?? []).filter(({ rel }) => rel === "supersedes").map(({ target }) => target);
}

/** Of past pages, those that were not stale then. `among`: all the caller may read, because any of them can supersede. */
export function withoutPastStale(
  past: PageVersion[],
  { among, atMs }: { among: PageVersion[]; atMs: number },
): PageVersion[] {
  const claims = among.flatMap((page) => supersededPaths(page).map((target) => ({ target, page: page as PageRecord })));
  return past.filter(
    (page) => standingAt(page, atMs) !== "stale" && currentSuccessors(page, claims, atMs).length === 0,
  );
}

/** All past pages a caller may see, in a transaction of their own. */
export async function loadPast(context: Context, query: PastQuery): Promise<PageVersion[]> {
  return context.store.read((transaction) => transaction.past(query));
}
