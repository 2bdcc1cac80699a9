import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll } from "vitest";

/*
 * Runs the built command in a home of its own. What is made here ends or is removed after the last test of the file.
 */

const script = fileURLToPath(new URL("../packages/satchel/bin/satchel.js", import.meta.url));
const cleanups: (() => unknown)[] = [];
afterAll(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "satchel-command-"));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Nothing of the person who runs the tests. */
function cleanEnvironment(home: string, more: Record<string, string> = {}): Record<string, string> {
  return { PATH: process.env.PATH ?? "", HOME: home, USERPROFILE: home, ...more };
}

/** A data directory with one context, and the commands on it. */
export class Terminal {
  readonly data = temporaryFolder();
  private readonly home = temporaryFolder();

  static async open(): Promise<Terminal> {
    const terminal = new Terminal();
    await terminal.ok(["init"]);
    return terminal;
  }

  run(args: string[], { input = "", env = {} }: { input?: string; env?: Record<string, string> } = {}): Promise<Ran> {
    return new Promise((resolve, reject) => {
      const given = [script, ...args, "--data", this.data];
      const child = spawn(process.execPath, given, { env: cleanEnvironment(this.home, env) });
      const output = { stdout: "", stderr: "" };
      for (const name of ["stdout", "stderr"] as const) {
        child[name].setEncoding("utf8").on("data", (text: string) => {
          output[name] += text;
        });
      }
      child.once("error", reject);
      child.once("close", (code) => resolve({ code, ...output }));
      child.stdin.on("error", () => undefined); // It may have ended before it read everything.
      child.stdin.end(input);
    });
  }

  /** @throws unless the command exits with 0 */
  async ok(args: string[], options: { input?: string; env?: Record<string, string> } = {}): Promise<string> {
    const ran = await this.run(args, options);
    if (ran.code !== 0)
      throw new Error(`satchel ${args.join(" ")} exited with ${ran.code}: ${ran.stderr}${ran.stdout}`);
    return ran.stdout;
  }

  async json<Output>(args: string[], input = ""): Promise<Output> {
    return JSON.parse(await this.ok([...args, "--json"], { input })) as Output;
  }

  put(path: string, text: string): Promise<string> {
    return this.ok(["page", "put", path], { input: text });
  }

  /** Connects an assistant to a `satchel mcp` with these arguments. @returns how to call its tools */
  async connect(...args: string[]) {
    const client = new Client({ name: "satchel-tests", version: "0.0.0" });
    const command = { command: process.execPath, args: [script, "mcp", "--data", this.data, ...args] };
    await client.connect(new StdioClientTransport({ ...command, env: cleanEnvironment(this.home), stderr: "ignore" }));
    cleanups.push(() => client.close());
    const call = async (name: string, input: Record<string, unknown> = {}) =>
      (await client.callTool({ name, arguments: input })).structuredContent as Record<string, unknown>;
    return { call, close: () => client.close() };
  }
}
