import { type Access, type Caller, readableParts } from "../domain/access.js";
import type { PageRecord, PageType, Part, Revision, RevisionState } from "../domain/records.js";
import type { Refusal } from "../domain/refusal.js";
import { invalidInput } from "../domain/refusal.js";
import { currentSuccessors, standingAt } from "../domain/standing.js";
import type { ReadTransaction } from "../store/store.js";
import { loadAccess } from "./access.js";
import type { Context } from "./context.js";
import { visibleRevisions } from "./list-revisions.js";
import { verifyInstant, withoutPastStale } from "./past.js";
import { revisionRecord } from "./revision-index.js";
import { invalidCursor } from "./search-pages.js";

export interface ListPagesInput {
  prefix?: string;
  partition?: string;
  type?: PageType;
  includeArchived: boolean;
  includeStale: boolean;
  includeReview?: Exclude<RevisionState, "approved">[];
  /** List the versions recorded at this instant. */
  asOf?: string;
  limit: number;
  cursor?: string;
}

export interface ListedPage {
  page: PageRecord;
  revision?: Revision;
}

export interface ListAnswer {
  pages: ListedPage[];
  nextCursor?: string;
}

interface Listing {
  access: Access;
  input: ListPagesInput;
  parts: Part[];
  readable: Part[];
  after: Place | undefined;
  nowMs: number;
}

/** A place in the order: by path, a page before the revisions that aim at it, those by age. */
interface Place {
  path: string;
  /** 0 for a page, else the number of the revision. */
  revision: number;
}

/** `memory_list`: pages by path, in code point order (pcp sections 5 and 6). Refuses with invalid_input for a foreign or old cursor and a future `as_of`. */
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
    const refused = await verifyListing(context, transaction, input);
    if (refused) return refused;
    const access = await loadAccess(transaction, caller);
    const readable = readableParts(access);
    const parts = input.partition ? readable.filter((part) => part.partition === input.partition) : readable;
    const after = from && (await placeOf(transaction, from.id));
    if (from && !after) return invalidCursor();
    const listing = { access, input, parts, readable, after, nowMs: context.environment.now() };
    const found = await collect(transaction, listing);
    const pages = found.slice(0, limit);
    const last = pages.at(-1);
    if (found.length <= limit || !last) return { pages };
    const snapshotMs = from?.snapshotMs ?? Date.parse(await transaction.recordedTime());
    const position = { snapshotMs, id: last.revision?.id ?? last.page.id };
    return { pages, nextCursor: context.cursors.seal(subject, position) };
  });
}

async function verifyListing(
  context: Context,
  transaction: ReadTransaction,
  { asOf, includeReview }: ListPagesInput,
): Promise<Refusal | undefined> {
  if (asOf === undefined) return undefined;
  if (includeReview?.length) return invalidInput(["/include_review: can't be asked together with as_of"]);
  return verifyInstant(context, transaction, asOf);
}

async function placeOf(transaction: ReadTransaction, id: string): Promise<Place | undefined> {
  if (id.startsWith("rev_")) {
    const revision = await transaction.revision(id);
    return revision && { path: revision.path, revision: revision.num };
  }
  const path = await transaction.pathOf(id);
  return path === undefined ? undefined : { path, revision: 0 };
}

/** At least one more than the limit when there are more. */
async function collect(transaction: ReadTransaction, listing: Listing): Promise<ListedPage[]> {
  if (listing.input.asOf !== undefined) return collectPast(transaction, listing, listing.input.asOf);
  const pages = (await collectPages(transaction, listing)).map((page) => ({ page }));
  const revisions = await collectRevisions(transaction, listing);
  return revisions.length === 0 ? pages : [...pages, ...revisions].sort(byPlace);
}

async function collectPages(transaction: ReadTransaction, listing: Listing): Promise<PageRecord[]> {
  const { input, parts, readable, nowMs } = listing;
  const { prefix, type, includeArchived, limit } = input;
  const found: PageRecord[] = [];
  let after = listing.after?.path;
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

async function collectRevisions(transaction: ReadTransaction, listing: Listing): Promise<ListedPage[]> {
  const { access, input, after, nowMs } = listing;
  const { prefix = "", partition, type, includeReview, includeArchived, includeStale } = input;
  if (!includeReview?.length) return [];
  const revisions = await transaction.revisions({
    ...visibleRevisions(access, includeReview),
    ...(partition !== undefined && { partition }),
  });
  const listed: ListedPage[] = [];
  for (const revision of revisions) {
    const { record: page } = await revisionRecord(transaction, access, revision);
    const standing = standingAt(page, nowMs);
    const isWanted =
      page.path.startsWith(prefix) &&
      (!type || page.type === type) &&
      (includeArchived || standing !== "archived") &&
      (includeStale || standing !== "stale");
    if (isWanted && (!after || comparePlaces(placeIn({ page, revision }), after) > 0)) listed.push({ page, revision });
  }
  return listed;
}

function placeIn({ page, revision }: ListedPage): Place {
  return { path: page.path, revision: revision?.num ?? 0 };
}

function byPlace(a: ListedPage, b: ListedPage): number {
  return comparePlaces(placeIn(a), placeIn(b));
}

function comparePlaces(a: Place, b: Place): number {
  return compareCodePoints(a.path, b.path) || a.revision - b.revision;
}

/** As the store orders paths. */
function compareCodePoints(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

async function collectPast(transaction: ReadTransaction, listing: Listing, at: string): Promise<ListedPage[]> {
  const { parts, readable, after, input } = listing;
  const { prefix = "", type, includeArchived, includeStale, limit } = input;
  const past = await transaction.past({ at, parts, readable });
  const standing = includeStale
    ? past
    : withoutPastStale(past, {
        among: parts.length === readable.length ? past : await transaction.past({ at, parts: readable, readable }),
        atMs: Date.parse(at),
      });
  return standing
    .filter((page) => page.path.startsWith(prefix) && (!type || page.type === type))
    .filter((page) => includeArchived || page.lifecycle !== "archived")
    .filter((page) => !after || compareCodePoints(page.path, after.path) > 0)
    .slice(0, limit + 1)
    .map((page) => ({ page }));
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
