/*
 * Erases in a context and is stopped at a step on the way: `node erasure-victim.mjs DATA ARGUMENTS STEP MODE`. Steps are
 * the calls of the store and of the file system, before and after. MODE `die` is kill -9 there, `hold` waits there for
 * ever, `count` goes to the end. Prints the names of the steps, one a line.
 */
import { randomBytes, randomUUID } from "node:crypto";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const [data, args, stopAt, mode] = process.argv.slice(2);
const write = fs.writeSync;
let steps = 0;
let isCounting = false;

function step(name) {
  if (!isCounting) return;
  steps += 1;
  write(1, `${steps} ${name}\n`);
  if (mode === "count" || steps !== Number(stopAt)) return;
  if (mode === "die") process.kill(process.pid, "SIGKILL");
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

for (const name of ["openSync", "writeSync", "fsyncSync", "renameSync", "rmSync", "appendFileSync"]) {
  const original = fs[name];
  fs[name] = (...given) => {
    step(`before ${name}`);
    const result = original(...given);
    step(`after ${name}`);
    return result;
  };
}
syncBuiltinESMExports();

const { callTool, openContext } = await import("@satchel/server");
const { allScopes } = await import("@satchel/pcp");

function watch(store) {
  const watched = (name) => async (use, options) => {
    step(`before ${name}`);
    const result = await store[name](use, options);
    step(`after ${name}`);
    return result;
  };
  return { ...store, read: watched("read"), write: watched("write"), scrub: watched("scrub") };
}

const context = openContext(data, "me", { now: Date.now, newUuid: randomUUID, randomBytes });
await context.store.read((transaction) => transaction.context());
isCounting = true;
const owner = { principal: "user:owner", client: "client:local", scopes: allScopes(), grant: "local owner" };
const { isError, structuredContent } = await callTool("erase_request", {
  context: { ...context, store: watch(context.store) },
  caller: owner,
  args: JSON.parse(args),
  log: { fault: ({ error }) => process.stderr.write(`${error.stack}\n`) },
});
await context.store.close();
if (isError) process.stderr.write(JSON.stringify(structuredContent));
process.exit(isError ? 1 : 0);
