import { SCHEMAS, type SchemaName } from "./generated/schemas.js";
import { isJsonObject } from "./json.js";
import type { JsonSchema } from "./json-schema.js";

const SUFFIX = ".schema.json";

/** A place in one of our schema files: the file's name and the steps of a pointer into it. */
export interface SchemaPlace {
  file: SchemaName;
  steps: readonly string[];
}

/** Where a `$ref` that stands in `file` points; every reference of ours is one of these. */
export function resolveRef(ref: string, file: SchemaName): SchemaPlace {
  const [document = "", fragment = ""] = ref.split("#");
  const target = document === "" ? file : document.slice(0, -SUFFIX.length);
  return { file: target as SchemaName, steps: fragment.split("/").slice(1) };
}

/** The node at a place; throws for a place that isn't there, which is a fault in a schema file. */
export function nodeAt(schemas: Schemas, place: SchemaPlace): JsonSchema {
  let node: unknown = schemas[place.file];
  for (const step of place.steps) node = isJsonObject(node) ? node[step] : undefined;
  if (!isJsonObject(node)) throw new Error(`No schema at ${place.file}#/${place.steps.join("/")}`);
  return node;
}

export type Schemas = Readonly<Record<SchemaName, JsonSchema>>;

/** The standard schemas, and the same with the documented extras laid over the tools. */
export const STANDARD_SCHEMAS: Schemas = SCHEMAS;
export const EXTENDED_SCHEMAS: Schemas = {
  ...SCHEMAS,
  tools: overlay(SCHEMAS.tools, { $defs: SCHEMAS["tools.extra"].$defs }) as JsonSchema,
};

// Objects member by member; anything else is replaced. Extras only add members, which a test holds them to.
function overlay(base: unknown, extra: unknown): unknown {
  if (!isJsonObject(base) || !isJsonObject(extra)) return extra;
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(extra)) merged[key] = key in base ? overlay(base[key], value) : value;
  return merged;
}
