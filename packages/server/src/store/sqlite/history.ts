import type { ActorAt, Decision, PageContent, PageRecord, PageVersion, Part } from "../../domain/records.js";
import type { PastQuery } from "../store.js";
import type { Connection } from "./connection.js";
import { type PageRow, toPageRecord } from "./page-row.js";
import { partNumbers } from "./parts.js";

/** The columns of a page as one of its versions had them; the title and its like follow from the keys. */
const versionColumns = `
  p.num, p.id, p.path, v.id AS version, p.created, v.recorded AS updated, t.partition, t.sensitivity,
  v.head, v.body, v.keys, v.principal, v.client, v.review, v.review IS NOT NULL AS approved, v.removed`;
const versionTables = "versions v JOIN pages p ON p.num = v.page JOIN parts t ON t.num = v.part";

type VersionRow = PageRow & {
  head: string;
  body: string;
  keys: string;
  principal: string;
  client: string | null;
  review: string | null;
  removed: number;
};

type AnyVersion = PageVersion & { removed: boolean };

function toVersion(row: VersionRow): AnyVersion {
  const { head, body, keys: keysText, principal, client, review, removed, ...page } = row;
  const record = toPageRecord(page);
  const keys: PageContent["keys"] = JSON.parse(keysText);
  const generated: ActorAt = { principal, ...(client !== null && { client }), at: record.updated };
  return {
    ...record,
    ...pageFacts({ keys }),
    head,
    body,
    keys,
    generated,
    ...(review !== null && { review: JSON.parse(review) as Decision }),
    removed: removed === 1,
  };
}

/** The columns of a page that follow from its keys. */
export function pageFacts({
  keys,
}: Pick<PageContent, "keys">): Pick<PageRecord, "title" | "type" | "lifecycle" | "validFrom" | "validUntil"> {
  const { title, type, lifecycle = "active", valid_from: validFrom, valid_until: validUntil } = keys;
  return {
    title,
    lifecycle,
    ...(type && { type }),
    ...(validFrom && { validFrom }),
    ...(validUntil && { validUntil }),
  };
}

export function currentVersion(connection: Connection, page: PageRecord): PageVersion {
  const sql = `SELECT ${versionColumns} FROM ${versionTables} WHERE p.num = ? AND v.num = p.version`;
  const row = connection.get<VersionRow>(sql, page.num);
  if (!row) throw new Error(`page ${page.id} is gone inside its own transaction`);
  return withoutMark(toVersion(row));
}

export function findVersion(connection: Connection, id: string): PageVersion | undefined {
  const row = connection.get<VersionRow>(`SELECT ${versionColumns} FROM ${versionTables} WHERE v.id = ?`, id);
  return row && withoutMark(toVersion(row));
}

export function findVersionAt(connection: Connection, page: PageRecord, updated: string): PageVersion | undefined {
  const sql = `SELECT ${versionColumns} FROM ${versionTables} WHERE p.num = ? AND v.recorded = ? AND v.removed = 0`;
  const row = connection.get<VersionRow>(sql, page.num, updated);
  return row && withoutMark(toVersion(row));
}

export function allVersions(connection: Connection, pageId: string): AnyVersion[] {
  const sql = `SELECT ${versionColumns} FROM ${versionTables} WHERE p.id = ? ORDER BY v.num`;
  return connection.all<VersionRow>(sql, pageId).map(toVersion);
}

function withoutMark({ removed: _, ...version }: AnyVersion): PageVersion {
  return version;
}

/** A version is shown when the caller may read both its part and the one its page lies in now, or lay in last. */
const isPast = `v.removed = 0
  AND v.num = (SELECT max(o.num) FROM versions o WHERE o.page = p.num AND o.recorded <= :at)
  AND v.part IN (SELECT value FROM json_each(:parts)) AND p.part IN (SELECT value FROM json_each(:readable))`;

function pastParameters(connection: Connection, { at, parts, readable }: PastQuery) {
  const numbers = (asked: Part[]) => JSON.stringify(partNumbers(connection, asked));
  return { at, parts: numbers(parts), readable: numbers(readable) };
}

export function pastPages(connection: Connection, query: PastQuery): PageVersion[] {
  const sql = `SELECT ${versionColumns} FROM ${versionTables} WHERE ${isPast} ORDER BY p.path`;
  return connection.all<VersionRow>(sql, pastParameters(connection, query)).map((row) => withoutMark(toVersion(row)));
}

export function pastPage(
  connection: Connection,
  { selector, ...query }: PastQuery & { selector: { path: string } | { id: string } },
): PageVersion | undefined {
  const [column, value] = "path" in selector ? ["path", selector.path] : ["id", selector.id];
  const sql = `SELECT ${versionColumns} FROM ${versionTables} WHERE p.${column} = :value AND ${isPast}`;
  const row = connection.get<VersionRow>(sql, { value, ...pastParameters(connection, query) });
  return row && withoutMark(toVersion(row));
}

export function isUsed(connection: Connection, id: string): boolean {
  const sql = `SELECT 1 FROM pages WHERE id = :id UNION ALL SELECT 1 FROM versions WHERE id = :id
    UNION ALL SELECT 1 FROM revisions WHERE id = :id`;
  return connection.get(sql, { id }) !== undefined;
}

export function recordedTimes(connection: Connection): Set<string> {
  return new Set(connection.all<{ recorded: string }>("SELECT recorded FROM versions").map(({ recorded }) => recorded));
}
