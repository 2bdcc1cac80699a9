import { parseForeignHead } from "@satchel/pcp";
import { headOf, isHidden, isMarkdown } from "./file-text.js";
import type { ForeignFile, ForeignFormat } from "./foreign-format.js";
import { markdown } from "./markdown.js";

const OBSERVATION = /^\s*- \[(?![ xX/-]\])[^\][\n]+\] \S/m;
const RELATION = /^\s*- [^[\]\n]*\[\[[^\]\n]+\]\]/m;

/** A project of Basic Memory is a folder of Markdown: its observations and relations are text and stay where they are. */
export const basicMemory: ForeignFormat = {
  name: "basic-memory",
  title: "Basic Memory (a project's folder)",
  detect: (files) => files.some(isNote),
  read(files) {
    const reading = markdown.read(files);
    const note =
      "Observations and relations stay in the text, where a search finds them; a note's type is under x_import.";
    return { ...reading, notes: [note, ...(reading.notes ?? [])] };
  },
};

function isNote(file: ForeignFile): boolean {
  if (!isMarkdown(file) || isHidden(file)) return false;
  const head = headOf(file);
  if (!/^permalink:/m.test(head)) return false;
  const read = parseForeignHead(head);
  if (!read.ok || typeof read.keys.permalink !== "string") return false;
  return read.keys.type === "note" || OBSERVATION.test(read.body) || RELATION.test(read.body);
}
