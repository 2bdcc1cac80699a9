import { holdErased, joinRenames } from "./renames.js";

/*
 * What a sync does, as a function of three things: what folder and context were last equal with, what the folder holds,
 * and what the context holds. Pure.
 */

/** What a file and its page were last equal with. */
export interface Entry {
  /** Of the page. */
  id: string;
  /** Of the page; "" when the file's text was put aside and there is no version to merge from. */
  version: string;
  /** Hex SHA-256 of the text, line ends LF and without a byte order mark. */
  digest: string;
}

/** A file as it is now. One with a reason can't be synced; of a `link` nothing is said unless a page is meant by it. */
export type FileFact = { name: string; digest: string } | { name: string; reason: string; isLink?: boolean };

/** A page at a version that the folder has not seen. */
export interface PageFact extends Entry {
  isSensitive: boolean;
}

export interface Sides {
  entries: ReadonlyMap<string, Entry>;
  files: ReadonlyMap<string, FileFact>;
  pages: ReadonlyMap<string, PageFact>;
  /** Pages of entries that are there no longer. */
  gone: ReadonlyMap<string, "removed" | "erased">;
  /** Pages that are there and not synced. */
  outside: ReadonlyMap<string, "sensitive" | "partition">;
  /** Sensitive pages are written into the folder. */
  sensitive: boolean;
}

export type Action =
  | { do: "pair"; path: string; entry: Entry }
  | { do: "forget"; path: string }
  | WritePage
  | WriteFile
  | RemovePage
  | RemoveFile
  | { do: "leave-open"; path: string; why: OpenKind }
  | { do: "refuse"; path: string; file?: string; reason: string };

export type OpenKind = "file deleted" | "page removed" | "page erased";

export interface WritePage {
  do: "write-page";
  path: string;
  file: string;
  digest: string;
  /** The version it replaces; absent: there is no page. */
  expected?: string;
  /** Both sides changed, since the version `base` if one is known. */
  merge?: { base?: string };
  /** The file was renamed: this page ends. */
  from?: { path: string; expected: string };
  /** It was removed on the other side, and an edit counts more than a removal. */
  isRevived?: true;
}

export interface WriteFile {
  do: "write-file";
  path: string;
  page: Entry;
  /** The file it replaces; absent: there is none. */
  over?: { name: string; digest: string };
  isRevived?: true;
}

export interface RemovePage {
  do: "remove-page";
  path: string;
  page: Entry;
  asks: true;
}

export interface RemoveFile {
  do: "remove-file";
  path: string;
  file: { name: string; digest: string };
  /** False of a rename: the same text is written at another path first, at `after`. */
  asks: boolean;
  after?: string;
  isErased: boolean;
}

/** What is to be done, path by path, renames found. What asks is decided by `answerPlan`. */
export function planSync(sides: Sides): Action[] {
  const paths = new Set([...sides.entries.keys(), ...sides.files.keys(), ...sides.pages.keys()]);
  const actions = [...paths].sort().flatMap((path) => decidePath(sides, path) ?? []);
  return joinRenames(holdErased(sides, actions));
}

function decidePath(sides: Sides, path: string): Action | undefined {
  const file = sides.files.get(path);
  const entry = sides.entries.get(path);
  const page = currentPage(sides, path);
  if (file && "reason" in file) return decideUnusable(file, { path, isMeant: Boolean(entry ?? page) });
  const outside = sides.outside.get(path);
  if (outside) return decideOutside({ path, outside, ...(file && { file }) });
  if (file && page) return decideBoth({ path, file, page, sides, ...(entry && { entry }) });
  if (file) return decideFileAlone({ path, file, gone: sides.gone.get(path), ...(entry && { entry }) });
  if (page) return decidePageAlone({ path, page, ...(entry && { entry }) });
  return entry && { do: "forget", path };
}

/** An entry's page is as it was, unless the comparison says otherwise. */
function currentPage({ entries, pages, gone, outside }: Sides, path: string): Entry | undefined {
  if (gone.has(path) || outside.has(path)) return undefined;
  return pages.get(path) ?? entries.get(path);
}

function decideUnusable(
  { name, reason, isLink }: Extract<FileFact, { reason: string }>,
  { path, isMeant }: { path: string; isMeant: boolean },
): Action | undefined {
  return isLink && !isMeant ? undefined : { do: "refuse", path, file: name, reason };
}

type UsableFile = Extract<FileFact, { digest: string }>;

function decideOutside({
  path,
  outside,
  file,
}: {
  path: string;
  outside: "sensitive" | "partition";
  file?: UsableFile;
}): Action {
  if (!file) return { do: "forget", path };
  const reason =
    outside === "partition"
      ? "its page lies in another partition, and this folder is synced with one alone"
      : "its page is sensitive; sync it with --sensitive";
  return { do: "refuse", path, file: file.name, reason };
}

interface Both {
  path: string;
  file: UsableFile;
  page: Entry;
  entry?: Entry;
  sides: Sides;
}

function decideBoth({ path, file, page, entry, sides }: Both): Action | undefined {
  if (file.digest === page.digest) {
    const isKnown = entry?.version === page.version && entry.digest === page.digest;
    return isKnown ? undefined : { do: "pair", path, entry: bare(page) };
  }
  const write = { do: "write-page", path, file: file.name, digest: file.digest, expected: page.version } as const;
  if (entry && page.digest === entry.digest) return write;
  if (sides.pages.get(path)?.isSensitive && !sides.sensitive) {
    const reason = "its page is sensitive and was changed; --sensitive writes it into the folder";
    return { do: "refuse", path, file: file.name, reason };
  }
  if (entry && file.digest === entry.digest) return { do: "write-file", path, page: bare(page), over: file };
  return { ...write, merge: entry?.version ? { base: entry.version } : {} };
}

function decideFileAlone({
  path,
  file,
  gone,
  entry,
}: {
  path: string;
  file: UsableFile;
  gone: "removed" | "erased" | undefined;
  entry?: Entry;
}): Action {
  const write = { do: "write-page", path, file: file.name, digest: file.digest } as const;
  if (!entry) return write;
  if (file.digest === entry.digest) return { do: "remove-file", path, file, asks: true, isErased: gone === "erased" };
  return gone === "erased" ? { do: "leave-open", path, why: "page erased" } : { ...write, isRevived: true };
}

function decidePageAlone({ path, page, entry }: { path: string; page: Entry; entry?: Entry }): Action {
  const unfit = findUnfit(path);
  if (unfit) return { do: "refuse", path, reason: unfit };
  if (!entry) return { do: "write-file", path, page: bare(page) };
  if (page.digest === entry.digest) return { do: "remove-page", path, page: bare(page), asks: true };
  return { do: "write-file", path, page: bare(page), isRevived: true };
}

function bare({ id, version, digest }: Entry): Entry {
  return { id, version, digest };
}

const maxNameBytes = 255;

/** Why a page's path can't be a file's name. */
function findUnfit(path: string): string | undefined {
  const segments = `${path}.md`.split("/");
  if (segments.some((segment) => segment.startsWith("."))) return "hidden files and folders are left out of a sync";
  if (segments.some((segment) => Buffer.byteLength(segment) > maxNameBytes))
    return `a part of its path is longer than the ${maxNameBytes} bytes that a file's name may have`;
  return undefined;
}
