// The engines that are measured side by side: how each is started, stores a page and searches, and how it syncs.
import { execFileSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { writeArguments } from "./filled-store.mjs";
import { note, root, satchelScript } from "./workspace.mjs";

const peerFolder = join(root, ".cache", "peers");
const modules = join(peerFolder, "node_modules");
const searchLimit = 10;

/**
 * Per engine: `start(folder)` gives the process to start with its data in `folder`, `store` and `search` the tool call,
 * `source` the installed code that touches the disk, `database(folder)` its SQLite file if it has one.
 */
export const satchel = {
  name: "satchel",
  start: (folder) => ({ script: satchelScript, args: ["mcp", "--data", folder] }),
  store: (page) => ["memory_write", writeArguments(page)],
  search: (query) => ["memory_search", { query, limit: searchLimit }],
  source: join(root, "packages", "server", "dist", "store", "sqlite"),
  database: (folder) => join(folder, "contexts", "me", "context.db"),
};

const serverMemory = {
  name: "@modelcontextprotocol/server-memory",
  version: "2026.8.31",
  start: (folder) => ({
    script: join(modules, "@modelcontextprotocol/server-memory/dist/index.js"),
    env: { MEMORY_FILE_PATH: join(folder, "memory.jsonl") },
    quiet: true,
  }),
  store: ({ path, body, title }) => [
    "create_entities",
    { entities: [{ name: title, entityType: path.split("/")[0], observations: [body] }] },
  ],
  search: (query) => ["search_nodes", { query }],
  source: join(modules, "@modelcontextprotocol/server-memory/dist"),
};

const devkitMemory = {
  name: "@ai-devkit/memory",
  version: "0.20.1",
  start: (folder) => ({
    script: join(modules, "@ai-devkit/memory/dist/index.js"),
    env: { HOME: folder, USERPROFILE: folder, MEMORY_DB_PATH: join(folder, "memory.db") },
    quiet: true,
  }),
  store: ({ title, body, tags }) => ["memory_storeKnowledge", { title: title.padEnd(10, "."), content: body, tags }],
  search: (query) => ["memory_searchKnowledge", { query, limit: searchLimit }],
  source: join(modules, "@ai-devkit/memory/dist/database"),
  database: (folder) => join(folder, ".ai-devkit", "memory.db"),
};

export const peers = [serverMemory, devkitMemory];

/** Installs the peers at their exact versions into a folder that git ignores, on first use. */
export function installPeers() {
  const missing = peers.filter(({ name, version }) => installedVersion(name) !== version);
  if (missing.length === 0) return;
  note("Installing the peers (once) ...");
  mkdirSync(peerFolder, { recursive: true });
  writeFileSync(join(peerFolder, "package.json"), `{ "private": true }\n`);
  const packages = peers.map(({ name, version }) => `${name}@${version}`);
  const npm = ["install", "--prefix", peerFolder, "--save-exact", "--no-audit", "--no-fund", ...packages];
  const options = { cwd: peerFolder, stdio: ["ignore", "ignore", "inherit"], shell: process.platform === "win32" };
  execFileSync("npm", npm, options);
}

function installedVersion(name) {
  const manifest = join(modules, name, "package.json");
  return existsSync(manifest) ? JSON.parse(readFileSync(manifest, "utf8")).version : undefined;
}

/**
 * How an engine keeps a write: its database's journal mode (from the file's header) and the `synchronous` its code sets,
 * or, without a database, whether its code waits for the disk at all.
 */
export function describeSync(engine, folder) {
  const code = readSources(engine.source);
  const file = engine.database?.(folder);
  if (file === undefined || !existsSync(file)) {
    const waits = /\b(fsync|fdatasync|datasync|flush:\s*true)/.test(code);
    return `a file rewritten for each change, ${waits ? "synced" : "never synced (no fsync in its code)"}`;
  }
  const synchronous = /synchronous\s*=\s*(\w+)/i.exec(code)?.[1] ?? "SQLite's default";
  return `SQLite ${isWal(file) ? "WAL" : "rollback journal"}, synchronous=${synchronous}`;
}

function readSources(folder) {
  const names = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".js"));
  return names.map((name) => readFileSync(join(folder, name), "utf8")).join("\n");
}

/** Byte 18 of an SQLite file, the write version: 2 means WAL. */
function isWal(file) {
  const descriptor = openSync(file, "r");
  try {
    const header = Buffer.alloc(20);
    readSync(descriptor, header, 0, 20, 0);
    return header[18] === 2;
  } finally {
    closeSync(descriptor);
  }
}
