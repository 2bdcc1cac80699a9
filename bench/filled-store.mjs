// A context filled with made pages, and what its server takes to answer.
import { closeSync, fdatasyncSync, openSync, readdirSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { callTool, createContext, dispatch, importOperation, openContext } from "@satchel/server";
import { localCaller, stderrLog } from "satchel/dist/session.js";
import { createEnvironment } from "satchel/dist/system.js";
import { openSatchel } from "./connection.mjs";
import { latency, timeMs } from "./figures.mjs";
import { folderOf, makePage, makeQuery, queryKinds, spreadNumbers, toMarkdown } from "./made-pages.mjs";
import { note } from "./workspace.mjs";

const batchSize = 1000;
const warmUpCalls = 20;

/** Adds pages `from` to `to` by import, in batches. */
export async function fillStore(dataDir, { from, to }) {
  const environment = createEnvironment();
  createContext(dataDir, { handle: "me", kind: "personal" }, environment);
  const context = openContext(dataDir, "me", environment);
  try {
    for (let start = from; start < to; start += batchSize) {
      const numbers = Array.from({ length: Math.min(batchSize, to - start) }, (_, at) => start + at);
      await importBatch(context, numbers);
      if ((start - from) % 10_000 === 0 && start > from) note(`  ${start} pages`);
    }
  } finally {
    await context.store.close();
  }
}

async function importBatch(context, numbers) {
  const pages = numbers.map((number) => {
    const page = makePage(number);
    return { file: `${page.path}.md`, path: page.path, text: toMarkdown(page) };
  });
  const operation = importOperation({ pages, refused: [] }, { dryRun: false, skipRefused: false });
  const result = await dispatch(operation, { context, caller: localCaller, args: {}, log: stderrLog });
  if (!result.ok || !result.output.applied) throw new Error(`The import was refused: ${JSON.stringify(result)}`);
}

/** The arguments that store a made page by `memory_write`. */
export function writeArguments({ path, title, tags, body }) {
  return { path, body, frontmatter: { title, type: "semantic", tags } };
}

/** Single calls of each kind over stdio; the first few of each are not counted. New pages are numbered from `pages`. */
export async function measureCalls(dataDir, { pages, calls }) {
  const numbers = spreadNumbers(calls + warmUpCalls, pages);
  const kindOf = (at) => queryKinds[at % queryKinds.length];
  const requests = {
    read: (at) => ["memory_read", { path: makePage(numbers[at]).path }],
    list: (at) => ["memory_list", { prefix: `${folderOf(numbers[at])}/`, limit: 50 }],
    search: (at) => ["memory_search", { query: makeQuery[kindOf(at)](numbers[at]), limit: 10 }],
    write: (at) => ["memory_write", writeArguments(makePage(pages + at))],
  };
  const connection = await openSatchel(dataDir);
  try {
    const measured = {};
    for (const [kind, requestOf] of Object.entries(requests)) {
      measured[kind] = latency(await timeCalls(connection, requestOf, calls));
    }
    return { ...measured, residentBytes: connection.residentBytes(), added: calls + warmUpCalls };
  } finally {
    await connection.close();
  }
}

async function timeCalls(connection, requestOf, calls) {
  const timesMs = [];
  for (let at = 0; at < calls + warmUpCalls; at++) {
    const [name, args] = requestOf(at);
    const took = await timeMs(() => connection.call(name, args));
    if (at >= warmUpCalls) timesMs.push(took);
  }
  return timesMs;
}

/** `memory_search` in this process: all that the server does between reading a request and writing the answer. */
export async function measureSearch(dataDir, { pages, calls }) {
  const context = openContext(dataDir, "me", createEnvironment());
  const search = (query) =>
    callTool("memory_search", { context, caller: localCaller, args: { query }, log: stderrLog });
  const measured = {};
  const allMs = [];
  try {
    for (const number of spreadNumbers(warmUpCalls, pages)) await search(makeQuery.title(number));
    for (const kind of queryKinds) {
      const timesMs = [];
      let found = 0;
      for (const number of spreadNumbers(calls, pages)) {
        const query = makeQuery[kind](number);
        let answer;
        timesMs.push(await timeMs(async () => (answer = await search(query))));
        if (answer.structuredContent.results.some(({ path }) => path === makePage(number).path)) found++;
      }
      allMs.push(...timesMs);
      measured[kind] = { ...latency(timesMs), found };
    }
  } finally {
    await context.store.close();
  }
  return { ...measured, all: latency(allMs) };
}

/** Everything the data directory holds. */
export function storeBytes(dataDir) {
  const entries = readdirSync(dataDir, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

/** What the disk itself takes to keep 16 KiB, about what one write adds to the log: no durable write can be faster. */
export async function measureDisk(folder, calls) {
  const file = openSync(join(folder, "disk"), "w");
  const block = Buffer.alloc(16 * 1024, 1);
  const timesMs = [];
  try {
    for (let at = 0; at < calls; at++) {
      timesMs.push(
        await timeMs(() => {
          writeSync(file, block);
          fdatasyncSync(file);
        }),
      );
    }
  } finally {
    closeSync(file);
  }
  return latency(timesMs);
}
