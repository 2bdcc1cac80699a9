import type { PageRecord, PageType, Part } from "../domain/records.js";
import { currentSuccessors, standingAt } from "../domain/standing.js";
import type { Candidate, TermGroup } from "../store/store.js";
import { encodeListing, type Listing } from "./listing.js";
import { type FixedTerms, type PreparedQuery, prepareQuery } from "./query.js";
import type { Retriever, WordIndex } from "./retriever.js";
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
  page: PageRecord;
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

export interface RankedAnswer {
  hits: RankedHit[];
  /** Where it goes on, when there is more. */
  listing?: Listing;
}

/** So many matches are ranked, whatever is asked for at once: the order must not depend on the size of an answer. */
const rankedCount = 100;
/** Candidates that are looked at for each of them: some fall to the filters. */
const spareShare = 1.5;
/** When too many fell, so many times as many are looked at once more; what is missing then comes unranked. */
const secondLook = 8;
const furtherBatch = 200;
const listingMostBytes = 308;
const standingFactor = { current: 1, stale: 0.8, archived: 0.7 } as const;
const validatedFactor = 1.05;

/** Answers one query page by page. See `Listing` for the order. */
export class Ranking {
  private constructor(
    private readonly index: WordIndex,
    private readonly setting: { retriever: Retriever; request: RankingRequest },
    readonly query: PreparedQuery & { fixed: FixedTerms },
  ) {}

  /** @param fixed of the listing that goes on */
  static async prepare(
    index: WordIndex,
    { retriever, request, fixed }: { retriever: Retriever; request: RankingRequest; fixed?: FixedTerms | undefined },
  ): Promise<Ranking> {
    const { text, parts } = request;
    return new Ranking(index, { retriever, request }, await prepareQuery(index, { text, parts, fixed }));
  }

  async first(limit: number): Promise<RankedAnswer> {
    if (this.query.plan.terms.length === 0) return { hits: [] };
    const wanted = Math.max(limit, rankedCount);
    let count = Math.ceil(wanted * spareShare);
    let found = await this.setting.retriever.best(this.index, this.search(count));
    let ranked = await this.rank(await this.candidates(found));
    if (found.length >= count && ranked.length < wanted) {
      count *= secondLook;
      found = await this.setting.retriever.best(this.index, this.search(count));
      ranked = await this.rank(await this.candidates(found));
    }
    const isWhole = found.length < count;
    const top = ranked.slice(0, wanted);
    const isAll = isWhole && ranked.length === top.length;
    return this.answer(top, { limit, shown: [], isAll });
  }

  async next(listing: Listing, { limit, lastScore }: { limit: number; lastScore: number }): Promise<RankedAnswer> {
    const ahead = await this.judgeInOrder(listing.ahead, lastScore);
    return this.answer(ahead, { limit, shown: listing.shown, below: listing.below, lastScore, isAll: false });
  }

  /** `ranked` comes first; then, unless it was all, the further matches. */
  private async answer(
    ranked: RankedHit[],
    from: { limit: number; shown: number[]; below?: number | undefined; lastScore?: number; isAll: boolean },
  ): Promise<RankedAnswer> {
    const { limit, isAll } = from;
    const hits = ranked.slice(0, limit);
    const shown = [...from.shown, ...hits.map(({ num }) => num)];
    const ahead = ranked.slice(limit).map(({ num }) => num);
    if (ahead.length > 0) return { hits, listing: this.listing({ ahead, shown }) };
    if (isAll) return { hits };
    const lastScore = hits.at(-1)?.score ?? from.lastScore ?? 1;
    const further = await this.further(shown, { below: from.below, count: limit - hits.length + 1, lastScore });
    const added = further.slice(0, limit - hits.length);
    const below = added.at(-1)?.num ?? from.below;
    const all = [...hits, ...added];
    return further.length > added.length
      ? { hits: all, listing: this.listing({ ahead, shown, below }) }
      : { hits: all };
  }

  /** What does not fit is left to the further matches. */
  private listing({ ahead, shown, below }: { ahead: number[]; shown: number[]; below?: number | undefined }): Listing {
    const listing = { ahead: [...ahead], shown, ...(below !== undefined && { below }), ...this.query.fixed };
    while (listing.ahead.length > 0 && encodeListing(listing).length > listingMostBytes) listing.ahead.pop();
    return listing;
  }

  private search(limit?: number) {
    return { query: this.query, parts: this.setting.request.parts, ...(limit !== undefined && { limit }) };
  }

  private async candidates(nums: number[]): Promise<Candidate[]> {
    const { parts, filters } = this.setting.request;
    const found = await this.index.candidates({ nums, parts, tags: filters.tags });
    return found.filter((candidate) => this.admits(candidate));
  }

  private admits({ page }: Candidate): boolean {
    const { filters, snapshot, nowMs } = this.setting.request;
    if (page.created > snapshot) return false;
    if (filters.type && page.type !== filters.type) return false;
    const standing = standingAt(page, nowMs);
    return standing === "current" || (standing === "stale" ? filters.includeStale : filters.includeArchived);
  }

  /** All matches that were not ranked, the newest page first, up to `count` of them. */
  private async further(
    ranked: number[],
    { below, count, lastScore }: { below: number | undefined; count: number; lastScore: number },
  ): Promise<RankedHit[]> {
    const isRanked = new Set(ranked);
    const hits: RankedHit[] = [];
    for (let start = below; hits.length < count; ) {
      const search = { ...this.search(), below: start, limit: furtherBatch };
      const nums = await this.setting.retriever.further(this.index, search);
      const fresh = nums.filter((num) => !isRanked.has(num));
      hits.push(...(await this.judgeInOrder(fresh, hits.at(-1)?.score ?? lastScore)));
      start = nums.at(-1);
      if (nums.length < furtherBatch) break;
    }
    return hits.slice(0, count);
  }

  /** In the given order; no score is above the one before it. */
  private async judgeInOrder(nums: number[], lastScore: number): Promise<RankedHit[]> {
    let ceiling = lastScore;
    const judged = await this.judge(await this.candidates(nums));
    return this.withoutSuperseded(judged).map((hit) => {
      ceiling = Math.min(ceiling, hit.score);
      return toRankedHit({ ...hit, score: ceiling });
    });
  }

  private async rank(candidates: Candidate[]): Promise<RankedHit[]> {
    const hits = await this.judge(candidates);
    const taken = new Set(hits.map(({ num }) => num));
    for (let newest = hits; this.setting.request.filters.includeStale && newest.length > 0; ) {
      newest = raiseToPredecessors(await this.judge(await this.lateSuccessors(newest, taken)), newest);
      hits.push(...newest);
    }
    const kept = this.withoutSuperseded(hits);
    kept.sort((a, b) => b.score - a.score || (a.page.updated < b.page.updated ? 1 : -1));
    return moveBehindSuccessors(kept).map(toRankedHit);
  }

  private withoutSuperseded(hits: JudgedHit[]): JudgedHit[] {
    return this.setting.request.filters.includeStale ? hits : hits.filter(({ successor }) => !successor);
  }

  private async judge(candidates: Candidate[]): Promise<JudgedHit[]> {
    const { readable, nowMs } = this.setting.request;
    if (candidates.length === 0) return [];
    const paths = candidates.map(({ page }) => page.path);
    const claims = await this.index.superseders({ paths, parts: readable });
    return candidates.map((candidate) => {
      const [successor] = claims.length === 0 ? [] : currentSuccessors(candidate.page, claims, nowMs);
      return this.scored(candidate, successor);
    });
  }

  /** Successors that match too, but only further down: they come along, or their predecessors would stand above them. */
  private async lateSuccessors(hits: JudgedHit[], taken: Set<number>): Promise<Candidate[]> {
    const nums = hits.flatMap(({ successor }) => (successor && !taken.has(successor.num) ? [successor.num] : []));
    if (nums.length === 0) return [];
    for (const num of nums) taken.add(num);
    const late = await this.candidates([...new Set(nums)]);
    const { distinguishing } = this.query;
    return late.filter(({ words }) => Object.values(words).some((field) => holdsAny(field, distinguishing)));
  }

  private scored({ page, words }: Candidate, successor: PageRecord | undefined): JudgedHit {
    const { plan, statistics } = this.query;
    const standing = standingAt(page, this.setting.request.nowMs);
    const stale = standing === "stale" || successor !== undefined;
    const factor = standingFactor[standing === "current" && stale ? "stale" : standing];
    const raw =
      scoreCandidate(words, plan, statistics) * factor * (page.lifecycle === "validated" ? validatedFactor : 1);
    const score = Math.round(toUnitScore(raw, plan, statistics) * 1e6) / 1e6;
    return { num: page.num, page, score, stale, successor };
  }
}

interface JudgedHit extends RankedHit {
  successor: PageRecord | undefined;
}

function toRankedHit({ successor, ...hit }: JudgedHit): RankedHit {
  return { ...hit, ...(successor && { supersededBy: successor.path }) };
}

/** Whether a field of the index holds one of the terms as a token, or as the beginning of one. */
function holdsAny(field: string, groups: TermGroup[]): boolean {
  return groups.some(({ term, isBeginning }) => ` ${field} `.includes(isBeginning ? ` ${term}` : ` ${term} `));
}

/** A late successor has at least the score of what it supersedes: both stand where the better one belongs. */
function raiseToPredecessors(late: JudgedHit[], hits: JudgedHit[]): JudgedHit[] {
  return late.map((successor) => {
    const scores = hits.filter((hit) => hit.successor?.num === successor.num).map(({ score }) => score);
    return { ...successor, score: Math.max(successor.score, ...scores) };
  });
}

/** A superseded page never stands above its successor: it goes right behind it, with at most its score. */
function moveBehindSuccessors(hits: JudgedHit[]): JudgedHit[] {
  const byNum = new Map(hits.map((hit) => [hit.num, hit]));
  const waiting = new Map<number, JudgedHit[]>();
  const order: JudgedHit[] = [];
  const place = (hit: JudgedHit) => {
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
function isInCircle(hit: JudgedHit, byNum: Map<number, JudgedHit>): boolean {
  const passed = new Set<number>();
  let next: JudgedHit | undefined = hit;
  while (next?.successor && !passed.has(next.num)) {
    passed.add(next.num);
    next = byNum.get(next.successor.num);
  }
  return next?.successor !== undefined && passed.has(next.num);
}
