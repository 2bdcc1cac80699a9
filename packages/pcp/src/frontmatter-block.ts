import { isJsonObject } from "./json.js";
import { MAX_FRONTMATTER_BYTES, type PageProblem } from "./page-problem.js";
import { JsonReading, type Shape, YamlRefusal } from "./yaml-json.js";
import { parseYamlTree, type YamlFault } from "./yaml-tree.js";

const FENCE = /^---[ \t]*(?:\n|$)/;
// No m flag: it would take U+2028 for a line end, and then a value could close its own block.
const CLOSING_FENCE = /(?<=^|\n)---[ \t]*(?=\n|$)/;

const FRONTMATTER_SHAPE: Shape = {
  members: {
    title: "text",
    type: "text",
    tags: { items: "text" },
    partition: "text",
    sensitivity: "text",
    lifecycle: "text",
    confidence: "maybe",
    valid_from: "text",
    valid_until: "text",
    source: { members: { origin: "text", client: "text", session: "text", at: "text" } },
    derived_from: { items: "text" },
    relations: { items: { members: { rel: "text", target: "text", confidence: "maybe" } } },
  },
};

/** A block as the fences show it: `yaml` lies in the text from `start` on, and the body from `end` on. */
export interface Block {
  yaml: string;
  start: number;
  end: number;
}

export function findBlock(text: string): Block | undefined {
  const opening = FENCE.exec(text);
  if (!opening) return undefined;
  const start = opening[0].length;
  const closing = CLOSING_FENCE.exec(text.slice(start));
  if (!closing) return undefined;
  const fenceEnd = start + closing.index + closing[0].length;
  return {
    yaml: text.slice(start, start + closing.index),
    start,
    end: text[fenceEnd] === "\n" ? fenceEnd + 1 : fenceEnd,
  };
}

/** `contents` is the library's node of the mapping; a block without keys has none. */
export type Reading =
  | { kind: "mapping"; value: Record<string, unknown>; offsets: ReadonlyMap<string, number>; contents?: unknown }
  | { kind: "text" }
  | { kind: "faulty"; problems: PageProblem[] };

export function readBlock(block: Block): Reading {
  if (Buffer.byteLength(block.yaml) > MAX_FRONTMATTER_BYTES)
    return { kind: "faulty", problems: [frontmatterTooLarge()] };
  const tree = parseYamlTree(block.yaml);
  if (!tree.ok) return { kind: "faulty", problems: tree.faults.map((fault) => locate(block, fault)) };
  const contents = tree.document?.contents;
  if (!tree.document || contents === null || contents === undefined) return emptyMapping();
  try {
    const reading = new JsonReading(tree.document);
    const value = reading.read(contents, FRONTMATTER_SHAPE, { pointer: "", depth: 0 });
    if (isJsonObject(value)) return { kind: "mapping", value, offsets: reading.offsets, contents };
    return block.yaml.trim() === "" || isOnlyComments(block.yaml) ? emptyMapping() : { kind: "text" };
  } catch (error) {
    if (!(error instanceof YamlRefusal)) throw error;
    return { kind: "faulty", problems: [locate(block, error.fault)] };
  }
}

const emptyMapping = (): Reading => ({ kind: "mapping", value: {}, offsets: new Map() });
const isOnlyComments = (yaml: string): boolean => yaml.split("\n").every((line) => /^[ \t]*(?:#|$)/.test(line));

function locate(block: Block, fault: YamlFault): PageProblem {
  const message = `The YAML frontmatter can't be read: ${fault.message.replace(/[.]?$/, ".")}`;
  return { code: "invalid_input", message, ...position(block, fault.offset) };
}

// The opening fence is line 1, so the YAML's first line is the text's second.
export function position(block: Block, offset: number): { line: number; column: number } {
  const before = block.yaml.slice(0, offset);
  return { line: before.split("\n").length + 1, column: before.length - before.lastIndexOf("\n") };
}

export function frontmatterTooLarge(): PageProblem {
  const message = `The frontmatter is larger than ${MAX_FRONTMATTER_BYTES / 1024} KiB.`;
  return { code: "too_large", message, line: 1, column: 1 };
}
