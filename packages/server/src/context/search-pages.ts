import { type Caller, readableParts } from "../domain/access.js";
import type { PageRecord, PageType, Part } from "../domain/records.js";
import { invalidInput, type Refusal } from "../domain/refusal.js";
import { decodeListing, encodeListing, type Listing } from "../retrieval/listing.js";
import { type RankedHit, Ranking, type SearchFilters } from "../retrieval/ranking.js";
import { buildSnippet } from "../retrieval/snippet.js";
import type { QueryPlan } from "../retrieval/tokens.js";
import { wordRetriever } from "../retrieval/word-retriever.js";
import type { ReadTransaction } from "../store/store.js";
import type { Context } from "./context.js";
import type { CursorPosition } from "./cursor.js";

export interface SearchPagesInput {
  query: string;
  limit: number;
  type?: PageType;
  tags?: string[];
  partitions?: string[];
  /** Absent: stale pages only when nothing current matches. */
  includeStale?: boolean;
  includeArchived?: boolean;
  cursor?: string;
}

export interface SearchHit {
  page: PageRecord;
  snippet: string;
  score: number;
  stale: boolean;
  supersededBy?: string;
}

export interface SearchAnswer {
  hits: SearchHit[];
  staleFallback: boolean;
  nextCursor?: string;
}

/** `memory_search` by words (pcp section 7). Any text is a valid query. Refuses with invalid_input for a foreign or old cursor. */
export async function searchPages(
  context: Context,
  caller: Caller,
  input: SearchPagesInput,
): Promise<SearchAnswer | Refusal> {
  const { limit, cursor, ...query } = input;
  const subject = { tool: "memory_search", grant: caller.grant, query };
  const from = cursor === undefined ? undefined : context.cursors.open(subject, cursor);
  if (cursor !== undefined && !from) return invalidCursor();
  return context.store.read(async (transaction) => {
    const readable = readableParts(caller, await transaction.partitions());
    const parts = input.partitions ? readable.filter((part) => input.partitions?.includes(part.partition)) : readable;
    const snapshotMs = from?.snapshotMs ?? Date.parse(await transaction.recordedTime());
    const search = { transaction, input, parts, readable, snapshotMs, nowMs: context.environment.now() };
    const found = await find(search, from?.search);
    const hits: SearchHit[] = [];
    for (const hit of found.hits) hits.push(await present(transaction, found.query.plan, hit));
    const answer = { hits, staleFallback: found.fallback };
    const last = found.hits.at(-1);
    if (!found.listing || !last) return answer;
    const going = { score: last.score, fallback: found.fallback, listing: encodeListing(found.listing) };
    return { ...answer, nextCursor: context.cursors.seal(subject, { snapshotMs, id: "", search: going }) };
  });
}

export function invalidCursor(): Refusal {
  return invalidInput(["/cursor: not a cursor of this grant and query, or older than an hour; start without a cursor"]);
}

interface Search {
  transaction: ReadTransaction;
  input: SearchPagesInput;
  parts: Part[];
  readable: Part[];
  snapshotMs: number;
  nowMs: number;
}

/** The first answer, with stale pages where that is the fallback, or the next one. */
async function find(search: Search, from: CursorPosition["search"]) {
  const { limit, includeStale } = search.input;
  if (from) {
    const listing = decodeListing(from.listing);
    const ranking = await prepare(search, { includeStale: includeStale ?? from.fallback, fixed: listing });
    const answer = await ranking.next(listing, { limit, lastScore: from.score });
    return { ...answer, query: ranking.query, fallback: from.fallback };
  }
  const ranking = await prepare(search, { includeStale: includeStale ?? false });
  const answer = await ranking.first(limit);
  if (answer.hits.length > 0 || includeStale !== undefined) return { ...answer, query: ranking.query, fallback: false };
  const withStale = await prepare(search, { includeStale: true });
  const stale = await withStale.first(limit);
  return { ...stale, query: withStale.query, fallback: stale.hits.length > 0 };
}

function prepare(
  search: Search,
  { includeStale, fixed }: { includeStale: boolean; fixed?: Listing },
): Promise<Ranking> {
  const { transaction, input, parts, readable, snapshotMs, nowMs } = search;
  const { query: text, type, tags = [], includeArchived = false } = input;
  const filters: SearchFilters = { tags, includeStale, includeArchived, ...(type && { type }) };
  const snapshot = new Date(snapshotMs).toISOString();
  const request = { text, parts, readable, filters, nowMs, snapshot };
  return Ranking.prepare(transaction, { retriever: wordRetriever, request, fixed });
}

async function present(transaction: ReadTransaction, plan: QueryPlan, hit: RankedHit): Promise<SearchHit> {
  const { page, score, stale, supersededBy } = hit;
  const { body } = await transaction.currentVersion(page);
  return { page, snippet: buildSnippet(body, plan), score, stale, ...(supersededBy !== undefined && { supersededBy }) };
}
