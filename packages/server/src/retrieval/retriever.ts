import type { Part } from "../domain/records.js";
import type { ReadTransaction } from "../store/store.js";
import type { PreparedQuery } from "./query.js";

/** What a ranking reads of a store. */
export type WordIndex = Pick<
  ReadTransaction,
  "bestMatches" | "furtherMatches" | "wordStatistics" | "termsByPrefix" | "candidates" | "superseders"
>;

/**
 * A way of finding candidates: by words now; by meaning is another implementation. What it yields is only an order to
 * look at pages in: access, filters and the final score are the ranking's.
 */
export interface Retriever {
  /** Page numbers, the likeliest first: at least `limit` of them when there are as many. Only pages in `parts` are touched. */
  best(index: WordIndex, search: { query: PreparedQuery; parts: Part[]; limit?: number }): Promise<number[]>;
  /** Page numbers of all that matches at all, the highest first, below a number. */
  further(
    index: WordIndex,
    search: { query: PreparedQuery; parts: Part[]; below?: number | undefined; limit: number },
  ): Promise<number[]>;
}
