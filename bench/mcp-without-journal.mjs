// `satchel mcp` without a kept journal: only here, to measure what the journal costs.
// Usage: node bench/mcp-without-journal.mjs DATA_DIR null-port|no-records

import { openContext } from "@satchel/server";
import { serveOverStdio } from "@satchel/server/stdio";
import { localCaller, stderrLog } from "satchel/dist/session.js";
import { protocolOutput } from "satchel/dist/standard-output.js";
import { createEnvironment } from "satchel/dist/system.js";

/** The null port: a storage that keeps the state of the tree in memory and no entry anywhere. */
function nullStorage(kept) {
  let state = { size: 2 ** 30, frontier: [Buffer.alloc(32)] }; // Beyond every entry that is there.
  return (journal) => ({
    ...journal,
    state: async () => state,
    lastTime: async () => kept.at,
    lastCheckpoint: async () => ({ size: state.size, note: "" }),
    append: async ({ entries, state: next }) => {
      state = next;
      kept.at = entries.at(-1)?.at;
    },
    addCheckpoint: async () => undefined,
  });
}

function withNullPort(context) {
  const toNull = nullStorage({});
  const write = (use, options) =>
    context.store.write((transaction) => use({ ...transaction, journal: toNull(transaction.journal) }), options);
  return { ...context, store: { ...context.store, write } };
}

const [dataDir, form] = process.argv.slice(2);
const context = openContext(dataDir, "me", createEnvironment());
const { journal: _, ...bare } = context;
const caller = { ...localCaller, client: "client:stdio", grant: "bench" };
const settings = { context: form === "null-port" ? withNullPort(context) : bare, schemas: "plain", version: "bench" };
await serveOverStdio({ ...settings, log: stderrLog }, caller, protocolOutput());
process.exit();
