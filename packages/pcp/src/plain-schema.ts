import { childPointer, isJsonObject } from "./json.js";
import type { JsonSchema } from "./json-schema.js";
import { EXTENDED_SCHEMAS, nodeAt, resolveRef, type SchemaPlace } from "./schema-document.js";

/**
 * Keywords that a plain schema may have, in this order. Inputs tell a model what fits, so bounds, patterns, defaults
 * and descriptions stay; outputs tell a validator as little as it needs. `format` is nowhere: draft-07 validators
 * without format plug-ins refuse it.
 */
const INPUT_KEYWORDS = [
  "description",
  "type",
  "enum",
  "const",
  "default",
  "minLength",
  "maxLength",
  "pattern",
  "minimum",
  "maximum",
  "minItems",
  "maxItems",
];
const OUTPUT_KEYWORDS = ["type", "enum", "const"];

/** Documents that outputs publish as open objects: a validator gains nothing from them, and they cost tokens. */
const OPEN_DOCUMENTS = new Set(["profile.core", "profile.team", "erasure.receipt", "audit.entry"]);

export type PlainSide = "input" | "output";

/** The self-contained form of the schema at a place: references put in place, `allOf` merged, every node typed. */
export function buildPlainSchema(place: SchemaPlace, side: PlainSide): JsonSchema {
  return plainNode(inPlace({ $ref: `${place.file}.schema.json#/${place.steps.join("/")}` }, place), side);
}

/** A node with the place it came from, so that the references inside it can be followed. */
interface Located {
  node: JsonSchema;
  place: SchemaPlace;
}

// What stands beside a $ref overrides what it points at, as it does for a reader. The target's description is left out:
// it explains the kind of value, again at each use, where the member's own says what it is for.
function inPlace(node: JsonSchema, place: SchemaPlace): Located {
  const { $ref, ...beside } = node;
  if (typeof $ref !== "string") return { node, place };
  const target = resolveRef($ref, place.file);
  const found = inPlace(nodeAt(EXTENDED_SCHEMAS, target), target);
  const { description, ...meaning } = found.node;
  return { node: { ...meaning, ...beside }, place: found.place };
}

function plainNode({ node, place }: Located, side: PlainSide): JsonSchema {
  if (side === "output" && OPEN_DOCUMENTS.has(place.file) && place.steps.length === 0) return { type: "object" };
  const parts = partsOf({ node, place });
  const plain: JsonSchema = {};
  for (const keyword of side === "input" ? INPUT_KEYWORDS : OUTPUT_KEYWORDS) {
    for (const part of parts) if (part.node[keyword] !== undefined) plain[keyword] = part.node[keyword];
  }
  if (plain.type === undefined && ("enum" in plain || "const" in plain)) plain.type = "string";
  addMembers(plain, parts, side);
  const { items, anyOf, additionalProperties } = node;
  if (isJsonObject(items)) plain.items = plainNode(inPlace(items, place), side);
  if (isJsonObject(additionalProperties))
    plain.additionalProperties = plainNode(inPlace(additionalProperties, place), side);
  if (Array.isArray(anyOf))
    plain.anyOf = distinct(anyOf.map((choice) => plainNode(inPlace(choice as JsonSchema, place), side)));
  return plain;
}

/** The node and everything in its `allOf`, innermost first: later parts win. */
function partsOf({ node, place }: Located): Located[] {
  const inner = Array.isArray(node.allOf)
    ? node.allOf.flatMap((part) => partsOf(inPlace(part as JsonSchema, place)))
    : [];
  return [...inner, { node, place }];
}

function addMembers(plain: JsonSchema, parts: readonly Located[], side: PlainSide): void {
  const required = [...new Set(parts.flatMap(({ node }) => (Array.isArray(node.required) ? node.required : [])))];
  const members: [string, JsonSchema][] = [];
  for (const { node, place } of parts) {
    if (!isJsonObject(node.properties)) continue;
    plain.type = "object";
    for (const [name, member] of Object.entries(node.properties)) {
      members.push([name, plainNode(inPlace(member as JsonSchema, place), side)]);
    }
  }
  if (required.length > 0) plain.required = required;
  if (plain.type === "object" && parts.some(({ node }) => isJsonObject(node.properties)))
    plain.properties = Object.fromEntries(members);
}

// Two open objects in one choice say nothing more than one.
function distinct(choices: readonly JsonSchema[]): JsonSchema[] {
  const seen = new Map(choices.map((choice) => [JSON.stringify(choice), choice]));
  return [...seen.values()];
}

/** Every rule for plain schemas that this one breaks, as "pointer: message"; what clients refuse, in one place. */
export function lintPlainSchema(schema: JsonSchema, side: PlainSide): string[] {
  const rootFaults = ["anyOf", "oneOf", "allOf"].filter((keyword) => side === "input" && keyword in schema);
  return [...rootFaults.map((keyword) => `: ${keyword} at the root`), ...lintNode(schema, "")];
}

function lintNode(node: JsonSchema, pointer: string): string[] {
  const faults: string[] = [];
  for (const keyword of ["$ref", "$defs", "$id", "$schema", "allOf", "oneOf", "not", "if", "format"]) {
    if (keyword in node) faults.push(`${pointer}: ${keyword} is not plain`);
  }
  if (Array.isArray(node.type)) faults.push(`${pointer}: more than one type`);
  if (node.type === undefined && !("anyOf" in node)) faults.push(`${pointer}: no type`);
  if (node.type === "array" && !isJsonObject(node.items)) faults.push(`${pointer}: no items`);
  return [...faults, ...childSchemas(node).flatMap(([step, child]) => lintNode(child, pointer + step))];
}

function childSchemas(node: JsonSchema): [string, JsonSchema][] {
  const found: [string, unknown][] = [
    ["/items", node.items],
    ["/additionalProperties", node.additionalProperties],
    ...(Array.isArray(node.anyOf) ? node.anyOf.map((choice, i): [string, unknown] => [`/anyOf/${i}`, choice]) : []),
    ...Object.entries(node.properties ?? {}).map(([name, member]): [string, unknown] => [
      childPointer("/properties", name),
      member,
    ]),
  ];
  return found.filter((entry): entry is [string, JsonSchema] => isJsonObject(entry[1]));
}
