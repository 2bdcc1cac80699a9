import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, inflateRawSync, inflateSync } from "node:zlib";
import SqliteDatabase from "better-sqlite3";
import { bodyDictionary } from "../packages/journal/src/body-dictionary.js";

/*
 * Looks for erased text in every file of a folder and in every column of its databases: as UTF-8 and UTF-16, in upper
 * and lower case, plain and compressed. It shares nothing with the scan of the product.
 */

/** Terms in a full-text index are stored without the beginning they share with the one before. */
const shortest = 6;
/** A run of text that is looked for whatever its words are. */
const runCharacters = 24;

const encodings: ((text: string) => Buffer)[] = [
  (text) => Buffer.from(text),
  (text) => Buffer.from(text, "utf16le"),
  (text) => Buffer.from(text, "utf16le").swap16(),
];

/** What is looked for, by its first six bytes. */
type Needles = Map<number, { bytes: Buffer; text: string }[]>;

export interface Traces {
  erased: string[];
  /** What may be anywhere, because something that stays holds it. */
  kept: string[];
}

/** Where erased text is found that nothing kept holds: `file: text`. */
export function findTraces(folder: string, { erased, kept }: Traces): string[] {
  const needles = buildNeedles(erased, kept);
  const found: string[] = [];
  for (const file of listFiles(folder)) {
    const bytes = readFileSync(join(folder, file));
    found.push(...search(needles, [bytes, ...inflateMarked(bytes)]).map((text) => `${file}: ${text}`));
    if (bytes.subarray(0, 6).toString() === "SQLite")
      found.push(...search(needles, readColumns(join(folder, file))).map((text) => `${file} columns: ${text}`));
  }
  return [...new Set(found)];
}

export function listFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(folder, name)).isFile())
    .sort();
}

function buildNeedles(erased: string[], kept: string[]): Needles {
  const keptText = [...kept, bodyDictionary.toString()].join("\n"); // What is no compressed text inflates to bits of it.
  const keptForms = `${keptText}\n${keptText.toLowerCase()}\n${keptText.toUpperCase()}`;
  const wanted = new Set(erased.flatMap(piecesOf).flatMap((text) => [text, text.toLowerCase(), text.toUpperCase()]));
  const needles: Needles = new Map();
  for (const text of wanted) {
    if (keptForms.includes(text)) continue;
    for (const encode of encodings) {
      const bytes = encode(text);
      if (bytes.length < shortest) continue;
      const key = bytes.readUIntBE(0, shortest);
      needles.set(key, [...(needles.get(key) ?? []), { bytes, text }]);
    }
  }
  return needles;
}

/** The words and their ends, and runs of text that hold none of them. */
function piecesOf(text: string): string[] {
  if (/^(?:pg|ver|rev|dec)_\w{26}$/.test(text)) return [text];
  const words = text.match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  const ends = words.flatMap((word) => {
    const characters = [...word].slice(0, 200);
    return characters
      .slice(0, Math.max(0, characters.length - shortest + 1))
      .map((_, at) => characters.slice(at).join(""));
  });
  const characters = [...text];
  const runs: string[] = [];
  for (let at = 0; at + runCharacters <= characters.length && at < 2000; at += 5)
    runs.push(characters.slice(at, at + runCharacters).join(""));
  const whole = text.length >= shortest && /^\S{1,200}$/.test(text) ? [text] : []; // A path, a tag.
  return [...new Set([...ends, ...runs, ...whole])];
}

function search(needles: Needles, texts: Iterable<Buffer>): string[] {
  const found = new Set<string>();
  for (const bytes of texts) {
    for (let at = 0; at + shortest <= bytes.length; at++) {
      const candidates = needles.get(bytes.readUIntBE(at, shortest));
      for (const { bytes: wanted, text } of candidates ?? [])
        if (bytes.subarray(at, at + wanted.length).equals(wanted)) found.add(text);
    }
  }
  return [...found];
}

/** What begins anywhere in the bytes with the mark of zlib or gzip. */
function inflateMarked(bytes: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0; at + 2 < bytes.length; at++) {
    const isZlib = bytes[at] === 0x78 && [0x01, 0x5e, 0x9c, 0xda].includes(bytes[at + 1]!);
    const isGzip = bytes[at] === 0x1f && bytes[at + 1] === 0x8b && bytes[at + 2] === 8;
    if (isZlib || isGzip) found.push(...inflate(bytes.subarray(at), isZlib ? inflateSync : gunzipSync));
  }
  return found;
}

function inflate(bytes: Buffer, how: (bytes: Buffer) => Buffer): Buffer[] {
  try {
    return [how(bytes)];
  } catch {
    return [];
  }
}

/** Every column of every table of the file; a blob also in each form it could be compressed in, salt or not before it. */
function* readColumns(file: string): Generator<Buffer> {
  const database = new SqliteDatabase(file, { readonly: true });
  try {
    const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all() as string[];
    for (const table of tables)
      for (const row of database.prepare(`SELECT * FROM "${table}"`).raw().iterate() as Iterable<unknown[]>)
        for (const value of row) yield* formsOf(value);
  } finally {
    database.close();
  }
}

const saltBytes = 33;
const checksumBytes = 4;

function* formsOf(value: unknown): Generator<Buffer> {
  if (typeof value === "string") yield Buffer.from(value);
  if (!Buffer.isBuffer(value)) return;
  yield value;
  if (value.length <= saltBytes + checksumBytes) return;
  for (const part of [value, value.subarray(saltBytes, -checksumBytes)])
    for (const how of [
      inflateSync,
      gunzipSync,
      (bytes: Buffer) => inflateRawSync(bytes),
      (bytes: Buffer) => inflateRawSync(bytes, { dictionary: bodyDictionary }),
    ])
      yield* inflate(part, how as (bytes: Buffer) => Buffer);
}

/** The terms of the full-text indexes of a database. */
export function readTerms(file: string): Set<string> {
  const database = new SqliteDatabase(file, { readonly: true });
  try {
    const sql = "SELECT name FROM sqlite_schema WHERE name GLOB 'words_[0-9]*_terms'";
    const tables = database.prepare(sql).pluck().all() as string[];
    return new Set(
      tables.flatMap((table) => database.prepare(`SELECT term FROM "${table}"`).pluck().all() as string[]),
    );
  } finally {
    database.close();
  }
}
