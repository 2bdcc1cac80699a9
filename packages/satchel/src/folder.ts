import { type Dirent, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import type { ImportFile } from "@satchel/server";
import { UsageError } from "./usage-error.js";

/**
 * The Markdown files of a folder (an Obsidian vault too), by name. Hidden folders such as `.obsidian` are left out and
 * links are not followed, so nothing outside the folder is read.
 */
export function readMarkdownFolder(path: string): ImportFile[] {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) throw new UsageError(`There is nothing at ${path}.`);
  if (stat.isFile()) return [readMarkdownFile(path, basename(path))];
  const names: string[] = [];
  collect(path, "", names);
  return names.map((name) => readMarkdownFile(join(path, name), name));
}

function collect(root: string, folder: string, names: string[]): void {
  const entries = readdirSync(join(root, folder), { withFileTypes: true });
  for (const entry of entries.sort(byName)) {
    if (entry.name.startsWith(".")) continue;
    const name = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) collect(root, name, names);
    else if (entry.isFile() && /\.(md|markdown)$/i.test(entry.name)) names.push(name);
  }
}

function byName(a: Dirent, b: Dirent): number {
  return a.name < b.name ? -1 : 1;
}

function readMarkdownFile(file: string, name: string): ImportFile {
  return { file: name, path: name.replace(/\.(md|markdown)$/i, ""), text: decode(readFileSync(file)) };
}

function decode(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
