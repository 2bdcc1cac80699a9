// How fast, how big, and beside its peers: bench/README.md.
// Usage: node bench/speed.mjs [--pages 1000,10000,100000] [--calls 500] [--no-peers] [--json]
import { availableParallelism, loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { countTokens } from "gpt-tokenizer/encoding/cl100k_base";
import { openSatchel } from "./connection.mjs";
import { installPeers, peers, satchel } from "./engines.mjs";
import { formatLatency, formatMiB, formatMs, formatTable } from "./figures.mjs";
import { fillStore, measureCalls, measureDisk, measureSearch, storeBytes } from "./filled-store.mjs";
import { measureSideBySide } from "./side-by-side.mjs";
import { note, withFolder } from "./workspace.mjs";

/** The size at which search is timed inside the server; the largest one that does not exceed it is taken. */
const searchPages = 10_000;

async function measureSizes(dataDir, sizes, calls) {
  const searchSize = Math.max(...sizes.filter((pages) => pages <= searchPages), sizes[0]);
  const rows = [];
  let search;
  let filled = 0;
  for (const pages of sizes) {
    note(`Filling to ${pages} pages ...`);
    await fillStore(dataDir, { from: filled, to: pages });
    const bytes = storeBytes(dataDir);
    if (pages === searchSize) {
      note("  searches in the server");
      search = { pages, ...(await measureSearch(dataDir, { pages, calls })) };
    }
    note(`  ${calls} calls of each kind over stdio`);
    const { added, ...measured } = await measureCalls(dataDir, { pages, calls });
    rows.push({ pages, ...measured, bytes });
    filled = pages + added;
  }
  return { rows, search };
}

async function countToolTokens(dataDir) {
  const connection = await openSatchel(dataDir);
  try {
    const tools = await connection.listTools();
    return { tools: tools.length, tokens: countTokens(JSON.stringify({ tools })) };
  } finally {
    await connection.close();
  }
}

function measureAll({ sizes, calls, withPeers }) {
  return withFolder(async (workFolder) => {
    const dataDir = join(workFolder, "store");
    const machine = describeMachine();
    const disk = await measureDisk(workFolder, calls);
    const { rows, search } = await measureSizes(dataDir, sizes, calls);
    const toolsList = await countToolTokens(dataDir);
    if (withPeers) installPeers();
    note("Side by side ...");
    const engines = withPeers ? [satchel, ...peers] : [satchel];
    const sideBySide = await measureSideBySide(engines, workFolder, { stores: 1000, searches: 100, starts: 10 });
    return { machine, disk, sizes: rows, search, toolsList, sideBySide };
  });
}

/** The load says whether others used the machine: above the number of cores, times are of little worth. */
function describeMachine() {
  return {
    date: new Date().toISOString().slice(0, 10),
    node: process.version,
    platform: process.platform,
    cores: availableParallelism(),
    load: loadavg()[0],
  };
}

function printSizes({ machine, disk, sizes, search, toolsList }) {
  const { date, node, platform, cores, load } = machine;
  console.log(`${date}, Node ${node}, ${platform}, ${cores} cores, load at the start ${load.toFixed(1)}`);
  console.log(`The disk keeps 16 KiB in ${formatLatency(disk)} ms (p50 / p95)\n`);
  console.log("Calls over stdio, p50 / p95 in ms\n");
  const header = ["pages", "write", "read", "list", "search", "server memory MiB", "store MiB"];
  const rows = sizes.map(({ pages, write, read, list, search: found, residentBytes, bytes }) => [
    pages,
    ...[write, read, list, found].map(formatLatency),
    formatMiB(residentBytes),
    formatMiB(bytes),
  ]);
  console.log(formatTable(header, rows));
  const { pages, ...kinds } = search;
  console.log(`\nSearch in the server at ${pages} pages, p50 / p95 in ms\n`);
  const searchRows = Object.entries(kinds).map(([kind, measured]) => [
    kind,
    measured.calls,
    formatLatency(measured),
    measured.found ?? "",
  ]);
  console.log(formatTable(["query", "calls", "time", "its page in the first 10"], searchRows));
  console.log(`\ntools/list: ${toolsList.tools} tools, ${toolsList.tokens} tokens (cl100k)`);
}

function printSideBySide(engines) {
  console.log("\n1,000 stores, then 100 searches, p50 / p95 in ms\n");
  const header = ["engine", "store", "last 100 stores", "search", "found", "bytes an answer", "memory MiB", "sync"];
  const rows = engines.map((each) => [
    each.name,
    ...[each.store, each.lastStores, each.search].map(formatLatency),
    each.found,
    each.bytesPerAnswer,
    formatMiB(each.residentBytes),
    each.sync,
  ]);
  console.log(formatTable(header, rows));
  const startRows = engines.map(({ name, start }) => [
    name,
    ...[start.initializedMs, start.listedMs, start.answeredMs].map(formatMs),
  ]);
  console.log("\nStart to first answer, median of 10 in ms\n");
  console.log(formatTable(["engine", "initialize", "tools/list", "first call"], startRows));
  const [own, ...others] = engines;
  if (others.length === 0) return;
  const fastest = (kind) => others.reduce((best, each) => (each[kind].p50Ms < best[kind].p50Ms ? each : best));
  const ratioRows = ["store", "search"].map((kind) => {
    const peer = fastest(kind);
    return [kind, peer.name, formatMs(own[kind].p50Ms / peer[kind].p50Ms)];
  });
  console.log(`\n${formatTable(["p50", "fastest peer", "ours / theirs"], ratioRows)}`);
}

function parseCounts(text) {
  const counts = text.split(",").map(Number);
  if (counts.every((count) => Number.isInteger(count) && count > 0)) return counts.sort((a, b) => a - b);
  console.error("--pages and --calls take positive whole numbers; --pages several, with commas.");
  process.exit(2);
}

const { values: options } = parseArgs({
  options: {
    pages: { type: "string", default: "1000,10000,100000" },
    calls: { type: "string", default: "500" },
    "no-peers": { type: "boolean" },
    json: { type: "boolean" },
  },
});
const [calls] = parseCounts(options.calls);
const figures = await measureAll({ sizes: parseCounts(options.pages), calls, withPeers: !options["no-peers"] });
if (options.json) console.log(JSON.stringify(figures, null, 2));
else {
  printSizes(figures);
  printSideBySide(figures.sideBySide);
}
