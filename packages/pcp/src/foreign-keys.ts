import { isMap, type Pair, type YAMLMap } from "yaml";
import { CLIENT_KEYS, parseFrontmatter, SERVER_KEYS } from "./frontmatter.js";
import { type Block, findBlock, readBlock } from "./frontmatter-block.js";
import { buildHead } from "./head-text.js";
import { isJsonObject, isWellFormed } from "./json.js";
import type { PageProblem } from "./page-problem.js";
import { normaliseText, parseHead, splitPage } from "./page-text.js";

/** Where an import keeps what has no home among the keys PCP knows (pcp section 9). */
export const IMPORT_KEY = "x_import";

const SERVER: ReadonlySet<string> = new Set(SERVER_KEYS);

/**
 * A page text of another tool in which every key that PCP knows has a value that PCP takes: a known key with any
 * other value (`type: note`, `confidence: high`) moves under `x_import`. Everything else stays byte for byte, line ends
 * included; only where the YAML can't be cut at its lines (one flow mapping, an anchor that another key needs) is the
 * block written anew with the same values, and there the keys that only the server writes move as well. A text without
 * such a key, and one that can't be mended (unreadable YAML, too large), is returned as it is. Doing it again changes
 * nothing.
 */
export function rehomeForeignKeys(text: string): string {
  const normal = normaliseText(text);
  if (!isWellFormed(normal)) return text;
  const block = findBlock(normal);
  const reading = block && readBlock(block);
  if (!block || reading?.kind !== "mapping") return text;
  const foreign = foreignKeys(reading.value);
  if (foreign.size === 0) return text;
  const work: Rehoming = { block, value: reading.value, foreign };
  const cuts = isMap(reading.contents) ? cutsFor(work, reading.contents) : undefined;
  if (cuts !== undefined && isSound(work, applyCuts(block.yaml, cuts))) {
    return applyCuts(
      text,
      cuts.map((cut) => inOriginal(text, block.start, cut)),
    );
  }
  const yaml = rebuild(work);
  if (!isSound(work, yaml)) return text;
  return applyCuts(text, [inOriginal(text, block.start, { from: 0, to: block.yaml.length, insert: yaml })]);
}

export type ForeignHead =
  | { ok: true; keys: Record<string, unknown>; body: string }
  | { ok: false; problems: PageProblem[] };

/** The keys of a page text of another tool as its YAML says them, by no rule of ours, and the body. */
export function parseForeignHead(text: string): ForeignHead {
  const { head, body } = splitPage(normaliseText(text));
  const block = findBlock(head);
  if (!block) return { ok: true, keys: {}, body };
  const reading = readBlock(block);
  if (reading.kind === "faulty") return { ok: false, problems: reading.problems };
  return { ok: true, keys: reading.kind === "mapping" ? reading.value : {}, body };
}

interface Rehoming {
  block: Block;
  value: Record<string, unknown>;
  foreign: ReadonlySet<string>;
}

/** What to replace, in offsets of the block's YAML (later: of the whole text). In order, without overlap. */
interface Cut {
  from: number;
  to: number;
  insert: string;
}

function foreignKeys(value: Record<string, unknown>): ReadonlySet<string> {
  const parsed = parseFrontmatter(value);
  const keys = parsed.ok ? [] : parsed.problems.map(({ pointer = "" }) => pointer.split("/")[1] ?? "");
  return new Set(keys.filter((key) => CLIENT_KEYS.has(key)));
}

// Whole lines move, two columns deeper; anything that is not laid out in lines shows when the result is read.
function cutsFor({ block, value, foreign }: Rehoming, map: YAMLMap): Cut[] | undefined {
  const { yaml } = block;
  const regions = map.items.map((pair) => ({ key: keyOf(pair), ...regionOf(yaml, pair) }));
  const last = regions.at(-1);
  const first = regions[0];
  if (map.flow || !first || !last) return undefined;
  const indent = /^ */.exec(yaml.slice(first.from))![0];
  const moved = regions.filter(({ key }) => foreign.has(key));
  const cuts = moved.map(({ from, to }) => ({ from, to, insert: "" }));
  const lines = moved.map(({ from, to }) => deeper(yaml.slice(from, to))).join("");
  const home = regions.find(({ key }) => key === IMPORT_KEY);
  if (home === undefined) {
    if (Object.hasOwn(value, IMPORT_KEY)) return undefined;
    const insert = `${last.to > 0 && yaml[last.to - 1] !== "\n" ? "\n" : ""}${indent}${IMPORT_KEY}:\n${lines}`;
    return [...cuts, { from: last.to, to: last.to, insert }];
  }
  const taken = isJsonObject(value[IMPORT_KEY]) ? Object.keys(value[IMPORT_KEY]) : [];
  if (taken.length === 0 || taken.some((key) => foreign.has(key))) return undefined;
  return [...cuts, { from: home.to, to: home.to, insert: lines }].sort((a, b) => a.from - b.from || a.to - b.to);
}

const keyOf = (pair: Pair): string => {
  const key = pair.key as { source?: string; value?: unknown } | null;
  return key?.source ?? String(key?.value ?? "");
};

type Ranged = { range?: [number, number, number] | null } | null;

function regionOf(yaml: string, pair: Pair): { from: number; to: number } {
  const key = (pair.key as Ranged)?.range;
  const value = (pair.value as Ranged)?.range;
  const from = yaml.lastIndexOf("\n", (key?.[0] ?? value?.[0] ?? 0) - 1) + 1;
  const end = Math.max(key?.[2] ?? 0, value?.[2] ?? 0);
  if (end > from && yaml[end - 1] === "\n") return { from, to: end };
  const line = yaml.indexOf("\n", end);
  return { from, to: line === -1 ? yaml.length : line + 1 };
}

// Split by hand: a regular expression's line starts include U+2028, which is no line end in YAML.
const deeper = (lines: string): string =>
  lines
    .split("\n")
    .map((line) => (line === "" ? line : `  ${line}`))
    .join("\n");

function applyCuts(text: string, cuts: readonly Cut[]): string {
  let result = "";
  let at = 0;
  for (const { from, to, insert } of cuts) {
    result += text.slice(at, from) + insert;
    at = to;
  }
  return result + text.slice(at);
}

// The offsets of a block count LF line ends and no byte order mark; the text that is kept may have others.
function inOriginal(text: string, start: number, { from, to, insert }: Cut): Cut {
  const [first, second] = originalOffsets(text, start + from, start + to);
  const end = /\r\n?|\n/.exec(text)?.[0] ?? "\n";
  return { from: first, to: second, insert: insert.replaceAll("\n", end) };
}

function originalOffsets(text: string, from: number, to: number): [number, number] {
  let at = text.startsWith("\uFEFF") ? 1 : 0;
  let first = at;
  for (let normal = 0; normal < to; normal++) {
    if (normal === from) first = at;
    at += text[at] === "\r" && text[at + 1] === "\n" ? 2 : 1;
  }
  return from === to ? [at, at] : [first, at];
}

function rebuild({ value, foreign }: Rehoming): string {
  const given = value[IMPORT_KEY];
  const home = new Map(isJsonObject(given) ? Object.entries(given) : []);
  if (Object.hasOwn(value, IMPORT_KEY) && !isJsonObject(given)) home.set(IMPORT_KEY, given);
  const kept: [string, unknown][] = [];
  for (const [key, member] of Object.entries(value)) {
    if (foreign.has(key) || SERVER.has(key)) home.set(freeName(home, key), member);
    else if (key !== IMPORT_KEY) kept.push([key, member]);
  }
  const head = buildHead(Object.fromEntries([...kept, [IMPORT_KEY, Object.fromEntries(home)]]));
  return head.slice("---\n".length, -"---\n".length);
}

function freeName(taken: ReadonlyMap<string, unknown>, key: string): string {
  let name = key;
  for (let count = 2; taken.has(name); count++) name = `${key}_${count}`;
  return name;
}

/** The rewritten YAML reads without a fault, has every foreign key below `x_import` and every other key as it was. */
function isSound({ value, foreign }: Rehoming, yaml: string): boolean {
  const head = `---\n${yaml}---\n`;
  const block = findBlock(head);
  if (block?.end !== head.length || !parseHead(head).ok) return false;
  const reading = readBlock(block);
  if (reading.kind !== "mapping") return false;
  const home = reading.value[IMPORT_KEY];
  if (!isJsonObject(home) || ![...foreign].every((key) => Object.hasOwn(home, key))) return false;
  const others = (of: Record<string, unknown>) =>
    Object.entries(of).filter(([key]) => !foreign.has(key) && key !== IMPORT_KEY && !SERVER.has(key));
  return JSON.stringify(others(reading.value)) === JSON.stringify(others(value));
}
