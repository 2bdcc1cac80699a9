// A server as a process of its own, spoken to through the official client over its standard streams.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { satchelScript } from "./workspace.mjs";

/** One connected server. */
export class Connection {
  /** Starts `node script ...args` and initializes. `quiet` drops what the server prints to standard error. */
  static async open({ script, args = [], env = {}, quiet = false }) {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [script, ...args],
      env: { ...process.env, ...env },
      stderr: quiet ? "ignore" : "inherit",
    });
    const client = new Client({ name: "bench", version: "1.0.0" });
    await client.connect(transport);
    return new Connection(client, transport.pid);
  }

  constructor(client, pid) {
    this.client = client;
    this.pid = pid;
  }

  async listTools() {
    return (await this.client.listTools()).tools;
  }

  /** The tool's whole result. Throws when it is an error: a measurement of errors would be worth nothing. */
  async call(name, args) {
    const result = await this.client.callTool({ name, arguments: args });
    if (result.isError) throw new Error(`${name}: ${result.content?.[0]?.text ?? "failed"}`);
    return result;
  }

  residentBytes() {
    return 1024 * (process.platform === "linux" ? residentKiB(this.pid) : Number(ps(this.pid)));
  }

  close() {
    return this.client.close();
  }
}

function residentKiB(pid) {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}

function ps(pid) {
  return execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" }).trim();
}

/** `satchel mcp` on a data directory. */
export function openSatchel(dataDir, ...options) {
  return Connection.open({ script: satchelScript, args: ["mcp", "--data", dataDir, ...options] });
}
