/** A JSON Schema object; keywords stay untyped because rules for them live in the schemas themselves. */
export interface JsonSchema {
  [keyword: string]: unknown;
}
