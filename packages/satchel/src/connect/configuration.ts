import { posix, win32 } from "node:path";
import type { Client } from "./clients.js";
import { ConnectError } from "./connect-error.js";
import { mergeJson } from "./json-configuration.js";
import { mergeToml } from "./toml-configuration.js";

/** How a client starts Satchel: a program by absolute path, its arguments, and nothing from a shell. */
export interface Entry {
  command: string;
  args: string[];
  env?: Record<string, string>;
}

export interface EntryOptions {
  /** Absolute path of the Node binary: a client started from a desktop has no PATH of a terminal. */
  nodePath: string;
  /** Absolute path of `bin/satchel.js`. */
  scriptPath: string;
  /** Absolute path: a client's working folder is not ours to know. */
  dataDir: string;
  /** A context's handle; left out, the server takes the only one. */
  context?: string | undefined;
  client: Client;
}

export interface MergedConfiguration {
  text: string;
  changed: boolean;
}

function verifyAbsolute(name: string, path: string): void {
  // Either notation will do, so that the entry for another platform can be built and tested anywhere.
  if (posix.isAbsolute(path) || win32.isAbsolute(path)) return;
  throw new ConnectError("invalid_option", `${name} must be an absolute path: ${path}`);
}

/** The entry for one client. Throws `invalid_option` when a path is not absolute. */
export function buildEntry({ nodePath, scriptPath, dataDir, context, client }: EntryOptions): Entry {
  verifyAbsolute("nodePath", nodePath);
  verifyAbsolute("scriptPath", scriptPath);
  verifyAbsolute("dataDir", dataDir);
  const chosen = context === undefined ? [] : ["--context", context];
  const args = [scriptPath, "mcp", "--data", dataDir, ...chosen, "--client", `client:${client.name}`];
  return { command: nodePath, args };
}

/**
 * The text of a client's configuration with our entry in it under the name `satchel`. Everything else keeps its bytes:
 * other servers, comments, order, line ends, a byte order mark. What a person added to our own entry stays too.
 * Doing it twice changes nothing. `undefined` or blank text stands for a file that is not there yet.
 *
 * Throws `configuration_unparsable` with the position, or `configuration_conflict`; both without a file name.
 */
export function mergeConfiguration(text: string | undefined, client: Client, entry: Entry): MergedConfiguration {
  const all = Object.entries(client.typed ? { type: "stdio", ...entry } : entry);
  const values = Object.fromEntries(all.filter(([, value]) => value !== undefined));
  const mark = text?.startsWith("\uFEFF") ? "\uFEFF" : "";
  const body = (text ?? "").slice(mark.length);
  const merge = client.format === "toml" ? mergeToml : mergeJson;
  const merged = merge(body, client, values);
  return { text: mark + merged, changed: merged !== body };
}
