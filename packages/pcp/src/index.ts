export * from "./errors.js";
export * from "./foreign-keys.js";
export * from "./frontmatter.js";
export {
  LIFECYCLES,
  MAX_DERIVED_FROM,
  MAX_RELATIONS,
  MAX_TAG_CHARACTERS,
  MAX_TAGS,
  MAX_TITLE_CHARACTERS,
  PAGE_TYPES,
  RELATION_KINDS,
  SENSITIVITIES,
  SOURCE_ORIGINS,
} from "./frontmatter-keys.js";
export { SCHEMAS, type SchemaName } from "./generated/schemas.js";
export type * from "./generated/types.js";
export { buildHead } from "./head-text.js";
export * from "./ids.js";
export type { JsonValue } from "./json.js";
export type { JsonSchema } from "./json-schema.js";
export * from "./names.js";
export { buildPageFile, type ServerKeys, splitPageFile } from "./page-file.js";
export * from "./page-problem.js";
export * from "./page-text.js";
export * from "./page-title.js";
export * from "./paths.js";
export * from "./publish.js";
export * from "./scopes.js";
export * from "./tools.js";
export * from "./utc.js";
export * from "./validate.js";
