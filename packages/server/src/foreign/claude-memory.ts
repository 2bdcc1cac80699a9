import { isClaudeAccount, readClaudeAccount } from "./claude-account.js";
import { datedPart, slugOf } from "./entry-path.js";
import { headOf, isHidden, linesOf, textOf } from "./file-text.js";
import type { ForeignFile, ForeignFormat } from "./foreign-format.js";
import { ReadingBuilder } from "./reading-builder.js";
import { instantOf } from "./values.js";

const ENTRY = /^\s{0,8}(?:[-*•]\s+)?\[([^\][\n]{1,40})\]\s*(?:[-–—:]\s*|$)(.*)$/s;
const BULLET = /^\s{0,8}(?:[-*•]|\d{1,4}[.)])\s+(?!\[[ xX]\])(.*)$/s;
const FENCE = /^\s{0,3}(?:```|~~~)/;
const FENCE_LINE = /^\s{0,3}(?:```|~~~)/m;
const MAX_TALK_LINES = 8;
const HEADING = /^(?:#{1,6}\s+(.+?)\s*#*|\*\*(.+?)\*\*:?|([^\s[\]*-][^[\]]{0,60}):)$/;
const MAX_HEADING = 200;
const DAY = /^\d{4}-\d\d-\d\d$/;
const NO_DATE = /^(?:unknown|undated|no date|date unknown|n\/?a|none)$/i;

/** The text that an assistant gives when it is asked for its memory: one dated line for each. */
export const claudeMemory: ForeignFormat = {
  name: "claude-memory",
  title: "Claude's memory, as text or from the account's export",
  detect: (files) =>
    files.some(isClaudeAccount) || (files.length > 0 && files.every((file) => isText(file) && isList(file))),
  read(files) {
    const reading = new ReadingBuilder();
    for (const file of files) {
      if (isClaudeAccount(file)) readClaudeAccount(file, reading);
      else if (isText(file)) readList(file, reading);
      else reading.count("other files of the export, which hold no memory");
    }
    return reading.build();
  },
};

const isText = (file: ForeignFile): boolean =>
  !isHidden(file) && /(?:^|\/)[^./]+$|\.(?:txt|text|md|markdown)$/i.test(file.name);

// Most of its lines are entries, and little is said around them: a note that holds a few such lines stays a note.
function isList(file: ForeignFile): boolean {
  const head = headOf(file);
  const hasFence = FENCE_LINE.test(head);
  const count = { dated: 0, undated: 0, other: 0, outside: 0 };
  let isOpen = false;
  for (const { content } of linesOf(head)) {
    const date = ENTRY.exec(content)?.[1]?.trim() ?? "";
    if (FENCE.test(content)) isOpen = !isOpen;
    else if (content.trim() === "" || headingOf(content) !== undefined) continue;
    else if (/^\d{4}(?:-\d\d){0,2}$/.test(date)) count.dated += 1;
    else if (NO_DATE.test(date)) count.undated += 1;
    else if (hasFence && !isOpen) count.outside += 1;
    else if (!/^\s{2}/.test(content)) count.other += 1;
  }
  return count.dated > 0 && count.dated + count.undated >= count.other && count.outside <= MAX_TALK_LINES;
}

// A line without brackets that ends in a colon, a Markdown heading, or a line in bold.
function headingOf(content: string): string | undefined {
  const text = content.trim();
  if (text.length > MAX_HEADING || /^\s{4}/.test(content)) return undefined;
  return HEADING.exec(text)
    ?.slice(1)
    .find((part) => part !== undefined);
}

interface Memory {
  line: number;
  date?: string;
  heading?: string;
  lines: string[];
}

function readList(file: ForeignFile, reading: ReadingBuilder): void {
  const read = textOf(file);
  if (!read.ok) {
    reading.addRefused(read.refused);
    return;
  }
  const list = new MemoryList(linesOf(read.text), FENCE_LINE.test(read.text));
  if (list.outside > 0) reading.note(`Left out: ${list.outside} lines around the block in "${file.name}".`);
  for (const memory of list.memories) addMemory(file, memory, reading);
}

/** Sorts lines into memories. Where there is a fenced block, what lies outside is the talk around it. */
class MemoryList {
  readonly memories: Memory[] = [];
  outside = 0;
  #isOpen = false;
  #heading: string | undefined;
  #last: Memory | undefined;

  constructor(lines: Iterable<{ line: number; content: string }>, hasFence: boolean) {
    for (const { line, content } of lines) {
      if (FENCE.test(content)) {
        this.#isOpen = !this.#isOpen;
        this.#last = undefined;
      } else if (content.trim() === "") this.#last = undefined;
      else if (hasFence && !this.#isOpen && !ENTRY.test(content)) this.outside += 1;
      else this.#take(line, content);
    }
  }

  #take(line: number, content: string): void {
    const entry = ENTRY.exec(content);
    if (entry) {
      this.#begin(line, entry[2]!, entry[1]!.trim());
      return;
    }
    const heading = headingOf(content);
    if (heading !== undefined) {
      this.#heading = heading;
      this.#last = undefined;
      return;
    }
    const bullet = BULLET.exec(content);
    if (this.#last && (!bullet || /^\s{2}/.test(content))) this.#last.lines.push(content.trimEnd());
    else this.#begin(line, bullet?.[1] ?? content.trim());
  }

  #begin(line: number, text: string, date?: string): void {
    this.#last = {
      line,
      lines: [text.trim()],
      ...(date && { date }),
      ...(this.#heading && { heading: this.#heading }),
    };
    this.memories.push(this.#last);
  }
}

function addMemory(file: ForeignFile, { line, date, heading, lines }: Memory, reading: ReadingBuilder): void {
  const place = { file: file.name, line };
  const text = lines.join("\n").trim();
  const at = date === undefined ? undefined : instantOf(date);
  if (text === "") {
    reading.refuse(place, "the line has a date and no text: write the memory behind it, or delete it");
    return;
  }
  if (date !== undefined && DAY.test(date) && at === undefined) {
    reading.refuse(place, "there is no such day: write the date as [YYYY-MM-DD], or [unknown]");
    return;
  }
  reading.add({
    ...place,
    path: `imported/claude-memory/${datedPart({ at, text, key: `${date ?? ""}\n${text}` })}`,
    body: text,
    keys: { type: "semantic" },
    tags: heading ? [slugOf(heading)] : [],
    at,
    client: "claude",
    kept: { heading, ...(at === undefined && date !== undefined && !NO_DATE.test(date) && { date }) },
  });
}
