import type { SchemaName } from "./generated/schemas.js";
import { isJsonObject } from "./json.js";
import type { JsonSchema } from "./json-schema.js";
import { nodeAt, resolveRef, type SchemaPlace, STANDARD_SCHEMAS } from "./schema-document.js";

/**
 * The standard schema at a place as one document: what its references reach, directly or not, is in its own `$defs`,
 * and no reference leaves it. Nothing else is changed. The schemas hold no cycles.
 */
export function buildExactSchema(place: SchemaPlace): JsonSchema {
  const definitions = new Map<string, JsonSchema>();
  const root = bundle(nodeAt(STANDARD_SCHEMAS, place), place.file, definitions) as JsonSchema;
  if (definitions.size === 0) return root;
  const sorted = [...definitions].sort(([a], [b]) => (a < b ? -1 : 1));
  return { ...root, $defs: Object.fromEntries(sorted) };
}

function bundle(node: unknown, file: SchemaName, definitions: Map<string, JsonSchema>): unknown {
  if (Array.isArray(node)) return node.map((item) => bundle(item, file, definitions));
  if (!isJsonObject(node)) return node;
  const copy: JsonSchema = {};
  for (const [key, value] of Object.entries(node)) {
    copy[key] =
      key === "$ref" && typeof value === "string"
        ? localRef(value, file, definitions)
        : bundle(value, file, definitions);
  }
  return copy;
}

function localRef(ref: string, file: SchemaName, definitions: Map<string, JsonSchema>): string {
  const place = resolveRef(ref, file);
  const name = definitionName(place);
  if (!definitions.has(name)) {
    const { $id, $schema, $defs, ...found } = nodeAt(STANDARD_SCHEMAS, place);
    definitions.set(name, bundle(found, place.file, definitions) as JsonSchema);
  }
  return `#/$defs/${name}`;
}

// Names of the tools file stay as they are; others carry their file's name, so that nothing clashes.
function definitionName({ file, steps }: SchemaPlace): string {
  const inner = steps.filter((step) => step !== "$defs" && step !== "properties");
  return [...(file === "tools" ? [] : [file]), ...inner].join(".");
}
