import type { Attachment, ExportRecord } from "../../domain/records.js";
import type { Connection } from "./connection.js";

interface ExportRow {
  id: string;
  created: string;
  file: string | null;
  secret: string | null;
  expires: string | null;
  grantee: string;
  made: string | null;
  coverage: ExportRecord["coverage"];
  auditSize: number;
}

export function listExports(connection: Connection): ExportRecord[] {
  const rows = connection.all<ExportRow>(
    "SELECT id, created, file, secret, expires, grantee, made, coverage, audit_size AS auditSize FROM exports ORDER BY id",
  );
  return rows.map(({ file, secret, expires, grantee, made, ...row }) => ({
    ...row,
    grant: grantee,
    ...(file !== null && { file }),
    ...(secret !== null && { secret }),
    ...(expires !== null && { expires }),
    ...(made !== null && { made: JSON.parse(made) }),
  }));
}

export function putExport(connection: Connection, record: ExportRecord): void {
  connection.run(
    `INSERT INTO exports (id, created, file, secret, expires, grantee, made, coverage, audit_size)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET made = excluded.made, expires = excluded.expires`,
    record.id,
    record.created,
    record.file ?? null,
    record.secret ?? null,
    record.expires ?? null,
    record.grant,
    record.made ? JSON.stringify(record.made) : null,
    record.coverage,
    record.auditSize,
  );
}

export function exportedItems(connection: Connection, id: string): string[] {
  const row = connection.get<{ items: string }>("SELECT items FROM exports WHERE id = ?", id);
  return row ? JSON.parse(row.items) : [];
}

export function putExportedItems(connection: Connection, id: string, items: string[]): void {
  connection.run("UPDATE exports SET items = ? WHERE id = ?", JSON.stringify(items), id);
}

export function endExport(connection: Connection, id: string): void {
  connection.run("DELETE FROM exports WHERE id = ?", id);
}

export function listAttachments(connection: Connection): Attachment[] {
  return connection.all<Attachment>("SELECT path, text FROM attachments ORDER BY path");
}

export function putAttachment(connection: Connection, { path, text }: Attachment): void {
  connection.run(
    "INSERT INTO attachments (path, text) VALUES (?, ?) ON CONFLICT (path) DO UPDATE SET text = excluded.text",
    path,
    text,
  );
}
