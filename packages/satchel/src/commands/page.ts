import { readFileSync } from "node:fs";
import { type Context, pageRemoveOperation, pageTextOperation } from "@satchel/server";
import { type CommonOptions, callLocally, runLocally, withContext } from "../session.js";
import { note, print, printJson, printTable } from "../terminal.js";
import { UsageError } from "../usage-error.js";

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

/** Prints a page's own text, byte for byte. */
export async function pageCat(path: string, options: CommonOptions): Promise<void> {
  await withContext(options, async (context) => {
    if (options.json) {
      printJson(await callLocally(context, "memory_read", { path }));
      return;
    }
    const read = await runLocally(context, pageTextOperation, { path });
    process.stdout.write(read.kind === "index" ? read.index.body : read.version.head + read.version.body);
  });
}

interface Listed {
  pages: { path: string; title: string; updated: string; lifecycle: string; sensitivity: string; partition: string }[];
  next_cursor?: string;
}

export async function pageList(
  prefix: string | undefined,
  options: CommonOptions & { archived?: boolean },
): Promise<void> {
  const pages = await withContext(options, (context) =>
    listAll(context, { prefix, include_archived: options.archived }),
  );
  if (options.json) {
    printJson({ pages });
    return;
  }
  const marks = (page: Listed["pages"][number]) =>
    [page.lifecycle, page.sensitivity].filter((mark) => mark !== "active" && mark !== "normal").join(" ");
  printTable(
    ["PATH", "TITLE", "UPDATED", ""],
    pages.map((page) => [page.path, page.title, page.updated, marks(page)]),
  );
}

async function listAll(context: Context, filter: Record<string, unknown>): Promise<Listed["pages"]> {
  const given = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
  const pages: Listed["pages"] = [];
  let cursor: string | undefined;
  do {
    const args = { ...given, limit: 100, ...(cursor !== undefined && { cursor }) };
    const answer: Listed = await callLocally(context, "memory_list", args);
    pages.push(...answer.pages);
    cursor = answer.next_cursor;
  } while (cursor !== undefined);
  return pages;
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
