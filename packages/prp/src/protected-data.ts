import { MAX_DEPTH } from "./canonical-json.js";
import { appendPointer } from "./json-pointer.js";
import { isSecretText, kindOfName, type NameKind } from "./protected-text.js";

/** What lies in a value, as flags: a name decides which of it makes the value a secret. */
const NOTHING = 0;
const TEXT = 1;
const NUMBER = 2;
const MEMBERS = 4;

const SECRET_CONTENT: Readonly<Record<NameKind, number>> = {
  plain: NOTHING,
  count: TEXT,
  token: TEXT | NUMBER,
  secret: TEXT | NUMBER | MEMBERS,
};

interface Scan {
  found: string[];
}

/**
 * JSON pointers of what must not be hashed in the clear, outermost only, in document order; "" for the value itself.
 * A member counts by its name (authorization, cookie, credential, password, private key, secret, token, API key,
 * connection string, in any spelling) when it holds something, where a number under a name such as `tokens` or
 * `token_budget` is a count; a text by its form, also as JSON inside a text; an object, when a name in it has that form.
 * Takes JSON values; what is nested deeper than 1,000 levels counts as found.
 */
export function findProtected(value: unknown): string[] {
  const scan: Scan = { found: [] };
  scanValue(scan, value, { pointer: "", depth: 0 });
  return scan.found;
}

interface Place {
  pointer: string;
  depth: number;
}

function scanValue(scan: Scan, value: unknown, place: Place): number {
  if (typeof value === "string") return scanText(scan, value, place);
  if (typeof value === "number") return NUMBER;
  if (typeof value !== "object" || value === null) return NOTHING;
  if (place.depth >= MAX_DEPTH) scan.found.push(place.pointer);
  else if (Array.isArray(value)) return scanElements(scan, value, place);
  else return scanMembers(scan, value as Record<string, unknown>, place);
  return MEMBERS;
}

function scanText(scan: Scan, text: string, { pointer }: Place): number {
  if (isSecretText(text) || holdsProtectedJson(text)) scan.found.push(pointer);
  return text === "" ? NOTHING : TEXT;
}

// A tool's result often has its structured content once more as text.
function holdsProtectedJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false;
  try {
    return findProtected(JSON.parse(text)).length > 0;
  } catch {
    return false;
  }
}

function scanElements(scan: Scan, elements: readonly unknown[], { pointer, depth }: Place): number {
  let content = elements.length === 0 ? NOTHING : MEMBERS;
  elements.forEach((element, index) => {
    content |= scanValue(scan, element, { pointer: appendPointer(pointer, index), depth: depth + 1 });
  });
  return content;
}

function scanMembers(scan: Scan, members: Record<string, unknown>, { pointer, depth }: Place): number {
  const before = scan.found.length;
  let content = NOTHING;
  let secretName = false;
  for (const [name, member] of Object.entries(members)) {
    const place = { pointer: appendPointer(pointer, name), depth: depth + 1 };
    const mark = scan.found.length;
    const inside = scanValue(scan, member, place);
    if (inside & SECRET_CONTENT[readName(name).kind]) scan.found.splice(mark, Infinity, place.pointer);
    secretName ||= readName(name).isSecret;
    content |= inside | MEMBERS;
  }
  // Replacing the value would leave the name.
  if (secretName) scan.found.splice(before, Infinity, pointer);
  return content;
}

interface Name {
  kind: NameKind;
  /** The name itself has the form of a credential. */
  isSecret: boolean;
}

/** The names of members come again and again. */
const names = new Map<string, Name>();
const namesMost = 2000;
const keptNameLength = 64;

function readName(name: string): Name {
  const known = names.get(name);
  if (known) return known;
  const read = { kind: kindOfName(name), isSecret: isSecretText(name) };
  if (names.size >= namesMost) names.clear();
  if (name.length <= keptNameLength && !read.isSecret) names.set(name, read);
  return read;
}
