import { type Dirent, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import type { ForeignFile } from "@satchel/server";
import { UsageError } from "./usage-error.js";

/** What other tools write their exports in; nothing else of a folder is read. */
const readNames = /\.(md|markdown|json|jsonl|ndjson)$/i;

export const isReadName = (name: string): boolean => readNames.test(name);

/** A larger file is no export of memory. */
export const fileLimitBytes = 1024 * 1024 * 1024;

/**
 * One file, or the files of a folder (an Obsidian vault too), by name. Hidden folders such as `.obsidian` are left out and
 * links are not followed, so nothing outside the folder is read.
 */
export function readImported(path: string): ForeignFile[] {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) throw new UsageError(`There is nothing at ${path}.`);
  if (stat.isFile()) return [readOne(path, basename(path))];
  const names: string[] = [];
  collect(path, "", names);
  return names.map((name) => readOne(join(path, name), name));
}

function collect(root: string, folder: string, names: string[]): void {
  const entries = readdirSync(join(root, folder), { withFileTypes: true });
  for (const entry of entries.sort(byName)) {
    if (entry.name.startsWith(".")) continue;
    const name = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) collect(root, name, names);
    else if (entry.isFile() && isReadName(entry.name)) names.push(name);
  }
}

function byName(a: Dirent, b: Dirent): number {
  return a.name < b.name ? -1 : 1;
}

function readOne(file: string, name: string): ForeignFile {
  if (statSync(file).size > fileLimitBytes) throw new UsageError(`${file} is larger than 1 GiB.`);
  return { name, bytes: readFileSync(file) };
}
