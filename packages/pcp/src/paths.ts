const MAX_PATH_CHARACTERS = 255;

const FORBIDDEN: readonly (readonly [RegExp, string])[] = [
  [/\p{Cc}|[\u2028\u2029]/u, "contains a control character"],
  [/[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u, "contains a character that changes text direction"],
  [/[\u180E\u200B-\u200D\u2060-\u2064\u206A-\u206F\uFEFF]/u, "contains a zero-width character"],
  [/[\u{E0000}-\u{E007F}]/u, "contains a tag character"],
  [/[\\:*?"<>|]/u, 'contains one of \\ : * ? " < > |'],
];

// The names as Windows compares them: the superscript digits count as digits there.
const WINDOWS_RESERVED = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[1-9\u00B9\u00B2\u00B3])$/i;

export type ParsedPath = { ok: true; path: string } | { ok: false; violations: string[] };

/**
 * The canonical form of a page path, or every rule it breaks (pcp section 2). NFC, 1-255 code points, one trailing
 * `.md` dropped and a second one refused, so that a canonical path is its own canonical form. Violations are full
 * sentences without the path itself, for `invalid_input`.
 */
export function parsePath(input: string): ParsedPath {
  if (/\p{Surrogate}/u.test(input)) return { ok: false, violations: ["The path is not well-formed Unicode."] };
  const normal = input.normalize("NFC");
  const path = normal.endsWith(".md") ? normal.slice(0, -".md".length) : normal;
  const violations = [...shapeViolations(path), ...characterViolations(path), ...segmentViolations(path)];
  if (violations.length > 0) return { ok: false, violations: violations.map((text) => `The path ${text}.`) };
  return { ok: true, path };
}

function shapeViolations(path: string): string[] {
  if (path === "") return ["is empty"];
  const found: string[] = [];
  if ([...path].length > MAX_PATH_CHARACTERS) found.push(`is longer than ${MAX_PATH_CHARACTERS} characters`);
  if (path.startsWith("/")) found.push("starts with a slash");
  if (path.endsWith("/")) found.push("ends with a slash");
  if (path.includes("//")) found.push("has an empty segment");
  if (path.endsWith(".md")) found.push("ends in .md twice");
  return found;
}

function characterViolations(path: string): string[] {
  const found = FORBIDDEN.filter(([pattern]) => pattern.test(path)).map(([, text]) => text);
  if (hidesSyntax(path)) found.push("hides a dot segment, a slash, a backslash or a control character in % escapes");
  return found;
}

function segmentViolations(path: string): string[] {
  const found = new Set<string>();
  for (const segment of path.split("/")) {
    if (segment === "." || segment === "..") found.add("has a segment . or ..");
    else if (/[. ]$/.test(segment)) found.add("has a segment that ends in a dot or a space");
    if (WINDOWS_RESERVED.test(segment.split(".")[0]!.trimEnd())) found.add("has a segment that Windows reserves");
  }
  return [...found];
}

/**
 * True when some layer behind us that decodes percent escapes (once or many times) would see path syntax that
 * is not there now. A `%` that decodes to harmless text is kept as it is.
 */
function hidesSyntax(path: string): boolean {
  let current = path;
  for (let next = decodeOnce(current); next !== current; next = decodeOnce(current)) {
    current = next;
    if (/[\\\p{Cc}]/u.test(current) || count(current, "/") !== count(path, "/")) return true;
    if (current.split("/").some((segment) => segment === "." || segment === "..")) return true;
  }
  return false;
}

const count = (text: string, part: string): number => text.split(part).length - 1;

// Every round shortens the text, so the caller's loop ends. Overlong forms count: lenient decoders accept them.
function decodeOnce(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => {
    const bytes = run
      .slice(1)
      .split("%")
      .map((digits) => Number.parseInt(digits, 16));
    return new TextDecoder().decode(Uint8Array.from(unfoldOverlong(bytes)));
  });
}

function unfoldOverlong(bytes: number[]): number[] {
  const plain: number[] = [];
  for (let i = 0; i < bytes.length; i++) {
    const [first = 0, second = 0, third = 0] = bytes.slice(i, i + 3);
    if ((first === 0xc0 || first === 0xc1) && second >> 6 === 2) {
      plain.push(((first & 1) << 6) | (second & 0x3f));
      i += 1;
    } else if (first === 0xe0 && (second === 0x80 || second === 0x81) && third >> 6 === 2) {
      plain.push(((second & 1) << 6) | (third & 0x3f));
      i += 2;
    } else plain.push(first);
  }
  return plain;
}

/**
 * Two paths with equal keys are the same page or twins (pcp section 2): full Unicode case folding, folders
 * included, then NFC. Lower(upper(lower(c))) per code point is that folding in terms of the language's own tables;
 * the dotless i, which has a capital of its own only by convention, is left alone, and so stays distinct from i.
 */
export function twinKey(path: string): string {
  let folded = "";
  for (const character of path.normalize("NFD")) folded += character === "\u0131" ? character : fold(character);
  return folded.normalize("NFC");
}

// Code point by code point: the language's final-sigma rule looks at neighbours and would undo the folding.
function fold(character: string): string {
  let folded = "";
  for (const upper of character.toLowerCase().toUpperCase()) folded += upper.toLowerCase();
  return folded;
}
