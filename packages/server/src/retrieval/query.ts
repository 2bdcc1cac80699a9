import type { Part } from "../domain/records.js";
import type { TermGroup } from "../store/store.js";
import type { WordIndex } from "./retriever.js";
import { isPrefixable, planQuery, type QueryPlan } from "./tokens.js";

/** A query with everything the index knows of its terms in the parts the caller may read. */
export interface PreparedQuery {
  plan: QueryPlan;
  /** The required terms; one found nowhere stands for the words it begins. */
  required: TermGroup[];
  /** Those terms, and other ways to reach them, of which a match needs at least one. */
  distinguishing: TermGroup[];
  statistics: { documents: number; averageLength: number; frequency(term: string): number };
}

/** What a listing fixed of its query when it began, as places in `searchedTerms`. */
export interface FixedTerms {
  beginnings: number[];
  distinguishing: number[];
}

const completionsPerTerm = 8;

/** A term in more than this share of the pages finds nothing by itself when the query has a rarer one. */
const commonShare = 0.25;
const commonFrom = 400;

/** Statistics are summed over `parts`, so what the caller may not read never shows in a score. */
export async function prepareQuery(
  index: WordIndex,
  { text, parts, fixed }: { text: string; parts: Part[]; fixed?: FixedTerms | undefined },
): Promise<PreparedQuery & { fixed: FixedTerms }> {
  const asked = planQuery(text);
  const known = await index.wordStatistics({ parts, terms: asked.terms });
  const searched = searchedTerms(asked);
  const beginnings = new Set(
    fixed
      ? fixed.beginnings.map((at) => searched[at])
      : asked.required.filter((term) => isUnknown(term, known.frequency)),
  );
  const completions = new Map<string, string[]>();
  for (const prefix of beginnings) {
    if (prefix === undefined) continue;
    const terms = await index.termsByPrefix({ parts, prefix, limit: completionsPerTerm });
    if (terms.length > 0) completions.set(prefix, terms);
    else if (!fixed) beginnings.delete(prefix);
  }
  const plan = completions.size === 0 ? asked : complete(asked, completions);
  const { documents, tokens, frequency } =
    completions.size === 0 ? known : await index.wordStatistics({ parts, terms: plan.terms });
  const statistics = {
    documents,
    averageLength: documents === 0 ? 1 : Math.max(1, tokens / documents),
    frequency: (term: string) => frequency.get(term) ?? 0,
  };
  const groupOf = (term: string): TermGroup => ({ term, isBeginning: beginnings.has(term) });
  const chosen = fixed ? fixed.distinguishing : chooseDistinguishing(searched, { completions, statistics });
  return {
    plan,
    required: asked.required.map(groupOf),
    distinguishing: chosen.flatMap((at) => searched[at] ?? []).map(groupOf),
    statistics,
    fixed: {
      beginnings: searched.flatMap((term, at) => (beginnings.has(term) ? [at] : [])),
      distinguishing: chosen,
    },
  };
}

/** The terms a page can match by, in the order that `FixedTerms` counts. */
function searchedTerms(plan: QueryPlan): string[] {
  return [...plan.required, ...plan.alternatives];
}

function isUnknown(term: string, frequency: ReadonlyMap<string, number>): boolean {
  return !frequency.has(term) && isPrefixable(term);
}

function chooseDistinguishing(
  searched: string[],
  known: { completions: Map<string, string[]>; statistics: PreparedQuery["statistics"] },
): number[] {
  const { completions, statistics } = known;
  const limit = Math.max(commonFrom, statistics.documents * commonShare);
  const counts = searched.map((term) =>
    Math.max(...(completions.get(term) ?? [term]).map((word) => statistics.frequency(word))),
  );
  const places = (isChosen: (count: number) => boolean) => [...counts.keys()].filter((at) => isChosen(counts[at] ?? 0));
  const rarer = places((count) => count > 0 && count <= limit);
  return rarer.length > 0 ? rarer : places((count) => count > 0);
}

/** A term that only begins indexed words is scored as them: the likeliest stands for it, the others are optional. */
function complete(plan: QueryPlan, completions: Map<string, string[]>): QueryPlan {
  const required = [...new Set(plan.required.map((term) => completions.get(term)?.[0] ?? term))];
  const further = [...completions.values()].flatMap((terms) => terms.slice(1));
  const optional = [...new Set([...plan.optional, ...further])].filter((term) => !required.includes(term));
  return { ...plan, terms: [...required, ...optional], required, optional };
}
