import type { Part } from "../domain/records.js";
import type { ReadTransaction } from "../store/store.js";
import { isPrefixable, planQuery, type QueryPlan } from "./tokens.js";

/** A query with everything the index knows of its terms in the parts the caller may read. */
export interface PreparedQuery {
  plan: QueryPlan;
  /** Per required term: itself, or for a term found nowhere the indexed words it begins. */
  groups: string[][];
  /** Other ways to reach a required term. */
  alternatives: string[][];
  statistics: { documents: number; averageLength: number; frequency(term: string): number };
}

const completionsPerTerm = 8;

/** Statistics are summed over `parts`, so what the caller may not read never shows in a score. */
export async function prepareQuery(transaction: ReadTransaction, text: string, parts: Part[]): Promise<PreparedQuery> {
  const asked = planQuery(text);
  const known = await transaction.wordStatistics({ parts, terms: asked.terms });
  const completions = new Map<string, string[]>();
  for (const prefix of asked.required) {
    if (known.frequency.has(prefix) || !isPrefixable(prefix)) continue;
    const terms = await transaction.termsByPrefix({ parts, prefix, limit: completionsPerTerm });
    if (terms.length > 0) completions.set(prefix, terms);
  }
  const plan = completions.size === 0 ? asked : complete(asked, completions);
  const { documents, tokens, frequency } =
    completions.size === 0 ? known : await transaction.wordStatistics({ parts, terms: plan.terms });
  return {
    plan,
    groups: asked.required.map((term) => completions.get(term) ?? [term]),
    alternatives: asked.alternatives.map((term) => [term]),
    statistics: {
      documents,
      averageLength: documents === 0 ? 1 : Math.max(1, tokens / documents),
      frequency: (term) => frequency.get(term) ?? 0,
    },
  };
}

/** A term that only begins indexed words is replaced by them: the likeliest stands for it, the others are optional. */
function complete(plan: QueryPlan, completions: Map<string, string[]>): QueryPlan {
  const required = [...new Set(plan.required.map((term) => completions.get(term)?.[0] ?? term))];
  const further = [...completions.values()].flatMap((terms) => terms.slice(1));
  const optional = [...new Set([...plan.optional, ...further])].filter((term) => !required.includes(term));
  return { ...plan, terms: [...required, ...optional], required, optional };
}
