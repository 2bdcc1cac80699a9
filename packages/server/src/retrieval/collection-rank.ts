import type { IndexedText } from "../store/store.js";

/** Column weights and constants of the stored index (FTS5's bm25), so that both look at pages in the same order. */
const weights: IndexedTextWeights = { title: 4, tags: 2.5, headings: 2, body: 1 };
const saturation = 1.2;
const lengthShare = 0.75;
/** A term that most pages hold still counts for a little. */
const leastIdf = 1e-6;

type IndexedTextWeights = Record<keyof IndexedText, number>;

/** How often a page holds each of its terms, by column weight, and how many tokens it has. */
export interface TermCounts {
  weighted: Map<string, number>;
  length: number;
}

export function countTerms(words: IndexedText): TermCounts {
  const weighted = new Map<string, number>();
  let length = 0;
  for (const [field, weight] of Object.entries(weights) as [keyof IndexedText, number][]) {
    const text = words[field];
    if (text === "") continue;
    for (const term of text.split(" ")) {
      weighted.set(term, (weighted.get(term) ?? 0) + weight);
      length++;
    }
  }
  return { weighted, length };
}

/** @returns the rank of a page for these terms: the more negative the better */
export function createRank(all: TermCounts[], terms: string[]): (page: TermCounts) => number {
  const meanLength = all.reduce((sum, { length }) => sum + length, 0) / all.length;
  const idfs = terms.map((term) => {
    const hits = all.filter(({ weighted }) => weighted.has(term)).length;
    return Math.max(Math.log((all.length - hits + 0.5) / (hits + 0.5)), leastIdf);
  });
  return ({ weighted, length }) => {
    const floor = saturation * (1 - lengthShare + (lengthShare * length) / meanLength);
    return -terms.reduce((sum, term, at) => {
      const frequency = weighted.get(term) ?? 0;
      return sum + ((idfs[at] ?? 0) * frequency * (saturation + 1)) / (frequency + floor);
    }, 0);
  };
}
