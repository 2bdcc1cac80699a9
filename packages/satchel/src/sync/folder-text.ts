import { readFileSync } from "node:fs";
import { normaliseText } from "@satchel/pcp";
import { textDigest } from "@satchel/server";

export type FileText = { text: string; digest: string } | { reason: string };

/** A file's text in its stored form: line ends LF, no byte order mark. Undefined when there is no file. */
export function readFileText(file: string): FileText | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    return { reason: `can't be read (${code})` };
  }
  try {
    const text = normaliseText(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
    return { text, digest: textDigest(text) };
  } catch {
    return { reason: "not valid UTF-8 text" };
  }
}
