/** Letters with a stroke or ligature that have no decomposition; people without the key type the plain letter. */
const strokeLetters: ReadonlyMap<string, string> = new Map([
  ["æ", "ae"],
  ["œ", "oe"],
  ["ø", "o"],
  ["ł", "l"],
  ["đ", "d"],
  ["ħ", "h"],
  ["ŧ", "t"],
  ["ς", "σ"],
]);

/** Full case folding without a table: down, up and down again also reaches long s, sharp s and dotless i. */
export function foldCase(text: string): string {
  return text.toLowerCase().toUpperCase().toLowerCase();
}

/** Lower-case letters in the form that people type without the key for them. */
export function plainLetters(text: string): string {
  return text.replace(/[æœøłđħŧς]/g, (letter) => strokeLetters.get(letter) ?? letter);
}
