import { isId } from "@satchel/pcp";
import { type Access, type Caller, includesPart, isInPerson, readableParts, seesEverything } from "../domain/access.js";
import type { AuditRecord } from "../domain/records.js";
import type { Refusal } from "../domain/refusal.js";
import type { ReadTransaction } from "../store/store.js";
import { loadAccess } from "./access.js";
import { readAuditEntry } from "./audit-entry.js";
import type { Context } from "./context.js";
import { findVisibleRevision } from "./list-revisions.js";
import { invalidCursor } from "./search-pages.js";

export interface ListAuditInput {
  since?: string;
  until?: string;
  principal?: string;
  category?: string;
  limit: number;
  cursor?: string;
}

/** A cursor is as long for the first entry as for the last, so that its length does not count what others did. */
const numberDigits = 16;

/**
 * `audit_list`, newest first (pcp section 8): an owner sees all calls, others their own user's; an owner in person
 * all targets, every other caller those it may read now.
 */
export async function listAudit(
  context: Context,
  caller: Caller,
  input: ListAuditInput,
): Promise<{ entries: AuditRecord[]; nextCursor?: string } | Refusal> {
  const { limit, cursor, ...query } = input;
  const subject = { tool: "audit_list", grant: caller.grant, query };
  const from = cursor === undefined ? undefined : context.cursors.open(subject, cursor);
  if (cursor !== undefined && !from) return invalidCursor();
  return context.store.read(async (transaction) => {
    const access = await loadAccess(transaction, caller);
    const { principal } = query;
    if (!access.isOwner && principal !== undefined && principal !== caller.principal) return { entries: [] };
    const own = access.isOwner ? principal : caller.principal;
    const found = await transaction.audit({
      ...query,
      limit: limit + 1,
      ...(own !== undefined && { principal: own }),
      ...(from && { before: Number(from.id) }),
    });
    const entries: AuditRecord[] = [];
    for (const seq of found.slice(0, limit))
      entries.push(await withReadableTargets(transaction, access, await readAuditEntry(transaction, seq)));
    const last = found[limit - 1];
    if (found.length <= limit || last === undefined) return { entries };
    const snapshotMs = from?.snapshotMs ?? Date.parse(await transaction.recordedTime());
    return {
      entries,
      nextCursor: context.cursors.seal(subject, { snapshotMs, id: String(last).padStart(numberDigits, "0") }),
    };
  });
}

/** The entry as this caller sees it now. */
export async function withReadableTargets(
  transaction: ReadTransaction,
  access: Access,
  entry: AuditRecord,
): Promise<AuditRecord> {
  if (!entry.targets || (isInPerson(access.caller) && seesEverything(access))) return entry;
  const targets: string[] = [];
  for (const target of entry.targets)
    if (await isReadableNow(transaction, access, { ...entry, target })) targets.push(target);
  return { ...entry, targets };
}

async function isReadableNow(
  transaction: ReadTransaction,
  access: Access,
  { category, target }: { category: string; target: string },
): Promise<boolean> {
  if (category.startsWith("profile.")) return true;
  const page = await transaction.page({ path: target });
  if (page) return includesPart(readableParts(access), page);
  return isId("rev", target) && (await findVisibleRevision(transaction, access, { id: target })) !== undefined;
}
