import type { Part } from "../../domain/records.js";
import type {
  Candidate,
  CandidateQuery,
  FurtherQuery,
  IndexedText,
  TermGroup,
  WordMatch,
  WordQuery,
  WordStatistics,
} from "../store.js";
import type { Connection } from "./connection.js";
import { type PageRow, pageColumns, pageTables, toPageRecord } from "./page-row.js";
import { partNumbers } from "./parts.js";

export function indexPage(connection: Connection, page: { num: number; part: number }, words: IndexedText): void {
  connection.run(
    `INSERT INTO words_${page.part} (rowid, title, tags, headings, body) VALUES (?, ?, ?, ?, ?)`,
    page.num,
    words.title,
    words.tags,
    words.headings,
    words.body,
  );
  connection.run(
    "UPDATE parts SET documents = documents + 1, tokens = tokens + ? WHERE num = ?",
    countTokens(words.body),
    page.part,
  );
}

export function unindexPage(connection: Connection, page: { num: number; part: number }): void {
  const row = connection.get<{ body: string }>(`SELECT body FROM words_${page.part} WHERE rowid = ?`, page.num);
  if (!row) throw new Error(`page ${page.num} has no index entry in part ${page.part}`);
  connection.run(`DELETE FROM words_${page.part} WHERE rowid = ?`, page.num);
  connection.run(
    "UPDATE parts SET documents = documents - 1, tokens = tokens - ? WHERE num = ?",
    countTokens(row.body),
    page.part,
  );
}

function countTokens(words: string): number {
  if (words === "") return 0;
  let count = 1;
  for (let at = words.indexOf(" "); at >= 0; at = words.indexOf(" ", at + 1)) count++;
  return count;
}

export function bestMatches(connection: Connection, query: WordQuery): WordMatch[][] {
  const match = toMatch(query.groups, query.mode);
  if (match === "") return [];
  return partNumbers(connection, query.parts).map((part) => {
    const rows = connection
      .statement(`SELECT rowid, rank FROM words_${part} WHERE words_${part} MATCH ? ORDER BY rank LIMIT ?`)
      .raw()
      .all(match, query.limit ?? -1) as [number, number][];
    return rows.map(([num, rank]) => ({ num, rank }));
  });
}

export function furtherMatches(connection: Connection, query: FurtherQuery): number[] {
  const match = toMatch(query.groups, "any");
  if (match === "") return [];
  const below = query.below ?? Number.MAX_SAFE_INTEGER;
  const found = partNumbers(connection, query.parts).flatMap((part) => {
    const sql = `SELECT rowid FROM words_${part} WHERE words_${part} MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?`;
    return connection.statement(sql).pluck().all(match, below, query.limit) as number[];
  });
  return found.sort((a, b) => b - a).slice(0, query.limit);
}

/** Our tokens hold no quote, so quoting them is all the escaping there is. */
function toMatch(groups: TermGroup[], mode: WordQuery["mode"]): string {
  const clauses = groups.map(({ term, isBeginning }) => (isBeginning ? `"${term}" *` : `"${term}"`));
  return clauses.join(mode === "all" ? " AND " : " OR ");
}

export function wordStatistics(connection: Connection, query: { parts: Part[]; terms: string[] }): WordStatistics {
  const statistics: WordStatistics = { documents: 0, tokens: 0, frequency: new Map() };
  for (const part of partNumbers(connection, query.parts)) {
    const totals = connection.get<{ documents: number; tokens: number }>(
      "SELECT documents, tokens FROM parts WHERE num = ?",
      part,
    );
    statistics.documents += totals?.documents ?? 0;
    statistics.tokens += totals?.tokens ?? 0;
    for (const term of query.terms) {
      const row = connection.get<{ doc: number }>(`SELECT doc FROM words_${part}_terms WHERE term = ?`, term);
      if (row) statistics.frequency.set(term, (statistics.frequency.get(term) ?? 0) + row.doc);
    }
  }
  return statistics;
}

export function termsByPrefix(
  connection: Connection,
  query: { parts: Part[]; prefix: string; limit: number },
): string[] {
  const documents = new Map<string, number>();
  for (const part of partNumbers(connection, query.parts)) {
    const rows = connection.all<{ term: string; doc: number }>(
      `SELECT term, doc FROM words_${part}_terms WHERE term >= ? AND term < ?`,
      query.prefix,
      `${query.prefix}\u{10FFFF}`,
    );
    for (const { term, doc } of rows) documents.set(term, (documents.get(term) ?? 0) + doc);
  }
  return [...documents]
    .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
    .slice(0, query.limit)
    .map(([term]) => term);
}

export function loadCandidates(connection: Connection, query: CandidateQuery): Candidate[] {
  const nums = JSON.stringify(query.nums);
  const found = new Map<number, Candidate>();
  for (const part of partNumbers(connection, query.parts)) {
    const rows = connection.all<PageRow & Record<`w_${keyof IndexedText}`, string>>(
      `SELECT ${pageColumns}, w.title AS w_title, w.tags AS w_tags, w.headings AS w_headings, w.body AS w_body
       FROM json_each(:nums) n CROSS JOIN ${pageTables} CROSS JOIN words_${part} w
       WHERE p.num = n.value AND p.part = ${part} AND p.removed IS NULL AND w.rowid = p.num AND (:tags = '[]' OR
         (SELECT count(*) FROM page_tags g WHERE g.page = p.num AND g.tag IN (SELECT value FROM json_each(:tags))) = :tagCount)`,
      { nums, tags: JSON.stringify(query.tags), tagCount: new Set(query.tags).size },
    );
    for (const { w_title: title, w_tags: tags, w_headings: headings, w_body: body, ...row } of rows) {
      const page = toPageRecord(row);
      found.set(page.num, { page, words: { title, tags, headings, body } });
    }
  }
  return query.nums.flatMap((num) => found.get(num) ?? []);
}
