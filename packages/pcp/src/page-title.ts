import { MAX_TITLE_CHARACTERS } from "./frontmatter-keys.js";

const FENCE = /^ {0,3}(`{3,}|~{3,})([^\n]*)$/;
const ATX = /^ {0,3}#{1,6}(?:[ \t]|$)/;
const SETEXT_UNDERLINE = /^ {0,3}(?:=+|-+)[ \t]*$/;
const NOT_PARAGRAPH = /^(?: {4}|\t| {0,3}(?:>|[-+*][ \t]|\d{1,9}[.)][ \t]|\||(?:[-*_][ \t]*){3,}$))/;

// Longer lines are no titles; the cap keeps the work per line small.
const MAX_LINE = 4_000;

/**
 * A title for a page that has none: its first heading outside code, as plain text of at most 500 characters, else
 * the last segment of its path (pcp section 3).
 */
export function titleFromBody(body: string, path: string): string {
  for (const heading of headings(body)) {
    const title = plainText(heading);
    if (title !== "") return title;
  }
  return path.slice(path.lastIndexOf("/") + 1);
}

function* headings(body: string): Generator<string> {
  let fence: string | undefined;
  let paragraph: string[] = [];
  for (const line of linesOf(body)) {
    const marker = FENCE.exec(line);
    if (fence !== undefined) {
      if (marker && closes(fence, marker)) fence = undefined;
    } else if (marker && !(marker[1]!.startsWith("`") && marker[2]!.includes("`"))) {
      fence = marker[1];
      paragraph = [];
    } else if (ATX.test(line)) {
      yield line
        .trim()
        .replace(/^#+/, "")
        .replace(/(^|[ \t])#+$/, "");
      paragraph = [];
    } else if (paragraph.length > 0 && SETEXT_UNDERLINE.test(line)) {
      yield paragraph.join(" ");
      paragraph = [];
    } else if (line.trim() === "" || (paragraph.length === 0 && NOT_PARAGRAPH.test(line))) paragraph = [];
    else paragraph.push(line.trim());
  }
}

function* linesOf(body: string): Generator<string> {
  let start = 0;
  while (start <= body.length) {
    const found = body.indexOf("\n", start);
    const end = found === -1 ? body.length : found;
    yield body.slice(start, Math.min(end, start + MAX_LINE));
    start = end + 1;
  }
}

const closes = (fence: string, [, marker = "", rest = ""]: RegExpExecArray): boolean =>
  marker[0] === fence[0] && marker.length >= fence.length && rest.trim() === "";

function plainText(heading: string): string {
  const text = heading
    .slice(0, MAX_LINE)
    .replace(/!?\[\[(?:[^\][|]*\|)?([^\][|]*)\]\]/g, "$1")
    .replace(/!?\[([^\][]*)\]\([^()]*\)/g, "$1")
    .replace(/`+/g, "")
    .replace(/(\*\*|__|~~|\*)(?=\S)([^*_~]+)\1/g, "$2")
    .replace(/\\([!-/:-@[-`{-~])/g, "$1")
    .replace(/[\p{Cc}\p{Surrogate}\s]+/gu, " ")
    .trim();
  return [...text].slice(0, MAX_TITLE_CHARACTERS).join("").trim();
}
