import { Composer, type CST, type Document, Parser } from "yaml";
import { MAX_DEPTH } from "./page-problem.js";

export const MAX_ALIASES = 100;

// One mistake can make the library report thousands; the first few say it all.
const MAX_FAULTS = 20;

/** A reason why a YAML text is refused, with the offset (UTF-16 units) it was found at. */
export interface YamlFault {
  message: string;
  offset: number;
}

export type YamlTree = { ok: true; document: Document | undefined } | { ok: false; faults: YamlFault[] };

/**
 * Reads one YAML 1.2 document (core schema) into the library's node tree; undefined for a text of blanks and
 * comments. The token tree, which the library builds without recursion, is checked first: composing nodes recurses,
 * and a text that nests thousands deep would end the process instead of being refused.
 */
export function parseYamlTree(text: string): YamlTree {
  const tokens = [...new Parser().parse(text)];
  const faults = tokenFaults(tokens);
  if (faults.length > 0) return { ok: false, faults };
  const composer = new Composer({
    version: "1.2",
    schema: "core",
    merge: false,
    strict: true,
    uniqueKeys: false,
    resolveKnownTags: false,
    prettyErrors: false,
    logLevel: "silent",
  });
  const documents = [...composer.compose(tokens)];
  const document = documents[0];
  const found = documents.flatMap(({ errors, warnings }) => [...errors, ...warnings]);
  if (found.length === 0) return { ok: true, document };
  return { ok: false, faults: found.slice(0, MAX_FAULTS).map(({ message, pos }) => ({ message, offset: pos[0] })) };
}

function tokenFaults(tokens: CST.Token[]): YamlFault[] {
  const directive = tokens.find(({ type }) => type === "directive");
  if (directive) return [{ message: "YAML directives are not allowed here", offset: directive.offset }];
  const documents = tokens.filter(({ type }) => type === "document");
  if (documents.length > 1) return [{ message: "There is more than one YAML document", offset: documents[1]!.offset }];
  return structureFaults(tokens);
}

function structureFaults(tokens: CST.Token[]): YamlFault[] {
  let aliases = 0;
  const open: [CST.Token, number][] = tokens.map((token) => [token, 0]);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [token, depth] = next;
    if (token.type === "alias") aliases += 1;
    const inner = "items" in token ? depth + 1 : depth;
    if (inner > MAX_DEPTH) return [{ message: `The YAML is nested deeper than ${MAX_DEPTH}`, offset: token.offset }];
    for (const child of childTokens(token)) open.push([child, inner]);
  }
  return aliases > MAX_ALIASES ? [{ message: `There are more than ${MAX_ALIASES} YAML aliases`, offset: 0 }] : [];
}

function childTokens(token: CST.Token): CST.Token[] {
  if (token.type === "document") return token.value ? [token.value] : [];
  if (!("items" in token)) return [];
  return token.items.flatMap(({ key, value }) => [key, value].filter((child) => child !== undefined && child !== null));
}
