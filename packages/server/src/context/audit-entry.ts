import type { NewEntry } from "@satchel/journal";
import type { AuditRecord } from "../domain/records.js";
import type { ReadTransaction } from "../store/store.js";

/**
 * An audit entry has two commitments: the head stays, the detail can be erased (pcp section 8). The call's id is the
 * caller's own text, so it is part of the detail.
 */
export function auditEntry({ targets = [], call_id, ...head }: AuditRecord): NewEntry {
  return { at: head.at, kind: "audit", bodies: [head, { targets, ...(call_id !== undefined && { call_id }) }] };
}

/** The audit entry at a place of the journal that holds one. */
export async function readAuditEntry({ journal }: ReadTransaction, seq: number): Promise<AuditRecord> {
  const [entry] = await journal.entries({ from: seq, limit: 1 });
  const [head, detail] = entry?.openings ?? [];
  return { ...JSON.parse(head?.body ?? "{}"), ...(detail && JSON.parse(detail.body)) };
}
