import type { PageRecord } from "../../domain/records.js";

export const pageColumns = `
  p.num, p.id, p.path, v.id AS version, p.title, p.type, p.lifecycle, p.valid_from AS validFrom, p.valid_until AS validUntil,
  p.created, p.updated, t.partition, t.sensitivity, v.review IS NOT NULL AS approved`;
export const pageTables = "pages p JOIN versions v ON v.num = p.version JOIN parts t ON t.num = p.part";

/** SQLite has neither absence nor truth: NULL stands for an absent column, 0 and 1 for `approved`. */
export type PageRow = { [Key in keyof Omit<PageRecord, "approved">]: PageRecord[Key] | null } & { approved: number };

export function toPageRecord(row: PageRow): PageRecord {
  const { approved, ...columns } = row;
  const record: Record<string, unknown> = approved === 1 ? { approved: true } : {};
  for (const [key, value] of Object.entries(columns)) if (value !== null) record[key] = value;
  return record as unknown as PageRecord;
}
