/*
 * How an erasure finds its subject (pcp section 10): the whole phrase, regardless of case, width, accents, and of what
 * stands between its words.
 */

import { foldCase, plainLetters } from "./letters.js";
import type { PageKeys } from "./records.js";

const betweenWords = /[\s\-_./\\\u200b\u2010-\u2015\u2212]+/gu;
const apostrophes = /[\u02bc\u2018\u2019\uff07]/gu;
/** Soft hyphens, joiners, marks of direction, the Arabic stretcher: nobody sees them. A space without width is a space. */
const invisible = /(?!\u200b)[\p{Default_Ignorable_Code_Point}\u0640]+/gu;
const asciiOnly = /^[\0-\x7f]*$/;
const wordCharacter = /[\p{L}\p{N}\p{M}]/u;
/** Scripts that write no space between words: there a phrase has no edges to look for. */
const unspacedCharacter =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u;

/** Accents, and the points and vowels of Hebrew and Arabic; not the marks that make another letter, as of kana or Hindi. */
const accents =
  /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670\u06d6-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+/gu;

/** The text as phrases are compared: one space between words, everything else folded. */
export function foldText(text: string): string {
  if (asciiOnly.test(text)) return text.toLowerCase().replace(betweenWords, " ");
  const plain = text.replace(apostrophes, "'").normalize("NFKD").replace(invisible, "").replace(accents, "");
  const folded = foldCase(plain).normalize("NFKD").replace(accents, "");
  return plainLetters(folded).normalize("NFKC").replace(betweenWords, " ");
}

/** A subject, folded; undefined when nothing is left of it to look for. */
export function foldSubject(subject: string): string | undefined {
  const folded = foldText(subject).trim();
  return wordCharacter.test(folded) ? folded : undefined;
}

/** Whether the text holds the phrase, neither end of it inside a word. @param phrase as `foldSubject` gives it */
export function holdsPhrase(text: string, phrase: string): boolean {
  const folded = foldText(text);
  for (let at = folded.indexOf(phrase); at >= 0; at = folded.indexOf(phrase, at + 1)) {
    if (isEdge(folded, at) && isEdge(folded, at + phrase.length)) return true;
  }
  return false;
}

function isEdge(text: string, at: number): boolean {
  const before = [...text.slice(Math.max(0, at - 2), at)].at(-1) ?? "";
  const after = String.fromCodePoint(text.codePointAt(at) ?? 0x20);
  if (unspacedCharacter.test(before) || unspacedCharacter.test(after)) return true;
  return !(wordCharacter.test(before) && wordCharacter.test(after));
}

/** Whether any text in a JSON value, names of members included, holds the phrase. */
export function valueHoldsPhrase(value: unknown, phrase: string): boolean {
  if (typeof value === "string") return holdsPhrase(value, phrase);
  if (typeof value === "number") return holdsPhrase(String(value), phrase);
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(
    ([name, item]) => (!Array.isArray(value) && holdsPhrase(name, phrase)) || valueHoldsPhrase(item, phrase),
  );
}

/** The value without the members and items that hold the phrase; undefined when it is one itself or nothing is left of it. */
export function withoutPhrase(value: unknown, phrase: string): unknown {
  if (typeof value !== "object" || value === null) return valueHoldsPhrase(value, phrase) ? undefined : value;
  if (Array.isArray(value))
    return value.map((item) => withoutPhrase(item, phrase)).filter((item) => item !== undefined);
  const kept = Object.entries(value).flatMap(([name, item]) => {
    const rest = holdsPhrase(name, phrase) ? undefined : withoutPhrase(item, phrase);
    return rest === undefined ? [] : [[name, rest] as const];
  });
  return kept.length === 0 && Object.keys(value).length > 0 ? undefined : Object.fromEntries(kept);
}

/** Names that we gave to members of frontmatter: a page does not hold a subject because it has a title. */
const ownKeys = [
  ...["title", "type", "tags", "partition", "sensitivity", "lifecycle", "confidence", "valid_from", "valid_until"],
  ...["source", "derived_from", "relations"],
];
const ownNames = new RegExp(`^(?:${ownKeys.join("|")})[ \\t]*:|^[ \\t-]+(?:rel|target|confidence)[ \\t]*:`, "gmu");

/** A frontmatter block without the names that are ours. What stands before and after one stays apart. */
export function withoutOwnNames(head: string): string {
  return head.replace(ownNames, ":");
}

/** Every text in the keys of a page but the names that are ours. */
export function textsInKeys({ relations, ...keys }: PageKeys): string[] {
  const links = (relations ?? []).flatMap(({ rel, target }) => [rel, target]);
  const values = Object.entries(keys).flatMap(([name, value]) => [
    ...(ownKeys.includes(name) ? [] : [name]),
    ...textsIn(value),
    ...(typeof value === "number" ? [String(value)] : []),
  ]);
  return [...links, ...values];
}

/** Every text in a JSON value, names of members included: without the punctuation that JSON puts between them. */
export function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  const isArray = Array.isArray(value);
  return Object.entries(value).flatMap(([name, item]) => [...(isArray ? [] : [name]), ...textsIn(item)]);
}
