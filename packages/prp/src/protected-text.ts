/**
 * What a credential looks like inside a text. Every pattern starts with a literal or behind a boundary and has no nested
 * repetition, so that a text is searched in linear time.
 */
const SECRET_SHAPES: readonly RegExp[] = [
  /\bBearer\s{1,8}(?:(?=[\w.~+/=-]*\d)[\w.~+/-]{8,}|[\w.~+/-]{20,})/i,
  /(?<![\w-])sk[-_](?=[A-Za-z_-]*\d)[\w-]{8,}/,
  /(?<![\w-])[pr]k[-_](?:live|test)[-_]\w{8,}/,
  /(?<![\w-])[pr]k[-_][A-Za-z0-9]{16,}/,
  /(?<![A-Za-z0-9])(?:gh[opsur]|github_pat|pcgw|glpat|hf)[-_][\w-]{8,}/,
  /(?<![A-Za-z0-9])npm_[A-Za-z0-9]{16,}/,
  /(?<![A-Za-z0-9])xox[a-z]-[A-Za-z0-9-]{8,}/,
  /(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])/,
  /(?<![A-Za-z0-9])AIza[\w-]{20,}/,
  /(?<![\w-])eyJ[\w-]{8,}\.[\w-]*\.[\w-]{8,}/,
  /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY/,
  /:\/\/[^\s/?#@:]{0,256}:[^\s/?#@]{1,1024}@/,
  /[?&#](?:code|key|secret|state|token|api_?key|access_token|refresh_token|client_secret|password)=[^\s&#]/i,
];

/** What every shape holds: one look that almost every text ends with. */
const SECRET_MARK =
  /[Bb][Ee][Aa][Rr][Ee][Rr]|[spr]k[-_]|gh[opsur][-_]|github_pat|pcgw|glpat|hf[-_]|npm_|xox|A[KS]IA|AIza|eyJ|-BEGIN|:\/\/|[?&#]/;

const MIN_SECRET_LENGTH = 8;

/** Something in the text has the form of a credential. */
export function isSecretText(text: string): boolean {
  return text.length >= MIN_SECRET_LENGTH && SECRET_MARK.test(text) && SECRET_SHAPES.some((shape) => shape.test(text));
}

/** `count`: named like a token, where a number is a budget or a total and no secret. */
export type NameKind = "plain" | "secret" | "token" | "count";

const SECRET_WORD =
  /(?:^|[a-z])(?:authorization|cookies?|credentials?|passwords?|passwd|passphrases?|secrets?|apikeys?|privatekeys?|connectionstrings?)$/;
const SECRET_PAIR = /(?:^| )(?:private|api) keys?(?: |$)|(?:^| )connection strings?(?: |$)/;
const TOKEN_WORD = /(?:^|[a-z])tokens?$/;
const MAX_NAME_LENGTH = 256;

/** A member's name in lower-case words: at separators, and where camel case starts a new one. */
function wordsOf(name: string): string[] {
  const spaced = name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").replace(/([A-Z])([A-Z][a-z])/g, "$1 $2");
  return spaced
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter(Boolean);
}

/** Whether what a member of this name holds is a secret whatever it looks like. */
export function kindOfName(name: string): NameKind {
  const words = wordsOf(name.slice(0, MAX_NAME_LENGTH));
  if (words.some((word) => SECRET_WORD.test(word)) || SECRET_PAIR.test(words.join(" "))) return "secret";
  if (!words.some((word) => TOKEN_WORD.test(word))) return "plain";
  const counts = !words.at(-1)?.endsWith("token") || words.at(-2) === "per";
  return counts ? "count" : "token";
}
