/*
 * Exports from a context, or imports into it, and is stopped at a step on the way:
 * `node export-victim.mjs DATA JOB STEP MODE`. JOB is JSON: `{"import": FILE}`, `{"out": FILE}` or `{}`. Steps are the
 * calls of the store and of the file system, before and after. MODE `die` is kill -9 there, `hold` waits there until
 * killed, `count` goes to the end. Prints the names of the steps, one a line.
 */
import { randomBytes, randomUUID } from "node:crypto";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const [data, job, stopAt, mode] = process.argv.slice(2);
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

for (const name of ["openSync", "writeSync", "fsyncSync", "linkSync", "rmSync", "mkdirSync", "appendFileSync"]) {
  const original = fs[name];
  fs[name] = (...given) => {
    step(`before ${name}`);
    const result = original(...given);
    step(`after ${name}`);
    return result;
  };
}
syncBuiltinESMExports();

const { dispatch, exportOperation, importOperation, openContext, readArchive } = await import("@satchel/server");
const { allScopes } = await import("@satchel/pcp");

function watch(store) {
  const watched = (name) => async (use, options) => {
    step(`before ${name}`);
    const result = await store[name](use, options);
    step(`after ${name}`);
    return result;
  };
  const lockJob = (id) => {
    step("before lockJob");
    const lock = store.lockJob(id);
    step("after lockJob");
    return lock;
  };
  return { ...store, lockJob, read: watched("read"), write: watched("write") };
}

const { import: archive, out } = JSON.parse(job);
const operation = archive
  ? importOperation(await readArchive(archive, { identities: [] }), { dryRun: false, skipRefused: false })
  : exportOperation(out ? { out } : {});
const context = openContext(data, "me", { now: Date.now, newUuid: randomUUID, randomBytes });
await context.store.read((transaction) => transaction.context());
isCounting = true;
const { ok, refusal } = await dispatch(operation, {
  context: { ...context, store: watch(context.store) },
  caller: { principal: "user:owner", client: "client:local", scopes: allScopes(), grant: "local owner" },
  args: {},
  log: { fault: ({ error }) => process.stderr.write(`${error.stack}\n`) },
});
isCounting = false;
await context.store.close();
if (!ok) process.stderr.write(JSON.stringify(refusal));
process.exit(ok ? 0 : 1);
