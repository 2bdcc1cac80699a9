import type { WordMatch } from "../store/store.js";
import type { Retriever } from "./retriever.js";

/** Pages with every required term, then pages with any of those that distinguish. */
export const wordRetriever: Retriever = {
  async best(index, { query, parts, limit }) {
    const most = limit === undefined ? {} : { limit };
    const whole = mergeByRank(await index.bestMatches({ parts, groups: query.required, mode: "all", ...most }));
    if (limit !== undefined && whole.length >= limit) return whole;
    const partly = mergeByRank(await index.bestMatches({ parts, groups: query.distinguishing, mode: "any", ...most }));
    return [...new Set([...whole, ...partly])];
  },
  further: (index, { query, parts, below, limit }) =>
    index.furtherMatches({ parts, groups: query.distinguishing, limit, ...(below !== undefined && { below }) }),
};

/** Ranks of different parts are not comparable, so each is taken relative to the best of its own part. */
function mergeByRank(lists: WordMatch[][]): number[] {
  if (lists.length === 1) return lists[0]?.map(({ num }) => num) ?? [];
  const relative = lists.flatMap((list) => {
    const best = list[0]?.rank || -1;
    return list.map(({ num, rank }) => ({ num, share: rank / best }));
  });
  return relative.sort((a, b) => b.share - a.share || a.num - b.num).map(({ num }) => num);
}
