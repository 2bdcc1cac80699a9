// What receipts cost: the same calls with the journal, with its null port, and without any records, in one run, in turns;
// then the log itself.
// Usage: node bench/receipts.mjs [--calls 1000] [--entries 300000] [--json]
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { openContext } from "@satchel/server";
import { createEnvironment } from "satchel/dist/system.js";
import { Connection } from "./connection.mjs";
import { formatLatency, formatTable, latency, timeMs } from "./figures.mjs";
import { fillStore, storeBytes, writeArguments } from "./filled-store.mjs";
import { makePage, makeQuery } from "./made-pages.mjs";
import { note, runSatchel, satchelScript, withFolder } from "./workspace.mjs";

const filled = 1000;
const warmUpCalls = 50;

const requests = {
  write: (at) => ["memory_write", writeArguments(makePage(filled + at))],
  read: (at) => ["memory_read", { path: makePage(at % filled).path }],
  search: (at) => ["memory_search", { query: makeQuery.slice(at % filled), limit: 10 }],
};

/** The servers answer the same call one after the other, each first as often as the others. */
async function measureCost(workFolder, calls) {
  const withoutJournal = fileURLToPath(new URL("mcp-without-journal.mjs", import.meta.url));
  const runs = [
    { name: "journal", script: satchelScript, args: (dataDir) => ["mcp", "--data", dataDir] },
    { name: "null port", script: withoutJournal, args: (dataDir) => [dataDir, "null-port"] },
    { name: "no records", script: withoutJournal, args: (dataDir) => [dataDir, "no-records"] },
  ];
  for (const run of runs) {
    run.dataDir = join(workFolder, run.name.replace(" ", "-"));
    mkdirSync(run.dataDir);
    await fillStore(run.dataDir, { from: 0, to: filled });
    run.connection = await Connection.open({ script: run.script, args: run.args(run.dataDir) });
    run.timesMs = Object.fromEntries(Object.keys(requests).map((kind) => [kind, []]));
  }
  for (const [kind, requestOf] of Object.entries(requests)) {
    note(`  ${calls} times ${kind}`);
    for (let at = 0; at < calls + warmUpCalls; at++) {
      for (const run of [...runs.slice(at % runs.length), ...runs.slice(0, at % runs.length)]) {
        const took = await timeMs(() => run.connection.call(...requestOf(at)));
        if (at >= warmUpCalls) run.timesMs[kind].push(took);
      }
    }
  }
  for (const { connection } of runs) await connection.close();
  return Object.keys(requests).map((kind) => {
    const [kept, off, none] = runs.map(({ timesMs }) => latency(timesMs[kind]));
    return { kind, kept, off, none, ratio: kept.p50Ms / off.p50Ms, addedMs: kept.p50Ms - off.p50Ms };
  });
}

/** Bytes on disk that a call adds: of reads and searches, which write nothing else. */
async function measureGrowth(dataDir, calls) {
  await fillStore(dataDir, { from: 0, to: filled });
  const grow = async (kinds) => {
    const before = storeBytes(dataDir);
    const connection = await Connection.open({ script: satchelScript, args: ["mcp", "--data", dataDir] });
    for (let at = 0; at < calls; at++) await connection.call(...requests[kinds[at % kinds.length]](at));
    await connection.close();
    return (storeBytes(dataDir) - before) / calls;
  };
  return { readBytes: await grow(["read"]), searchBytes: await grow(["search"]) };
}

async function measureVerify(dataDir, entries) {
  const context = openContext(dataDir, "me", createEnvironment());
  try {
    for (;;) {
      const size = await context.store.read(async ({ journal }) => (await journal.state()).size);
      if (size >= entries) break;
      await context.store.write((transaction) => repeatLog(context, transaction), { durability: "process" });
    }
  } finally {
    await context.store.close();
  }
  let printed = "";
  const tookMs = await timeMs(async () => {
    printed = await runSatchel(["journal", "verify", "--data", dataDir, "--json"]);
  });
  const { size } = JSON.parse(printed);
  return { entries: size, perSecond: (size / tookMs) * 1000 };
}

/** The bodies of real calls again, as new entries. */
async function repeatLog({ journal, environment }, transaction) {
  const known = await transaction.journal.entries({ from: 1, limit: 3000 });
  const at = new Date(environment.now()).toISOString();
  const entries = known
    .filter(({ kind }) => kind.startsWith("prp.") || kind === "audit")
    .map(({ kind, openings }) => ({ at, kind, bodies: openings.map(({ body }) => ({ ...JSON.parse(body), at })) }));
  for (let from = 0; from < entries.length; from += 240) {
    const some = entries.slice(from, from + 240);
    const added = await journal.append(transaction, some);
    for (const [at, { seq, kind }] of added.entries())
      if (kind === "audit") await transaction.indexAudit(seq, { ...some[at].bodies[0], at: some[at].at });
  }
}

const { values: options } = parseArgs({
  options: {
    calls: { type: "string", default: "1000" },
    entries: { type: "string", default: "300000" },
    json: { type: "boolean" },
  },
});
const calls = Number(options.calls);
const figures = await withFolder(async (workFolder) => {
  const cost = await measureCost(workFolder, calls);
  const dataDir = join(workFolder, "growth");
  mkdirSync(dataDir);
  note("  growth");
  const growth = await measureGrowth(dataDir, calls);
  note(`  a log of ${options.entries} entries`);
  const verify = await measureVerify(dataDir, Number(options.entries));
  return { cost, growth, verify };
});
if (options.json) console.log(JSON.stringify(figures, null, 2));
else {
  const { cost, growth, verify } = figures;
  const rows = cost.map(({ kind, kept, off, none, ratio, addedMs }) => [
    kind,
    ...[kept, off].map(formatLatency),
    ratio.toFixed(2),
    addedMs.toFixed(3),
    formatLatency(none),
  ]);
  console.log("Over stdio, p50 / p95 in ms\n");
  console.log(
    formatTable(
      ["call", "with the journal", "with the null port", "ratio of p50", "added at p50", "without records"],
      rows,
    ),
  );
  console.log(
    `\nThe log grows by ${Math.round(growth.readBytes)} bytes a read, ${Math.round(growth.searchBytes)} a search`,
  );
  console.log(
    `satchel journal verify: ${Math.round(verify.perSecond)} entries a second over ${verify.entries} entries, its start included`,
  );
}
