// How well memory_search finds, and that it tells nothing it must not: bench/README.md.
// Usage: node bench/retrieval.mjs [--corpora DIR] [--locomo] [--json]
import { parseArgs } from "node:util";
import { formatShare, formatTable } from "./figures.mjs";
import { measureLocomo } from "./locomo.mjs";
import { measureBundles, readMara } from "./mara.mjs";
import { countLeaks, scoreNegative, scoreOrder, scoreRecall } from "./mara-score.mjs";
import { findCorpus, withFolder } from "./workspace.mjs";

const leakMeanings = {
  outsideBundle: "a result (or successor) outside the bundle's visibility, 60 questions x 5 bundles x history off/on",
  restrictedTarget: "scope_restricted under default: a withheld page or its near-duplicate",
  leakToken: "scope_restricted under default: a leak token in an answer or in a page it leads to",
  hiddenPath: "a readable page names a hidden page in relations or derived_from",
  hiddenByDefault: "history off: a page that is not visible by default, without the mark stale_fallback",
};

async function measureMara(folder) {
  const corpus = readMara(folder);
  return withFolder(async (workFolder) => {
    const measured = await measureBundles(corpus, workFolder);
    return {
      bundles: [...measured].map(([bundle, { imported, different, views }]) => ({
        bundle,
        imported,
        readable: views.size,
        differentTexts: different.length,
      })),
      recall: scoreRecall(corpus, measured),
      order: scoreOrder(corpus, measured),
      negative: scoreNegative(corpus, measured),
      leaks: countLeaks(corpus, measured),
    };
  });
}

function printMara({ bundles, recall, order, negative, leaks }) {
  const bundleRows = bundles.map(({ bundle, imported, readable, differentTexts }) => [
    bundle,
    imported,
    readable,
    differentTexts,
  ]);
  console.log(formatTable(["bundle", "pages imported", "pages it may see", "texts that differ"], bundleRows));
  const recallRows = recall.map(({ name, questions, at5, at10, tolerantAt5, tolerantAt10 }) => [
    name,
    questions,
    ...[at5, at10, tolerantAt5, tolerantAt10].map(formatShare),
  ]);
  const recallHeader = ["stratum", "questions", "recall@5", "recall@10", "@5 with -dup", "@10 with -dup"];
  console.log(`\n${formatTable(recallHeader, recallRows)}`);
  const orderRows = Object.entries(order).map(([name, { right, of }]) => [name, `${right} of ${of}`]);
  console.log(`\n${formatTable(["order", "right"], orderRows)}`);
  const negativeRows = negative.map(({ id, hits, topScore, fallback }) => [
    id,
    hits,
    formatShare(topScore),
    fallback ? "stale" : "current",
  ]);
  console.log(`\n${formatTable(["negative", "hits", "highest score", "standing"], negativeRows)}`);
  const leakRows = Object.entries(leaks).map(([name, count]) => [leakMeanings[name], count]);
  console.log(`\n${formatTable(["must be zero", "count"], leakRows)}`);
}

function printLocomo(rows) {
  const cells = rows.map(({ name, questions, recalls }) => [name, questions, ...recalls.map(formatShare)]);
  console.log(`\n${formatTable(["LoCoMo category", "questions", "recall@5", "recall@10", "recall@20"], cells)}`);
}

const { values: options } = parseArgs({
  options: { corpora: { type: "string" }, locomo: { type: "boolean" }, json: { type: "boolean" } },
});
const locomoFolder = options.locomo ? findCorpus(options.corpora, "locomo") : undefined;
const mara = await measureMara(findCorpus(options.corpora, "mara"));
const locomo = locomoFolder && (await withFolder((workFolder) => measureLocomo(locomoFolder, workFolder)));
if (options.json) console.log(JSON.stringify({ mara, ...(locomo && { locomo }) }, null, 2));
else {
  printMara(mara);
  if (locomo) printLocomo(locomo);
}
const isSound =
  mara.bundles.every(({ differentTexts }) => differentTexts === 0) &&
  Object.values(mara.leaks).every((count) => count === 0);
process.exitCode = isSound ? 0 : 1;
