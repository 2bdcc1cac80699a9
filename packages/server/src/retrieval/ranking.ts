import type { PageRecord, PageType, Part } from "../domain/records.js";
import { currentSuccessors, standingAt } from "../domain/standing.js";
import type { Candidate, ReadTransaction } from "../store/store.js";
import { type PreparedQuery, prepareQuery } from "./query.js";
import type { Retriever } from "./retriever.js";
import { scoreCandidate, toUnitScore } from "./score.js";

export interface SearchFilters {
  type?: PageType;
  /** All of them. */
  tags: string[];
  includeStale: boolean;
  includeArchived: boolean;
}

export interface RankedHit {
  num: number;
  id: string;
  score: number;
  stale: boolean;
  /** A current page the caller may read that supersedes this one. */
  supersededBy?: string;
}

export interface RankingRequest {
  text: string;
  parts: Part[];
  filters: SearchFilters;
  /** Judges validity. */
  nowMs: number;
  /** Pages made after this recorded time are not part of the answer. */
  snapshot: string;
}

/** Candidates are scored in windows of this many; the order inside a window is exact. */
const windowSize = 100;
const standingFactor = { current: 1, stale: 0.8, archived: 0.7 } as const;
const validatedFactor = 1.05;

/**
 * The order of everything that matches a query, worked out only as far as it is read. It stays what it was while
 * others write, so that the pages of one listing neither repeat nor skip.
 */
export class Ranking {
  private readonly hits: RankedHit[] = [];
  private readonly seen = new Set<number>();
  private pending: number[] = [];
  private tier = 0;
  private isTierBegun = false;

  private constructor(
    private readonly retriever: Retriever,
    private readonly request: RankingRequest,
    readonly query: PreparedQuery,
  ) {}

  static async start(transaction: ReadTransaction, retriever: Retriever, request: RankingRequest): Promise<Ranking> {
    return new Ranking(retriever, request, await prepareQuery(transaction, request.text, request.parts));
  }

  /** Hits from `position` on, at least `count` of them unless there are no more. */
  async take(transaction: ReadTransaction, position: number, count: number): Promise<RankedHit[]> {
    while (this.hits.length < position + count && (await this.rankNextWindow(transaction)));
    return this.hits.slice(position, position + count);
  }

  /** Where a listing goes on that ended with this hit. */
  async positionAfter(transaction: ReadTransaction, last: { id: string; score: number }): Promise<number> {
    for (let at = 0; ; at++) {
      const [hit] = await this.take(transaction, at, 1);
      if (!hit) break;
      if (hit.id === last.id) return at + 1;
    }
    const below = this.hits.findIndex((hit) => hit.score < last.score);
    return below < 0 ? this.hits.length : below;
  }

  private async rankNextWindow(transaction: ReadTransaction): Promise<boolean> {
    while (this.pending.length === 0) {
      if (this.query.plan.terms.length === 0 || !(await this.findMore(transaction))) return false;
    }
    const { parts, filters } = this.request;
    const nums = this.pending.splice(0, windowSize);
    const window = await transaction.candidates({ nums, parts, tags: filters.tags });
    const ranked = await this.rankWindow(
      transaction,
      window.filter((candidate) => this.admits(candidate)),
    );
    const ceiling = this.hits.at(-1)?.score ?? 1;
    for (const hit of ranked) this.hits.push({ ...hit, score: Math.min(hit.score, ceiling) });
    return true;
  }

  /** Asks for the beginning of a tier, then for all of it, then for the next one. */
  private async findMore(transaction: ReadTransaction): Promise<boolean> {
    const { tier, isTierBegun } = this;
    if (tier >= this.retriever.tiers) return false;
    const limit = isTierBegun ? undefined : windowSize;
    const search = { query: this.query, parts: this.request.parts, tier, ...(limit !== undefined && { limit }) };
    const found = await this.retriever.find(transaction, search);
    const isWhole = limit === undefined || found.length < limit;
    this.isTierBegun = !isWhole;
    if (isWhole) this.tier++;
    this.pending = found.filter((num) => !this.seen.has(num));
    for (const num of this.pending) this.seen.add(num);
    return true;
  }

  private admits({ page }: Candidate): boolean {
    const { filters, snapshot, nowMs } = this.request;
    if (page.created > snapshot) return false;
    if (filters.type && page.type !== filters.type) return false;
    const standing = standingAt(page, nowMs);
    return standing === "current" || (standing === "stale" ? filters.includeStale : filters.includeArchived);
  }

  private async rankWindow(transaction: ReadTransaction, window: Candidate[]): Promise<RankedHit[]> {
    const { parts, filters, nowMs } = this.request;
    const claims = await transaction.superseders({ paths: window.map(({ page }) => page.path), parts });
    const scored = window.map((candidate) => {
      const [successor] = claims.length === 0 ? [] : currentSuccessors(candidate.page, claims, nowMs);
      return { ...this.scored(candidate, successor), page: candidate.page, successor };
    });
    const kept = scored.filter((hit) => filters.includeStale || !hit.successor);
    kept.sort((a, b) => b.score - a.score || (a.page.updated < b.page.updated ? 1 : -1));
    return moveBehindSuccessors(kept).map(({ page: _, successor: __, ...hit }) => hit);
  }

  private scored({ page, words }: Candidate, successor: PageRecord | undefined): RankedHit {
    const { plan, statistics } = this.query;
    const standing = standingAt(page, this.request.nowMs);
    const stale = standing === "stale" || successor !== undefined;
    const factor = standingFactor[standing === "current" && stale ? "stale" : standing];
    const raw =
      scoreCandidate(words, plan, statistics) * factor * (page.lifecycle === "validated" ? validatedFactor : 1);
    const score = Math.round(toUnitScore(raw, plan, statistics) * 1e6) / 1e6;
    return { num: page.num, id: page.id, score, stale, ...(successor && { supersededBy: successor.path }) };
  }
}

type WindowHit = RankedHit & { page: PageRecord; successor: PageRecord | undefined };

/** A superseded page never stands above its successor: it goes right behind it, with at most its score. */
function moveBehindSuccessors(hits: WindowHit[]): WindowHit[] {
  const order = [...hits];
  for (const hit of hits) {
    if (!hit.successor) continue;
    const from = order.indexOf(hit);
    const to = order.findIndex((other) => other.page.path === hit.successor?.path);
    if (to < from) continue;
    order.splice(to + 1, 0, { ...hit, score: Math.min(hit.score, order[to]?.score ?? 0) });
    order.splice(from, 1);
  }
  return order;
}
