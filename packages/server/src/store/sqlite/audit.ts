import type { AuditRecord } from "../../domain/records.js";
import type { AuditQuery } from "../store.js";
import type { Connection } from "./connection.js";

const columns = "id, at, principal, client, tool, category, action, outcome, targets";

export function appendAudit(connection: Connection, entry: AuditRecord): void {
  connection.run(
    `INSERT INTO audit (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    entry.id,
    entry.at,
    entry.principal,
    entry.client,
    entry.tool,
    entry.category,
    entry.action,
    entry.outcome,
    JSON.stringify(entry.targets),
  );
}

export function listAudit(connection: Connection, query: AuditQuery): (AuditRecord & { num: number })[] {
  const rows = connection.all<Omit<AuditRecord, "targets"> & { num: number; targets: string }>(
    `SELECT num, ${columns} FROM audit
     WHERE num < :before AND (:since IS NULL OR at >= :since) AND (:until IS NULL OR at < :until)
       AND (:principal IS NULL OR principal = :principal) AND (:category IS NULL OR category = :category)
     ORDER BY num DESC LIMIT :limit`,
    {
      before: query.before ?? Number.MAX_SAFE_INTEGER,
      since: query.since ?? null,
      until: query.until ?? null,
      principal: query.principal ?? null,
      category: query.category ?? null,
      limit: query.limit,
    },
  );
  return rows.map(({ targets, ...row }) => ({ ...row, targets: JSON.parse(targets) as string[] }));
}
