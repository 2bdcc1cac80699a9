#!/usr/bin/env node
// Writes src/generated from schemas, in packages/pcp and packages/prp. usage: node scripts/generate.mjs [--check]
// With --check nothing is written; exit 1 and one line when the files there are not what would be written.
import { readFileSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { _ } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import equalModule from "ajv/dist/runtime/equal.js";
import standaloneCode from "ajv/dist/standalone/index.js";
import addFormats from "ajv-formats";
import { compile } from "json-schema-to-typescript";
import ts from "typescript";

const PACKAGES = new URL("../packages/", import.meta.url);
const SUFFIX = ".schema.json";
const banner = (name) => `// Written by scripts/generate.mjs from packages/${name}/schemas. Not to be edited.`;

const pascal = (name) =>
  name
    .split(/[._]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");

// The bare names would shadow a global or say too little.
const TYPE_NAMES = new Map([["tools#error", "ErrorOutput"]]);
const typeName = (file, def) => TYPE_NAMES.get(`${file}#${def}`) ?? pascal(def ?? file);

async function readSchemas(name) {
  const folder = new URL(`${name}/schemas/`, PACKAGES);
  const files = (await readdir(folder)).filter((file) => file.endsWith(SUFFIX)).sort();
  const entries = files.map(async (file) => [
    file.slice(0, -SUFFIX.length),
    JSON.parse(await readFile(new URL(file, folder), "utf8")),
  ]);
  return new Map(await Promise.all(entries));
}

function buildSchemaModule(schemas) {
  const entries = [...schemas].map(([name, schema]) => `  ${JSON.stringify(name)}: ${JSON.stringify(schema)},`);
  const names = [...schemas.keys()].map((name) => JSON.stringify(name)).join(" | ");
  return `${banner("pcp")}
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

/** The schemas as they hold for tools here: the extras laid over the standard's. */
function extend(schemas) {
  const extended = new Map(schemas);
  extended.delete("tools.extra");
  extended.set("tools", overlay(schemas.get("tools"), { $defs: schemas.get("tools.extra").$defs }));
  return extended;
}

/** One document with every definition under its type's name, so that a name is generated once. */
function combine(schemas) {
  const sources = extend(schemas);
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
    bannerComment: banner("pcp"),
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

/** What a document is checked against: both sides of every tool, and the documents that callers store or hand in. */
function listValidated(schemas) {
  const { $id, $defs } = schemas.get("tools");
  const tools = Object.keys($defs).flatMap((def) => (def.endsWith("_output") ? [def.slice(0, -"_output".length)] : []));
  const sides = tools.sort().flatMap((tool) => [`${tool}_input`, `${tool}_output`]);
  return [
    ...["export.manifest", "pcp.health", "profile.core", "profile.team"].map((name) => [name, schemas.get(name).$id]),
    ...sides.map((def) => [def, `${$id}#/$defs/${def}`]),
    ...ARCHIVED.map((def) => [def, `${schemas.get("archive.record").$id}#/$defs/${def}`]),
  ];
}

const ARCHIVED = ["archived_version", "archived_revision", "archived_partitions", "archived_change"];

// Nothing that only annotates: the compiler would carry it along.
function stripProse(node) {
  if (Array.isArray(node)) return node.map(stripProse);
  if (typeof node !== "object" || node === null) return node;
  const kept = Object.entries(node).filter(([key, value]) => !(PROSE.has(key) && typeof value === "string"));
  return Object.fromEntries(kept.map(([key, value]) => [key, stripProse(value)]));
}

const PROSE = new Set(["title", "description"]);

function compileValidators(schemas, validated) {
  const code = { source: true, esm: true, lines: true, formats: _`formats` };
  const ajv = new Ajv2020({ allErrors: true, strict: true, strictTypes: false, strictRequired: false, code });
  addFormats(ajv, ["uri"]);
  ajv.addFormat("date-time", () => true); // Only named in the code: what runs is `formats` of the module.
  for (const schema of schemas.values()) ajv.addSchema(stripProse(schema));
  return standaloneCode(ajv, Object.fromEntries(validated.map(([, reference], index) => [`check${index}`, reference])));
}

/** Top-level declarations of a script: the named one and those it needs. */
function takeDeclarations(text, name) {
  const { statements } = ts.createSourceFile("library.js", text, ts.ScriptTarget.Latest, true);
  const declared = new Map();
  for (const statement of statements) {
    const names = ts.isVariableStatement(statement) ? statement.declarationList.declarations : [statement];
    for (const { name: identifier } of names) if (identifier) declared.set(identifier.text, statement);
  }
  const taken = new Set();
  const take = (node) => {
    const statement = ts.isIdentifier(node) && declared.get(node.text);
    if (statement && !taken.has(statement)) ts.forEachChild(taken.add(statement) && statement, take);
    ts.forEachChild(node, take);
  };
  take(ts.factory.createIdentifier(name));
  return statements.filter((statement) => taken.has(statement)).map((statement) => statement.getText());
}

const require = createRequire(import.meta.url);
const readModule = (specifier) => readFileSync(require.resolve(specifier), "utf8");

/** What the compiled code calls at run time, out of the libraries, so that the package needs none of them. */
function buildLibrary() {
  return [...takeDeclarations(readModule("ajv/dist/runtime/ucs2length.js"), "ucs2length"), String(equalModule.default)];
}

function buildFormats() {
  return [
    ...takeDeclarations(readModule("ajv-formats/dist/formats.js"), "uri"),
    'const formats = { uri, "date-time": (text) => parseUtc(text) !== undefined };',
  ];
}

// Their licence asks that it go where their code goes.
function buildNotice(names) {
  const fromAjv = createRequire(require.resolve("ajv/package.json"));
  const folders = names.map((name) => fromAjv.resolve(`${name}/package.json`));
  const licences = folders.map((path) => readFileSync(path.replace(/package\.json$/, "LICENSE"), "utf8").trim());
  const terms = licences.map((text) => text.slice(text.indexOf("Permission is")));
  if (new Set(terms).size !== 1) throw new Error("The licences of the libraries differ: write each out.");
  const holders = licences.map((text) => text.match(/^Copyright .*$/m)[0]);
  const listed = `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
  return `/*\nContains code of ${listed}.\n\n${holders.join("\n")}\n\n${terms[0]}\n*/`;
}

/** The compiler's code without its exports and requires, and what it called each of the validated by name. */
function compileTable(schemas, validated) {
  const entries = [];
  const compiled = compileValidators(schemas, validated)
    .replace(/^"use strict";\n/, "")
    .replace(/^export const check(\d+) = (validate\d+);\n/gm, (_line, index, validate) => {
      entries.push(`  ${JSON.stringify(validated[index][0])}: ${validate},`);
      return "";
    })
    .replace(/require\("ajv\/dist\/runtime\/(ucs2length|equal)"\)\.default/g, "$1");
  if (/\brequire\(/.test(compiled)) throw new Error("The compiled validators need a library that is not taken along.");
  const code = compiled.replace(/^const (schema\d+) = .*\n/gm, (line, name) => (isUsed(name, compiled) ? line : ""));
  return { entries, code };
}

/** What `compileTable` gives as one typed module: `imports` beside the validator's type, `library` before the code. */
function writeValidators({ name, libraries, imports = [], library }, schemas, validated) {
  const { entries, code } = compileTable(schemas, validated);
  return `// @ts-nocheck
${banner(name)}
${buildNotice(libraries)}
${['import type { CompiledValidator } from "../compiled-validator.js";', ...imports].join("\n")}

export type ValidatorName = ${validated.map(([validator]) => JSON.stringify(validator)).join(" | ")};

${library.join("\n")}
${code}
export const VALIDATORS: Readonly<Record<ValidatorName, CompiledValidator>> = {
${entries.join("\n")}
};
`;
}

function buildPcpValidators(schemas) {
  const extended = extend(schemas);
  const frame = {
    name: "pcp",
    libraries: ["ajv", "ajv-formats", "fast-deep-equal"],
    imports: ['import { parseUtc } from "../utc.js";'],
    library: [...buildLibrary(), ...buildFormats()],
  };
  return writeValidators(frame, extended, listValidated(extended));
}

function buildPrpValidators(schemas) {
  const frame = { name: "prp", libraries: ["ajv", "fast-deep-equal"], library: buildLibrary() };
  return writeValidators(
    frame,
    schemas,
    [...schemas].map(([name, { $id }]) => [name, $id]),
  );
}

const isUsed = (name, code) => code.match(new RegExp(`\\b${name}\\b`, "g")).length > 1;

async function buildModules() {
  const [pcp, prp] = [await readSchemas("pcp"), await readSchemas("prp")];
  return [
    ["pcp/src/generated/schemas.ts", buildSchemaModule(pcp)],
    ["pcp/src/generated/types.ts", await buildTypeModule(pcp)],
    ["pcp/src/generated/validators.ts", buildPcpValidators(pcp)],
    ["prp/src/generated/validators.ts", buildPrpValidators(prp)],
  ];
}

async function run() {
  const wanted = await buildModules();
  if (!process.argv.includes("--check")) {
    for (const [path, text] of wanted) {
      await mkdir(new URL(".", new URL(path, PACKAGES)), { recursive: true });
      await writeFile(new URL(path, PACKAGES), text);
    }
    return 0;
  }
  for (const [path, text] of wanted) {
    const there = await readFile(new URL(path, PACKAGES), "utf8").catch(() => undefined);
    if (there === text) continue;
    process.stderr.write(`packages/${path} differs from the schemas: run npm run generate\n`);
    return 1;
  }
  return 0;
}

process.exitCode = await run();
