// `satchel mcp` with the null port in place of the journal: only here, to measure what the journal costs.
// Usage: node bench/mcp-without-journal.mjs DATA_DIR

import { openContext } from "@satchel/server";
import { serveOverStdio } from "@satchel/server/stdio";
import { localCaller, stderrLog } from "satchel/dist/session.js";
import { protocolOutput } from "satchel/dist/standard-output.js";
import { createEnvironment } from "satchel/dist/system.js";

const { journal: _, ...context } = openContext(process.argv[2], "me", createEnvironment());
const caller = { ...localCaller, client: "client:stdio", grant: "bench" };
await serveOverStdio({ context, schemas: "plain", version: "bench", log: stderrLog }, caller, protocolOutput());
process.exit();
