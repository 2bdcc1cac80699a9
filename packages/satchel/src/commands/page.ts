import { readFileSync } from "node:fs";
import {
  type PageRead,
  pageHistoryOperation,
  pageRemoveOperation,
  pageRestoreOperation,
  pageTextOperation,
  type RecordedVersion,
} from "@satchel/server";
import { type CommonOptions, callLocally, listLocally, runLocally, withContext } from "../session.js";
import { note, print, printJson, printTable } from "../terminal.js";
import { renderDiff } from "../text-diff.js";
import { CommandError, UsageError } from "../usage-error.js";

interface Written {
  path: string;
  id: string;
  updated: string;
  warnings?: string[];
}

/** Writes a page from a file or standard input. */
export async function pagePut(
  path: string,
  options: CommonOptions & { file?: string; expectedUpdated?: string },
): Promise<void> {
  const body = readText(options.file);
  const expected = options.expectedUpdated !== undefined && { expected_updated: options.expectedUpdated };
  await withContext(options, async (context) => {
    const written = await callLocally<Written>(context, "memory_write", { path, body, ...expected });
    for (const warning of written.warnings ?? []) note(`Warning: ${warning}`);
    if (options.json) printJson(written);
    else print(`Wrote ${written.path} (updated ${written.updated}).`);
  });
}

export function readText(file: string | undefined): string {
  const bytes = readFileSync(file === undefined || file === "-" ? 0 : file);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new UsageError(`${file ?? "Standard input"} is not valid UTF-8 text.`);
  }
}

/** Prints a page's own text, byte for byte; with `--as-of`, as it was then. */
export async function pageCat(path: string, options: CommonOptions & { asOf?: string }): Promise<void> {
  const asOf = options.asOf !== undefined && { as_of: options.asOf };
  await withContext(options, async (context) => {
    if (options.json) {
      printJson(await callLocally(context, "memory_read", { path, ...asOf }));
      return;
    }
    const read = await runLocally(context, pageTextOperation, { path, ...asOf });
    process.stdout.write(textOf(read));
  });
}

interface Listed {
  path: string;
  title: string;
  updated: string;
  lifecycle: string;
  sensitivity: string;
  partition: string;
}

export async function pageList(
  prefix: string | undefined,
  options: CommonOptions & { archived?: boolean },
): Promise<void> {
  const filter = {
    ...(prefix !== undefined && { prefix }),
    ...(options.archived !== undefined && { include_archived: options.archived }),
  };
  const pages = await withContext(options, (context) =>
    listLocally<Listed>(context, { tool: "memory_list", member: "pages", filter }),
  );
  if (options.json) {
    printJson({ pages });
    return;
  }
  const marks = (page: Listed) =>
    [page.lifecycle, page.sensitivity].filter((mark) => mark !== "active" && mark !== "normal").join(" ");
  printTable(
    ["PATH", "TITLE", "UPDATED", ""],
    pages.map((page) => [page.path, page.title, page.updated, marks(page)]),
  );
}

export async function pageRemove(paths: string[], options: CommonOptions): Promise<void> {
  await withContext(options, async (context) => {
    const removed = [];
    for (const path of paths) removed.push(await runLocally(context, pageRemoveOperation, { path }));
    if (options.json) {
      printJson({ removed });
      return;
    }
    for (const { path } of removed) print(`Removed ${path}. Its history is kept.`);
  });
}

function textOf(read: PageRead): string {
  if (read.kind === "index") return read.index.body;
  const { head, body } = read.kind === "page" ? read.version : read.revision;
  return head + body;
}

/** Every version of a page, newest first. */
export async function pageHistory(path: string, options: CommonOptions): Promise<void> {
  const { versions } = await withContext(options, (context) => runLocally(context, pageHistoryOperation, { path }));
  const newestFirst = [...versions].reverse();
  if (options.json) {
    printJson({ path, versions: newestFirst.map(describeVersion) });
    return;
  }
  printTable(
    ["VERSION", "UPDATED", "BY", "THROUGH", "TITLE", "BYTES"],
    newestFirst.map(({ version, updated, generated, title, head, body }) => [
      version,
      updated,
      generated.principal,
      generated.client ?? "",
      title,
      String(Buffer.byteLength(head + body)),
    ]),
  );
}

function describeVersion({ version, updated, generated, title, partition, sensitivity, review }: RecordedVersion) {
  return { version, updated, generated, title, partition, sensitivity, ...(review && { review }) };
}

/** What changed between two versions; by default between the last two. */
export async function pageDiff(path: string, named: string[], options: CommonOptions): Promise<void> {
  const { versions } = await withContext(options, (context) => runLocally(context, pageHistoryOperation, { path }));
  const find = (id: string) => {
    const version = versions.find((known) => known.version === id);
    if (!version) throw new CommandError(`not_found: "${path}" has no version ${id}. satchel page history shows them.`);
    return { name: id, text: version.head + version.body };
  };
  const after = find(named[1] ?? versions.at(-1)?.version ?? "");
  const before = named[0] ?? versions.at(-2)?.version;
  print(renderDiff(before === undefined ? { name: "nothing", text: "" } : find(before), after) || "No difference.");
}

/** Makes an earlier version the current one, as a new version. */
export async function pageRestore(path: string, version: string, options: CommonOptions): Promise<void> {
  const restored = await withContext(options, (context) =>
    runLocally(context, pageRestoreOperation, { path, version }),
  );
  if (options.json) printJson(restored);
  else print(`Restored ${restored.path} (updated ${restored.updated}).`);
}
