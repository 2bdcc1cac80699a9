import fc from "fast-check";
import { expect, test } from "vitest";
import { type CollectionStatistics, scoreCandidate, type TokenisedDocument, toUnitScore } from "./score.js";
import { planQuery, tokenise } from "./tokens.js";

const SEED = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31);
console.info(`score: fast-check seed ${SEED}`);

const FREQUENCIES: Record<string, number> = { garden: 40, the: 900, what: 700, phobos: 1, plan: 200 };
const STATISTICS: CollectionStatistics = {
  documents: 1000,
  averageLength: 20,
  frequency: (term) => FREQUENCIES[term] ?? 10,
};

function page(title: string, body: string, extra: { tags?: string; headings?: string } = {}): TokenisedDocument {
  const indexed = (text: string) => tokenise(text).join(" ");
  const { tags = "", headings = "" } = extra;
  return { title: indexed(title), tags: indexed(tags), headings: indexed(headings), body: indexed(body) };
}

const FILLER = "something else entirely is written here about other matters ".repeat(2);

/** The first page must score above the second. */
const ORDERS: [reason: string, query: string, better: TokenisedDocument, worse: TokenisedDocument][] = [
  ["title over body", "garden", page("Garden", FILLER), page("Notes", `${FILLER} garden`)],
  ["tag over body", "garden", page("Notes", FILLER, { tags: "garden" }), page("Notes", `${FILLER} garden`)],
  ["heading over body", "garden", page("Notes", FILLER, { headings: "garden" }), page("Notes", `${FILLER} garden`)],
  ["rare over frequent", "phobos plan", page("Notes", "phobos"), page("Notes", "plan")],
  ["content over function words", "what is the garden", page("Notes", "garden"), page("Notes", "what is the")],
  ["all terms over many of one", "garden plan", page("N", "garden plan"), page("N", "garden garden garden garden")],
  ["close over far", "garden plan", page("N", `garden plan ${FILLER}`), page("N", `garden ${FILLER} plan`)],
  ["short over long", "garden", page("N", "garden"), page("N", `garden ${FILLER.repeat(5)}`)],
  ["exact title over longer", "garden plan", page("Garden plan", "x"), page("Garden plan of the harbour", "x")],
  ["exact unspaced title", "腾讯云", page("腾讯云", "x"), page("腾讯云服务器", "x")],
  ["whole words only", "plan", page("N", "the plan"), page("N", "planet plans explanation")],
  ["both terms of an operator query", "tier1-test AND unicode", page("N", "tier1-test unicode"), page("N", "unicode")],
];

test.each(ORDERS)("%s", (_reason, query, better, worse) => {
  const plan = planQuery(query);
  const [high, low] = [better, worse].map((doc) => scoreCandidate(doc, plan, STATISTICS)) as [number, number];
  expect(high).toBeGreaterThan(low);
  expect(toUnitScore(high, plan, STATISTICS)).toBeGreaterThan(toUnitScore(low, plan, STATISTICS));
});

test("a page without any term scores 0, also when its words contain the term", () => {
  const plan = planQuery("plan");
  expect(scoreCandidate(page("Planet", "explanation plans"), plan, STATISTICS)).toBe(0);
  expect(scoreCandidate(page("Plan", ""), planQuery(""), STATISTICS)).toBe(0);
  expect(toUnitScore(0, plan, STATISTICS)).toBe(0);
});

const odd = fc.oneof(fc.constantFrom(0, -1, Number.NaN, Number.POSITIVE_INFINITY, 1e308), fc.double());
const words = fc.array(fc.constantFrom("garden", "plan", "the", "日本語", "C++", "getUser", "!!!", "x"), {
  maxLength: 12,
});

test("scores are finite, never negative, the same again, and in [0,1] as shares, whatever the statistics", () => {
  const property = fc.property(words, words, words, fc.tuple(odd, odd, odd), (title, body, query, numbers) => {
    const [documents, averageLength, frequency] = numbers;
    const statistics = { documents, averageLength, frequency: () => frequency };
    const plan = planQuery(query.join(" "));
    const doc = page(title.join(" "), body.join(" "), { tags: title.join(" ") });
    const raw = scoreCandidate(doc, plan, statistics);
    const unit = toUnitScore(raw, plan, statistics);
    expect(Number.isFinite(raw) && raw >= 0).toBe(true);
    expect(unit >= 0 && unit <= 1).toBe(true);
    expect(scoreCandidate(doc, plan, statistics)).toBe(raw);
    expect(toUnitScore(raw * 1.5 + 1, plan, statistics)).toBeGreaterThanOrEqual(unit);
  });
  fc.assert(property, { seed: SEED, numRuns: 1000 });
});

test("200 pages of 1 KB are scored for 8 terms in milliseconds", () => {
  const plan = planQuery("garden plan harbour winter budget engine window letter");
  const body = "the garden and the plan of a harbour with a window wide open in the letter of an engine ".repeat(12);
  const docs = Array.from({ length: 200 }, (_, index) => page(`Garden ${index}`, `${body} ${index}`));
  const time = () => {
    const started = performance.now();
    for (const doc of docs) scoreCandidate(doc, plan, STATISTICS);
    return performance.now() - started;
  };
  expect(Math.min(...Array.from({ length: 8 }, time))).toBeLessThan(15);
});
