import { type Access, readableParts, seesEverything } from "../domain/access.js";
import { linkedPaths } from "../domain/page-view.js";
import type { PageContent } from "../domain/records.js";
import type { ReadTransaction } from "../store/store.js";

/**
 * The links of a page that this caller is not shown. Who may not read every page is shown links to pages it may read
 * and no others: a link to a hidden page and one to nothing look the same, so that writing a guess and reading it back
 * tells nothing.
 */
export async function findHiddenLinks(
  transaction: ReadTransaction,
  access: Access,
  page: Pick<PageContent, "keys">,
): Promise<ReadonlySet<string>> {
  const paths = linkedPaths(page);
  if (paths.length === 0 || seesEverything(access)) return new Set();
  const readable = await transaction.readablePaths({ paths, parts: readableParts(access) });
  return new Set(paths.filter((path) => !readable.has(path)));
}
