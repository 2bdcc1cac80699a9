import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect } from "vitest";
import { cleanEnvironment, commandLine, onEnd, type Ran, run } from "./harness.js";

/** What a call ended with: the tool's answer, or the error's code and message. */
export type Outcome = Record<string, unknown> & { error?: { code: string; message: string } };

export interface Assistant {
  pid: number;
  call(name: string, args: Record<string, unknown>): Promise<Outcome>;
  stderr(): string;
  close(): Promise<void>;
  /** kill -9; resolves when the connection is gone. */
  kill(): Promise<void>;
}

/** A `satchel mcp` process behind the official client. Ended with the test file at the latest. */
export async function startAssistant(
  data: string,
  { command = commandLine, args = [] as string[] } = {},
): Promise<Assistant> {
  const [program, commandArguments] = command(["mcp", "--data", data, ...args]);
  const transport = new StdioClientTransport({
    command: program,
    args: commandArguments,
    env: cleanEnvironment(),
    stderr: "pipe",
  });
  const errors: Buffer[] = [];
  transport.stderr?.on("data", (chunk: Buffer) => errors.push(chunk));
  const client = new Client({ name: "durability", version: "0.0.0" });
  const closed = new Promise<void>((resolve) => {
    client.onclose = resolve;
  });
  onEnd(() => client.close());
  await client.connect(transport);
  const pid = transport.pid!;
  return {
    pid,
    stderr: () => Buffer.concat(errors).toString("utf8"),
    call: async (name, args) => (await client.callTool({ name, arguments: args })).structuredContent as Outcome,
    close: () => client.close(),
    kill: async () => {
      process.kill(pid, "SIGKILL");
      await closed;
    },
  };
}

/** A body whose words say which write it is, so that the index can be asked for exactly it. */
export function buildBody(mark: string, words = 40): string {
  return `${`${mark} keeps its words `.repeat(words)}end${mark}\n`;
}

/** Whether a page's text is one that was written whole. */
export function isWholeBody(body: string): boolean {
  const mark = /^\S+/.exec(body)?.[0] ?? "";
  return [1, 40, 400].some((words) => body === buildBody(mark, words));
}

export async function readBody(assistant: Assistant, path: string): Promise<string | undefined> {
  const read = await assistant.call("memory_read", { path });
  if (read.error?.code === "not_found") return undefined;
  if (read.error) throw new Error(`reading ${path}: ${read.error.message}`);
  return read.body as string;
}

/** A page is found by both marks of its text, and by nothing else of a text that never was. */
export async function verifyIndexed(assistant: Assistant, path: string, body: string): Promise<void> {
  const mark = /^\S+/.exec(body)?.[0] ?? "";
  for (const query of [mark, `end${mark}`]) {
    const { results } = await assistant.call("memory_search", { query, limit: 5 });
    expect((results as { path: string }[]).map((hit) => hit.path)).toContain(path);
  }
}

export async function listPaths(assistant: Assistant, prefix = ""): Promise<string[]> {
  const paths: string[] = [];
  let cursor: string | undefined;
  do {
    const answer = await assistant.call("memory_list", { prefix, limit: 100, ...(cursor !== undefined && { cursor }) });
    expect(answer.error).toBeUndefined();
    paths.push(...(answer.pages as { path: string }[]).map(({ path }) => path));
    cursor = answer.next_cursor as string | undefined;
  } while (cursor !== undefined);
  return paths;
}

/** The doctor finds everything sound. */
export async function verifySound(data: string): Promise<void> {
  const ran: Ran = await run(["doctor", "--data", data, "--json"]);
  const report = JSON.parse(ran.stdout || "{}") as { ok?: boolean };
  expect([ran.code, report.ok, ran.stderr], ran.stdout).toEqual([0, true, ""]);
}

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
