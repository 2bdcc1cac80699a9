import type { PageRecord } from "../../domain/records.js";

export const pageColumns = `
  p.num, p.id, p.path, v.id AS version, p.title, p.type, p.lifecycle, p.valid_from AS validFrom, p.valid_until AS validUntil,
  p.created, p.updated, t.partition, t.sensitivity`;
export const pageTables = "pages p JOIN versions v ON v.num = p.version JOIN parts t ON t.num = p.part";

export type PageRow = { [Key in keyof PageRecord]: PageRecord[Key] | null };

export function toPageRecord(row: PageRow): PageRecord {
  const record: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(row)) if (value !== null) record[key] = value;
  return record as unknown as PageRecord;
}
