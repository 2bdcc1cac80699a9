// How fast content comes in and goes out, and what others wait meanwhile: bench/README.md.
// Usage: node bench/import.mjs [--pages 10000] [--runs 3] [--corpora DIR] [--json]
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { gunzipSync } from "node:zlib";
import { openSatchel } from "./connection.mjs";
import { measureShares } from "./cpu-shares.mjs";
import { formatMiB, formatTable, percentile, timeMs } from "./figures.mjs";
import { makePage, toMarkdown } from "./made-pages.mjs";
import { exportAndVerify, measureRoundTrip } from "./round-trip.mjs";
import { findCorpus, note, runSatchel, withFolder } from "./workspace.mjs";

function writePages(folder, pages) {
  for (const { path, markdown } of pages) {
    const file = join(folder, `${path}.md`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, markdown);
  }
  return folder;
}

const makePages = (count) =>
  Array.from({ length: count }, (_, number) => {
    const page = makePage(number);
    return { path: page.path, markdown: toMarkdown(page) };
  });

async function newContext(dataDir) {
  await runSatchel(["init", "--data", dataDir]);
  return dataDir;
}

async function measureImport(workFolder, { source, runs }) {
  const timesMs = [];
  let exported;
  for (let run = 0; run < runs; run++) {
    note(`Importing, ${run + 1} of ${runs} ...`);
    const dataDir = await newContext(join(workFolder, `run-${run}`));
    timesMs.push(await timeMs(() => runSatchel(["import", "--data", dataDir, source])));
    exported ??= await exportAndVerify(dataDir, join(workFolder, "made.tar.gz"));
  }
  note("Where the time goes ...");
  const profiled = await newContext(join(workFolder, "profiled"));
  const shares = measureShares(join(workFolder, "profile"), ["import", "--data", profiled, source]);
  return { timesMs, shares, exported };
}

/** One process reads and one writes while a third imports. @returns the times of their calls, and what failed */
async function measureWaits(workFolder, source) {
  note("Importing while others read and write ...");
  const dataDir = await newContext(join(workFolder, "shared"));
  const [reader, writer] = await Promise.all([openSatchel(dataDir), openSatchel(dataDir)]);
  try {
    await writer.call("memory_write", { path: "beside/0", body: "Beside." });
    let isDone = false;
    const importing = runSatchel(["import", "--data", dataDir, source]).finally(() => (isDone = true));
    const until = () => isDone;
    const [reads, writes] = await Promise.all([
      callUntil(until, () => reader.call("memory_read", { path: "beside/0" })),
      callUntil(until, (at) => writer.call("memory_write", { path: `beside/${at}`, body: "Beside." })),
      importing,
    ]);
    return { reads, writes };
  } finally {
    await Promise.all([reader.close(), writer.close()]);
  }
}

async function callUntil(isDone, call) {
  const timesMs = [];
  const failures = [];
  for (let at = 1; !isDone(); at++) {
    timesMs.push(await timeMs(() => call(at).catch((error) => failures.push(error.message))));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return { calls: timesMs.length, p50Ms: percentile(timesMs, 0.5), longestMs: Math.max(...timesMs), failures };
}

function readLines(bytes) {
  const lines = bytes.toString("utf8").trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line));
}

/** A turn of a conversation as a page; `D4:13` has a character that no path may hold. */
function pageOfTurn({ conversation, dia_id: turn, speaker, date_time: at, text, caption }) {
  const picture = caption ? `\nPicture: ${caption}\n` : "";
  const head = `---\ntitle: ${JSON.stringify(`${speaker}, ${at}`)}\ntype: episodic\n---\n`;
  return { path: `${conversation}/${turn.replace(":", "/")}`, markdown: `${head}\n${text}\n${picture}` };
}

const corpora = {
  mara: (folder) => readLines(readFileSync(join(folder, "pages.jsonl"))),
  "mara-large": (folder) => readLines(gunzipSync(readFileSync(join(folder, "pages-b.jsonl.gz")))),
  locomo: (folder) => readLines(readFileSync(join(folder, "memory.jsonl"))).map(pageOfTurn),
};

async function measureCorpora(workFolder, option) {
  const measured = {};
  for (const [name, read] of Object.entries(corpora)) {
    note(`There and back: ${name} ...`);
    const work = join(workFolder, name);
    const folder = writePages(join(work, "pages"), read(findCorpus(option, name)));
    measured[name] = await measureRoundTrip(work, folder);
  }
  return measured;
}

const seconds = (ms) => (ms / 1000).toFixed(2);

function print({ pages, load, made, waits, corpora: roundTrips }) {
  const medianMs = percentile(made.timesMs, 0.5);
  console.log(`Node ${process.version}, load at the start ${load.toFixed(1)}\n`);
  const perSecond = Math.round((pages / medianMs) * 1000);
  const header = ["pages", "import s (median)", "pages a second", "export s", "verify s", "archive MiB"];
  const { exportMs, verifyMs, bytes } = made.exported;
  console.log(
    formatTable(header, [
      [pages, seconds(medianMs), perSecond, seconds(exportMs), seconds(verifyMs), formatMiB(bytes)],
    ]),
  );
  const shares = Object.entries(made.shares).map(([part, share]) => [part, `${Math.round(share * 100)} %`]);
  console.log(`\n${formatTable(["part of the import", "share"], shares)}\n`);
  const rows = Object.entries(waits).map(([kind, { calls, p50Ms, longestMs, failures }]) => [
    kind,
    calls,
    p50Ms.toFixed(1),
    Math.round(longestMs),
    failures.length,
  ]);
  console.log(formatTable(["meanwhile", "calls", "p50 ms", "longest ms", "failed"], rows));
  if (roundTrips) printRoundTrips(roundTrips);
}

function printRoundTrips(roundTrips) {
  const rows = Object.entries(roundTrips).map(([name, trip]) => [
    name,
    trip.pages,
    ...[trip.importMs, trip.exportMs, trip.verifyMs, trip.restoreMs].map(seconds),
    trip.different.length,
  ]);
  console.log(`\n${formatTable(["corpus", "pages", "import s", "export s", "verify s", "restore s", "differ"], rows)}`);
}

function parseCount(text) {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  console.error("--pages and --runs take positive whole numbers.");
  process.exit(2);
}

const { values: options } = parseArgs({
  options: {
    pages: { type: "string", default: "10000" },
    runs: { type: "string", default: "3" },
    corpora: { type: "string" },
    json: { type: "boolean" },
  },
});
const [pages, runs] = [options.pages, options.runs].map(parseCount);
const load = loadavg()[0];
const figures = await withFolder(async (workFolder) => {
  const source = writePages(join(workFolder, "source"), makePages(pages));
  const made = await measureImport(workFolder, { source, runs });
  const waits = await measureWaits(workFolder, source);
  return {
    pages,
    load,
    made,
    waits,
    ...(options.corpora && { corpora: await measureCorpora(workFolder, options.corpora) }),
  };
});
if (options.json) console.log(JSON.stringify(figures, null, 2));
else print(figures);
const isSound =
  Object.values(figures.waits).every(({ failures }) => failures.length === 0) &&
  Object.values(figures.corpora ?? {}).every(({ different }) => different.length === 0);
if (!isSound) process.exitCode = 1;
