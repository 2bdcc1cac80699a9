#!/usr/bin/env node
// Writes packages/pcp/src/generated from packages/pcp/schemas. usage: node scripts/generate.mjs [--check]
// With --check nothing is written; exit 1 and one line when the files there are not what would be written.
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { compile } from "json-schema-to-typescript";

const SCHEMAS = new URL("../packages/pcp/schemas/", import.meta.url);
const GENERATED = new URL("../packages/pcp/src/generated/", import.meta.url);
const SUFFIX = ".schema.json";
const BANNER = "// Written by scripts/generate.mjs from packages/pcp/schemas. Not to be edited.";

const pascal = (name) =>
  name
    .split(/[._]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");

// The bare names would shadow a global or say too little.
const TYPE_NAMES = new Map([["tools#error", "ErrorOutput"]]);
const typeName = (file, def) => TYPE_NAMES.get(`${file}#${def}`) ?? pascal(def ?? file);

async function readSchemas() {
  const files = (await readdir(SCHEMAS)).filter((file) => file.endsWith(SUFFIX)).sort();
  const entries = files.map(async (file) => [
    file.slice(0, -SUFFIX.length),
    JSON.parse(await readFile(new URL(file, SCHEMAS), "utf8")),
  ]);
  return new Map(await Promise.all(entries));
}

function buildSchemaModule(schemas) {
  const entries = [...schemas].map(([name, schema]) => `  ${JSON.stringify(name)}: ${JSON.stringify(schema)},`);
  const names = [...schemas.keys()].map((name) => JSON.stringify(name)).join(" | ");
  return `${BANNER}
import type { JsonSchema } from "../json-schema.js";

export type SchemaName = ${names};

export const SCHEMAS: Readonly<Record<SchemaName, JsonSchema>> = {
${entries.join("\n")}
};
`;
}

/** Lays the extras over the standard schema: objects member by member, anything else replaced. */
function overlay(base, extra) {
  if (typeof base !== "object" || typeof extra !== "object" || Array.isArray(base)) return extra;
  const merged = { ...base };
  for (const [key, value] of Object.entries(extra)) merged[key] = key in base ? overlay(base[key], value) : value;
  return merged;
}

/** One document with every definition under its type's name, so that a name is generated once. */
function combine(schemas) {
  const extras = schemas.get("tools.extra").$defs;
  const sources = new Map(schemas);
  sources.delete("tools.extra");
  sources.set("tools", overlay(schemas.get("tools"), { $defs: extras }));
  const $defs = {};
  for (const [file, schema] of sources) {
    const { $defs: inner = {}, ...root } = schema;
    for (const [def, body] of Object.entries(inner)) {
      if (!isAlias(body)) $defs[typeName(file, def)] = { ...rewrite(body, file, sources), title: typeName(file, def) };
    }
    if (file !== "tools") $defs[typeName(file)] = { ...rewrite(root, file, sources), title: typeName(file) };
  }
  const names = Object.keys($defs).sort();
  return { $defs: Object.fromEntries(names.map((name) => [name, $defs[name]])), title: "All", type: "object" };
}

const isAlias = (body) => typeof body.$ref === "string" && !body.$ref.startsWith("#");

// A pointer below a definition has no type of its own: what it points at is put in its place.
function rewrite(node, file, sources) {
  if (Array.isArray(node)) return node.map((item) => rewrite(item, file, sources));
  if (typeof node !== "object" || node === null) return node;
  if (typeof node.$ref === "string") return rewriteRef(node.$ref, file, sources);
  if (Array.isArray(node.allOf)) return mergeAllOf(node, file, sources);
  if (node.type === "object" && !node.properties && node.additionalProperties === undefined)
    return { ...node, additionalProperties: true };
  const members = Object.entries(node).filter(([key]) => !["$id", "$schema"].includes(key));
  return Object.fromEntries(members.map(([key, value]) => [key, rewrite(value, file, sources)]));
}

// The compiler drops what stands beside allOf, so its parts and that become one object.
function mergeAllOf({ allOf, ...rest }, file, sources) {
  const parts = [
    ...allOf.map((part) => rewrite(resolve(part, file, sources), file, sources)),
    rewrite(rest, file, sources),
  ];
  const merged = Object.assign({}, ...parts);
  merged.type = "object";
  merged.properties = Object.assign({}, ...parts.map((part) => part.properties));
  merged.required = parts.flatMap((part) => part.required ?? []);
  return merged;
}

function resolve(part, file, sources) {
  if (typeof part.$ref !== "string") return part;
  const [document, fragment = ""] = part.$ref.split("#");
  const target = document === "" ? file : document.slice(0, -SUFFIX.length);
  const found = fragment
    .split("/")
    .slice(1)
    .reduce((node, step) => node[step], sources.get(target));
  return absolute(found, target);
}

// What is lifted out of its file keeps pointing into it.
function absolute(node, file) {
  if (Array.isArray(node)) return node.map((item) => absolute(item, file));
  if (typeof node !== "object" || node === null) return node;
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [
      key,
      key === "$ref" && value.startsWith("#") ? `${file}${SUFFIX}${value}` : absolute(value, file),
    ]),
  );
}

function rewriteRef(ref, file, sources) {
  const [document, fragment = ""] = ref.split("#");
  const target = document === "" ? file : document.slice(0, -SUFFIX.length);
  const steps = fragment.split("/").slice(1);
  if (steps.length === 0) return { $ref: `#/$defs/${typeName(target)}` };
  const found = steps.reduce((node, step) => node[step], sources.get(target));
  if (steps.length > 2 || isAlias(found)) return rewrite(found, target, sources);
  return { $ref: `#/$defs/${typeName(target, steps[1])}` };
}

async function buildTypeModule(schemas) {
  const source = await compile(combine(schemas), "All", {
    additionalProperties: false,
    bannerComment: BANNER,
    declareExternallyReferenced: true,
    unreachableDefinitions: true,
    format: true,
    style: { printWidth: 120 },
    ignoreMinAndMaxItems: true,
    unknownAny: true,
  });
  return source
    .replace(/\/\*\*(?:(?!\*\/)[\s\S])*This interface was referenced by[\s\S]*?\*\/\n/g, keepProse)
    .replace(/export interface All \{\}\n*/, "");
}

function keepProse(comment) {
  const prose = comment
    .split("\n")
    .filter((line) => !/This interface was referenced|via the `definition`|^ \*$/.test(line));
  return prose.length > 3 ? `${prose.join("\n")}` : "";
}

async function run() {
  const schemas = await readSchemas();
  const wanted = [
    ["schemas.ts", buildSchemaModule(schemas)],
    ["types.ts", await buildTypeModule(schemas)],
  ];
  if (!process.argv.includes("--check")) {
    await mkdir(GENERATED, { recursive: true });
    for (const [file, text] of wanted) await writeFile(new URL(file, GENERATED), text);
    return 0;
  }
  for (const [file, text] of wanted) {
    const there = await readFile(new URL(file, GENERATED), "utf8").catch(() => undefined);
    if (there === text) continue;
    process.stderr.write(`packages/pcp/src/generated/${file} differs from the schemas: run npm run generate\n`);
    return 1;
  }
  return 0;
}

process.exitCode = await run();
