import type { AuditRecord } from "../../domain/records.js";
import type { AuditLine, AuditQuery, Range } from "../store.js";
import type { Connection } from "./connection.js";

export function indexAudit(
  connection: Connection,
  seq: number,
  { at, principal, category }: Pick<AuditRecord, "at" | "principal" | "category">,
): void {
  connection.run(
    "INSERT INTO audit_index (seq, at, principal, category) VALUES (?, ?, ?, ?)",
    seq,
    Date.parse(at),
    principal,
    category,
  );
}

export function listAudit(connection: Connection, query: AuditQuery): number[] {
  const rows = connection.all<{ seq: number }>(
    `SELECT seq FROM audit_index
     WHERE seq < :before AND (:since IS NULL OR at >= :since) AND (:until IS NULL OR at < :until)
       AND (:principal IS NULL OR principal = :principal) AND (:category IS NULL OR category = :category)
     ORDER BY seq DESC LIMIT :limit`,
    {
      before: query.before ?? Number.MAX_SAFE_INTEGER,
      since: query.since === undefined ? null : Date.parse(query.since),
      until: query.until === undefined ? null : Date.parse(query.until),
      principal: query.principal ?? null,
      category: query.category ?? null,
      limit: query.limit,
    },
  );
  return rows.map(({ seq }) => seq);
}

export function listAuditLines(connection: Connection, { after, limit }: Range): AuditLine[] {
  const sql = "SELECT seq, at AS atMs, principal, category FROM audit_index WHERE seq > ? ORDER BY seq LIMIT ?";
  return connection.all<AuditLine>(sql, after, limit);
}

export function takeEarlierAudit(connection: Connection): AuditRecord[] {
  const rows = connection.all<AuditRecord & { targets: string }>(
    "SELECT id, at, principal, client, tool, category, action, outcome, targets FROM earlier_audit ORDER BY num",
  );
  if (rows.length > 0) connection.run("DELETE FROM earlier_audit");
  return rows.map(({ targets, ...row }) => ({ ...row, targets: JSON.parse(targets) as string[] }));
}
