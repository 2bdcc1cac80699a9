import type { ActorAt, PageContent, PageRecord, Part } from "../../domain/records.js";
import type { ListQuery, NewVersion, PageSelector, RestoredPage } from "../store.js";
import type { Connection } from "./connection.js";
import { currentVersion, pageFacts } from "./history.js";
import { type PageRow, pageColumns, pageTables, toPageRecord } from "./page-row.js";
import { partNumbers, partOf } from "./parts.js";
import { indexPage, unindexPage } from "./words.js";

/** After a prefix: behind every path that begins with it. A path has at most 255 characters and may hold the last one. */
const afterAnyRest = "\u{10FFFF}".repeat(256);

export function findPage(connection: Connection, selector: PageSelector): PageRecord | undefined {
  const [column, value] =
    "path" in selector
      ? ["path", selector.path]
      : "id" in selector
        ? ["id", selector.id]
        : ["twin_key", selector.twinKey];
  const row = connection.get<PageRow>(
    `SELECT ${pageColumns} FROM ${pageTables} WHERE p.${column} = ? AND p.removed IS NULL`,
    value,
  );
  return row && toPageRecord(row);
}

export function listPages(connection: Connection, query: ListQuery): PageRecord[] {
  const prefix = query.prefix ?? "";
  const rows = connection.all<PageRow>(
    `SELECT ${pageColumns} FROM ${pageTables}
     WHERE p.removed IS NULL AND p.path >= :prefix AND p.path > :after AND p.path < :end
       AND p.part IN (SELECT value FROM json_each(:parts))
       AND (:type IS NULL OR p.type = :type) AND (:archived OR p.lifecycle <> 'archived')
     ORDER BY p.path LIMIT :limit`,
    {
      prefix,
      after: query.after ?? "",
      end: prefix + afterAnyRest,
      parts: JSON.stringify(partNumbers(connection, query.parts)),
      type: query.type ?? null,
      archived: query.includeArchived ? 1 : 0,
      limit: query.limit,
    },
  );
  return rows.map(toPageRecord);
}

export function recentPages(
  connection: Connection,
  query: { parts: Part[]; before?: string; limit: number },
): PageRecord[] {
  const rows = connection.all<PageRow>(
    `SELECT ${pageColumns} FROM ${pageTables}
     WHERE p.removed IS NULL AND p.updated < :before AND p.part IN (SELECT value FROM json_each(:parts))
     ORDER BY p.updated DESC LIMIT :limit`,
    {
      before: query.before ?? "~",
      parts: JSON.stringify(partNumbers(connection, query.parts)),
      limit: query.limit,
    },
  );
  return rows.map(toPageRecord);
}

export function newestUpdate(connection: Connection, query: { parts: Part[]; prefix: string }): string | undefined {
  const row = connection.get<{ newest: string | null }>(
    `SELECT max(updated) AS newest FROM pages
     WHERE removed IS NULL AND path >= ? AND path < ? AND part IN (SELECT value FROM json_each(?))`,
    query.prefix,
    query.prefix + afterAnyRest,
    JSON.stringify(partNumbers(connection, query.parts)),
  );
  return row?.newest ?? undefined;
}

type Claim = { target: string; page: PageRecord };

export function findSuperseders(connection: Connection, query: { paths: string[]; parts: Part[] }): Claim[] {
  const claims = findClaims(connection, query);
  const asked = new Set(query.paths);
  const claimants = claims.map(({ page }) => page.path).filter((path) => !asked.has(path));
  return claimants.length === 0 ? claims : [...claims, ...findClaims(connection, { ...query, paths: claimants })];
}

function findClaims(connection: Connection, query: { paths: string[]; parts: Part[] }): Claim[] {
  const rows = connection.all<PageRow & { target: string }>(
    `SELECT r.target, ${pageColumns} FROM page_relations r CROSS JOIN ${pageTables}
     WHERE p.num = r.page AND r.rel = 'supersedes' AND r.target IN (SELECT value FROM json_each(?)) AND p.removed IS NULL
       AND p.part IN (SELECT value FROM json_each(?)) ORDER BY p.updated DESC`,
    JSON.stringify(query.paths),
    JSON.stringify(partNumbers(connection, query.parts)),
  );
  return rows.map(({ target, ...row }) => ({ target, page: toPageRecord(row as PageRow) }));
}

export function findReadablePaths(connection: Connection, query: { paths: string[]; parts: Part[] }): Set<string> {
  const rows = connection.all<{ path: string }>(
    `SELECT path FROM pages WHERE removed IS NULL AND path IN (SELECT value FROM json_each(?))
       AND part IN (SELECT value FROM json_each(?))`,
    JSON.stringify(query.paths),
    JSON.stringify(partNumbers(connection, query.parts)),
  );
  return new Set(rows.map((row) => row.path));
}

export function createPage(connection: Connection, id: string, version: NewVersion): void {
  const part = partOf(connection, version);
  const facts = pageFacts(version);
  const page = connection.run(
    `INSERT INTO pages (id, path, twin_key, part, version, title, type, lifecycle, valid_from, valid_until, created, updated)
     VALUES (?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    version.path,
    version.twinKey,
    part,
    facts.title,
    facts.type ?? null,
    facts.lifecycle,
    facts.validFrom ?? null,
    facts.validUntil ?? null,
    version.updated,
    version.updated,
  );
  const num = Number(page.lastInsertRowid);
  const versionNum = insertVersion(connection, { num, part }, version);
  connection.run("UPDATE pages SET version = ? WHERE num = ?", versionNum, num);
  indexPage(connection, { num, part }, version.words);
  putDetails(connection, num, version);
}

export function addVersion(connection: Connection, page: PageRecord, version: NewVersion): void {
  const part = partOf(connection, version);
  const facts = pageFacts(version);
  const place = { num: page.num, part };
  unindexPage(connection, { num: page.num, part: partOf(connection, page) });
  const versionNum = insertVersion(connection, place, version);
  connection.run(
    `UPDATE pages SET part = ?, version = ?, title = ?, type = ?, lifecycle = ?, valid_from = ?, valid_until = ?, updated = ?
     WHERE num = ?`,
    part,
    versionNum,
    facts.title,
    facts.type ?? null,
    facts.lifecycle,
    facts.validFrom ?? null,
    facts.validUntil ?? null,
    version.updated,
    page.num,
  );
  indexPage(connection, place, version.words);
  dropDetails(connection, page.num);
  putDetails(connection, page.num, version);
}

export function removePage(
  connection: Connection,
  page: PageRecord,
  tombstone: { version: string; updated: string; generated: ActorAt },
): void {
  const part = partOf(connection, page);
  const { keys } = currentVersion(connection, page);
  const versionNum = connection.run(
    `INSERT INTO versions (id, page, part, recorded, head, body, keys, principal, client, removed)
     VALUES (?, ?, ?, ?, '', '', ?, ?, ?, 1)`,
    tombstone.version,
    page.num,
    part,
    tombstone.updated,
    JSON.stringify({ title: keys.title }),
    tombstone.generated.principal,
    tombstone.generated.client ?? null,
  ).lastInsertRowid;
  connection.run(
    "UPDATE pages SET version = ?, updated = ?, removed = ? WHERE num = ?",
    versionNum,
    tombstone.updated,
    tombstone.updated,
    page.num,
  );
  unindexPage(connection, { num: page.num, part });
  dropDetails(connection, page.num);
}

export function restorePage(connection: Connection, page: RestoredPage): void {
  const last = page.versions.at(-1);
  if (!last) throw new Error(`page ${page.id} has no version`);
  const part = partOf(connection, last);
  const facts = pageFacts(last);
  const inserted = connection.run(
    `INSERT INTO pages (id, path, twin_key, part, version, title, type, lifecycle, valid_from, valid_until, created, updated, removed)
     VALUES (?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?)`,
    page.id,
    last.path,
    last.twinKey,
    part,
    facts.title,
    facts.type ?? null,
    facts.lifecycle,
    facts.validFrom ?? null,
    facts.validUntil ?? null,
    page.created,
    last.updated,
    last.removed ? last.updated : null,
  );
  const num = Number(inserted.lastInsertRowid);
  const nums = page.versions.map((version) =>
    insertVersion(connection, { num, part: partOf(connection, version) }, version),
  );
  connection.run("UPDATE pages SET version = ? WHERE num = ?", nums.at(-1), num);
  if (last.removed) return;
  indexPage(connection, { num, part }, page.words);
  putDetails(connection, num, last);
}

type InsertedVersion = Omit<NewVersion, "words"> & { removed?: boolean };

function insertVersion(connection: Connection, place: { num: number; part: number }, version: InsertedVersion): number {
  const result = connection.run(
    `INSERT INTO versions (id, page, part, recorded, head, body, keys, principal, client, review, removed)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    version.version,
    place.num,
    place.part,
    version.updated,
    version.head,
    version.body,
    JSON.stringify(version.keys),
    version.generated.principal,
    version.generated.client ?? null,
    version.review ? JSON.stringify(version.review) : null,
    version.removed ? 1 : 0,
  );
  return Number(result.lastInsertRowid);
}

function putDetails(connection: Connection, num: number, { keys }: PageContent): void {
  for (const tag of keys.tags ?? [])
    connection.run("INSERT OR IGNORE INTO page_tags (page, tag) VALUES (?, ?)", num, tag);
  for (const { rel, target } of keys.relations ?? []) {
    connection.run("INSERT OR IGNORE INTO page_relations (page, rel, target) VALUES (?, ?, ?)", num, rel, target);
  }
}

function dropDetails(connection: Connection, num: number): void {
  connection.run("DELETE FROM page_tags WHERE page = ?", num);
  connection.run("DELETE FROM page_relations WHERE page = ?", num);
}
