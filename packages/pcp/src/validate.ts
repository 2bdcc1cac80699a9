import { createRequire } from "node:module";
import type { Ajv2020, ErrorObject, ValidateFunction } from "ajv/dist/2020.js";
import type { FormatsPlugin } from "ajv-formats";
import { isJsonObject } from "./json.js";
import { EXTENDED_SCHEMAS, nodeAt } from "./schema-document.js";
import type { ToolName } from "./tools.js";
import { parseUtc } from "./utc.js";

const BASE = "https://pcp-protocol.github.io/pcp/schemas/0.3/";
const MAX_VIOLATIONS = 20;

// No list that a tool takes may be longer, so no input can make the validator collect errors by the million.
const MAX_LIST = 1000;

const validators = new Map<string, ValidateFunction>();
let ajv: Ajv2020 | undefined;

// Loading ajv takes about 60 ms, a quarter of the time to a first answer; most starts never need it that early.
function loadAjv(): Ajv2020 {
  if (ajv) return ajv;
  const require = createRequire(import.meta.url);
  const { Ajv2020: Constructor } = require("ajv/dist/2020.js") as { Ajv2020: new (options: object) => Ajv2020 };
  const addFormats = require("ajv-formats") as FormatsPlugin;
  const made = new Constructor({ allErrors: true, strict: true, strictTypes: false, strictRequired: false });
  addFormats(made, ["uri"]);
  made.addFormat("date-time", (text: string) => parseUtc(text) !== undefined);
  for (const [name, schema] of Object.entries(EXTENDED_SCHEMAS)) if (name !== "tools.extra") made.addSchema(schema);
  ajv = made;
  return made;
}

function violations(reference: string, value: unknown): string[] {
  let validate = validators.get(reference);
  if (!validate) {
    validate = loadAjv().compile({ $ref: BASE + reference });
    validators.set(reference, validate);
  }
  if (validate(value)) return [];
  return [...new Set((validate.errors ?? []).map(describe))].slice(0, MAX_VIOLATIONS);
}

// Never the value itself: it may be what the caller is refused for.
function describe(error: ErrorObject): string {
  const pointer = error.instancePath === "" ? "/" : error.instancePath;
  const { allowedValues, additionalProperty } = error.params as {
    allowedValues?: unknown[];
    additionalProperty?: string;
  };
  if (allowedValues) return `${pointer}: must be one of ${allowedValues.join(", ")}`;
  if (additionalProperty !== undefined) return `${pointer}: has the unknown member ${shorten(additionalProperty)}`;
  if (error.keyword === "format")
    return `${pointer}: must be ${error.params.format === "uri" ? "a URI" : "an RFC 3339 date-time"}`;
  return `${pointer}: ${error.message ?? "is not valid"}`;
}

const shorten = (name: string): string => ([...name].length > 64 ? `${[...name].slice(0, 64).join("")}…` : name);

/**
 * What is wrong with a tool's arguments, as "pointer: message"; empty when nothing is. null and nothing count as no
 * arguments. Arguments that are neither the standard's nor documented extras are refused by name (pcp section 4).
 */
export function validateInput(tool: ToolName, value: unknown): string[] {
  const input = value ?? {};
  if (!isJsonObject(input)) return ["/: must be object"];
  const long =
    longList(input, "") ?? (isJsonObject(input.frontmatter) ? longList(input.frontmatter, "/frontmatter") : undefined);
  if (long !== undefined) return [`${long}: must have at most ${MAX_LIST} entries`];
  return [...unknownArguments(tool, input), ...violations(`tools.schema.json#/$defs/${tool}_input`, input)];
}

function unknownArguments(tool: ToolName, input: Record<string, unknown>): string[] {
  const { properties } = nodeAt(EXTENDED_SCHEMAS, { file: "tools", steps: ["$defs", `${tool}_input`] });
  const known = isJsonObject(properties) ? properties : {};
  const unknown = Object.keys(input).filter((name) => !Object.hasOwn(known, name));
  return unknown.slice(0, MAX_VIOLATIONS).map((name) => `/${shorten(name)}: unknown argument`);
}

function longList(value: Record<string, unknown>, pointer: string): string | undefined {
  const found = Object.entries(value).find(([, member]) => Array.isArray(member) && member.length > MAX_LIST);
  return found && `${pointer}/${shorten(found[0])}`;
}

/** What is wrong with a tool's result, against the full schema: for the server itself, before it answers. */
export function validateOutput(tool: ToolName, value: unknown): string[] {
  return violations(`tools.schema.json#/$defs/${tool}_output`, value);
}

/** What is wrong with a profile document (pcp section 1). */
export function validateProfile(type: "core" | "team", document: unknown): string[] {
  return violations(`profile.${type}.schema.json`, document);
}

/** `pcp.health` has a schema; any other extension document is any object. */
export function validateExtension(namespace: string, document: unknown): string[] {
  if (namespace === "pcp.health") return violations("pcp.health.schema.json", document);
  return isJsonObject(document) ? [] : ["/: must be object"];
}
