/**
 * What a code point is to the word index, and what it becomes there.
 *
 * Both answers depend on the code point alone, never on its neighbours: that is what keeps the words of a text and the
 * words of any slice of it the same (no final sigma, no locale, no casing context).
 */

import { foldCase, plainLetters } from "../domain/letters.js";

/** The low four bits of a code point's traits. */
export const Kind = {
  /** Ends a word; in no token unless its whole chunk holds nothing else. */
  split: 1,
  space: 2,
  /** Invisible or without meaning for search: dropped, and does not end a word. */
  ignored: 3,
  /** Letter or digit whose combining marks are dropped: ASCII, Latin, Greek, Cyrillic, Arabic, Hebrew. */
  plain: 4,
  /** Letter or digit of another script written with spaces; its marks are part of the word. */
  other: 5,
  mark: 6,
  /** Character of a script written without spaces, its vowel signs included. */
  unspaced: 7,
  pictograph: 8,
  apostrophe: 9,
  /** The underscore: joins the parts of an identifier. */
  joiner: 10,
} as const;

const KIND_BITS = 15;
export const UPPER = 16;
export const LETTER = 32;

const WORD_CHARACTER = /^[\p{L}\p{N}\p{M}]$/u;
const ONLY_WORD_CHARACTERS = /^[\p{L}\p{N}\p{M}]+$/u;
const MARK = /^\p{M}$/u;
const MARKS = /\p{M}+/gu;
const INVISIBLE = /^[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Me}\p{Emoji_Modifier}\u0640]$/u;
const PICTOGRAPH = /^[\p{Extended_Pictographic}\p{Regional_Indicator}]$/u;
const UPPER_CASE = /^[\p{Lu}\p{Lt}]$/u;
const SPACE = /^[\s\u0085]$/u;
const STRIPPED_SCRIPT = /^[\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{sc=Arabic}\p{sc=Hebrew}]$/u;
const UNSPACED_SCRIPT =
  /^[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]$/u;
/** For marks the script itself counts: some that Latin letters carry are also used, says Unicode, in Katakana. */
const UNSPACED_MARK = /^[\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}\u3099\u309a]$/u;
const COMPOSED_SCRIPT = /^[\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Han}]$/u;

const ZERO_WIDTH_SPACE = 0x200b;
const APOSTROPHES = new Set([0x27, 0xb4, 0x2bc, 0x2018, 0x2019, 0xff07]);
const UNDERSCORES = new Set([0x5f, 0xff3f]);
/** Signs that Unicode calls pictographs and people write as trade marks and footnotes. */
const NOT_PICTOGRAPHS = new Set([0xa9, 0xae, 0x2122]);

const KNOWN_TRAITS = new Uint8Array(0x110000);
const KNOWN_FOLDS = new Map<number, string>();

/** Kind and flags of a code point (lone surrogates included): `kindOf(traits)`, `traits & UPPER`, `traits & LETTER`. */
export function traitsOf(codePoint: number): number {
  const known = KNOWN_TRAITS[codePoint]!;
  if (known !== 0) return known;
  const traits = findTraits(codePoint);
  KNOWN_TRAITS[codePoint] = traits;
  return traits;
}

export function kindOf(traits: number): number {
  return traits & KIND_BITS;
}

export function isWordKind(kind: number): boolean {
  return kind === Kind.plain || kind === Kind.other;
}

/** UTF-16 units of a code point. */
export function unitsOf(codePoint: number): number {
  return codePoint > 0xffff ? 2 : 1;
}

/**
 * The form of a word character in the index: compatibility forms resolved, case folded, marks dropped where the script
 * allows. Never holds a space, ASCII punctuation or an upper-case ASCII letter. Kana and Hangul stay composed.
 */
export function foldOf(codePoint: number): string {
  const known = KNOWN_FOLDS.get(codePoint);
  if (known !== undefined) return known;
  const folded = findFold(codePoint);
  KNOWN_FOLDS.set(codePoint, folded);
  return folded;
}

function findTraits(codePoint: number): number {
  if (codePoint >= 0xd800 && codePoint <= 0xdfff) return Kind.split;
  if (codePoint >= 0x4e00 && codePoint <= 0x9fff) return Kind.unspaced;
  if (codePoint >= 0xac00 && codePoint <= 0xd7a3) return Kind.unspaced;
  if (APOSTROPHES.has(codePoint)) return Kind.apostrophe;
  if (UNDERSCORES.has(codePoint)) return Kind.joiner;
  const character = String.fromCodePoint(codePoint);
  if (SPACE.test(character)) return Kind.space;
  if (codePoint === ZERO_WIDTH_SPACE) return Kind.split;
  if (INVISIBLE.test(character)) return Kind.ignored;
  if (WORD_CHARACTER.test(character)) return findWordTraits(codePoint, character);
  if (PICTOGRAPH.test(character) && codePoint > 0x7f && !NOT_PICTOGRAPHS.has(codePoint)) return Kind.pictograph;
  return Kind.split;
}

function findWordTraits(codePoint: number, character: string): number {
  if (MARK.test(character)) return UNSPACED_MARK.test(character) ? Kind.unspaced : Kind.mark;
  if (UNSPACED_SCRIPT.test(character)) return Kind.unspaced;
  const plain = codePoint < 0x80 || STRIPPED_SCRIPT.test(character);
  const letter = /^\p{L}$/u.test(character) ? LETTER : 0;
  const upper = UPPER_CASE.test(character) ? UPPER : 0;
  return (plain ? Kind.plain : Kind.other) | letter | upper;
}

function findFold(codePoint: number): string {
  const character = String.fromCodePoint(codePoint);
  const kind = kindOf(traitsOf(codePoint));
  if (kind === Kind.unspaced) {
    return readableFold(character, character.normalize(COMPOSED_SCRIPT.test(character) ? "NFKC" : "NFKD"));
  }
  const strip = (text: string) => (kind === Kind.plain ? text.replace(MARKS, "") : text);
  const decomposed = strip(character.normalize("NFKD"));
  const bare = plainLetters(strip(foldCase(decomposed).normalize("NFKD")));
  return readableFold(character, bare);
}

/** A form that would carry punctuation or a space (one half, a parenthesised number) stays the character it was. */
function readableFold(character: string, folded: string): string {
  return ONLY_WORD_CHARACTERS.test(folded) ? folded : character;
}
