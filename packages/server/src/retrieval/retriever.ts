import type { Part } from "../domain/records.js";
import type { ReadTransaction } from "../store/store.js";
import type { PreparedQuery } from "./query.js";

/**
 * A way of finding candidates: by words now; by meaning is another implementation. What it yields is only an order to
 * look at pages in: access, filters and the final score are the ranking's.
 */
export interface Retriever {
  /** How many tiers there are; a later tier is asked only when the earlier ones did not fill the answer. */
  readonly tiers: number;
  /** Page numbers of one tier, the likeliest first. Only pages in `parts` are ever touched. */
  find(transaction: ReadTransaction, search: TierSearch): Promise<number[]>;
}

export interface TierSearch {
  query: PreparedQuery;
  parts: Part[];
  tier: number;
  /** At least this many of each part unless it has fewer; absent: all. */
  limit?: number;
}
