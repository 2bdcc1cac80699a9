import { type Caller, includesPart, readableParts } from "../domain/access.js";
import { verifyDirectChange } from "../domain/page-write.js";
import type { PageVersion } from "../domain/records.js";
import type { Refusal } from "../domain/refusal.js";
import { loadAccess } from "./access.js";
import type { Context } from "./context.js";
import { applyWrite } from "./write-page.js";

export type RecordedVersion = PageVersion & { removed: boolean };

/** Every version of the page at a path, oldest first. Refuses with not_found. */
export async function readHistory(
  context: Context,
  caller: Caller,
  { path }: { path: string },
): Promise<{ path: string; versions: RecordedVersion[] } | Refusal> {
  return context.store.read(async (transaction) => {
    const parts = readableParts(await loadAccess(transaction, caller));
    const page = await transaction.page({ path });
    if (!page || !includesPart(parts, page)) return noSuchPage(path);
    const versions = await transaction.versions(page.id);
    return { path, versions: versions.filter((version) => includesPart(parts, version)) };
  });
}

/** Writes an earlier version's text and keys again, as a new version. Refuses with not_found, forbidden. */
export async function restorePage(
  context: Context,
  caller: Caller,
  { path, version: id }: { path: string; version: string },
): Promise<{ path: string; id: string; updated: string; version: string } | Refusal> {
  return context.store.write(async (transaction) => {
    const access = await loadAccess(transaction, caller);
    const parts = readableParts(access);
    const page = await transaction.page({ path });
    if (!page || !includesPart(parts, page)) return noSuchPage(path);
    const version = await transaction.version(id);
    if (version?.id !== page.id || !includesPart(parts, version)) {
      return { refused: "not_found", message: `"${path}" has no such version. satchel page history shows them.` };
    }
    const refused = verifyDirectChange(access, page, version);
    if (refused) return refused;
    return applyWrite(context, transaction, { caller, path, existing: page, decided: version });
  });
}

function noSuchPage(path: string): Refusal {
  return { refused: "not_found", message: `There is no page at "${path}".` };
}
