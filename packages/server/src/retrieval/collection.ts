import { includesPart } from "../domain/access.js";
import type { PageRecord, Part } from "../domain/records.js";
import type {
  Candidate,
  FurtherQuery,
  IndexedText,
  TermGroup,
  WordMatch,
  WordQuery,
  WordStatistics,
} from "../store/store.js";
import { countTerms, createRank, type TermCounts } from "./collection-rank.js";
import type { WordIndex } from "./retriever.js";

/** A page that stands in no stored index: an old version, or a proposed one. */
export interface CollectedPage {
  page: PageRecord;
  words: IndexedText;
  tags: string[];
  /** The paths it supersedes. */
  supersedes: string[];
}

/**
 * A word index over values, for what is asked too rarely to keep an index of: the past, and revisions. It answers as the
 * store's own index does for the same pages. With `anywhere`, the asked parts don't count: all of it is for the caller.
 */
export function createCollection(pages: CollectedPage[], { anywhere = false } = {}): WordIndex {
  const entries = pages.map((entry) => ({ ...entry, counts: countTerms(entry.words) }));
  const inParts = (parts: Part[]) => entries.filter(({ page }) => anywhere || includesPart(parts, page));
  return {
    async bestMatches({ parts, groups, mode, limit }: WordQuery): Promise<WordMatch[][]> {
      const there = inParts(parts);
      if (groups.length === 0) return [];
      const rank = createRank(
        there.map(({ counts }) => counts),
        groups.map(({ term }) => term),
      );
      const matches = there.filter((entry) => matchesGroups(entry.counts, groups, mode));
      const ranked = matches.map(({ page, counts }) => ({ num: page.num, rank: rank(counts) }));
      return [ranked.sort((a, b) => a.rank - b.rank || a.num - b.num).slice(0, limit ?? ranked.length)];
    },
    async furtherMatches({ parts, groups, below = Number.POSITIVE_INFINITY, limit }: FurtherQuery): Promise<number[]> {
      const matches = inParts(parts).filter(
        ({ page, counts }) => page.num < below && matchesGroups(counts, groups, "any"),
      );
      return matches
        .map(({ page }) => page.num)
        .sort((a, b) => b - a)
        .slice(0, limit);
    },
    async wordStatistics({ parts, terms: asked }): Promise<WordStatistics> {
      const there = inParts(parts);
      const frequency = new Map<string, number>();
      for (const term of asked) {
        const count = there.filter(({ counts }) => counts.weighted.has(term)).length;
        if (count > 0) frequency.set(term, count);
      }
      const tokens = there.reduce((sum, { words }) => sum + (words.body === "" ? 0 : words.body.split(" ").length), 0);
      return { documents: there.length, tokens, frequency };
    },
    async termsByPrefix({ parts, prefix, limit }): Promise<string[]> {
      const documents = new Map<string, number>();
      for (const { counts } of inParts(parts)) {
        for (const term of counts.weighted.keys()) {
          if (term.startsWith(prefix)) documents.set(term, (documents.get(term) ?? 0) + 1);
        }
      }
      return orderTerms(documents).slice(0, limit);
    },
    async candidates({ nums, parts, tags: asked }): Promise<Candidate[]> {
      const byNum = new Map(inParts(parts).map((entry) => [entry.page.num, entry]));
      return nums.flatMap((num) => {
        const entry = byNum.get(num);
        const isWanted = entry && asked.every((tag) => entry.tags.includes(tag));
        return isWanted ? [{ page: entry.page, words: entry.words }] : [];
      });
    },
    async superseders({ paths, parts }): Promise<{ target: string; page: PageRecord }[]> {
      const all = inParts(parts).flatMap(({ page, supersedes }) =>
        [...new Set(supersedes)].map((target) => ({ target, page })),
      );
      const newestFirst = all.sort((a, b) => (a.page.updated < b.page.updated ? 1 : -1));
      const claims = newestFirst.filter(({ target }) => paths.includes(target));
      const claimants = new Set(claims.map(({ page }) => page.path).filter((path) => !paths.includes(path)));
      return [...claims, ...newestFirst.filter(({ target }) => claimants.has(target))];
    },
  };
}

function matchesGroups({ weighted }: TermCounts, groups: TermGroup[], mode: WordQuery["mode"]): boolean {
  const holds = ({ term, isBeginning }: TermGroup) =>
    weighted.has(term) || (isBeginning && [...weighted.keys()].some((known) => known.startsWith(term)));
  if (groups.length === 0) return false;
  return mode === "all" ? groups.every(holds) : groups.some(holds);
}

function orderTerms(counts: Map<string, number>): string[] {
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([term]) => term);
}

/** Two indexes as one. Their pages have different numbers; only the first one's pages supersede others. */
export function uniteIndexes(first: WordIndex, second: WordIndex): WordIndex {
  return {
    bestMatches: async (query) => [...(await first.bestMatches(query)), ...(await second.bestMatches(query))],
    async furtherMatches(query) {
      const found = [...(await first.furtherMatches(query)), ...(await second.furtherMatches(query))];
      return found.sort((a, b) => b - a).slice(0, query.limit);
    },
    async wordStatistics(query) {
      const [a, b] = [await first.wordStatistics(query), await second.wordStatistics(query)];
      const frequency = new Map(a.frequency);
      for (const [term, count] of b.frequency) frequency.set(term, (frequency.get(term) ?? 0) + count);
      return { documents: a.documents + b.documents, tokens: a.tokens + b.tokens, frequency };
    },
    async termsByPrefix(query) {
      const terms = [...(await first.termsByPrefix(query)), ...(await second.termsByPrefix(query))];
      return [...new Set(terms)].slice(0, query.limit);
    },
    async candidates(query) {
      const found = [...(await first.candidates(query)), ...(await second.candidates(query))];
      const byNum = new Map(found.map((candidate) => [candidate.page.num, candidate]));
      return query.nums.flatMap((num) => byNum.get(num) ?? []);
    },
    superseders: (query) => first.superseders(query),
  };
}
