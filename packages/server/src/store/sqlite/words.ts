import type { PageRecord, Part } from "../../domain/records.js";
import type { Candidate, IndexedText, WordMatch, WordQuery, WordStatistics } from "../store.js";
import type { Connection } from "./connection.js";
import { type PageRow, pageColumns, pageTables, toPageRecord } from "./page-row.js";
import { partNumbers } from "./parts.js";

/** Column weights of the candidate ranking: title, tags, headings, body. The final order is `retrieval/score.ts`. */
const weights = "4.0, 2.5, 2.0, 1.0";

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

export function matchWords(connection: Connection, query: WordQuery): WordMatch[][] {
  const match = toMatch(query);
  if (match === "") return [];
  return partNumbers(connection, query.parts).map((part) => {
    const rows = connection
      .statement(
        `SELECT rowid, bm25(words_${part}, ${weights}) AS score FROM words_${part} WHERE words_${part} MATCH ? ORDER BY score, rowid`,
      )
      .raw()
      .all(match) as [number, number][];
    return rows.map(([num, rank]) => ({ num, rank }));
  });
}

/** Our tokens hold no quote, so quoting them is all the escaping there is. */
function toMatch({ groups, mode }: WordQuery): string {
  const clauses = groups.map((group) => `(${group.map((term) => `"${term}"`).join(" OR ")})`);
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
      `SELECT term, doc FROM words_${part}_terms WHERE term >= ? AND term < ? LIMIT 1000`,
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

type CandidateRow = PageRow & { part: number; tags: string | null };

export function loadCandidates(connection: Connection, nums: number[]): Candidate[] {
  const found = new Map<number, Candidate>();
  const rows = connection.all<CandidateRow>(
    `SELECT ${pageColumns}, p.part,
            (SELECT json_group_array(tag) FROM page_tags g WHERE g.page = p.num) AS tags
     FROM json_each(?) n CROSS JOIN ${pageTables}
     WHERE p.num = n.value AND p.removed IS NULL`,
    JSON.stringify(nums),
  );
  for (const { part, tags, ...row } of rows) {
    const page: PageRecord = toPageRecord(row);
    const words = connection.get<IndexedText>(
      `SELECT title, tags, headings, body FROM words_${part} WHERE rowid = ?`,
      page.num,
    );
    if (words) found.set(page.num, { page, words, tags: tags ? (JSON.parse(tags) as string[]) : [] });
  }
  return nums.flatMap((num) => found.get(num) ?? []);
}
