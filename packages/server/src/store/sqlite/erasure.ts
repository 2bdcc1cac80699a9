import { attachedTexts } from "../../domain/attached-audit.js";
import { type ErasureState, erasedBase, type Revision } from "../../domain/records.js";
import { textsIn, textsInKeys, withoutOwnNames } from "../../domain/subject.js";
import type { ProfileChange, StoredAnswer, StoredPage, StoredText } from "../store.js";
import type { Connection } from "./connection.js";
import { putProfile } from "./profiles.js";
import { type RevisionRow, revisionColumns, revisionTables, toRevision } from "./revisions.js";
import { unindexPage } from "./words.js";

export function erasureState(connection: Connection): ErasureState | undefined {
  const row = connection.get<{ erasing: string | null }>("SELECT erasing FROM context");
  return row?.erasing ? JSON.parse(row.erasing) : undefined;
}

export function lastErasure(connection: Connection): string | undefined {
  return connection.get<{ erased: string | null }>("SELECT erased FROM context")?.erased ?? undefined;
}

export function setErasure(connection: Connection, state: ErasureState | undefined, erased?: string): void {
  connection.run(
    "UPDATE context SET erasing = ?, erased = coalesce(?, erased)",
    state === undefined ? null : JSON.stringify(state),
    erased ?? null,
  );
}

export function listStoredPages(
  connection: Connection,
  { after, limit }: { after: number; limit: number },
): StoredPage[] {
  return connection
    .all<{ num: number; id: string; path: string; removed: string | null }>(
      "SELECT num, id, path, removed FROM pages WHERE num > ? ORDER BY num LIMIT ?",
      after,
      limit,
    )
    .map(({ removed, ...page }) => ({ ...page, isLive: removed === null }));
}

export function listStoredRevisions(
  connection: Connection,
  { after, limit }: { after: number; limit: number },
): Revision[] {
  const sql = `SELECT ${revisionColumns} FROM ${revisionTables} WHERE r.num > ? ORDER BY r.num LIMIT ?`;
  return connection.all<RevisionRow>(sql, after, limit).map(toRevision);
}

export function listAnswers(
  connection: Connection,
  { after, limit }: { after: number; limit: number },
): StoredAnswer[] {
  const rows = connection.all<{
    num: number;
    id: Uint8Array;
    revision: string | null;
    needs: string | null;
    result: string | null;
  }>(
    `SELECT rowid AS num, id, revision, needs, result FROM claims WHERE rowid > ? AND result IS NOT NULL
     ORDER BY rowid LIMIT ?`,
    after,
    limit,
  );
  return rows.map(({ num, id, revision, needs, result }) => ({
    num,
    id,
    ...(revision !== null && { currentRevision: revision }),
    ...(needs !== null && { needs: JSON.parse(needs) }),
    ...(result !== null && { result }),
  }));
}

/** A page with every version, its words and its links. */
export function erasePage(connection: Connection, num: number): void {
  const page = connection.get<{ part: number; removed: string | null }>(
    "SELECT part, removed FROM pages WHERE num = ?",
    num,
  );
  if (!page) return;
  if (page.removed === null) unindexPage(connection, { num, part: page.part });
  connection.run("DELETE FROM page_tags WHERE page = ?", num);
  connection.run("DELETE FROM page_relations WHERE page = ?", num);
  connection.run(
    "UPDATE revisions SET base = ? WHERE base IN (SELECT id FROM versions WHERE page = ?)",
    erasedBase,
    num,
  );
  connection.run("DELETE FROM versions WHERE page = ?", num);
  connection.run("DELETE FROM pages WHERE num = ?", num);
}

/** A version that is not the page's current one. */
export function eraseVersion(connection: Connection, id: string): void {
  connection.run("DELETE FROM versions WHERE id = ? AND num NOT IN (SELECT version FROM pages)", id);
  connection.run(
    "UPDATE revisions SET base = ? WHERE base = ? AND base NOT IN (SELECT id FROM versions)",
    erasedBase,
    id,
  );
}

export function eraseRevision(connection: Connection, id: string): void {
  connection.run("DELETE FROM revisions WHERE id = ?", id);
}

export function eraseAnswer(connection: Connection, id: Uint8Array): void {
  connection.run("UPDATE claims SET state = 'erased', revision = NULL, needs = NULL, result = NULL WHERE id = ?", id);
}

/** The history of a document made anew from these changes; the last of them is the document. */
export function rewriteProfile(connection: Connection, namespace: string, changes: ProfileChange[]): void {
  connection.run("DELETE FROM profiles WHERE namespace = ?", namespace);
  connection.run("DELETE FROM profile_changes WHERE namespace = ?", namespace);
  for (const change of changes) putProfile(connection, change);
}

/** Tables whose rows are read through other functions, or hold bytes that mean nothing as text. */
const unreadTables = /^(sqlite_|journal_|words_\d+(_terms|_data|_idx|_docsize|_config)?$)/;

type ContentForm = "text" | "json" | "note" | "head" | "keys" | "audit";

/** What people put in, by column; of a JSON column all texts, or those at the path. */
const contentColumns: Record<string, Record<string, ContentForm>> = {
  pages: { path: "text", title: "text" },
  versions: { head: "head", body: "text", keys: "keys", review: "note" },
  page_tags: { tag: "text" },
  page_relations: { target: "text" },
  revisions: { path: "text", head: "head", body: "text", keys: "keys", note: "text", decision: "note" },
  profiles: { document: "json" },
  profile_changes: { document: "json", changed: "json" },
  attachments: { text: "audit" },
};
/** What names or repeats a page, and is kept only beside it. */
const copyColumns: Record<string, readonly string[]> = {
  claims: ["revision", "needs", "result"],
  revisions: ["base"],
  exports: ["items"],
};

/** Every text the store holds outside the journal, row by row. */
export function* storedTexts(connection: Connection): Generator<StoredText> {
  const schema = connection.all<{ type: string; name: string; sql: string | null }>(
    "SELECT type, name, sql FROM sqlite_schema",
  );
  for (const { name, sql } of schema) yield { kind: "own", text: `${name} ${sql ?? ""}` };
  for (const { name } of schema.filter(({ type, name }) => type === "table" && !unreadTables.test(name))) {
    const rows = connection.database.prepare(`SELECT * FROM "${name}"`).iterate() as Iterable<Record<string, unknown>>;
    for (const row of rows) yield* textsOfRow(name, row);
  }
}

function* textsOfRow(table: string, row: Record<string, unknown>): Generator<StoredText> {
  const texts = Object.entries(row).filter((column): column is [string, string] => typeof column[1] === "string");
  const isCopy = ([column]: [string, string]) => copyColumns[table]?.includes(column) ?? false;
  // In a file the columns lie side by side.
  const own = texts.filter((column) => !isCopy(column)).map(([, text]) => text);
  if (own.length > 0) yield { kind: "own", text: own.join("") };
  for (const [column, text] of texts)
    if (isCopy([column, text])) yield { kind: "copy", text };
    else for (const one of contentOf(text, contentColumns[table]?.[column])) yield { kind: "content", text: one };
}

function contentOf(text: string, form: ContentForm | undefined): string[] {
  if (form === "text") return [text];
  if (form === "head") return [withoutOwnNames(text)];
  if (form === undefined) return [];
  if (form === "audit") return attachedTexts(text);
  const value = JSON.parse(text);
  if (form === "note") return [String(value.note ?? "")];
  if (form === "keys") return textsInKeys(value);
  const isSealed = typeof value.sealed === "string" && Object.keys(value).length === 1;
  return isSealed ? [] : textsIn(value);
}

/** How long another process may hold back the end of the write-ahead log, unless told otherwise. */
const truncateWaitMs = 10_000;

/**
 * Leaves nothing of what was deleted in any file: the word indexes are made anew, because
 * merging one that is of one piece leaves the terms that its pages were found by, the database is written anew, the
 * write-ahead log is emptied. @returns whether the log could be emptied: a reader in another process can hold it, and
 * while it does the database is not written anew again
 */
export async function scrub(
  connection: Connection,
  indexes: number[],
  waitMs: number = truncateWaitMs,
): Promise<boolean> {
  const giveUp = performance.now() + waitMs;
  for (const part of indexes) {
    for (const command of ["rebuild", "optimize"]) {
      const sql = `INSERT INTO words_${part} (words_${part}) VALUES ('${command}')`;
      await connection.outside(() => connection.database.exec(sql));
    }
  }
  if (!(await truncateLog(connection, giveUp))) return false;
  await connection.outside(() => connection.database.exec("VACUUM"));
  return truncateLog(connection, giveUp);
}

async function truncateLog(connection: Connection, giveUp: number): Promise<boolean> {
  for (;;) {
    const checkpoint = () => connection.database.pragma("wal_checkpoint(TRUNCATE)") as { busy: number }[];
    const [row] = await connection.outside(checkpoint);
    if (row?.busy === 0) return true;
    if (performance.now() > giveUp) return false;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
