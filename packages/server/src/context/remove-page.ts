import { encodeId } from "@satchel/pcp";
import { type Caller, includesPart, readableParts } from "../domain/access.js";
import { verifyDirectChange, verifyExpectedUpdated } from "../domain/page-write.js";
import type { PageRecord } from "../domain/records.js";
import type { Refusal } from "../domain/refusal.js";
import type { WriteTransaction } from "../store/store.js";
import { loadAccess } from "./access.js";
import type { Context } from "./context.js";

export interface RemovePageInput {
  path: string;
  expectedUpdated?: string;
}

/** Ends a page with a tombstone version (pcp section 3): the path is free, the history stays. Refuses with not_found, forbidden, conflict. */
export async function removePage(
  context: Context,
  caller: Caller,
  input: RemovePageInput,
): Promise<{ path: string; id: string; updated: string; version: string } | Refusal> {
  return context.store.write(async (transaction) => {
    const access = await loadAccess(transaction, caller);
    const parts = readableParts(access);
    const page = await transaction.page({ path: input.path });
    if (!page || !includesPart(parts, page)) {
      return { refused: "not_found", message: `There is no page at "${input.path}".` };
    }
    const refused = verifyDirectChange(access, page) ?? verifyExpectedUpdated(input, page);
    if (refused) return refused;
    return { path: page.path, id: page.id, ...(await endPage(context, transaction, { caller, page })) };
  });
}

/** Adds the tombstone version, whoever may do so. */
export async function endPage(
  { environment }: Context,
  transaction: WriteTransaction,
  { caller: { principal, client }, page }: { caller: Caller; page: PageRecord },
): Promise<{ updated: string; version: string }> {
  const updated = await transaction.tick(environment.now());
  const version = encodeId("ver", environment.newUuid());
  await transaction.removePage(page, { version, updated, generated: { principal, client, at: updated } });
  return { updated, version };
}
