import { twinKey } from "@satchel/pcp";
import {
  type Access,
  type Caller,
  includesPart,
  readableParts,
  readableSensitivities,
  reviewableParts,
} from "../domain/access.js";
import type { Revision, RevisionState } from "../domain/records.js";
import type { Refusal } from "../domain/refusal.js";
import { isAuthor, isReviewer, noSuchRevision } from "../domain/review.js";
import type { ReadTransaction, RevisionQuery } from "../store/store.js";
import { loadAccess } from "./access.js";
import type { Context } from "./context.js";
import { invalidCursor } from "./search-pages.js";

export interface ListRevisionsInput {
  state: "proposed" | "rejected";
  partition?: string;
  limit: number;
  cursor?: string;
}

export interface ListedRevision {
  revision: Revision;
  /** A page the caller may read is there now. */
  targetExists: boolean;
}

/** `review_list`, newest first: what the caller reviews, and its own proposals (pcp section 5). */
export async function listRevisions(
  context: Context,
  caller: Caller,
  input: ListRevisionsInput,
): Promise<{ items: ListedRevision[]; nextCursor?: string } | Refusal> {
  const { limit, cursor, ...query } = input;
  const subject = { tool: "review_list", grant: caller.grant, query };
  const from = cursor === undefined ? undefined : context.cursors.open(subject, cursor);
  if (cursor !== undefined && !from) return invalidCursor();
  return context.store.read(async (transaction) => {
    const access = await loadAccess(transaction, caller);
    const before = from && (await transaction.revision(from.id))?.num;
    if (from && before === undefined) return invalidCursor();
    const found = await transaction.revisions({
      ...visibleRevisions(access, [input.state]),
      limit: limit + 1,
      ...(input.partition !== undefined && { partition: input.partition }),
      ...(before !== undefined && { before }),
    });
    const items: ListedRevision[] = [];
    for (const revision of found.slice(0, limit)) {
      items.push({ revision, targetExists: await isTargetSeen(transaction, access, revision) });
    }
    const last = items.at(-1)?.revision;
    if (found.length <= limit || !last) return { items };
    const snapshotMs = from?.snapshotMs ?? Date.parse(await transaction.recordedTime());
    return { items, nextCursor: context.cursors.seal(subject, { snapshotMs, id: last.id }) };
  });
}

/** The revisions this caller may see, as a query. */
export function visibleRevisions(access: Access, states: RevisionState[]): RevisionQuery {
  const { principal, client } = access.caller;
  return {
    states,
    reviewable: reviewableParts(access),
    author: { principal, client, sensitivities: readableSensitivities(access) },
  };
}

async function isTargetSeen(transaction: ReadTransaction, access: Access, revision: Revision): Promise<boolean> {
  const page = await transaction.page({ twinKey: twinKey(revision.path) });
  return page !== undefined && includesPart(readableParts(access), page);
}

/** A revision by its id, if the caller may see it. */
export async function findVisibleRevision(
  transaction: ReadTransaction,
  access: Access,
  wanted: { id: string; path?: string },
): Promise<Revision | undefined> {
  const revision = await transaction.revision(wanted.id);
  if (!revision || revision.state === "approved" || (wanted.path !== undefined && wanted.path !== revision.path)) {
    return undefined;
  }
  if (isAuthor(access, revision)) return revision;
  const current = await transaction.page({ twinKey: twinKey(revision.path) });
  return isReviewer(access, { revision, ...(current && { current }) }) ? revision : undefined;
}

/** A revision whole, if the caller may see it. Refuses with not_found. */
export async function readRevision(context: Context, caller: Caller, id: string): Promise<Revision | Refusal> {
  return context.store.read(async (transaction) => {
    const access = await loadAccess(transaction, caller);
    return (await findVisibleRevision(transaction, access, { id })) ?? noSuchRevision();
  });
}
