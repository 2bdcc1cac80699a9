import { randomUUID } from "node:crypto";
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  unlinkSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { twinKey } from "@satchel/pcp";
import { UsageError } from "../usage-error.js";
import { readFileText } from "./folder-text.js";

/** Beside the files, hidden: the state, its lock, and files that are not in place yet. */
export const ownFolder = ".satchel";

/** `moved`: what lies there is not what was seen, so nothing was done. */
export type FileOutcome = "done" | "moved" | { reason: string };

export interface FileWrite {
  name: string;
  text: string;
  /** Digest of the text it replaces; absent: nothing may lie there. */
  over?: string;
}

export interface SyncFolder {
  root: string;
  /** Names that differ only by case are one file here. */
  foldsCase: boolean;
}

/** Makes the hidden folder where there is none. @throws when the folder itself is gone, or the hidden one is something else */
export function openSyncFolder(root: string): SyncFolder {
  const own = join(root, ownFolder);
  const there = lstatSync(own, { throwIfNoEntry: false });
  if (!there) mkdirSync(own, { mode: 0o700 });
  else if (!there.isDirectory()) throw new UsageError(`${own} is no folder.`);
  return { root, foldsCase: existsSync(join(root, ownFolder.toUpperCase())) };
}

const asidePrefix = "new-";

/** Clears what a run that was cut off did not put in place. */
export function clearAside({ root }: SyncFolder): void {
  const own = join(root, ownFolder);
  for (const name of readdirSync(own)) if (name.startsWith(asidePrefix)) rmSync(join(own, name), { force: true });
}

/**
 * Puts a text in place whole: written aside and flushed, and moved there only if what it replaces is what was seen. What
 * the file system refuses is a reason, and no error.
 */
export async function writeFolderFile(folder: SyncFolder, { name, text, over }: FileWrite): Promise<FileOutcome> {
  const target = join(folder.root, name);
  const aside = join(folder.root, ownFolder, `${asidePrefix}${randomUUID()}`);
  try {
    const blocked = makeParents(folder, name);
    if (blocked !== undefined) return { reason: blocked };
    const mode = lstatSync(target, { throwIfNoEntry: false })?.mode;
    await writeFlushed(aside, text, mode === undefined ? 0o600 : mode & 0o777);
    return over === undefined ? placeNew(aside, target) : replaceSeen(aside, target, over);
  } catch (error) {
    return { reason: `can't be written here (${(error as NodeJS.ErrnoException).code ?? String(error)})` };
  } finally {
    rmSync(aside, { force: true });
  }
}

async function writeFlushed(file: string, text: string, mode: number): Promise<void> {
  const handle = await open(file, "wx", mode);
  try {
    await handle.writeFile(text);
    await handle.chmod(mode);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** From here to the end nothing else of this process runs. */
function replaceSeen(aside: string, target: string, over: string): FileOutcome {
  if (!lstatSync(target, { throwIfNoEntry: false })?.isFile()) return "moved";
  const now = readFileText(target);
  if (!now || "reason" in now || now.digest !== over) return "moved";
  renameSync(aside, target);
  return "done";
}

const withoutLinks = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

function placeNew(aside: string, target: string): FileOutcome {
  try {
    linkSync(aside, target); // Unlike a rename, it never replaces anything.
    return "done";
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code !== "EEXIST" && !withoutLinks.has(code)) throw error;
    const there = lstatSync(target, { throwIfNoEntry: false });
    if (there) return there.isFile() ? "moved" : { reason: "something that is no file lies there" };
    renameSync(aside, target);
    return "done";
  }
}

/** @returns what is in the way */
function makeParents({ root, foldsCase }: SyncFolder, name: string): string | undefined {
  const segments = name.split("/").slice(0, -1);
  let parent = root;
  for (const segment of segments) {
    const folder = join(parent, segment);
    const twin = foldsCase ? findTwin(parent, segment) : undefined;
    if (twin !== undefined) return `a folder "${twin}" is there, and here it is the same as "${segment}"`;
    const there = lstatSync(folder, { throwIfNoEntry: false });
    if (!there) mkdirSync(folder, { mode: 0o700 });
    else if (!there.isDirectory()) return `"${segment}" is there and is no folder`;
    parent = folder;
  }
  return undefined;
}

function findTwin(parent: string, segment: string): string | undefined {
  const names = readdirSync(parent);
  if (names.includes(segment)) return undefined;
  return names.find((name) => twinKey(name) === twinKey(segment));
}

/** Removes a file that still holds what was seen, and the folders that it leaves empty. */
export function removeFolderFile(
  { root }: SyncFolder,
  { name, digest }: { name: string; digest: string },
): FileOutcome {
  const file = join(root, name);
  const now = readFileText(file);
  if (!now) return "done";
  if ("reason" in now || now.digest !== digest) return "moved";
  try {
    unlinkSync(file);
  } catch (error) {
    return { reason: `can't be deleted (${(error as NodeJS.ErrnoException).code ?? String(error)})` };
  }
  removeEmpty(root, dirname(name));
  return "done";
}

function removeEmpty(root: string, folder: string): void {
  for (let rest = folder; rest !== "." && rest !== ""; rest = dirname(rest)) {
    try {
      rmdirSync(join(root, rest));
    } catch {
      return; // It is not empty.
    }
  }
}

/** The names in these folders survive the loss of power from here on. */
export async function flushFolders({ root }: SyncFolder, names: Iterable<string>): Promise<void> {
  const folders = new Set([...names].map((name) => dirname(name)));
  for (const folder of folders) {
    try {
      const handle = await open(join(root, folder), "r");
      await handle.sync().finally(() => handle.close());
    } catch {
      // It is gone again, or the system has no such thing.
    }
  }
}
