import type { WordMatch } from "../store/store.js";
import type { PreparedQuery } from "./query.js";
import type { Retriever } from "./retriever.js";

/** A term in more than this share of the pages finds nothing by itself when the query has a rarer one. */
const commonShare = 0.25;
const commonFrom = 400;

/** Tier 0: pages with every required term. Tier 1: pages with any of them, or of the parts of an identifier. */
export const wordRetriever: Retriever = {
  tiers: 2,
  async find(transaction, { query, parts, tier, limit }) {
    const groups = tier === 0 ? query.groups : distinguishing(query);
    const mode = tier === 0 ? "all" : "any";
    const lists = await transaction.matchWords({ parts, groups, mode, ...(limit !== undefined && { limit }) });
    return mergeByRank(lists);
  },
};

function distinguishing({ groups: asked, alternatives, statistics }: PreparedQuery): string[][] {
  const groups = [...asked, ...alternatives];
  const limit = Math.max(commonFrom, statistics.documents * commonShare);
  const frequency = (group: string[]) => Math.max(...group.map((term) => statistics.frequency(term)));
  const found = groups.filter((group) => frequency(group) > 0);
  const rarer = found.filter((group) => frequency(group) <= limit);
  return rarer.length > 0 ? rarer : found;
}

/** Ranks of different parts are not comparable, so each is taken relative to the best of its own part. */
function mergeByRank(lists: WordMatch[][]): number[] {
  if (lists.length === 1) return lists[0]?.map(({ num }) => num) ?? [];
  const relative = lists.flatMap((list) => {
    const best = list[0]?.rank || -1;
    return list.map(({ num, rank }) => ({ num, share: rank / best }));
  });
  return relative.sort((a, b) => b.share - a.share || a.num - b.num).map(({ num }) => num);
}
