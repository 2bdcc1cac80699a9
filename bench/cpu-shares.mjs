// Where the time of one command went, from its CPU profile.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { satchelScript } from "./workspace.mjs";

/** A call belongs, with all it calls, to the first of these that it is of. */
const parts = [
  ["reading files", /satchel\/dist\/folder\.js$/],
  ["secret scan", /secret-scan\.js$|secretlint/],
  ["tokenising", /server\/dist\/retrieval\//],
  ["SQLite", /sqlite\/connection\.js$|better-sqlite3/],
  ["parsing", /server\/dist\/foreign\/|pcp\/dist\/|yaml\/dist\//],
];

/** Runs the command once under the profiler. @returns the share of each part, which sum up to 1 */
export function measureShares(folder, args) {
  execFileSync(process.execPath, ["--cpu-prof", `--cpu-prof-dir=${folder}`, satchelScript, ...args], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const name = readdirSync(folder).find((file) => file.endsWith(".cpuprofile"));
  return sharesOf(JSON.parse(readFileSync(join(folder, name), "utf8")));
}

function sharesOf({ nodes, samples, timeDeltas }) {
  const ownUs = new Map();
  for (const [at, id] of samples.entries()) ownUs.set(id, (ownUs.get(id) ?? 0) + timeDeltas[at]);
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const sums = new Map();
  const open = [[nodes[0], undefined]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [node, above] = next;
    const part = above ?? partOf(node);
    const us = ownUs.get(node.id) ?? 0;
    sums.set(part ?? "rest", (sums.get(part ?? "rest") ?? 0) + us);
    for (const child of node.children ?? []) open.push([byId.get(child), part]);
  }
  const total = [...sums.values()].reduce((sum, us) => sum + us, 0);
  return Object.fromEntries([...sums].map(([part, us]) => [part, us / total]).sort((a, b) => b[1] - a[1]));
}

function partOf({ callFrame: { functionName, url } }) {
  if (functionName === "(garbage collector)") return "garbage collection";
  return parts.find(([, shape]) => shape.test(url))?.[0];
}
