import { type Access, type Caller, readableParts } from "../domain/access.js";
import type { PageRecord, PageType, Part, Revision, RevisionState } from "../domain/records.js";
import { invalidInput, isRefusal, type Refusal } from "../domain/refusal.js";
import { uniteIndexes } from "../retrieval/collection.js";
import { decodeListing, encodeListing, type Listing } from "../retrieval/listing.js";
import { type RankedHit, Ranking, type SearchFilters } from "../retrieval/ranking.js";
import type { WordIndex } from "../retrieval/retriever.js";
import { buildSnippet } from "../retrieval/snippet.js";
import type { QueryPlan } from "../retrieval/tokens.js";
import { wordRetriever } from "../retrieval/word-retriever.js";
import type { ReadTransaction } from "../store/store.js";
import { loadAccess } from "./access.js";
import type { Context } from "./context.js";
import type { CursorPosition } from "./cursor.js";
import { findVisibleRevision } from "./list-revisions.js";
import { indexPast, loadPast, verifyInstant } from "./past.js";
import { indexRevisions, revisionRecord } from "./revision-index.js";

export interface SearchPagesInput {
  query: string;
  limit: number;
  type?: PageType;
  tags?: string[];
  partitions?: string[];
  /** Absent: stale pages only when nothing current matches. */
  includeStale?: boolean;
  includeArchived?: boolean;
  includeReview?: Exclude<RevisionState, "approved">[];
  /** Answer from the versions recorded at this instant. */
  asOf?: string;
  cursor?: string;
}

export interface SearchHit {
  page: PageRecord;
  /** Set when the hit is a revision; the page's id is then that of the page it aims at, if the caller sees one. */
  revision?: Revision;
  snippet: string;
  score: number;
  stale: boolean;
  supersededBy?: string;
}

export interface SearchAnswer {
  hits: SearchHit[];
  staleFallback: boolean;
  /** Of an answer as of an instant: false where an erasure since then may have changed it. */
  isExact?: boolean;
  nextCursor?: string;
}

/** `memory_search` by words (pcp sections 6 and 7). Any text is a valid query. Refuses with invalid_input for a foreign or old cursor and a future `as_of`. */
export async function searchPages(
  context: Context,
  caller: Caller,
  input: SearchPagesInput,
): Promise<SearchAnswer | Refusal> {
  const { limit, cursor, ...query } = input;
  const subject = { tool: "memory_search", grant: caller.grant, query };
  const from = cursor === undefined ? undefined : context.cursors.open(subject, cursor);
  if (cursor !== undefined && !from) return invalidCursor();
  const past =
    input.asOf === undefined
      ? undefined
      : await openPast(context, caller, { at: input.asOf, includeReview: input.includeReview });
  if (isRefusal(past)) return past;
  return context.store.read(async (transaction) => {
    const access = await loadAccess(transaction, caller);
    const readable = readableParts(access);
    const parts = askedParts(readable, input.partitions);
    const snapshotMs = from?.snapshotMs ?? Date.parse(await transaction.recordedTime());
    const nowMs = input.asOf === undefined ? context.environment.now() : Date.parse(input.asOf);
    const index = past ?? (await openPresent(transaction, access, input));
    const found = await find({ index, input, parts, readable, snapshotMs, nowMs }, from?.search);
    const hits: SearchHit[] = [];
    for (const hit of found.hits) {
      const shown = await show(transaction, { access, input, parts }, hit.page);
      if (shown) hits.push(present(found.query.plan, hit, shown));
    }
    const isExact = input.asOf === undefined ? undefined : await isUnerasedSince(transaction, input.asOf);
    const answer = { hits, staleFallback: found.fallback, ...(isExact !== undefined && { isExact }) };
    const last = found.hits.at(-1);
    if (!found.listing || !last) return answer;
    const going = { score: last.score, fallback: found.fallback, listing: encodeListing(found.listing) };
    return { ...answer, nextCursor: context.cursors.seal(subject, { snapshotMs, id: "", search: going }) };
  });
}

/** The same for every caller, so that it tells nobody what was erased (pcp section 6). */
async function isUnerasedSince(transaction: ReadTransaction, instant: string): Promise<boolean> {
  const erased = await transaction.lastErasure();
  return erased === undefined || instant >= erased;
}

export function invalidCursor(): Refusal {
  return invalidInput(["/cursor: not a cursor of this grant and query, or older than an hour; start without a cursor"]);
}

function askedParts(readable: Part[], partitions: string[] | undefined): Part[] {
  return partitions ? readable.filter((part) => partitions.includes(part.partition)) : readable;
}

async function openPast(
  context: Context,
  caller: Caller,
  { at, includeReview }: { at: string; includeReview: SearchPagesInput["includeReview"] },
): Promise<WordIndex | Refusal> {
  if (includeReview?.length) return invalidInput(["/include_review: can't be asked together with as_of"]);
  const readable = await context.store.read(async (transaction) => {
    const refused = await verifyInstant(context, transaction, at);
    return refused ?? readableParts(await loadAccess(transaction, caller));
  });
  return isRefusal(readable) ? readable : indexPast(await loadPast(context, { at, parts: readable, readable }));
}

async function openPresent(
  transaction: ReadTransaction,
  access: Access,
  { includeReview, partitions }: SearchPagesInput,
): Promise<WordIndex> {
  if (!includeReview?.length) return transaction;
  return uniteIndexes(transaction, await indexRevisions(transaction, access, { states: includeReview, partitions }));
}

interface Search {
  index: WordIndex;
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
  const { index, input, parts, readable, snapshotMs, nowMs } = search;
  const { query: text, type, tags = [], includeArchived = false } = input;
  const filters: SearchFilters = { tags, includeStale, includeArchived, ...(type && { type }) };
  const snapshot = new Date(snapshotMs).toISOString();
  const request = { text, parts, readable, filters, nowMs, snapshot };
  return Ranking.prepare(index, { retriever: wordRetriever, request, fixed });
}

interface ShownPage {
  page: PageRecord;
  body: string;
  revision?: Revision;
}

/** The page or revision behind a hit, with its text. Access is judged again: the past is read in a transaction of its own. */
async function show(
  transaction: ReadTransaction,
  { access, input, parts }: { access: Access; input: SearchPagesInput; parts: Part[] },
  page: PageRecord,
): Promise<ShownPage | undefined> {
  if (page.id.startsWith("rev_")) return showRevision(transaction, access, page.id);
  if (input.asOf !== undefined) {
    const version = await transaction.pastPage({
      at: input.asOf,
      parts,
      readable: readableParts(access),
      selector: { id: page.id },
    });
    return version && { page: version, body: version.body };
  }
  return { page, body: (await transaction.currentVersion(page)).body };
}

async function showRevision(transaction: ReadTransaction, access: Access, id: string): Promise<ShownPage | undefined> {
  const revision = await findVisibleRevision(transaction, access, { id });
  if (!revision) return undefined;
  const { record } = await revisionRecord(transaction, access, revision);
  return { page: record, body: revision.body, revision };
}

function present(plan: QueryPlan, { score, stale, supersededBy }: RankedHit, { body, ...shown }: ShownPage): SearchHit {
  const snippet = buildSnippet(body, plan);
  return { ...shown, snippet, score, stale, ...(supersededBy !== undefined && { supersededBy }) };
}
