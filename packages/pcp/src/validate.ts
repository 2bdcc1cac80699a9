import type { SchemaError } from "./compiled-validator.js";
import { VALIDATORS, type ValidatorName } from "./generated/validators.js";
import { isJsonObject } from "./json.js";
import { EXTENDED_SCHEMAS, nodeAt } from "./schema-document.js";
import type { ToolName } from "./tools.js";

const MAX_VIOLATIONS = 20;

// No list that a tool takes may be longer, so no input can make the validator collect errors by the million.
const MAX_LIST = 1000;

function violations(name: ValidatorName, value: unknown): string[] {
  const validate = VALIDATORS[name];
  if (validate(value)) return [];
  return [...new Set((validate.errors ?? []).map(describe))].slice(0, MAX_VIOLATIONS);
}

// Never the value itself: it may be what the caller is refused for.
function describe(error: SchemaError): string {
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
  return [...unknownArguments(tool, input), ...violations(`${tool}_input`, input)];
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
  return violations(`${tool}_output`, value);
}

/** What is wrong with a profile document (pcp section 1). */
export function validateProfile(type: "core" | "team", document: unknown): string[] {
  return violations(`profile.${type}`, document);
}

/** `pcp.health` has a schema; any other extension document is any object. */
export function validateExtension(namespace: string, document: unknown): string[] {
  if (namespace === "pcp.health") return violations("pcp.health", document);
  return isJsonObject(document) ? [] : ["/: must be object"];
}

/** What is wrong with a record of an archive (pcp section 9), as "pointer: message". */
export function validateArchived(kind: "version" | "revision" | "partitions" | "change", record: unknown): string[] {
  return violations(`archived_${kind}`, record);
}

/**
 * What is wrong with the manifest of an archive (pcp section 9). However long its lists are, no more errors are collected
 * than `MAX_LIST` entries can cause.
 */
export function validateManifest(value: unknown): string[] {
  if (!isJsonObject(value)) return ["/: must be object"];
  const { files, omitted } = value;
  const listed = { files: Array.isArray(files) ? files : [], omitted: Array.isArray(omitted) ? omitted : [] };
  const length = Math.max(listed.files.length, listed.omitted.length, 1);
  for (let start = 0; start < length; start += MAX_LIST) {
    const part = { ...value };
    for (const name of ["files", "omitted"] as const) {
      if (Array.isArray(value[name])) part[name] = listed[name].slice(start, start + MAX_LIST);
    }
    const found = violations("export.manifest", part);
    if (found.length > 0) return found.map((text) => text.replace(/^\/(files|omitted)\/(\d+)/, shiftPointer(start)));
  }
  return [];
}

const shiftPointer = (start: number) => (_pointer: string, list: string, index: string) =>
  `/${list}/${start + Number(index)}`;
