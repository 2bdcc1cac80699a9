import { isDeepStrictEqual } from "node:util";
import { parse, stringify, TomlError, type TomlTable } from "smol-toml";
import type { Client } from "./clients.js";
import { ConnectError } from "./connect-error.js";
import { serverName } from "./server-name.js";

type Values = Record<string, unknown>;

function parseToml(text: string): TomlTable {
  try {
    return parse(text, { integersAsBigInt: "asNeeded" });
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    const reason = `not valid TOML: ${cause.message.split("\n")[0]?.replace("Invalid TOML document: ", "")}`;
    const position = { line: cause.line, column: cause.column };
    throw new ConnectError("configuration_unparsable", reason, { position, cause });
  }
}

function isTable(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

function readServers(document: Values, client: Client): Values {
  const servers = document[client.container] ?? {};
  if (!isTable(servers)) throw new ConnectError("configuration_conflict", `${client.container} is no table`);
  return servers;
}

function readOwn(document: Values, client: Client): Values {
  const own = readServers(document, client)[serverName] ?? {};
  if (!isTable(own)) throw new ConnectError("configuration_conflict", `${client.container}.${serverName} is no table`);
  return own;
}

/** Everything but our table: what a merge may not change. */
function withoutOwn(document: Values, client: Client): Values {
  const { [serverName]: _own, ...servers } = readServers(document, client);
  return { ...document, [client.container]: servers };
}

function readHeader(line: string): string[] | undefined {
  const header = /^\s*\[{1,2}([^[\]]+)\]{1,2}\s*(#.*)?$/.exec(line)?.[1];
  return header?.split(".").map((part) => part.trim().replace(/^(["'])(.*)\1$/, "$2"));
}

/**
 * The text without the lines of our table and of the tables below it, and the offset at which they began, if they did.
 * Blank lines and comments in front of a following table belong to that table and stay.
 */
function removeOwn(text: string, client: Client): { rest: string; offset: number | undefined } {
  let rest = "";
  let pending = "";
  let offset: number | undefined;
  let own = false;
  for (const line of text.split(/(?<=\n)/)) {
    const header = readHeader(line.trimEnd());
    if (header) {
      rest += pending;
      pending = "";
      own = header[0] === client.container && header[1] === serverName;
      if (own) offset ??= rest.length;
    }
    if (!own) rest += line;
    else if (/^(#.*)?$/.test(line.trim())) pending += line;
    else pending = "";
  }
  return { rest: rest + pending, offset };
}

function printOwn(client: Client, own: Values, lineEnd: string): string {
  const printed = stringify({ [client.container]: { [serverName]: own } }).trimEnd();
  return `${printed}\n`.replaceAll("\n", lineEnd);
}

function placeOwn(text: string, client: Client, own: Values): string {
  const lineEnd = text.includes("\r\n") ? "\r\n" : "\n";
  const printed = printOwn(client, own, lineEnd);
  const { rest, offset } = removeOwn(text, client);
  if (offset !== undefined) return rest.slice(0, offset) + printed + rest.slice(offset);
  if (text.trim() === "") return printed;
  return `${text}${text.endsWith("\n") ? "" : lineEnd}${lineEnd}${printed}`;
}

// The text is edited by lines, which a table in another notation or a header inside a string can mislead.
// So the result is read again, and counts only if our table is as wanted and all else as it was.
function verifyMerged(text: string, before: Values, own: { client: Client; values: Values }): void {
  let after: Values | undefined;
  try {
    after = parseToml(text);
  } catch {
    after = undefined;
  }
  const kept = after && isDeepStrictEqual(withoutOwn(after, own.client), withoutOwn(before, own.client));
  if (kept && hasValues(readOwn(after as Values, own.client), own.values)) return;
  const name = `${own.client.container}.${serverName}`;
  throw new ConnectError("configuration_conflict", `${name} is not a table of its own: write it as [${name}]`);
}

/** Plain copies on both sides: the parser's tables have no prototype. */
function hasValues(table: Values, values: Values): boolean {
  const plain = (value: unknown) => (isTable(value) ? { ...value } : value);
  return Object.entries(values).every(([key, value]) => isDeepStrictEqual(plain(table[key]), plain(value)));
}

/** See `mergeConfiguration`: the TOML half of it. A comment inside our own table is lost when the table changes. */
export function mergeToml(text: string, client: Client, values: Record<string, unknown>): string {
  const before = parseToml(text);
  const existing = readOwn(before, client);
  if (hasValues(existing, values)) return text;
  const own = { ...existing, ...values };
  const merged = placeOwn(text, client, own);
  verifyMerged(merged, before, { client, values: own });
  return merged;
}
