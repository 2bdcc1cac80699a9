import { Choices } from "./choices.js";
import type { PageFile } from "./in-process.js";

/*
 * Generated pages and queries in many scripts. The same seed gives the same pages.
 */

/** Letters of a script and what may follow one, as ranges of code points. */
interface Script {
  name: string;
  letters: readonly (readonly [number, number])[];
  marks?: readonly (readonly [number, number])[];
  spaced: boolean;
}

const scripts: readonly Script[] = [
  { name: "Latin", letters: [[0x61, 0x7a]], spaced: true },
  {
    name: "Latin with marks",
    letters: [
      [0x61, 0x7a],
      [0xdf, 0xf6],
      [0x100, 0x17f],
    ],
    marks: [[0x300, 0x308]],
    spaced: true,
  },
  {
    name: "Greek",
    letters: [
      [0x391, 0x3a1],
      [0x3b1, 0x3c9],
    ],
    spaced: true,
  },
  { name: "Cyrillic", letters: [[0x410, 0x44f]], marks: [[0x301, 0x301]], spaced: true },
  { name: "Armenian", letters: [[0x561, 0x586]], spaced: true },
  { name: "Hebrew", letters: [[0x5d0, 0x5ea]], marks: [[0x5b0, 0x5b9]], spaced: true },
  {
    name: "Arabic",
    letters: [
      [0x627, 0x63a],
      [0x641, 0x64a],
    ],
    marks: [[0x64b, 0x652]],
    spaced: true,
  },
  { name: "Devanagari", letters: [[0x905, 0x939]], marks: [[0x93e, 0x94d]], spaced: true },
  { name: "Tamil", letters: [[0xb95, 0xb95]], marks: [[0xbbe, 0xbc2]], spaced: true },
  { name: "Georgian", letters: [[0x10d0, 0x10f0]], spaced: true },
  { name: "Ethiopic", letters: [[0x1200, 0x1240]], spaced: true },
  { name: "Deseret", letters: [[0x10428, 0x1044f]], spaced: true },
  { name: "Thai", letters: [[0xe01, 0xe2e]], marks: [[0xe34, 0xe39]], spaced: false },
  { name: "Lao", letters: [[0xe94, 0xe9f]], marks: [[0xeb4, 0xeb9]], spaced: false },
  { name: "Khmer", letters: [[0x1780, 0x17a2]], marks: [[0x17b6, 0x17c5]], spaced: false },
  { name: "Myanmar", letters: [[0x1000, 0x1021]], marks: [[0x102b, 0x1032]], spaced: false },
  {
    name: "Japanese",
    letters: [
      [0x3041, 0x3093],
      [0x30a1, 0x30f3],
      [0x4e00, 0x4fff],
    ],
    spaced: false,
  },
  { name: "Han", letters: [[0x4e00, 0x9fa5]], spaced: false },
  { name: "Han beyond the basic plane", letters: [[0x20000, 0x20100]], spaced: false },
  { name: "Hangul", letters: [[0xac00, 0xd7a3]], spaced: true },
];

const technical = [
  "getUserById",
  "HTTPServerConfig",
  "snake_case_name",
  "__init__",
  "kebab-case-name",
  "src/main.py",
  "C:\\repo\\src\\main.py",
  "/usr/local/bin",
  "v1.2.3",
  "2.0.0-rc.1",
  "C++",
  "C#",
  "F#",
  ".NET",
  "node@22",
  "user@example.org",
  "https://example.org/a?b=c&d=%20#e",
  "100-200MB",
  "gpt-4o",
  "3.14",
  "1,000.50",
  "2026-03-01T12:00:00Z",
  "§12(3)",
  "don't",
  "l'avion",
  "rock'n'roll",
  '"quoted"',
  "(parenthesised)",
  "[[link|shown]]",
  "`code()`",
  "**bold**",
  "#tag",
  "a/b\\c|d",
  "x=y;",
  "AT&T",
  "O(n²)",
  "½",
  "Ⅳ",
  "ﬁnish",
  "ＡＢＣ",
  "Straße",
  "İstanbul",
  "ΟΔΥΣΣΕΥΣ",
  "AND",
  "OR",
  "NOT",
  "NEAR",
  "the",
  "and",
];

const pictures = ["🎉", "👩🏽‍🚀", "🇳🇴", "❤️", "1️⃣", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "☕", "🧑‍🤝‍🧑", "😀", "🫠"];
const signs = [
  "---",
  "!!!",
  "???",
  "* * *",
  "…",
  "—",
  "&&",
  "||",
  "::",
  "@",
  "#",
  "$$$",
  "~",
  "^",
  "<>",
  "{}",
  "\\",
  '"',
  "'",
];

function codePoint(choices: Choices, ranges: readonly (readonly [number, number])[]): string {
  const [low, high] = choices.pick(ranges);
  return String.fromCodePoint(choices.integer(low, high));
}

function letters(choices: Choices, script: Script, count: number): string {
  let text = "";
  for (let at = 0; at < count; at++) {
    text += codePoint(choices, script.letters);
    if (script.marks && choices.next() < 0.2) text += codePoint(choices, script.marks);
  }
  return text;
}

function chunk(choices: Choices, script: Script): string {
  const kind = choices.next();
  if (kind < 0.1) return choices.pick(technical);
  if (kind < 0.14) return choices.pick(pictures);
  if (kind < 0.17) return choices.pick(signs);
  const word = letters(choices, script, script.spaced ? choices.integer(1, 9) : choices.integer(4, 24));
  if (kind < 0.2) return word.charAt(0).toUpperCase() + word.slice(1);
  return kind < 0.3 ? word + choices.pick([",", ".", ":", ";", "!", "?", ")", "、", "。", "؟"]) : word;
}

function line(choices: Choices, script: Script): string {
  const chunks = choices.many(choices.integer(3, 14), () => chunk(choices, script));
  return (
    choices.pick(["", "", "", "# ", "- ", "> ", "    "]) +
    chunks.join(choices.pick([" ", " ", " ", "  ", "\t", "\u00a0"]))
  );
}

function titleOf(choices: Choices, script: Script): string {
  const kind = choices.next();
  if (kind < 0.1) return choices.pick(technical);
  if (kind < 0.2)
    return choices.many(choices.integer(1, 3), () => choices.pick(pictures)).join(choices.pick(["", " "]));
  if (kind < 0.3) return choices.many(choices.integer(1, 3), () => choices.pick(signs)).join(choices.pick(["", " "]));
  if (kind < 0.34) return letters(choices, script, 250);
  return choices.many(choices.integer(1, 7), () => chunk(choices, script)).join(" ");
}

/** `count` pages with unlike paths. */
export function generatePages(seed: number, count: number): (PageFile & { title: string })[] {
  const choices = new Choices(seed);
  return choices.many(count, (index) => {
    const script = scripts[index % scripts.length]!;
    const title = titleOf(choices, script);
    const body = `${choices.many(choices.integer(2, 20), () => line(choices, script)).join("\n")}\n`;
    return { path: `generated/${index}`, title, frontmatter: { title }, body };
  });
}

/** `count` slices of a body: three neighbouring words, or three neighbouring characters of a run without spaces. */
export function slicesOf(body: string, seed: number, count: number): string[] {
  const choices = new Choices(seed);
  const words = body.split(/\s+/).filter((word) => word !== "");
  const runs = body.match(unspacedRuns) ?? [];
  return choices.many(count, () => {
    if (runs.length > 0 && choices.next() < 0.5) return threeCharacters(choices, choices.pick(runs));
    const at = choices.integer(0, Math.max(0, words.length - 3));
    return words.slice(at, at + 3).join(" ");
  });
}

const unspacedRuns =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]{4,}/gu;

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

function threeCharacters(choices: Choices, run: string): string {
  const characters = [...graphemes.segment(run)].map(({ segment }) => segment);
  const at = choices.integer(0, Math.max(0, characters.length - 3));
  return characters.slice(at, at + 3).join("");
}

const operators = [
  "AND",
  "OR",
  "NOT",
  "NEAR",
  "NEAR(a b, 3)",
  "title:",
  "{title body}:",
  "- title :",
  "body : x",
  "^start",
  "pre*",
  "*",
  '"',
  '""',
  "'",
  "(",
  ")",
  "((",
  "a AND",
  "OR b",
  "NOT",
  "+",
  "rowid:1",
  "words_1:a",
  "' OR 1=1 --",
  "; DROP TABLE pages; --",
  "%",
  "_",
  "\\",
  "\u0000",
];

/** Code points that look half, hidden or out of place, each well-formed by itself. */
const strange = [
  "\ue000",
  "\uf8ff",
  "\ufffd",
  "\ufffe",
  "\uffff",
  "\u{10ffff}",
  "\u{1fffe}",
  "\ufeff",
  "\u200b",
  "\u200d",
  "\u202e",
  "\u2066",
  "\u{e0041}",
  "\ufe0f",
  "\u0301",
  "\u3099",
  "\u0338",
  "\u0085",
  "\u2028",
  "\u00ad",
  "\u{1d11e}",
  "\u{d7ff}",
  "\ud800\udc00",
  "\u034f",
  "\u115f",
];

/** A query of 1 to 2,000 characters out of everything a person or a program might send. */
export function generateQuery(choices: Choices): string {
  const wanted = choices.next() < 0.1 ? choices.integer(500, 2000) : choices.integer(1, 60);
  let query = "";
  while (query.length < wanted) query += piece(choices) + choices.pick(["", "", " ", " ", " ", "\t", "\n"]);
  return [...query].slice(0, wanted).join("");
}

function piece(choices: Choices): string {
  const kind = choices.integer(0, 6);
  if (kind === 0) return String.fromCharCode(choices.integer(0x20, 0x7e));
  if (kind === 1) return choices.pick(operators);
  if (kind === 2) return choices.pick(pictures);
  if (kind === 3) return choices.pick(strange);
  if (kind === 4) return choices.pick(technical);
  if (kind === 5) return choices.pick(signs);
  return letters(choices, choices.pick(scripts), choices.integer(1, 12));
}
