import type { QueryPlan } from "./tokens.js";

/** A page as it is indexed: for each field the tokens of `tokenise`, joined by one space. */
export interface TokenisedDocument {
  title: string;
  tags: string;
  headings: string;
  body: string;
}

/**
 * The collection that scores are relative to: only what the caller may read (pcp section 4). `averageLength` is the mean
 * number of tokens of a body; `frequency` the number of documents that hold a term, called once per term and document.
 */
export interface CollectionStatistics {
  documents: number;
  averageLength: number;
  frequency: (term: string) => number;
}

interface Field {
  name: keyof TokenisedDocument;
  weight: number;
  /** How far length discounts an occurrence: a long title is a smaller fault than a long body. */
  lengthShare: number;
  /** Mean tokens of the field; the body's comes from the collection. */
  typicalLength: number;
}

const FIELDS: readonly Field[] = [
  { name: "title", weight: 4, lengthShare: 0.3, typicalLength: 5 },
  { name: "tags", weight: 2.5, lengthShare: 0.2, typicalLength: 4 },
  { name: "headings", weight: 2, lengthShare: 0.3, typicalLength: 10 },
  { name: "body", weight: 1, lengthShare: 0.75, typicalLength: 0 },
];

/** How soon further occurrences of a term stop counting. */
const SATURATION = 1.2;
/** What a function word, or another way to reach a word, counts beside a content word. */
const OPTIONAL_SHARE = 0.25;

/** Bonuses, as shares of the summed weight of the required terms. */
const COMPLETE_BONUS = 0.25;
const CLOSE_BONUS = 0.35;
const TITLE_HOLDS_BONUS = 0.4;
const TITLE_EQUALS_BONUS = 0.4;

/** Beyond these an answer no longer depends on more, and the time for a hostile page stays bounded. */
const MAX_OCCURRENCES = 32;
const MAX_COUNTED_UNITS = 8192;

const SPACE = 0x20;

/**
 * BM25F over the four fields, plus bounded bonuses when a document holds every required term, holds them close together
 * in its body, and when its title holds or is the query. Finite, never negative, 0 when no term occurs; the same input
 * always gives the same number. Comparable only within one plan and one collection.
 */
export function scoreCandidate(doc: TokenisedDocument, plan: QueryPlan, statistics: CollectionStatistics): number {
  const lengths = FIELDS.map((field) => lengthFactor(doc, field, statistics));
  let score = 0;
  let requiredWeight = 0;
  let isComplete = plan.required.length > 0;
  for (const term of plan.required) {
    const weight = rarityOf(term, statistics);
    const frequency = weightedFrequency(doc, term, lengths);
    requiredWeight += weight;
    score += weight * saturate(frequency);
    if (frequency === 0) isComplete = false;
  }
  for (const term of plan.optional) {
    const frequency = weightedFrequency(doc, term, lengths);
    if (frequency > 0) score += OPTIONAL_SHARE * rarityOf(term, statistics) * saturate(frequency);
  }
  if (isComplete) {
    const closeness = plan.required.length > 1 ? closenessOf(doc.body, plan.required) : 0;
    score += requiredWeight * (COMPLETE_BONUS + CLOSE_BONUS * closeness + titleBonus(doc.title, plan));
  }
  return score;
}

/**
 * The score as a share, in [0,1], of what a perfect page would get for this plan: every term without end in every field,
 * side by side, under a title that is the query. Monotone in `raw`; comparable within one answer.
 */
export function toUnitScore(raw: number, plan: QueryPlan, statistics: CollectionStatistics): number {
  const weightOf = (terms: string[]) => terms.reduce((sum, term) => sum + rarityOf(term, statistics), 0);
  const required = weightOf(plan.required);
  const bonus = COMPLETE_BONUS + CLOSE_BONUS + TITLE_HOLDS_BONUS + TITLE_EQUALS_BONUS;
  const ideal = (SATURATION + 1) * (required + OPTIONAL_SHARE * weightOf(plan.optional)) + bonus * required;
  return ideal > 0 && raw > 0 ? Math.min(1, raw / ideal) : 0;
}

/** Inverse document frequency, never negative; a count that does not fit its collection is brought into it. */
function rarityOf(term: string, statistics: CollectionStatistics): number {
  const documents = atLeastZero(statistics.documents);
  const frequency = Math.min(documents, atLeastZero(statistics.frequency(term)));
  return Math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5));
}

function atLeastZero(value: number): number {
  return value > 0 ? Math.min(value, Number.MAX_SAFE_INTEGER) : 0;
}

function saturate(frequency: number): number {
  return (frequency * (SATURATION + 1)) / (frequency + SATURATION);
}

function lengthFactor(doc: TokenisedDocument, field: Field, statistics: CollectionStatistics): number {
  const average = atLeastZero(field.name === "body" ? statistics.averageLength : field.typicalLength);
  if (average === 0) return 1;
  return 1 - field.lengthShare + (field.lengthShare * tokenCount(doc[field.name])) / Math.max(1, average);
}

/** Tokens of a field; for a long one estimated from its beginning. */
function tokenCount(tokens: string): number {
  if (tokens === "") return 0;
  const counted = Math.min(tokens.length, MAX_COUNTED_UNITS);
  let spaces = 0;
  for (let at = 0; at < counted; at += 1) if (tokens.charCodeAt(at) === SPACE) spaces += 1;
  return 1 + (spaces * tokens.length) / counted;
}

function weightedFrequency(doc: TokenisedDocument, term: string, lengths: number[]): number {
  let sum = 0;
  for (let index = 0; index < FIELDS.length; index += 1) {
    const field = FIELDS[index]!;
    const count = countOf(doc[field.name], term);
    if (count > 0) sum += (field.weight * count) / lengths[index]!;
  }
  return sum;
}

function countOf(tokens: string, term: string): number {
  let count = 0;
  for (let at = nextPlace(tokens, term, 0); at >= 0 && count < MAX_OCCURRENCES; count += 1) {
    at = nextPlace(tokens, term, at + term.length);
  }
  return count;
}

/** Where the term next stands as a whole token, at or after `from`; -1 when it does not. */
function nextPlace(tokens: string, term: string, from: number): number {
  if (term === "") return -1;
  for (let at = tokens.indexOf(term, from); at >= 0; at = tokens.indexOf(term, at + 1)) {
    const end = at + term.length;
    const startsToken = at === 0 || tokens.charCodeAt(at - 1) === SPACE;
    if (startsToken && (end === tokens.length || tokens.charCodeAt(end) === SPACE)) return at;
  }
  return -1;
}

/** 1 when the terms stand side by side, falling towards 0 with the smallest stretch that holds them all; 0 if none does. */
function closenessOf(body: string, terms: string[]): number {
  const places: { at: number; term: number }[] = [];
  let shortest = terms.length - 1;
  for (let term = 0; term < terms.length; term += 1) {
    const word = terms[term]!;
    shortest += word.length;
    let at = nextPlace(body, word, 0);
    if (at < 0) return 0;
    for (let count = 0; at >= 0 && count < MAX_OCCURRENCES; count += 1) {
      places.push({ at, term });
      at = nextPlace(body, word, at + word.length);
    }
  }
  places.sort((a, b) => a.at - b.at || a.term - b.term);
  return Math.min(1, shortest / smallestWindow(places, terms));
}

function smallestWindow(places: { at: number; term: number }[], terms: string[]): number {
  const counts = new Array<number>(terms.length).fill(0);
  let missing = terms.length;
  let first = 0;
  let smallest = Number.POSITIVE_INFINITY;
  for (const place of places) {
    if (counts[place.term]! === 0) missing -= 1;
    counts[place.term]! += 1;
    while (missing === 0) {
      const leaving = places[first]!;
      smallest = Math.min(smallest, place.at + terms[place.term]!.length - leaving.at);
      counts[leaving.term]! -= 1;
      if (counts[leaving.term] === 0) missing += 1;
      first += 1;
    }
  }
  return smallest;
}

function titleBonus(title: string, plan: QueryPlan): number {
  if (!plan.required.every((term) => nextPlace(title, term, 0) >= 0)) return 0;
  const isNamed = (token: string) => plan.terms.includes(token) || isPartOfTerm(token, plan);
  return title.split(" ").every(isNamed) ? TITLE_HOLDS_BONUS + TITLE_EQUALS_BONUS : TITLE_HOLDS_BONUS;
}

/** A single character of a run without spaces has no term of its own when the query names the pair. */
function isPartOfTerm(token: string, plan: QueryPlan): boolean {
  const isSingle = token.length === (token.codePointAt(0)! > 0xffff ? 2 : 1) && token.charCodeAt(0) > 0x7f;
  return isSingle && plan.terms.some((term) => term.includes(token));
}
