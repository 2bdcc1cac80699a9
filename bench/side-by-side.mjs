// Engines beside each other in one run: the same pages and queries, every engine once per round, in changing order.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Connection } from "./connection.mjs";
import { describeSync } from "./engines.mjs";
import { latency, mean, percentile, timeMs } from "./figures.mjs";
import { makePage, makeQuery, spreadNumbers } from "./made-pages.mjs";
import { note } from "./workspace.mjs";

/** @returns per engine: latency of single stores and searches, start-up times, and how it keeps a write */
export async function measureSideBySide(engines, workFolder, { stores, searches, starts }) {
  const runs = engines.map((engine, at) => {
    const folder = join(workFolder, `engine-${at}`);
    mkdirSync(folder, { recursive: true });
    return { engine, folder, storesMs: [], searchesMs: [], bytes: [], found: 0 };
  });
  try {
    for (const run of runs) run.connection = await Connection.open(run.engine.start(run.folder));
    await storeAll(runs, stores);
    await searchAll(runs, spreadNumbers(searches, stores));
    for (const run of runs) run.residentBytes = run.connection.residentBytes();
  } finally {
    await Promise.all(runs.map(({ connection }) => connection?.close()));
  }
  const started = await measureStarts(runs, starts);
  return runs.map((run, at) => ({
    name: run.engine.name,
    version: run.engine.version,
    sync: describeSync(run.engine, run.folder),
    store: latency(run.storesMs),
    lastStores: latency(run.storesMs.slice(-100)),
    search: latency(run.searchesMs),
    found: run.found,
    bytesPerAnswer: Math.round(mean(run.bytes)),
    residentBytes: run.residentBytes,
    start: started[at],
  }));
}

/** Every engine is first as often as the others, so that none always runs on caches another one has warmed. */
function rotate(runs, round) {
  const by = round % runs.length;
  return [...runs.slice(by), ...runs.slice(0, by)];
}

async function storeAll(runs, stores) {
  for (let round = 0; round < stores; round++) {
    const page = makePage(round);
    for (const { engine, connection, storesMs } of rotate(runs, round)) {
      const [name, args] = engine.store(page);
      storesMs.push(await timeMs(() => connection.call(name, args)));
    }
    if ((round + 1) % 250 === 0) note(`  ${round + 1} stores each`);
  }
}

/** Three words in a row of a stored page, which every engine can find; whether its title is in the answer is counted. */
async function searchAll(runs, numbers) {
  for (const [round, number] of numbers.entries()) {
    const query = makeQuery.slice(number);
    for (const run of rotate(runs, round)) {
      const [name, args] = run.engine.search(query);
      let result;
      run.searchesMs.push(await timeMs(async () => (result = await run.connection.call(name, args))));
      const text = JSON.stringify(result);
      run.bytes.push(Buffer.byteLength(text));
      if (text.includes(makePage(number).title)) run.found++;
    }
  }
}

/** Medians over `starts` new processes on the filled store, in milliseconds since the process was started. */
async function measureStarts(runs, starts) {
  const times = runs.map(() => []);
  for (let round = 0; round < starts; round++) {
    for (const [at, { engine, folder }] of runs.entries()) times[at].push(await startOnce(engine, folder));
  }
  const median = (each, step) =>
    percentile(
      each.map((time) => time[step]),
      0.5,
    );
  return times.map((each) => ({
    initializedMs: median(each, "initializedMs"),
    listedMs: median(each, "listedMs"),
    answeredMs: median(each, "answeredMs"),
  }));
}

async function startOnce(engine, folder) {
  const startedMs = performance.now();
  const sinceStart = () => performance.now() - startedMs;
  const connection = await Connection.open(engine.start(folder));
  try {
    const initializedMs = sinceStart();
    await connection.listTools();
    const listedMs = sinceStart();
    await connection.call(...engine.search(makeQuery.slice(0)));
    return { initializedMs, listedMs, answeredMs: sinceStart() };
  } finally {
    await connection.close();
  }
}
