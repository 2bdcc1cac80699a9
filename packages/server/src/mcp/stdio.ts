import { PassThrough, type Readable, Writable } from "node:stream";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Caller } from "../domain/access.js";
import { createMcpServer, type ServerSettings } from "./server.js";

/** After the client closed its end, answers that are under way get this long. */
const lastAnswersMs = 100;

/**
 * Serves one MCP connection over this process's standard streams until the client closes its end. From here on only
 * MCP goes to standard output: whatever else prints there is sent to standard error.
 */
export async function serveOverStdio(settings: ServerSettings, caller: Caller): Promise<void> {
  const output = claimStandardOutput();
  const input = delayEnd(process.stdin);
  const transport = new StdioServerTransport(input, output);
  const handle = serveStdio(() => createMcpServer(settings, caller), {
    transport,
    onerror: (error) => settings.log.fault({ id: "stdio", operation: "transport", error }),
  });
  await new Promise<void>((resolve) => {
    input.once("end", resolve);
    output.once("error", () => resolve());
    process.once("SIGTERM", resolve);
    process.once("SIGINT", resolve);
  });
  await handle.close();
  await settings.context.store.close();
  process.stdin.destroy();
}

function claimStandardOutput(): Writable {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr) as typeof process.stdout.write;
  const output = new Writable({ write: (chunk, _encoding, done) => void write(chunk, (error) => done(error)) });
  process.stdout.on("error", (error) => output.destroy(error));
  return output;
}

/** The transport drops unanswered requests at the end of its input, so the end is passed on a moment late. */
function delayEnd(source: Readable): PassThrough {
  const input = new PassThrough();
  source.on("data", (chunk) => {
    if (!input.write(chunk)) source.pause();
  });
  input.on("drain", () => source.resume());
  source.once("end", () => setTimeout(() => input.end(), lastAnswersMs));
  source.once("error", () => input.end());
  return input;
}
