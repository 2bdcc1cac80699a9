import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  type Scalar,
  type YAMLMap,
} from "yaml";
import { childPointer, type JsonValue } from "./json.js";
import { MAX_DEPTH } from "./page-problem.js";
import type { YamlFault } from "./yaml-tree.js";

/**
 * What a place in the frontmatter holds. `text`: a scalar gives its source text, so that `2024-01-02` and `1.0`
 * stay what was written, and a plain null gives nothing. `value`: YAML's own types. `maybe`: those, null being nothing.
 */
export type Shape = "text" | "value" | "maybe" | { items: Shape } | { members: Readonly<Record<string, Shape>> };

/** Characters and nodes that a view may have; a block without aliases stays far below it. */
const MAX_VIEW_SIZE = 128 * 1024;

const CORE_TAGS = new Set(
  ["str", "int", "float", "bool", "null", "map", "seq"].map((name) => `tag:yaml.org,2002:${name}`),
);
const INTEGER = /^[-+]?\d+$|^0o[0-7]+$|^0x[0-9a-fA-F]+$/;

export class YamlRefusal extends Error {
  readonly fault: YamlFault;

  constructor(message: string, offset: number) {
    super(message);
    this.name = "YamlRefusal";
    this.fault = { message, offset };
  }
}

/** Turns the nodes of one document into JSON, once. `offsets` maps the pointers of the result to their source. */
export class JsonReading {
  readonly offsets = new Map<string, number>();
  readonly #targets = new Map<Alias, Node | undefined>();
  #size = 0;
  #aliased = 0;
  #offset = 0;
  readonly #document: Document;

  constructor(document: Document) {
    this.#document = document;
  }

  /** Throws YamlRefusal. undefined: a null where the shape takes it for absence. */
  read(node: unknown, shape: Shape, at: { pointer: string; depth: number }): JsonValue | undefined {
    if (isAlias(node)) return this.#readAlias(node, shape, at);
    const known = node as Node | null;
    if (this.#aliased === 0 && known?.range) this.#offset = known.range[0];
    if (this.#aliased === 0) this.offsets.set(at.pointer, this.#offset);
    if (known?.tag !== undefined && !CORE_TAGS.has(known.tag) && known.tag !== "!")
      this.#refuse("The YAML tag is not allowed");
    this.#grow(1);
    if (isMap(node)) return this.#readMap(node, shape, at);
    if (isSeq(node)) {
      const inner = typeof shape === "object" && "items" in shape ? shape.items : "value";
      const depth = this.#deeper(at.depth);
      const items: JsonValue[] = [];
      for (const item of node.items) {
        const value = this.read(item, inner, { pointer: childPointer(at.pointer, items.length), depth });
        if (value !== undefined) items.push(value);
      }
      return items;
    }
    return isScalar(node) ? this.#readScalar(node, shape) : null;
  }

  #readAlias(node: Alias, shape: Shape, at: { pointer: string; depth: number }) {
    if (this.#aliased === 0 && node.range) this.#offset = node.range[0];
    const target = this.#resolve(node);
    if (target === undefined) this.#refuse("The YAML alias has no anchor before it");
    this.#aliased += 1;
    const value = this.read(target, shape, at);
    this.#aliased -= 1;
    return value;
  }

  // The library searches the whole document each time, and expansion comes back to the same alias often.
  #resolve(alias: Alias): Node | undefined {
    if (!this.#targets.has(alias)) this.#targets.set(alias, alias.resolve(this.#document));
    return this.#targets.get(alias);
  }

  #readMap(node: YAMLMap, shape: Shape, at: { pointer: string; depth: number }): JsonValue {
    const members = typeof shape === "object" && "members" in shape ? shape.members : undefined;
    const depth = this.#deeper(at.depth);
    const seen = new Set<string>();
    const entries: [string, JsonValue][] = [];
    for (const pair of node.items) {
      const key = this.#readKey(pair);
      if (seen.has(key)) this.#refuse("The YAML key is there twice");
      seen.add(key);
      const inner = members && Object.hasOwn(members, key) ? members[key]! : "value";
      const value = this.read(pair.value, inner, { pointer: childPointer(at.pointer, key), depth });
      if (value !== undefined) entries.push([key, value]);
    }
    return Object.fromEntries(entries);
  }

  #readKey(pair: Pair): string {
    const key = isAlias(pair.key) ? this.#resolve(pair.key) : pair.key;
    const range = (pair.key as Node | null)?.range;
    if (this.#aliased === 0 && range) this.#offset = range[0];
    if (key === null || key === undefined) return "";
    if (!isScalar(key)) this.#refuse("A YAML key is not a scalar");
    if (key.tag !== undefined && !CORE_TAGS.has(key.tag) && key.tag !== "!")
      this.#refuse("The YAML tag is not allowed");
    const text = sourceText(key);
    this.#grow(text.length);
    return text;
  }

  #readScalar(node: Scalar, shape: Shape): JsonValue | undefined {
    if (node.value === null) return shape === "value" ? null : undefined;
    const text = sourceText(node);
    this.#grow(text.length);
    if (shape !== "value" && shape !== "maybe") return text;
    if (typeof node.value === "number") return jsonNumber(node.value, text);
    return typeof node.value === "boolean" ? node.value : text;
  }

  #deeper(depth: number): number {
    if (depth + 1 > MAX_DEPTH) this.#refuse(`The YAML is nested deeper than ${MAX_DEPTH}`);
    return depth + 1;
  }

  #grow(by: number): void {
    this.#size += by;
    if (this.#size > MAX_VIEW_SIZE) this.#refuse("The YAML aliases expand to too much");
  }

  #refuse(message: string): never {
    throw new YamlRefusal(message, this.#offset);
  }
}

// The text between quotes with escapes resolved, or a plain scalar as it was written.
const sourceText = (node: Scalar): string => node.source ?? String(node.value ?? "");

/** Numbers that JSON or a double can't hold exactly keep the digits that were written. */
function jsonNumber(value: number, text: string): JsonValue {
  if (!Number.isFinite(value) || (INTEGER.test(text) && !Number.isSafeInteger(value))) return text;
  return value === 0 ? 0 : value;
}
