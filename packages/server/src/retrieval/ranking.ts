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
  /** Where hits come from. */
  parts: Part[];
  /** Everything the caller may read: a page elsewhere in it can supersede a hit. */
  readable: Part[];
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
  /** Of `seen`, those whose window came. */
  private readonly taken = new Set<number>();
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
    const window = await this.candidates(transaction, this.pending.splice(0, windowSize));
    const ranked = await this.rankWindow(transaction, window);
    const ceiling = this.hits.at(-1)?.score ?? 1;
    for (const hit of ranked) this.hits.push({ ...hit, score: Math.min(hit.score, ceiling) });
    return true;
  }

  private async candidates(transaction: ReadTransaction, nums: number[]): Promise<Candidate[]> {
    const { parts, filters } = this.request;
    for (const num of nums) this.taken.add(num);
    const found = await transaction.candidates({ nums, parts, tags: filters.tags });
    return found.filter((candidate) => this.admits(candidate));
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
    const { includeStale } = this.request.filters;
    const hits = await this.judge(transaction, window);
    for (let newest = hits; includeStale && newest.length > 0; ) {
      newest = raiseToPredecessors(
        await this.judge(transaction, await this.lateSuccessors(transaction, newest)),
        newest,
      );
      hits.push(...newest);
    }
    const kept = hits.filter((hit) => includeStale || !hit.successor);
    kept.sort((a, b) => b.score - a.score || (a.page.updated < b.page.updated ? 1 : -1));
    return moveBehindSuccessors(kept).map(({ page: _, successor: __, ...hit }) => hit);
  }

  private async judge(transaction: ReadTransaction, window: Candidate[]): Promise<WindowHit[]> {
    const { readable, nowMs } = this.request;
    if (window.length === 0) return [];
    const paths = window.map(({ page }) => page.path);
    const claims = await transaction.superseders({ paths, parts: readable });
    return window.map((candidate) => {
      const [successor] = claims.length === 0 ? [] : currentSuccessors(candidate.page, claims, nowMs);
      return { ...this.scored(candidate, successor), page: candidate.page, successor };
    });
  }

  /** Successors that match too, but only further down: they come along, or their predecessors would stand above them. */
  private async lateSuccessors(transaction: ReadTransaction, hits: WindowHit[]): Promise<Candidate[]> {
    const nums = hits.flatMap(({ successor }) => (successor && !this.taken.has(successor.num) ? [successor.num] : []));
    if (nums.length === 0) return [];
    const late = await this.candidates(transaction, [...new Set(nums)]);
    this.pending = this.pending.filter((num) => !this.taken.has(num));
    for (const num of nums) this.seen.add(num);
    const terms = [...this.query.groups, ...this.query.alternatives].flat();
    return late.filter(({ words }) => Object.values(words).some((field) => holdsAny(field, terms)));
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

/** Whether a field of the index holds one of the terms as a token. */
function holdsAny(field: string, terms: string[]): boolean {
  return terms.some((term) => ` ${field} `.includes(` ${term} `));
}

/** A late successor has at least the score of what it supersedes: both stand where the better one belongs. */
function raiseToPredecessors(late: WindowHit[], hits: WindowHit[]): WindowHit[] {
  return late.map((successor) => {
    const scores = hits.filter((hit) => hit.successor?.num === successor.num).map(({ score }) => score);
    return { ...successor, score: Math.max(successor.score, ...scores) };
  });
}

/** A superseded page never stands above its successor: it goes right behind it, with at most its score. */
function moveBehindSuccessors(hits: WindowHit[]): WindowHit[] {
  const byNum = new Map(hits.map((hit) => [hit.num, hit]));
  const waiting = new Map<number, WindowHit[]>();
  const order: WindowHit[] = [];
  const place = (hit: WindowHit) => {
    order.push({ ...hit, score: Math.min(hit.score, order.at(-1)?.score ?? 1) });
    for (const predecessor of waiting.get(hit.num) ?? []) place(predecessor);
    waiting.delete(hit.num);
    byNum.delete(hit.num);
  };
  for (const hit of hits) {
    const successor = hit.successor && byNum.get(hit.successor.num);
    if (!successor || isInCircle(hit, byNum)) place(hit);
    else waiting.set(successor.num, [...(waiting.get(successor.num) ?? []), hit]);
  }
  return order;
}

/** Pages that supersede each other in a circle have no newest one: each stands by its score. */
function isInCircle(hit: WindowHit, byNum: Map<number, WindowHit>): boolean {
  const passed = new Set<number>();
  let next: WindowHit | undefined = hit;
  while (next?.successor && !passed.has(next.num)) {
    passed.add(next.num);
    next = byNum.get(next.successor.num);
  }
  return next?.successor !== undefined && passed.has(next.num);
}
