import type { Ranking } from "../retrieval/ranking.js";

/** Rankings that a cursor may go on with, the least recently used dropped first. Only a shortcut: a cursor holds all that is needed to rank again. */
export interface RankingCache {
  get(key: string): Ranking | undefined;
  set(key: string, ranking: Ranking): void;
}

const capacity = 32;

export function createRankingCache(): RankingCache {
  const rankings = new Map<string, Ranking>();
  return {
    get(key) {
      const ranking = rankings.get(key);
      if (ranking) {
        rankings.delete(key);
        rankings.set(key, ranking);
      }
      return ranking;
    },
    set(key, ranking) {
      rankings.delete(key);
      rankings.set(key, ranking);
      const [oldest] = rankings.keys();
      if (rankings.size > capacity && oldest !== undefined) rankings.delete(oldest);
    },
  };
}
