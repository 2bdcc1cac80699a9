/*
 * How an erasure finds its subject (pcp section 10): the whole phrase, regardless of case, width, accents, and of what
 * stands between its words.
 */

const betweenWords = /[\s\-_./\\]+/gu;
const wordCharacter = /[\p{L}\p{N}\p{M}]/u;
/** Scripts that write no space between words: there a phrase has no edges to look for. */
const unspacedCharacter =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u;

/** The text as phrases are compared: one space between words, everything else folded. */
export function foldText(text: string): string {
  const plain = text.normalize("NFKD").replace(/\p{M}+/gu, "");
  return plain.toLowerCase().replaceAll("ß", "ss").normalize("NFKC").replace(betweenWords, " ");
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

/** Every text in a JSON value, names of members included: without the punctuation that JSON puts between them. */
export function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  const isArray = Array.isArray(value);
  return Object.entries(value).flatMap(([name, item]) => [...(isArray ? [] : [name]), ...textsIn(item)]);
}
