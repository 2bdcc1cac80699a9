// What the answers to the Mara questions are worth, by the rules of the corpus.
import { mean } from "./figures.mjs";

/** The target of EX03 is a profile document, and those are not searched; of MH05 the corpus names the wrong one of two pages. */
const leftOut = new Set(["EX03", "MH05"]);

const months = "January February March April May June July August September October November December".split(" ");

function recall(question, paths, { tolerant, targets = question.targets }) {
  const found = targets.filter((target) => {
    return paths.includes(target) || (tolerant && paths.includes(`${target}-dup`));
  });
  return found.length / targets.length;
}

/** Recall at 5 and 10 over questions, strict and with near-duplicates counted. */
function recallRow(name, questions, { answerOf, targetsOf = (question) => question.targets }) {
  const at = (k, tolerant) =>
    mean(
      questions.map((question) => {
        const paths = answerOf(question).top.slice(0, k);
        return recall(question, paths, { tolerant, targets: targetsOf(question) });
      }),
    );
  return {
    name,
    questions: questions.length,
    at5: at(5, false),
    at10: at(10, false),
    tolerantAt5: at(5, true),
    tolerantAt10: at(10, true),
  };
}

/** Answers come from the context of the question's own scope. */
export function scoreRecall({ questions }, measured) {
  const off = ({ id, scope }) => measured.get(scope).asked.get(id).off;
  const on = ({ id, scope }) => measured.get(scope).asked.get(id).on;
  const of = (stratum) => questions.filter((one) => one.stratum === stratum && !leftOut.has(one.id));
  const by = (mechanism) => questions.filter((one) => one.mechanism === mechanism);
  const current = ({ targets }) => targets.slice(0, 1);
  return [
    recallRow("exact_lookup", of("exact_lookup"), { answerOf: off }),
    recallRow("paraphrase", of("paraphrase"), { answerOf: off }),
    recallRow("multi_hop", of("multi_hop"), { answerOf: off }),
    recallRow("T-a, both pages", by("T-a"), { answerOf: off }),
    recallRow("T-a, both pages, history on", by("T-a"), { answerOf: on }),
    recallRow("T-a, the current page", by("T-a"), { answerOf: off, targetsOf: current }),
    recallRow("T-b", by("T-b"), { answerOf: off }),
    recallRow("T-c, history on", by("T-c"), { answerOf: on }),
  ];
}

/** Whether `first` is found and `second`, if found at all, stands below it. */
function standsAbove({ paths }, first, second) {
  const [at, below] = [paths.indexOf(first), paths.indexOf(second)];
  return at >= 0 && (below < 0 || at < below);
}

export function scoreOrder({ questions, pages }, measured) {
  const answers = ({ id, scope }) => measured.get(scope).asked.get(id);
  const count = (asked, holds) => ({ right: asked.filter(holds).length, of: asked.length });
  const by = (mechanism) => questions.filter((one) => one.mechanism === mechanism);
  const markdown = new Map(pages.map((page) => [page.path, page.markdown]));
  return {
    "T-a: the current page is the first hit": count(by("T-a"), (one) => answers(one).off.top[0] === one.targets[0]),
    "T-a: the current page above the superseded one": count(by("T-a"), (one) =>
      standsAbove(answers(one).off, ...one.targets),
    ),
    "T-a: the same, history on": count(by("T-a"), (one) => standsAbove(answers(one).on, ...one.targets)),
    "T-b: the page whose window holds the date above the other": count(by("T-b"), (one) =>
      standsAbove(answers(one).off, ...orderByWindow(one, markdown)),
    ),
    "T-c: the past page stays hidden, history off": count(
      by("T-c"),
      (one) => !answers(one).off.paths.includes(one.targets[0]),
    ),
  };
}

/** The targets with the one first whose validity holds the date (or the first day of the month) in the question. */
function orderByWindow({ question, targets }, markdown) {
  const [, day = "1", month, year] = /(?:(\d{1,2}) )?([A-Z][a-z]+) (\d{4})/.exec(question);
  const date = `${year}-${String(months.indexOf(month) + 1).padStart(2, "0")}-${day.padStart(2, "0")}`;
  const holds = (path) => {
    const key = (name) => new RegExp(`^${name}: '?([\\d-]+)`, "m").exec(markdown.get(path))?.[1];
    return (key("valid_from") ?? "") <= date && date <= (key("valid_until") ?? "9");
  };
  return [...targets].sort((a, b) => Number(holds(b)) - Number(holds(a)));
}

/** Questions that nothing answers: what is returned, and how sure the engine is of it. There is no confidence floor. */
export function scoreNegative({ questions }, measured) {
  return questions
    .filter(({ stratum }) => stratum === "negative")
    .map(({ id, scope }) => {
      const { hits, fallback } = measured.get(scope).asked.get(id).off;
      return { id, hits: hits.length, topScore: hits[0]?.score ?? 0, fallback };
    });
}

/** All counts must be zero. */
export function countLeaks(corpus, measured) {
  const counts = { outsideBundle: 0, restrictedTarget: 0, leakToken: 0, hiddenPath: 0, hiddenByDefault: 0 };
  for (const [bundle, { asked, views }] of measured) {
    const { visibility, pages } = corpus;
    const hidden = pages.map(({ path }) => path).filter((path) => !visibility.pages[path].bundles.includes(bundle));
    for (const { off, on } of asked.values()) {
      const shown = [...off.paths, ...on.paths, ...successors(off), ...successors(on)];
      counts.outsideBundle += shown.filter((path) => !visibility.pages[path]?.bundles.includes(bundle)).length;
      if (off.fallback) continue;
      counts.hiddenByDefault += off.paths.filter((path) => !visibility.pages[path]?.default_visible).length;
    }
    for (const view of views.values()) counts.hiddenPath += disclosedPaths(view, hidden);
  }
  const restricted = countRestricted(corpus, measured.get("default"));
  return { ...counts, ...restricted };
}

function successors({ hits }) {
  return hits.flatMap((hit) => (hit.superseded_by === undefined ? [] : [hit.superseded_by]));
}

function disclosedPaths({ frontmatter }, hidden) {
  const named = [...(frontmatter.relations ?? []).map(({ target }) => target), ...(frontmatter.derived_from ?? [])];
  return named.filter((path) => hidden.includes(path.replace(/\.md$/, ""))).length;
}

/** The questions of scope_restricted under `default`: targets and tokens in the answers and in the pages they lead to. */
function countRestricted({ questions }, { asked, views }) {
  const counts = { restrictedTarget: 0, leakToken: 0 };
  for (const { id, targets, leak_tokens: tokens } of questions.filter((one) => one.stratum === "scope_restricted")) {
    const { off, on } = asked.get(id);
    const paths = new Set([...off.paths, ...on.paths]);
    const withheld = targets.flatMap((target) => [target, `${target}-dup`]);
    counts.restrictedTarget += withheld.filter((path) => paths.has(path)).length;
    const read = [...paths].map((path) => JSON.stringify(views.get(path) ?? ""));
    const text = [off.text, on.text, ...read].join("\n").toLowerCase();
    const unmarked = text.replaceAll("**", "");
    counts.leakToken += tokens.filter((token) => `${text}\n${unmarked}`.includes(token.toLowerCase())).length;
  }
  return counts;
}
