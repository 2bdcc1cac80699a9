import { PassThrough, type Readable, type Writable } from "node:stream";
import { finished } from "node:stream/promises";
import {
  isJSONRPCRequest,
  type JSONRPCMessage,
  type RequestId,
  STDIO_DEFAULT_MAX_BUFFER_SIZE,
} from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Caller } from "../domain/access.js";
import { NumberGuard } from "./exact-numbers.js";
import { createMcpServer, type ServerSettings } from "./server.js";

/** After the client closed its end, answers that are under way get at most this long. */
const lastAnswersMs = 1000;
const lookAgainMs = 10;
const newline = 0x0a;

/**
 * Serves one MCP connection over standard input and `output` until the client closes its end, a message is larger than
 * the protocol library takes, or the process is told to stop. Nothing but MCP is written to `output`.
 */
export async function serveOverStdio(settings: ServerSettings, caller: Caller, output: Writable): Promise<void> {
  const connection = settings.context.environment.newUuid();
  const input = new PassThrough();
  output.setMaxListeners(0); // One waits for each answer that is not written yet.
  const transport = new StdioServerTransport(input, output);
  const handle = serveStdio(() => createMcpServer({ ...settings, connection }, caller), {
    transport,
    onerror: (error) => settings.log.fault({ id: "stdio", operation: "transport", error }),
  });
  passOn(process.stdin, input, trackRequests(transport));
  await new Promise<void>((resolve) => {
    const { onclose } = transport;
    transport.onclose = () => {
      onclose?.();
      resolve();
    };
    output.once("error", () => resolve());
    process.once("SIGTERM", resolve);
    process.once("SIGINT", resolve);
  });
  await handle.close();
  await drain(output);
  await settings.context.store.close();
  process.stdin.destroy();
}

/** A reader that is gone or does not read is not waited for longer than for an answer. */
async function drain(output: Writable): Promise<void> {
  const late = new Promise((resolve) => setTimeout(resolve, lastAnswersMs).unref());
  await Promise.race([finished(output.end()).catch(() => undefined), late]);
}

/** The requests that were taken and are not yet answered. A subscription has no answer, so it does not count. */
function trackRequests(transport: StdioServerTransport): ReadonlySet<RequestId> {
  const unanswered = new Set<RequestId>();
  const { onmessage } = transport;
  const send = transport.send.bind(transport);
  transport.onmessage = (message: JSONRPCMessage) => {
    if (isJSONRPCRequest(message)) {
      if (message.method !== "subscriptions/listen") unanswered.add(message.id);
    } else if ("method" in message && message.method === "notifications/cancelled") {
      unanswered.delete(message.params?.requestId as RequestId);
    }
    onmessage?.(message);
  };
  transport.send = async (message) => {
    await send(message);
    if (!("method" in message) && message.id !== undefined) unanswered.delete(message.id);
  };
  return unanswered;
}

/** The transport drops unanswered requests at the end of its input, so the end is passed on when they are answered. */
function passOn(source: Readable, input: PassThrough, unanswered: ReadonlySet<RequestId>): void {
  const guard = new NumberGuard({ limitBytes: STDIO_DEFAULT_MAX_BUFFER_SIZE, separator: newline });
  source.on("data", (chunk) => {
    for (const bytes of guard.push(chunk)) if (!input.write(bytes)) source.pause();
  });
  input.on("drain", () => source.resume());
  source.once("error", () => input.end());
  source.once("end", () => {
    for (const bytes of guard.end()) input.write(bytes);
    const giveUp = performance.now() + lastAnswersMs;
    const look = setInterval(() => {
      if (unanswered.size + input.readableLength > 0 && performance.now() < giveUp) return;
      clearInterval(look);
      input.end();
    }, lookAgainMs);
  });
}
