import { packOpening, unpackOpening } from "./body-packing.js";
import { parseCheckpoint } from "./checkpoint.js";
import { countSlots, ENTRY_KINDS, type Opening, type StoredEntry } from "./entry.js";
import { JournalError } from "./errors.js";
import { isTreeState, type TreeState } from "./merkle-tree.js";
import type { JournalStorage, StoredCheckpoint } from "./storage.js";

/** An open SQLite connection, synchronous. Statements may be cached by their text: the texts are few. */
export interface SqliteConnection {
  run(sql: string, ...parameters: unknown[]): unknown;
  get<Row>(sql: string, ...parameters: unknown[]): Row | undefined;
  all<Row>(sql: string, ...parameters: unknown[]): Row[];
}

/**
 * The tables of a journal. `opening` is that of the only or first body, `detail` that of an audit entry's second
 * (body-packing.ts); both are null once erased. For "no byte is left", the connection has `secure_delete` on.
 */
export const journalTables = `
CREATE TABLE journal_entries (
  seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, kind INTEGER NOT NULL, commitments BLOB NOT NULL, leaf BLOB NOT NULL,
  opening BLOB, detail BLOB
) STRICT;
CREATE INDEX journal_keys ON journal_entries (seq) WHERE kind = 6;
CREATE TABLE journal_tree (num INTEGER PRIMARY KEY, size INTEGER NOT NULL, frontier BLOB NOT NULL) STRICT;
CREATE TABLE journal_subtrees (
  level INTEGER NOT NULL, position INTEGER NOT NULL, hash BLOB NOT NULL, PRIMARY KEY (level, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE journal_checkpoints (size INTEGER PRIMARY KEY, note TEXT NOT NULL) STRICT;
`;

const hashBytes = 32;
// The years that RFC 3339 can write.
const earliestMs = Date.parse("0000-01-01T00:00:00.000Z");
const latestMs = Date.parse("9999-12-31T23:59:59.999Z");
const columns = "seq, at, kind, commitments, leaf, opening, detail";
const erasures = [
  "UPDATE journal_entries SET opening = NULL WHERE seq = ?",
  "UPDATE journal_entries SET detail = NULL WHERE seq = ?",
] as const;

interface EntryRow {
  seq: number;
  at: number;
  kind: number;
  commitments: Buffer;
  leaf: Buffer;
  opening: Buffer | null;
  detail: Buffer | null;
}

/** The storage port over a connection whose database has `journalTables`. The caller opens the transactions. */
export function createSqliteJournal(connection: SqliteConnection): JournalStorage {
  return {
    state: async () => readState(connection),
    async lastTime() {
      const row = connection.get<{ at: number }>("SELECT at FROM journal_entries ORDER BY seq DESC LIMIT 1");
      const time = row && printTime(row.at);
      if (row && !time) throw new JournalError("damaged", "The newest entry has no time.");
      return time;
    },
    async entries({ from, limit }) {
      const sql = `SELECT ${columns} FROM journal_entries WHERE seq >= ? ORDER BY seq LIMIT ?`;
      return connection.all<EntryRow>(sql, from, limit).map(parseRow);
    },
    async newestKeyEntry() {
      const sql = `SELECT ${columns} FROM journal_entries WHERE kind = 6 ORDER BY seq DESC LIMIT 1`;
      const row = connection.get<EntryRow>(sql);
      return row && parseRow(row);
    },
    subtrees: async ({ level, from, limit }) => readSubtrees(connection, { level, from, limit }),
    async checkpoints({ after, limit = -1 }) {
      const sql = "SELECT size, note FROM journal_checkpoints WHERE size > ? ORDER BY size LIMIT ?";
      return connection.all<StoredCheckpoint>(sql, after, limit).map((row) => parseCheckpointRow(row).note);
    },
    async lastCheckpoint() {
      const sql = "SELECT size, note FROM journal_checkpoints ORDER BY size DESC LIMIT 1";
      const row = connection.get<StoredCheckpoint>(sql);
      return row && parseCheckpointRow(row);
    },
    async append({ entries, state, subtrees }) {
      insertEntries(connection, entries);
      for (const { level, position, hash } of subtrees) {
        connection.run("INSERT INTO journal_subtrees (level, position, hash) VALUES (?, ?, ?)", level, position, hash);
      }
      const sql = `INSERT INTO journal_tree (num, size, frontier) VALUES (1, ?, ?)
        ON CONFLICT (num) DO UPDATE SET size = excluded.size, frontier = excluded.frontier`;
      connection.run(sql, state.size, Buffer.concat(state.frontier));
    },
    async eraseOpenings(slots) {
      for (const { seq, slot } of slots) connection.run(erasures[slot]!, seq);
    },
    async addCheckpoint({ size, note }) {
      connection.run("INSERT INTO journal_checkpoints (size, note) VALUES (?, ?)", size, note);
    },
  };
}

/** As many rows as one call has, so that its entries take one statement. */
const rowsPerStatement = 3;
const placeholders = "(?, ?, ?, ?, ?, ?, ?)";
const insertOne = `INSERT INTO journal_entries (${columns}) VALUES ${placeholders}`;
const insertSeveral = `${insertOne}${`, ${placeholders}`.repeat(rowsPerStatement - 1)}`;

function insertEntries(connection: SqliteConnection, entries: readonly StoredEntry[]): void {
  const rows = entries.map(toColumns);
  let at = 0;
  for (; at + rowsPerStatement <= rows.length; at += rowsPerStatement) {
    connection.run(insertSeveral, ...rows.slice(at, at + rowsPerStatement).flat());
  }
  for (const row of rows.slice(at)) connection.run(insertOne, ...row);
}

function toColumns({ seq, at, kind, commitments, leaf, openings }: StoredEntry): unknown[] {
  const [opening, detail] = openings.map((each) => each && packOpening(each));
  return [
    seq,
    Date.parse(at),
    ENTRY_KINDS.indexOf(kind),
    Buffer.from(commitments.join(""), "hex"),
    leaf,
    opening ?? null,
    detail ?? null,
  ];
}

/** @throws JournalError `damaged` for a row that no entry is stored as */
function parseRow(row: EntryRow): StoredEntry {
  const { seq, commitments, leaf } = row;
  const kind = ENTRY_KINDS[row.kind];
  const at = printTime(row.at);
  const slots = kind ? countSlots(kind) : 0;
  const isWhole = isBytes(leaf, hashBytes) && isBytes(commitments, slots * hashBytes);
  const isExact = Number.isSafeInteger(seq) && (slots === 2 || row.detail === null);
  if (!kind || !at || !isWhole || !isExact) throw damagedEntry(seq);
  const packed = [row.opening, row.detail].slice(0, slots);
  return {
    seq,
    at,
    kind,
    commitments: packed.map((_, slot) => commitments.toString("hex", slot * hashBytes, (slot + 1) * hashBytes)),
    leaf,
    openings: packed.map((bytes) => parseOpening(bytes, seq)),
  };
}

function parseOpening(bytes: Buffer | null, seq: number): Opening | undefined {
  if (bytes === null) return undefined;
  const opening = Buffer.isBuffer(bytes) ? unpackOpening(bytes) : undefined;
  if (!opening) throw damagedEntry(seq);
  return opening;
}

function damagedEntry(seq: number): JournalError {
  return new JournalError("damaged", `Entry ${seq} is not stored as an entry is.`, { seq });
}

function isBytes(value: unknown, length: number): boolean {
  return Buffer.isBuffer(value) && value.length === length;
}

/** The entries of a call have one time, and printing it takes longer than reading the row. */
const lastPrinted: { timeMs: unknown; text: string | undefined } = { timeMs: undefined, text: undefined };

/** @param timeMs since 1970 */
function printTime(timeMs: number): string | undefined {
  if (lastPrinted.timeMs !== timeMs) Object.assign(lastPrinted, { timeMs, text: formatTime(timeMs) });
  return lastPrinted.text;
}

function formatTime(timeMs: number): string | undefined {
  return timeMs >= earliestMs && timeMs <= latestMs ? new Date(timeMs).toISOString() : undefined;
}

function readState(connection: SqliteConnection): TreeState {
  const row = connection.get<{ size: number; frontier: Buffer }>(
    "SELECT size, frontier FROM journal_tree WHERE num = 1",
  );
  if (!row) return { size: 0, frontier: [] };
  const state = { size: row.size, frontier: splitHashes(row.frontier) };
  if (isTreeState(state)) return state;
  throw new JournalError("damaged", "The stored state of the tree is none.");
}

function splitHashes(bytes: Buffer): Uint8Array[] {
  const count = Math.ceil(bytes.length / hashBytes);
  return Array.from({ length: count }, (_, i) => bytes.subarray(i * hashBytes, (i + 1) * hashBytes));
}

function readSubtrees(
  connection: SqliteConnection,
  { level, from, limit }: { level: number; from: number; limit: number },
): Uint8Array[] {
  const ofLeaves = "SELECT seq AS position, leaf AS hash FROM journal_entries WHERE seq >= ? ORDER BY seq LIMIT ?";
  const ofNodes =
    "SELECT position, hash FROM journal_subtrees WHERE level = ? AND position >= ? ORDER BY position LIMIT ?";
  const rows =
    level === 0
      ? connection.all<SubtreeRow>(ofLeaves, from, limit)
      : connection.all<SubtreeRow>(ofNodes, level, from, limit);
  const isWhole = rows.every(({ position, hash }, i) => position === from + i && isBytes(hash, hashBytes));
  if (!isWhole) throw new JournalError("damaged", `The stored hashes of the tree at level ${level} have a gap.`);
  return rows.map(({ hash }) => hash);
}

interface SubtreeRow {
  position: number;
  hash: Buffer;
}

/** @throws JournalError `damaged` when the note is none or is of another size than it is stored as */
function parseCheckpointRow({ size, note }: StoredCheckpoint): StoredCheckpoint {
  try {
    if (parseCheckpoint(note).size === size) return { size, note };
  } catch (cause) {
    throw new JournalError("damaged", `The stored checkpoint of ${size} entries is none.`, { cause });
  }
  throw new JournalError("damaged", `The stored checkpoint of ${size} entries is of another size.`);
}
