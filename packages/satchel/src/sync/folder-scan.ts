import { type Dirent, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { parsePath, twinKey } from "@satchel/pcp";
import { readFileText } from "./folder-text.js";
import type { FileFact } from "./plan.js";

export interface FolderScan {
  /** By page path. */
  files: Map<string, FileFact>;
  /** Files whose names no page can have. */
  unnamed: { file: string; reason: string }[];
  /** Every folder, the root as "". */
  folders: string[];
}

/** Digests of files that were not touched since, by name. */
export type SeenFiles = Map<string, { stamp: string; digest: string }>;

interface Found {
  name: string;
  path: string;
  isLink: boolean;
}

/**
 * The Markdown files of a folder. Hidden ones are left out and links are not followed, as in an import.
 * @throws when a folder can't be read: what lies in it must not look deleted
 */
export function scanFolder(
  root: string,
  { prefix, known, seen }: { prefix: string; known: ReadonlySet<string>; seen?: SeenFiles },
): FolderScan {
  const scan: FolderScan = { files: new Map(), unnamed: [], folders: [] };
  const found = collectFiles(root, scan, prefix);
  const unusable = findTwins(found, known);
  for (const { name, path, isLink } of found) {
    const twin = unusable.get(name);
    if (twin !== undefined) scan.files.set(path, { name, reason: twin });
    else if (isLink) scan.files.set(path, { name, reason: "is a link, and links are not followed", isLink: true });
    else {
      const fact = readFact(root, name, seen);
      if (fact) scan.files.set(path, fact);
    }
  }
  return scan;
}

function collectFiles(root: string, scan: FolderScan, prefix: string): Found[] {
  const found: Found[] = [];
  const visit = (folder: string) => {
    scan.folders.push(folder);
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true }).sort(byName)) {
      if (entry.name.startsWith(".")) continue;
      const name = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) visit(name);
      else if (/\.(md|markdown)$/i.test(name) && (entry.isFile() || entry.isSymbolicLink())) {
        const file = nameFile(name, entry.isSymbolicLink());
        if ("reason" in file) {
          if (!file.isLink && name.startsWith(prefix)) scan.unnamed.push({ file: name, reason: file.reason });
        } else if (file.path.startsWith(prefix)) found.push(file);
      }
    }
  };
  visit("");
  return found;
}

function byName(a: Dirent, b: Dirent): number {
  return a.name < b.name ? -1 : 1;
}

function nameFile(name: string, isLink: boolean): Found | { reason: string; isLink: boolean } {
  const parsed = parsePath(`${name.replace(/\.(md|markdown)$/i, "")}.md`);
  return parsed.ok ? { name, path: parsed.path, isLink } : { reason: parsed.violations.join(" "), isLink };
}

/** Names that are one page: the one that is synced already goes on, if there is exactly one. @returns reasons by name */
function findTwins(found: Found[], known: ReadonlySet<string>): Map<string, string> {
  const groups = new Map<string, Found[]>();
  for (const file of found) {
    const key = twinKey(file.path);
    groups.set(key, [...(groups.get(key) ?? []), file]);
  }
  const unusable = new Map<string, string>();
  for (const group of groups.values()) {
    if (group.length === 1) continue;
    const synced = group.filter(({ path }) => known.has(path));
    for (const file of group) {
      if (synced.length === 1 && synced[0] === file) continue;
      const other = group.find((one) => one !== file && (synced.length !== 1 || one === synced[0]))?.name;
      const reason = `same page name as "${other}" (names that differ only by case or Unicode form are one)`;
      unusable.set(file.name, reason);
    }
  }
  return unusable;
}

/** A file that changed less than this before it was read may change again under the same stamp. */
const settledMs = 2000;

function readFact(root: string, name: string, seen: SeenFiles | undefined): FileFact | undefined {
  const file = join(root, name);
  const stat = seen && lstatSync(file, { bigint: true, throwIfNoEntry: false });
  const stamp = stat && `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`;
  const before = seen?.get(name);
  if (before && before.stamp === stamp) return { name, digest: before.digest };
  const read = readFileText(file);
  if (!read || "reason" in read) return read && { name, reason: read.reason };
  const isSettled = stat && Date.now() - Number(stat.ctimeMs) > settledMs;
  if (isSettled && stamp) seen?.set(name, { stamp, digest: read.digest });
  return { name, digest: read.digest };
}
