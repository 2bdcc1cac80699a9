import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client as ClientV2, StreamableHTTPClientTransport as HttpTransportV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioTransportV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioTransportV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpTransportV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport as TransportV1 } from "@modelcontextprotocol/sdk/shared/transport.js";
import { afterAll } from "vitest";

/*
 * What tests need that run the built command: folders, processes and the official clients. Everything made here ends
 * or is removed after the last test of the file, also when a test failed. Import it at the top of a test file.
 */

const script = fileURLToPath(new URL("../packages/satchel/bin/satchel.js", import.meta.url));
const startTimeoutMs = 30_000;

const cleanups: (() => unknown)[] = [];
const running = new Set<ChildProcessWithoutNullStreams>();

afterAll(async () => {
  for (const cleanup of cleanups.reverse().splice(0)) await cleanup();
  for (const child of running) child.kill("SIGKILL");
});
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** Runs after the last test of the file, last one first. */
export function onEnd(cleanup: () => unknown): void {
  cleanups.push(cleanup);
}

/** A new empty folder, removed at the end. */
export function temporaryFolder(name = "satchel-"): string {
  const folder = mkdtempSync(join(tmpdir(), name));
  onEnd(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

let home: string | undefined;

/** Nothing of the person who runs the tests: an empty home, no SATCHEL_HOME, no colours asked for. */
export function cleanEnvironment(more: Record<string, string> = {}): Record<string, string> {
  home ??= temporaryFolder("satchel-home-");
  const kept = ["PATH", "SystemRoot", "TMPDIR", "TEMP"].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  });
  return { ...Object.fromEntries(kept), HOME: home, USERPROFILE: home, ...more };
}

export interface ProcessOptions {
  env?: Record<string, string>;
  cwd?: string;
  /** Arguments for node itself, such as `--import`. */
  nodeArguments?: string[];
  /** The account it runs under; only root can choose. */
  uid?: number;
}

/** The command line that starts `satchel` with these arguments. */
export function commandLine(args: string[], { nodeArguments = [] }: ProcessOptions = {}): [string, string[]] {
  return [process.execPath, [...nodeArguments, script, ...args]];
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface Running {
  child: ChildProcessWithoutNullStreams;
  stdout(): string;
  stderr(): string;
  /** Settles when the process has ended and its streams are read to the end. */
  exit: Promise<Exit>;
  /** Asks it to end, and makes it after ten seconds. */
  stop(signal?: NodeJS.Signals): Promise<Exit>;
}

/** Starts the command; it is ended with the test file at the latest. */
export function startCommand(args: string[], options: ProcessOptions = {}): Running {
  const child = spawn(...commandLine(args, options), {
    env: options.env ?? cleanEnvironment(),
    ...(options.cwd !== undefined && { cwd: options.cwd }),
    ...(options.uid !== undefined && { uid: options.uid }),
  });
  running.add(child);
  const output = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  child.stdout.on("data", (chunk: Buffer) => output.stdout.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => output.stderr.push(chunk));
  child.stdin.on("error", () => undefined); // It may have ended before it read everything.
  const exit = new Promise<Exit>((resolve) => {
    child.once("close", (code, signal) => {
      running.delete(child);
      resolve({ code, signal });
    });
  });
  const stop = async (signal: NodeJS.Signals = "SIGTERM") => {
    child.kill(signal);
    const alarm = setTimeout(() => child.kill("SIGKILL"), 10_000);
    return exit.finally(() => clearTimeout(alarm));
  };
  onEnd(() => stop());
  const text = (name: "stdout" | "stderr") => Buffer.concat(output[name]).toString("utf8");
  return { child, stdout: () => text("stdout"), stderr: () => text("stderr"), exit, stop };
}

export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs the command to its end. `input` is its standard input, empty unless given. */
export async function run(args: string[], options: ProcessOptions & { input?: string | Buffer } = {}): Promise<Ran> {
  const command = startCommand(args, options);
  command.child.stdin.end(options.input ?? "");
  const { code } = await command.exit;
  return { code, stdout: command.stdout(), stderr: command.stderr() };
}

/** As `run`, and throws with everything it printed unless the command exits with 0. */
export async function runOk(args: string[], options: ProcessOptions & { input?: string | Buffer } = {}): Promise<Ran> {
  const ran = await run(args, options);
  if (ran.code !== 0) throw new Error(`satchel ${args.join(" ")} exited with ${ran.code}: ${ran.stderr}${ran.stdout}`);
  return ran;
}

/** A new data directory with the given contexts. */
export async function makeData(...handles: string[]): Promise<string> {
  const data = temporaryFolder("satchel-data-");
  for (const handle of handles) await runOk(["init", "--data", data, "--context", handle]);
  return data;
}

/** @returns a new bearer token */
export async function makeToken(data: string, scopes: string, more: string[] = []): Promise<string> {
  const { stdout } = await runOk(["token", "create", "--data", data, "--scopes", scopes, ...more]);
  return stdout.trim();
}

export interface Served extends Running {
  /** `http://127.0.0.1:PORT`, without a trailing slash. */
  origin: string;
}

/** Starts `satchel serve` on a free port and waits for the address it prints. */
export async function startServe(data: string, more: string[] = [], options: ProcessOptions = {}): Promise<Served> {
  const server = startCommand(["serve", "--data", data, "--port", "0", ...more], options);
  return { ...server, origin: await printedOrigin(server) };
}

function printedOrigin(server: Running): Promise<string> {
  return new Promise((resolve, reject) => {
    const failed = (why: string) => reject(new Error(`satchel serve ${why}: ${server.stderr()}`));
    const alarm = setTimeout(() => failed("printed no address"), startTimeoutMs);
    server.child.stdout.on("data", () => {
      const url = /https?:\/\/[^\s/]+/.exec(server.stdout())?.[0];
      if (url === undefined) return;
      clearTimeout(alarm);
      resolve(url);
    });
    server.exit.then(({ code }) => {
      clearTimeout(alarm);
      failed(`ended with ${code}`);
    });
  });
}

export interface ToolAnswer {
  content: { type: string; text?: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
}

export interface ListedTool {
  name: string;
  inputSchema: Record<string, unknown>;
  outputSchema?: Record<string, unknown>;
}

/** What both official clients do alike. A protocol error rejects with an error whose `code` is the JSON-RPC code. */
export interface TestClient {
  listTools(): Promise<ListedTool[]>;
  callTool(name: string, args?: unknown): Promise<ToolAnswer>;
  /** The protocol revision that was agreed on, where the client says it. */
  protocol(): string | undefined;
  close(): Promise<void>;
}

export const clientKinds = ["v2 legacy", "v2 auto", "v2 pinned", "v1"] as const;
export type ClientKind = (typeof clientKinds)[number];

const information = { name: "satchel-tests", version: "0.0.0" };
const modes = { "v2 legacy": "legacy", "v2 auto": "auto", "v2 pinned": { pin: "2026-07-28" } } as const;

/** Connects an official client to a `satchel mcp` of its own. */
export async function connectStdio(
  kind: ClientKind,
  args: string[],
  options: ProcessOptions = {},
): Promise<TestClient> {
  const [command, commandArguments] = commandLine(["mcp", ...args], options);
  const parameters = {
    command,
    args: commandArguments,
    env: options.env ?? cleanEnvironment(),
    stderr: "ignore" as const,
    ...(options.cwd !== undefined && { cwd: options.cwd }),
  };
  return kind === "v1"
    ? connectV1(new StdioTransportV1(parameters))
    : connectV2(kind, new StdioTransportV2(parameters));
}

/** Connects an official client to an MCP endpoint. */
export async function connectHttp(kind: ClientKind, url: string, token: string): Promise<TestClient> {
  const options = { requestInit: { headers: { Authorization: `Bearer ${token}` } } };
  if (kind === "v1") return connectV1(new HttpTransportV1(new URL(url), options) as TransportV1);
  return connectV2(kind, new HttpTransportV2(new URL(url), options));
}

async function connectV1(transport: TransportV1): Promise<TestClient> {
  const client = new ClientV1(information);
  const close = () => client.close();
  onEnd(close);
  await client.connect(transport);
  return {
    listTools: async () => (await client.listTools()).tools as ListedTool[],
    callTool: async (name, args) => (await client.callTool(callParameters(name, args))) as ToolAnswer,
    protocol: () => undefined,
    close,
  };
}

async function connectV2(
  kind: Exclude<ClientKind, "v1">,
  transport: StdioTransportV2 | HttpTransportV2,
): Promise<TestClient> {
  const client = new ClientV2(information, { versionNegotiation: { mode: modes[kind] } });
  const close = () => client.close();
  onEnd(close);
  await client.connect(transport);
  return {
    listTools: async () => (await client.listTools()).tools as ListedTool[],
    callTool: async (name, args) => (await client.callTool(callParameters(name, args))) as ToolAnswer,
    protocol: () => client.getNegotiatedProtocolVersion(),
    close,
  };
}

/** `args` goes out as it is: left out when undefined, null too, although the clients' types know only objects. */
function callParameters(name: string, args: unknown): { name: string; arguments?: Record<string, unknown> } {
  return { name, ...(args !== undefined && { arguments: args as Record<string, unknown> }) };
}
