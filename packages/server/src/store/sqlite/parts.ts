import type { Part } from "../../domain/records.js";
import type { Connection } from "./connection.js";

/** Column weights of the candidate order: title, tags, headings, body. The final order is `retrieval/score.ts`. */
const weights = "4.0, 2.5, 2.0, 1.0";

/** Review state of a part; proposals and rejected revisions get parts of their own. */
const current = "current";

/** The numbers of those of `parts` that exist. */
export function partNumbers(connection: Connection, parts: Part[]): number[] {
  const numbers: number[] = [];
  for (const part of parts) {
    const num = findPart(connection, part);
    if (num !== undefined) numbers.push(num);
  }
  return numbers;
}

/** The numbers of all parts. */
export function listParts(connection: Connection): number[] {
  return connection.all<{ num: number }>("SELECT num FROM parts").map(({ num }) => num);
}

/** The part's number; its row and word index are made when it has none yet. */
export function partOf(connection: Connection, part: Part): number {
  return findPart(connection, part) ?? addPart(connection, part);
}

function findPart(connection: Connection, part: Part): number | undefined {
  return connection.get<{ num: number }>(
    "SELECT num FROM parts WHERE partition = ? AND sensitivity = ? AND state = ?",
    part.partition,
    part.sensitivity,
    current,
  )?.num;
}

function addPart(connection: Connection, part: Part): number {
  const result = connection.run(
    "INSERT INTO parts (partition, sensitivity, state) VALUES (?, ?, ?)",
    part.partition,
    part.sensitivity,
    current,
  );
  const num = Number(result.lastInsertRowid);
  const columns = "title, tags, headings, body";
  connection.database.exec(`CREATE VIRTUAL TABLE words_${num} USING fts5(${columns}, tokenize = 'ascii')`);
  connection.database.exec(`INSERT INTO words_${num} (words_${num}, rank) VALUES ('secure-delete', 1)`);
  connection.database.exec(`INSERT INTO words_${num} (words_${num}, rank) VALUES ('rank', 'bm25(${weights})')`);
  connection.database.exec(`CREATE VIRTUAL TABLE words_${num}_terms USING fts5vocab(words_${num}, 'row')`);
  return num;
}
