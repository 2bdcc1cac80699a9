import type { ForeignFile, RefusedEntry } from "./foreign-format.js";
import { type LineOf, parseJson } from "./json-text.js";

const DETECTED_BYTES = 64 * 1024;

/** The first bytes as text, for `detect`. */
export function headOf(file: ForeignFile): string {
  return file.bytes.subarray(0, DETECTED_BYTES).toString("utf8");
}

export const baseName = (name: string): string => name.slice(name.lastIndexOf("/") + 1);

export const isMarkdown = ({ name }: ForeignFile): boolean => /\.(md|markdown)$/i.test(name);

/** What a system or an application keeps for itself. */
export const isHidden = ({ name }: ForeignFile): boolean =>
  name.split("/").some((part) => /^\.[^.]/.test(part) || part === "__MACOSX");

export type FileText = { ok: true; text: string } | { ok: false; refused: RefusedEntry };

/** A byte order mark stays. */
export function textOf({ name, bytes }: ForeignFile): FileText {
  const text = decode(bytes);
  if (text !== undefined) return { ok: true, text };
  const reason = "not valid UTF-8 text: save the file as UTF-8";
  return { ok: false, refused: { file: name, line: lineOfFault(bytes), reason } };
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function lineOfFault(bytes: Buffer): number {
  let line = 1;
  for (let start = 0; ; line++) {
    const end = bytes.indexOf(0x0a, start);
    if (end === -1 || decode(bytes.subarray(start, end)) === undefined) return line;
    start = end + 1;
  }
}

/** The lines of a text with their numbers; a line feed, a carriage return or both end one. */
export function* linesOf(text: string): Generator<{ line: number; content: string }> {
  const plain = text.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n");
  let line = 1;
  for (let start = 0; start <= plain.length; line++) {
    const found = plain.indexOf("\n", start);
    const end = found === -1 ? plain.length : found;
    yield { line, content: plain.slice(start, end) };
    start = end + 1;
  }
}

export type JsonFile = { ok: true; value: unknown; lineOf: LineOf } | { ok: false; refused: RefusedEntry };

export function jsonOf(file: ForeignFile): JsonFile {
  const read = textOf(file);
  if (!read.ok) return read;
  const json = parseJson(read.text.replace(/^\uFEFF/, ""));
  if (json.ok) return json;
  return { ok: false, refused: { file: file.name, line: json.line, reason: NO_JSON } };
}

export const NO_JSON = "not valid JSON from here on: export the file again, or mend it";
