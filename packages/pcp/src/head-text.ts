import { Document, isScalar, Scalar, visit } from "yaml";
import { SERVER_KEYS } from "./frontmatter.js";

const SERVER: ReadonlySet<string> = new Set(SERVER_KEYS);

// Plain only where every YAML reader, 1.1 ones too, sees the same text; anything else is double-quoted.
const PLAIN = /^\p{L}(?:[\p{L}\p{N}\p{M} _./@+()'&-]*[\p{L}\p{N}\p{M}_./@+()'&-])?$/u;
const RESERVED_WORD = /^(?:true|false|null|yes|no|on|off|y|n)$/i;

// Raw in JSON strings, but line breaks or not printable for YAML readers.
const UNPRINTABLE = /[\u007F-\u009F\u2028\u2029\uFEFF\uFFFE\uFFFF]/g;

/**
 * Our serialisation of a frontmatter that came as JSON: a block with both fences, keys in the given order, server
 * keys left out, one line per scalar. `parseHead` of it gives the same view back. Takes what `parseFrontmatter`
 * returns; the size is for `verifyPageSizes` to judge.
 */
export function buildHead(frontmatter: Record<string, unknown>): string {
  const entries = Object.entries(frontmatter).filter(([key, value]) => !SERVER.has(key) && value !== undefined);
  return `---\n${buildYaml(entries)}---\n`;
}

/** The lines of a block mapping, each with its line end; none for no entries. */
export function buildYaml(entries: [string, unknown][]): string {
  if (entries.length === 0) return "";
  const document = new Document(Object.fromEntries(entries), {
    version: "1.2",
    schema: "core",
    aliasDuplicateObjects: false,
  });
  visit(document, { Scalar: (_key, node) => void chooseStyle(node) });
  const yaml = document.toString({
    lineWidth: 0,
    minContentWidth: 0,
    blockQuote: false,
    doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER,
    flowCollectionPadding: false,
  });
  return yaml.replace(UNPRINTABLE, escapeCharacter);
}

function chooseStyle(node: Scalar): void {
  if (!isScalar(node)) return;
  if (typeof node.value === "string") {
    const plain = PLAIN.test(node.value) && !RESERVED_WORD.test(node.value);
    node.type = plain ? Scalar.PLAIN : Scalar.QUOTE_DOUBLE;
  } else if (typeof node.value === "number" && Number.isInteger(node.value) && !Number.isSafeInteger(node.value)) {
    // Written as an integer it would be read back as text; see `jsonNumber`.
    node.format = "EXP";
    node.source = String(node.value);
  }
}

const escapeCharacter = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
