import { foldOf, isWordKind, Kind, kindOf, LETTER, traitsOf, UPPER, unitsOf } from "./characters.js";
import { STOP_WORDS } from "./stop-words.js";

/** A token and where it stands: UTF-16 offsets into the text it came from, `end` exclusive. */
export interface OffsetToken {
  token: string;
  start: number;
  end: number;
}

/**
 * What a query asks for. `terms` are distinct, in order of appearance, at most 64, and all are scored; `required` and
 * `optional` divide them. A page that lacks a required term does not match the query as a whole.
 */
export interface QueryPlan {
  terms: string[];
  required: string[];
  optional: string[];
  /** Those of `optional` that are another way to reach a required word (the parts of an identifier). */
  alternatives: string[];
}

/**
 * - `word`: asked for by a query.
 * - `clitic`: the short side of an apostrophe (the l of l'avion, the t of don't): like a function word.
 * - `extra`: another way to reach a word that has a token already (parts of an identifier, the c of C++).
 * - `single`: one character of a longer run without spaces: indexed, and asked for only by a run of that length.
 * - `symbol`: a code point of a chunk that holds no word at all.
 */
type Role = "word" | "clitic" | "extra" | "single" | "symbol";

interface Piece extends OffsetToken {
  role: Role;
}

interface Scan {
  readonly text: string;
  at: number;
  end: number;
  readonly pieces: Piece[];
}

interface WordSpan {
  start: number;
  end: number;
  ascii: boolean;
  /** An upper-case letter stands where a part of an identifier would begin. */
  mixed: boolean;
  endsInLetter: boolean;
}

const MAX_TOKEN_CODE_POINTS = 64;
const MAX_IDENTIFIER_PARTS = 12;
const MAX_QUERY_TERMS = 64;
const MAX_SIGNED_WORD = 16;
const MAX_CHUNK_SYMBOLS = 64;
const ENGLISH_TAILS = new Set(["t", "ll", "re", "ve", "d", "m"]);

/** Private-use code points never occur in a word (they are not letters), so these encodings can't meet one. */
const SYMBOL_HIGH = 0xe000;
const SYMBOL_LOW = 0xe200;
const SIGNS: ReadonlyMap<number, string> = new Map([
  [0x2b, "\uf801"],
  [0xff0b, "\uf801"],
  [0x23, "\uf802"],
  [0xff03, "\uf802"],
]);
const PRIVATE_USE = /[\ue000-\uf8ff]/;

/**
 * The tokens under which a text is indexed, in order (pcp section 7: any script, anything a person types).
 *
 * A token holds ASCII lower-case letters and digits and non-ASCII code points, nothing else; every non-blank text has at
 * least one. Text is read one whitespace-separated chunk at a time and no chunk sees its neighbours, so each required
 * term of a slice at white space, or of a part of a run without spaces, is among the tokens of the whole.
 */
export function tokenise(text: string): string[] {
  return scanText(text).map((piece) => piece.token);
}

/** As `tokenise`, with the place of each token. Tokens of one word overlap. */
export function tokeniseWithOffsets(text: string): OffsetToken[] {
  return scanText(text);
}

/**
 * Turns anything a person types into terms. Required are the content words; where a query has none, its function words;
 * where it has none of those either, its symbols. An identifier requires its whole word (getuserbyid) and names its
 * parts as optional; underscored words require each part and name the joined form as optional.
 */
export function planQuery(query: string): QueryPlan {
  const ranks = new Map<string, number>();
  for (const piece of scanText(query)) {
    if (piece.role === "single") continue;
    const rank = rankOf(piece);
    const known = ranks.get(piece.token);
    if (known === undefined && ranks.size >= MAX_QUERY_TERMS) continue;
    if (known === undefined || rank > known) ranks.set(piece.token, rank);
  }
  const highest = Math.max(0, ...ranks.values());
  const termsOf = (isAsked: (rank: number) => boolean) =>
    [...ranks].filter(([, rank]) => isAsked(rank)).map(([term]) => term);
  return {
    terms: [...ranks.keys()],
    required: termsOf((rank) => rank === highest),
    optional: termsOf((rank) => rank !== highest),
    alternatives: termsOf((rank) => rank === extraRank && rank !== highest),
  };
}

/** Whether a term found nowhere may be tried as the beginning of longer words. */
export function isPrefixable(term: string): boolean {
  return !PRIVATE_USE.test(term) && [...term].length >= 3;
}

const extraRank = 1;

function rankOf(piece: Piece): number {
  if (piece.role === "symbol") return 0;
  if (piece.role === "extra") return extraRank;
  return piece.role === "clitic" || STOP_WORDS.has(piece.token) ? 2 : 3;
}

function scanText(text: string): Piece[] {
  const scan: Scan = { text, at: 0, end: 0, pieces: [] };
  while (scan.at < text.length) {
    if (kindOf(traitsOf(text.charCodeAt(scan.at))) === Kind.space) {
      scan.at += 1;
      continue;
    }
    scan.end = scan.at + 1;
    while (scan.end < text.length && kindOf(traitsOf(text.charCodeAt(scan.end))) !== Kind.space) scan.end += 1;
    readChunk(scan);
  }
  return scan.pieces;
}

function readChunk(scan: Scan): void {
  const { text, end, pieces } = scan;
  const start = scan.at;
  const before = pieces.length;
  let linked = false;
  while (scan.at < end) {
    const codePoint = text.codePointAt(scan.at)!;
    const kind = kindOf(traitsOf(codePoint));
    if (isWordKind(kind)) {
      readWords(scan, linked);
      linked = isApostropheLink(scan, scan.at);
      if (linked) scan.at += 1;
      continue;
    }
    if (kind === Kind.unspaced) {
      readRun(scan);
      continue;
    }
    const next = scan.at + unitsOf(codePoint);
    if (kind === Kind.pictograph) {
      pieces.push({ token: String.fromCodePoint(codePoint), start: scan.at, end: next, role: "word" });
    }
    scan.at = next;
  }
  if (pieces.length === before) readSymbols(scan, start);
}

/** Reads a word, and the words that underscores join to it. `linked`: an apostrophe joins it to the word before. */
function readWords(scan: Scan, linked: boolean): void {
  const start = scan.at;
  let joined = "";
  let segments = 0;
  for (let next = start; next >= 0; next = joinedWordAt(scan)) {
    const word = spanWord(scan, next);
    scan.at = word.end;
    const piece = readWord(scan, word, linked);
    segments += 1;
    if (joined.length <= 2 * MAX_TOKEN_CODE_POINTS) joined += piece.token;
    if (segments === 1 && word.endsInLetter) readSign(scan, piece);
  }
  if (segments > 1 && [...joined].length <= MAX_TOKEN_CODE_POINTS) {
    scan.pieces.push({ token: joined, start, end: scan.at, role: "extra" });
  }
}

function readWord(scan: Scan, word: WordSpan, linked: boolean): Piece {
  const token = foldSpan(scan.text, word);
  const piece: Piece = { token, start: word.start, end: word.end, role: "word" };
  if (linked && token === "s") return piece;
  const leads = token.length <= 2 && isApostropheLink(scan, word.end);
  if (leads || (linked && ENGLISH_TAILS.has(token))) piece.role = "clitic";
  scan.pieces.push(piece);
  if (word.mixed && word.end - word.start <= MAX_TOKEN_CODE_POINTS) readParts(scan, word);
  return piece;
}

function spanWord(scan: Scan, start: number): WordSpan {
  const word: WordSpan = { start, end: start, ascii: true, mixed: false, endsInLetter: false };
  let previous = 0;
  let beforePrevious = 0;
  for (let at = start; at < scan.end; ) {
    const codePoint = scan.text.codePointAt(at)!;
    const traits = traitsOf(codePoint);
    const kind = kindOf(traits);
    at += unitsOf(codePoint);
    if (isWordKind(kind)) {
      if (startsPart(traits, previous) || endsCapitals(traits, previous, beforePrevious)) word.mixed = true;
      beforePrevious = previous;
      previous = traits;
    } else if (kind !== Kind.mark && kind !== Kind.ignored) break;
    if (codePoint > 0x7f) word.ascii = false;
    word.end = at;
  }
  word.endsInLetter = (previous & LETTER) !== 0;
  return word;
}

function startsPart(traits: number, previous: number): boolean {
  return (traits & UPPER) !== 0 && (previous & (LETTER | UPPER)) === LETTER;
}

function endsCapitals(traits: number, previous: number, beforePrevious: number): boolean {
  return (traits & (LETTER | UPPER)) === LETTER && (previous & beforePrevious & UPPER) !== 0;
}

/** The parts of getUserById or HTTPServer; of PDFs only the singular. A word in too many parts is no identifier. */
function readParts(scan: Scan, word: WordSpan): void {
  const cuts = identifierCuts(scan.text, word);
  if (cuts.length > MAX_IDENTIFIER_PARTS) return;
  cuts.forEach((start, index) => {
    const end = cuts[index + 1] ?? word.end;
    const token = foldSpan(scan.text, { ...word, start, end });
    const isPlural = token === "s" && end === word.end;
    if (token !== "" && !isPlural) scan.pieces.push({ token, start, end, role: "extra" });
  });
}

function identifierCuts(text: string, word: WordSpan): number[] {
  const cuts = [word.start];
  let previous = 0;
  let beforePrevious = 0;
  let previousAt = word.start;
  for (let at = word.start; at < word.end; ) {
    const codePoint = text.codePointAt(at)!;
    const traits = traitsOf(codePoint);
    if (isWordKind(kindOf(traits))) {
      const isPlural = text[at] === "s" && at + 1 === word.end;
      if (startsPart(traits, previous)) cuts.push(at);
      else if (endsCapitals(traits, previous, beforePrevious)) cuts.push(isPlural ? at : previousAt);
      beforePrevious = previous;
      previous = traits;
      previousAt = at;
    }
    at += unitsOf(codePoint);
  }
  return cuts;
}

function foldSpan(text: string, span: Pick<WordSpan, "start" | "end" | "ascii">): string {
  if (span.ascii) return text.slice(span.start, Math.min(span.end, span.start + MAX_TOKEN_CODE_POINTS)).toLowerCase();
  let folded = "";
  let base: number = Kind.plain;
  let count = 0;
  for (let at = span.start; at < span.end && count < MAX_TOKEN_CODE_POINTS; ) {
    const codePoint = text.codePointAt(at)!;
    const kind = kindOf(traitsOf(codePoint));
    at += unitsOf(codePoint);
    if (kind === Kind.ignored || (kind === Kind.mark && base === Kind.plain)) continue;
    if (kind !== Kind.mark) base = kind;
    folded += foldOf(codePoint);
    count += 1;
  }
  return folded.length <= MAX_TOKEN_CODE_POINTS ? folded : [...folded].slice(0, MAX_TOKEN_CODE_POINTS).join("");
}

/** C++, C#, F#: the word with its signs is a word of its own, so that a search for it does not mean every c. */
function readSign(scan: Scan, word: Piece): void {
  const sign = SIGNS.get(scan.text.charCodeAt(scan.at));
  if (sign === undefined || scan.at >= scan.end || word.token.length > MAX_SIGNED_WORD) return;
  let end = scan.at;
  while (end < scan.end && end - scan.at <= 2 && SIGNS.get(scan.text.charCodeAt(end)) === sign) end += 1;
  const count = end - scan.at;
  if (count > 2 || (count === 1 && isWordAt(scan, end))) return;
  word.role = "extra";
  scan.pieces.push({ token: word.token + sign.repeat(count), start: word.start, end, role: "word" });
}

function isWordAt(scan: Scan, at: number): boolean {
  return at < scan.end && isWordKind(kindOf(traitsOf(scan.text.codePointAt(at)!)));
}

function isApostropheLink(scan: Scan, at: number): boolean {
  return kindAt(scan, at) === Kind.apostrophe && isWordAt(scan, at + 1);
}

/** Where the word behind an underscore starts, or -1. */
function joinedWordAt(scan: Scan): number {
  let at = scan.at;
  while (kindAt(scan, at) === Kind.joiner) at += 1;
  return at > scan.at && isWordAt(scan, at) ? at : -1;
}

function kindAt(scan: Scan, at: number): number {
  return at < scan.end ? kindOf(traitsOf(scan.text.charCodeAt(at))) : 0;
}

/** Each character and each pair of neighbours of a run written without spaces. */
function readRun(scan: Scan): void {
  const units = readUnits(scan);
  const last = units.length - 1;
  for (let index = 0; index <= last; index += 1) {
    const unit = units[index]!;
    if (last > 0) unit.role = "single";
    scan.pieces.push(unit);
    if (index === last) break;
    const next = units[index + 1]!;
    scan.pieces.push({ token: unit.token + next.token, start: unit.start, end: next.end, role: "word" });
  }
}

function readUnits(scan: Scan): Piece[] {
  const units: Piece[] = [];
  while (scan.at < scan.end) {
    const codePoint = scan.text.codePointAt(scan.at)!;
    const kind = kindOf(traitsOf(codePoint));
    if (kind !== Kind.unspaced && kind !== Kind.mark && kind !== Kind.ignored) break;
    const start = scan.at;
    scan.at += unitsOf(codePoint);
    if (kind !== Kind.unspaced) continue;
    const token = foldOf(codePoint);
    if (isComposing(codePoint) && joinsLast(units, token, scan.at)) continue;
    if (token.length === 1) units.push({ token, start, end: scan.at, role: "word" });
    else for (const part of token) units.push({ token: part, start, end: scan.at, role: "word" });
  }
  return units;
}

/** Composes a code point with the unit before it, where Unicode has one character for both. */
function joinsLast(units: Piece[], token: string, end: number): boolean {
  const last = units[units.length - 1];
  const composed = last ? (last.token + token).normalize("NFC") : "";
  if (!last || [...composed].length !== 1) return false;
  last.token = composed;
  last.end = end;
  return true;
}

/** Kana voicing marks and the later letters of a Hangul syllable: one character with the one before, however encoded. */
function isComposing(codePoint: number): boolean {
  if (codePoint === 0x3099 || codePoint === 0x309a || codePoint === 0xff9e || codePoint === 0xff9f) return true;
  return codePoint >= 0x1161 && codePoint <= 0x11c2;
}

/** One token for each of the first 64 code points: a rule of a thousand dashes is no better known by more of them. */
function readSymbols(scan: Scan, start: number): void {
  let count = 0;
  for (let at = start; at < scan.end && count < MAX_CHUNK_SYMBOLS; count += 1) {
    const codePoint = scan.text.codePointAt(at)!;
    const end = at + unitsOf(codePoint);
    const token = String.fromCharCode(SYMBOL_HIGH + (codePoint >> 12), SYMBOL_LOW + (codePoint & 0xfff));
    scan.pieces.push({ token, start: at, end, role: "symbol" });
    at = end;
  }
  scan.at = scan.end;
}
