import { type Caller, isReadable, readableParts } from "../domain/access.js";
import { buildFolderIndex, type FolderIndex, folderIndexLimit, indexedFolder } from "../domain/folder-index.js";
import type { PageVersion, Part } from "../domain/records.js";
import type { Refusal } from "../domain/refusal.js";
import type { ReadTransaction } from "../store/store.js";
import type { Context } from "./context.js";
import { findHiddenLinks } from "./links.js";

export type ReadPageInput = { path: string } | { id: string };

export type PageRead =
  | { kind: "page"; version: PageVersion; hiddenLinks: ReadonlySet<string> }
  | { kind: "index"; index: FolderIndex };

/** `memory_read` (pcp sections 2-4). Refuses with not_found, whether the page is absent or only not for this caller. */
export async function readPage(context: Context, caller: Caller, input: ReadPageInput): Promise<PageRead | Refusal> {
  return context.store.read(async (transaction) => {
    const partitions = await transaction.partitions();
    const parts = readableParts(caller, partitions);
    const page = await transaction.page(input);
    if (page && isReadable(parts, page)) {
      const version = await transaction.currentVersion(page);
      const hiddenLinks = await findHiddenLinks(transaction, { caller, partitions }, version);
      return { kind: "page", version, hiddenLinks };
    }
    const index = "path" in input ? await generateIndex(transaction, parts, input.path) : undefined;
    return index ? { kind: "index", index } : notFound(input);
  });
}

async function generateIndex(
  transaction: ReadTransaction,
  parts: Part[],
  path: string,
): Promise<FolderIndex | undefined> {
  const folder = indexedFolder(path);
  if (folder === undefined) return undefined;
  const newest = await transaction.newestUpdate({ parts, prefix: folder });
  if (newest === undefined && folder !== "") return undefined;
  const pages = await transaction.list({ parts, prefix: folder, includeArchived: false, limit: folderIndexLimit + 1 });
  return buildFolderIndex(folder, pages, newest ?? (await transaction.context()).created);
}

function notFound(input: ReadPageInput): Refusal {
  const what = "path" in input ? `at "${input.path}"` : "with this id";
  return { refused: "not_found", message: `There is no page ${what}. memory_search or memory_list find pages.` };
}
