import { twinKey } from "@satchel/pcp";
import { type Access, type Caller, includesPart, readableParts } from "../domain/access.js";
import { buildFolderIndex, type FolderIndex, folderIndexLimit, indexedFolder } from "../domain/folder-index.js";
import type { PageContent, PageRecord, PageVersion, Revision } from "../domain/records.js";
import type { Refusal } from "../domain/refusal.js";
import { noSuchRevision } from "../domain/review.js";
import type { ReadTransaction } from "../store/store.js";
import { loadAccess } from "./access.js";
import type { Context } from "./context.js";
import { findHiddenLinks } from "./links.js";
import { findVisibleRevision, visibleRevisions } from "./list-revisions.js";
import { verifyInstant } from "./past.js";

export type ReadPageInput = ({ path: string } | { id: string }) & {
  /** A proposed or rejected revision instead of the page. */
  revision?: string;
  /** The version recorded at this instant. */
  asOf?: string;
};

export type PageRead =
  | { kind: "page"; version: PageVersion; hiddenLinks: ReadonlySet<string>; pendingRevisions: number }
  | { kind: "revision"; revision: Revision; hiddenLinks: ReadonlySet<string>; pendingRevisions: number }
  | { kind: "index"; index: FolderIndex };

/** `memory_read` (pcp sections 2-6). Refuses with not_found, whether the page is absent or only not for this caller, and invalid_input for a future `as_of`. */
export async function readPage(context: Context, caller: Caller, input: ReadPageInput): Promise<PageRead | Refusal> {
  return context.store.read(async (transaction) => {
    const access = await loadAccess(transaction, caller);
    if (input.revision !== undefined) return readRevision(transaction, access, { ...input, revision: input.revision });
    if (input.asOf !== undefined) {
      const refused = await verifyInstant(context, transaction, input.asOf);
      return refused ?? readPast(transaction, access, { input, at: input.asOf });
    }
    return readPresent(transaction, access, input);
  });
}

async function readPresent(
  transaction: ReadTransaction,
  access: Access,
  input: ReadPageInput,
): Promise<PageRead | Refusal> {
  const parts = readableParts(access);
  const page = await transaction.page(input);
  if (page && includesPart(parts, page)) {
    const version = await transaction.currentVersion(page);
    return { kind: "page", version, ...(await surroundings(transaction, access, version)) };
  }
  const list = async (prefix: string) => {
    const pages = await transaction.list({ parts, prefix, includeArchived: false, limit: folderIndexLimit + 1 });
    return { pages, newest: await transaction.newestUpdate({ parts, prefix }) };
  };
  return (await generateIndex(transaction, input, list)) ?? notFound(input);
}

async function readPast(
  transaction: ReadTransaction,
  access: Access,
  { input, at }: { input: ReadPageInput; at: string },
): Promise<PageRead | Refusal> {
  const parts = readableParts(access);
  const query = { at, parts, readable: parts };
  const version = await transaction.pastPage({ ...query, selector: input });
  if (version) return { kind: "page", version, ...(await surroundings(transaction, access, version)) };
  const list = async (prefix: string) => {
    const past = (await transaction.past(query)).filter(({ path }) => path.startsWith(prefix));
    const newest = past.reduce<string | undefined>(
      (a, { updated }) => (a === undefined || updated > a ? updated : a),
      undefined,
    );
    return { pages: past.filter(({ lifecycle }) => lifecycle !== "archived").slice(0, folderIndexLimit + 1), newest };
  };
  return (await generateIndex(transaction, input, list)) ?? notFound(input);
}

async function readRevision(
  transaction: ReadTransaction,
  access: Access,
  input: ReadPageInput & { revision: string },
): Promise<PageRead | Refusal> {
  const path = "path" in input ? input.path : await transaction.pathOf(input.id);
  if (path === undefined) return noSuchRevision();
  if ("id" in input) {
    const page = await transaction.page({ id: input.id });
    if (!page || !includesPart(readableParts(access), page)) return noSuchRevision();
  }
  const revision = await findVisibleRevision(transaction, access, { id: input.revision, path });
  if (!revision) return noSuchRevision();
  return { kind: "revision", revision, ...(await surroundings(transaction, access, revision)) };
}

/** What is shown beside a page: which of its links stay hidden, and how many proposals for it the caller may see. */
async function surroundings(
  transaction: ReadTransaction,
  access: Access,
  page: Pick<PageContent, "keys"> & { path: string },
): Promise<{ hiddenLinks: ReadonlySet<string>; pendingRevisions: number }> {
  const hiddenLinks = await findHiddenLinks(transaction, access, page);
  const query = visibleRevisions(access, ["proposed"]);
  const pending = await transaction.revisions({ ...query, twinKey: twinKey(page.path) });
  return { hiddenLinks, pendingRevisions: pending.length };
}

async function generateIndex(
  transaction: ReadTransaction,
  input: ReadPageInput,
  list: (prefix: string) => Promise<{ pages: PageRecord[]; newest: string | undefined }>,
): Promise<PageRead | undefined> {
  const folder = "path" in input ? indexedFolder(input.path) : undefined;
  if (folder === undefined) return undefined;
  const { pages, newest } = await list(folder);
  if (newest === undefined && folder !== "") return undefined;
  const updated = newest ?? (await transaction.context()).created;
  return { kind: "index", index: buildFolderIndex(folder, pages, updated) };
}

function notFound(input: { path: string } | { id: string }): Refusal {
  const what = "path" in input ? `at "${input.path}"` : "with this id";
  return { refused: "not_found", message: `There is no page ${what}. memory_search or memory_list find pages.` };
}
