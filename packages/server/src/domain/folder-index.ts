import type { PageRecord } from "./records.js";

/** The generated page of a folder lists at most this many pages; `memory_list` gives the rest. */
export const folderIndexLimit = 500;

/** The folder whose generated index `path` names: "" for the root, undefined when `path` is no index. */
export function indexedFolder(path: string): string | undefined {
  if (path === "_index") return "";
  return path.endsWith("/_index") ? path.slice(0, -"_index".length) : undefined;
}

export interface FolderIndex {
  path: string;
  title: string;
  updated: string;
  body: string;
}

/** Built from the pages the caller may see and nothing else (pcp section 2). `pages` has one more than the limit when there are more. */
export function buildFolderIndex(folder: string, pages: PageRecord[], newestUpdated: string): FolderIndex {
  const shown = pages.slice(0, folderIndexLimit);
  const lines = shown.map((page) => `- ${page.path}: ${page.title.replace(/\s+/g, " ")}`);
  if (pages.length > shown.length) {
    lines.push(`- … and more: call memory_list${folder ? ` with the prefix "${folder}"` : ""}.`);
  }
  return {
    path: `${folder}_index`,
    title: folder === "" ? "Index" : `Index of ${folder.slice(0, -1)}`,
    updated: newestUpdated,
    body: shown.length === 0 ? "No pages yet.\n" : `${lines.join("\n")}\n`,
  };
}
