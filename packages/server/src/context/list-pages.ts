import { type Caller, readableParts } from "../domain/access.js";
import type { PageRecord, PageType, Part } from "../domain/records.js";
import type { Refusal } from "../domain/refusal.js";
import { currentSuccessors, standingAt } from "../domain/standing.js";
import type { ReadTransaction } from "../store/store.js";
import type { Context } from "./context.js";
import { invalidCursor } from "./search-pages.js";

export interface ListPagesInput {
  prefix?: string;
  partition?: string;
  type?: PageType;
  includeArchived: boolean;
  includeStale: boolean;
  limit: number;
  cursor?: string;
}

export interface ListAnswer {
  pages: PageRecord[];
  nextCursor?: string;
}

/** `memory_list`: pages by path, in code point order. Refuses with invalid_input for a foreign or old cursor. */
export async function listPages(
  context: Context,
  caller: Caller,
  input: ListPagesInput,
): Promise<ListAnswer | Refusal> {
  const { limit, cursor, ...query } = input;
  const subject = { tool: "memory_list", grant: caller.grant, query };
  const from = cursor === undefined ? undefined : context.cursors.open(subject, cursor);
  if (cursor !== undefined && !from) return invalidCursor();
  return context.store.read(async (transaction) => {
    const readable = readableParts(caller, await transaction.partitions());
    const parts = input.partition ? readable.filter((part) => part.partition === input.partition) : readable;
    const after = from && (await transaction.pathOf(from.id));
    if (from && after === undefined) return invalidCursor();
    const found = await collect(transaction, { input, parts, readable, after, nowMs: context.environment.now() });
    const pages = found.slice(0, limit);
    const last = pages.at(-1);
    if (found.length <= limit || !last) return { pages };
    const snapshotMs = from?.snapshotMs ?? Date.parse(await transaction.recordedTime());
    return { pages, nextCursor: context.cursors.seal(subject, { snapshotMs, id: last.id }) };
  });
}

/** One page more than the limit when there are more. */
async function collect(
  transaction: ReadTransaction,
  listing: { input: ListPagesInput; parts: Part[]; readable: Part[]; after: string | undefined; nowMs: number },
): Promise<PageRecord[]> {
  const { input, parts, readable, nowMs } = listing;
  const { prefix, type, includeArchived, limit } = input;
  const found: PageRecord[] = [];
  let after = listing.after;
  for (;;) {
    const batch = await transaction.list({
      parts,
      includeArchived,
      limit: limit + 1,
      ...(prefix !== undefined && { prefix }),
      ...(type && { type }),
      ...(after !== undefined && { after }),
    });
    found.push(...(input.includeStale ? batch : await withoutStale(transaction, { batch, readable, nowMs })));
    after = batch.at(-1)?.path;
    if (found.length > limit || batch.length <= limit) return found;
  }
}

/** `readable`: everything the caller may read, because a page outside the listing can supersede one in it. */
export async function withoutStale(
  transaction: ReadTransaction,
  listing: { batch: PageRecord[]; readable: Part[]; nowMs: number },
): Promise<PageRecord[]> {
  const { batch, readable, nowMs } = listing;
  const fresh = batch.filter((page) => standingAt(page, nowMs) !== "stale");
  const claims = await transaction.superseders({ paths: fresh.map(({ path }) => path), parts: readable });
  return claims.length === 0 ? fresh : fresh.filter((page) => currentSuccessors(page, claims, nowMs).length === 0);
}
