import { expect, test } from "vitest";
import type { SchemaName } from "./generated/schemas.js";
import { isJsonObject } from "./json.js";
import { EXTENDED_SCHEMAS, nodeAt, resolveRef, STANDARD_SCHEMAS } from "./schema-document.js";

/** Pointers at which `extended` lacks or alters something that `standard` has. */
function lost(standard: unknown, extended: unknown, pointer = ""): string[] {
  if (!isJsonObject(standard)) return JSON.stringify(standard) === JSON.stringify(extended) ? [] : [pointer];
  if (!isJsonObject(extended)) return [pointer];
  return Object.entries(standard).flatMap(([key, value]) => lost(value, extended[key], `${pointer}/${key}`));
}

test("extras only add to the standard", () => {
  expect(lost(STANDARD_SCHEMAS.tools, EXTENDED_SCHEMAS.tools)).toEqual([]);
  expect(lost(EXTENDED_SCHEMAS.tools, STANDARD_SCHEMAS.tools).sort()).toEqual([
    "/$defs/erase_request_input/properties/idempotencyKey",
    "/$defs/export_create_input/properties/idempotencyKey",
    "/$defs/memory_list_input/properties/as_of",
    "/$defs/memory_propose_input/properties/expected_updated",
    "/$defs/memory_propose_input/properties/idempotencyKey",
    "/$defs/memory_read_input/properties/as_of",
    "/$defs/memory_search_output/properties/results/items/properties/stale",
    "/$defs/memory_search_output/properties/results/items/properties/superseded_by",
    "/$defs/memory_search_output/properties/stale_fallback",
    "/$defs/memory_write_input/properties/idempotencyKey",
    "/$defs/page_summary/properties/revision",
    "/$defs/profile_update_input/properties/idempotencyKey",
    "/$defs/review_resolve_input/properties/idempotencyKey",
  ]);
});

test("every reference leads somewhere, and every $id is the standard's base and the file's name", () => {
  let references = 0;
  const visit = (node: unknown, file: SchemaName): void => {
    if (typeof node !== "object" || node === null) return;
    for (const [key, value] of Object.entries(node)) {
      if (key === "$ref") {
        references += 1;
        expect(nodeAt(EXTENDED_SCHEMAS, resolveRef(value, file))).toBeTypeOf("object");
      } else visit(value, file);
    }
  };
  for (const [name, schema] of Object.entries(EXTENDED_SCHEMAS)) {
    expect(schema.$id).toBe(`https://pcp-protocol.github.io/pcp/schemas/0.3/${name}.schema.json`);
    visit(schema, name as SchemaName);
  }
  expect(references).toBeGreaterThan(80);
});
