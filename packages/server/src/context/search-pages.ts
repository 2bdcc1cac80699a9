import { type Caller, isReadable, readableParts } from "../domain/access.js";
import type { PageRecord, PageType, Part } from "../domain/records.js";
import { invalidInput, type Refusal } from "../domain/refusal.js";
import { type RankedHit, Ranking, type SearchFilters } from "../retrieval/ranking.js";
import { buildSnippet } from "../retrieval/snippet.js";
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
    const search = new Search(context, transaction, { input, parts, readable, snapshotMs });
    const { hits, more, fallback } = await search.find(from, limit);
    const last = hits.at(-1);
    if (!more || !last) return { hits, staleFallback: fallback };
    const position = { snapshotMs, id: last.page.id, score: last.score, fallback };
    return { hits, staleFallback: fallback, nextCursor: context.cursors.seal(subject, position) };
  });
}

export function invalidCursor(): Refusal {
  return invalidInput(["/cursor: not a cursor of this grant and query, or older than an hour; start without a cursor"]);
}

interface FoundPage {
  hits: SearchHit[];
  more: boolean;
  fallback: boolean;
}

class Search {
  constructor(
    private readonly context: Context,
    private readonly transaction: ReadTransaction,
    private readonly request: { input: SearchPagesInput; parts: Part[]; readable: Part[]; snapshotMs: number },
  ) {}

  async find(from: CursorPosition | undefined, limit: number): Promise<FoundPage> {
    const { includeStale } = this.request.input;
    const fallback = from?.fallback ?? false;
    const found = await this.page(from, limit, includeStale ?? fallback);
    if (found.hits.length > 0 || from || includeStale !== undefined) return { ...found, fallback };
    const stale = await this.page(from, limit, true);
    return { ...stale, fallback: stale.hits.length > 0 };
  }

  private async page(from: CursorPosition | undefined, limit: number, includeStale: boolean) {
    const { transaction } = this;
    const ranking = await this.ranking(includeStale, from !== undefined);
    let at = from ? await ranking.positionAfter(transaction, { id: from.id, score: from.score ?? 0 }) : 0;
    const hits: SearchHit[] = [];
    for (;;) {
      const [next] = await ranking.take(transaction, at, 1);
      if (!next || hits.length === limit) return { hits, more: next !== undefined };
      const hit = await this.present(ranking, next);
      if (hit) hits.push(hit);
      at++;
    }
  }

  private async ranking(includeStale: boolean, goesOn: boolean): Promise<Ranking> {
    const { input, parts, readable, snapshotMs } = this.request;
    const { query, type, tags = [], includeArchived = false } = input;
    const filters: SearchFilters = { tags, includeStale, includeArchived, ...(type && { type }) };
    const key = JSON.stringify([query, filters, parts, readable, snapshotMs]);
    const kept = goesOn ? this.context.rankings.get(key) : undefined;
    if (kept) return kept;
    const ranking = await Ranking.start(this.transaction, wordRetriever, {
      text: query,
      parts,
      readable,
      filters,
      nowMs: this.context.environment.now(),
      snapshot: new Date(snapshotMs).toISOString(),
    });
    this.context.rankings.set(key, ranking);
    return ranking;
  }

  /** Access is judged again when a hit is shown: the ranking may be an hour old. */
  private async present(ranking: Ranking, hit: RankedHit): Promise<SearchHit | undefined> {
    const page = await this.transaction.page({ id: hit.id });
    if (!page || !isReadable(this.request.parts, page)) return undefined;
    const { body } = await this.transaction.currentVersion(page);
    const snippet = buildSnippet(body, ranking.query.plan);
    const { score, stale, supersededBy } = hit;
    return { page, snippet, score, stale, ...(supersededBy !== undefined && { supersededBy }) };
  }
}
