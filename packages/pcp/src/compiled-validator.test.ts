import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js";
import addFormatsModule, { type FormatName } from "ajv-formats";
import fc, { type GeneratorValue } from "fast-check";
import { describe, expect, test } from "vitest";
import { scaled, testSeed } from "../../../test/scale.js";
import type { SchemaError } from "./compiled-validator.js";
import { VALIDATORS, type ValidatorName } from "./generated/validators.js";
import type { JsonSchema } from "./json-schema.js";
import { EXTENDED_SCHEMAS, nodeAt, resolveRef, type SchemaPlace } from "./schema-document.js";
import { TOOL_NAMES } from "./tools.js";
import { parseUtc } from "./utc.js";

const NAMES = Object.keys(VALIDATORS) as ValidatorName[];
const DOCUMENTS = ["export.manifest", "profile.core", "profile.team", "pcp.health"] as const;
const AT = "2026-01-02T03:04:05.000Z";

const addFormats = addFormatsModule as unknown as (ajv: Ajv2020, formats: FormatName[]) => void;
const ajv = new Ajv2020({ allErrors: true, strict: true, strictTypes: false, strictRequired: false });
addFormats(ajv, ["uri"]);
ajv.addFormat("date-time", (text: string) => parseUtc(text) !== undefined);
for (const [name, schema] of Object.entries(EXTENDED_SCHEMAS)) if (name !== "tools.extra") ajv.addSchema(schema);

function placeOf(name: ValidatorName): SchemaPlace {
  const document = DOCUMENTS.find((file) => file === name);
  const file = name.startsWith("archived_") ? "archive.record" : "tools";
  return document ? { file: document, steps: [] } : { file, steps: ["$defs", name] };
}

function compiledNow(name: ValidatorName) {
  const { file, steps } = placeOf(name);
  const pointer = steps.length === 0 ? "" : `#/${steps.join("/")}`;
  return ajv.compile({ $ref: `${String(EXTENDED_SCHEMAS[file].$id)}${pointer}` });
}

const visible = (errors: readonly (SchemaError | ErrorObject)[] | null | undefined): string[] =>
  (errors ?? []).map(({ instancePath, keyword, params, message }) =>
    JSON.stringify([instancePath, keyword, params, message]),
  );

const ODD: unknown[] = [
  ...[null, true, 0, -1, -0, 1.5, 1e9, "", "x", "a//b", "\uD800", "😀".repeat(255), "😀".repeat(600)],
  ...["2026-02-30T00:00:00Z", "2026-01-02", "a b", "//x", "http:", "urn:a:b"],
  ...[[], {}, ["read", "read"], [{ a: 1 }, { a: 1 }], [[0], [-0]], Array(70).fill("x"), { a: { b: [] } }],
];

/** How often something odd is put where something fitting belongs: one time in `oddIn`, 0 for never. */
interface Drawing {
  g: GeneratorValue;
  oddIn: number;
}

// Not from a range of numbers: those are drawn near their ends more often.
const isOdd = ({ g, oddIn }: Drawing): boolean =>
  oddIn > 0 && g(() => fc.constantFrom(...Array.from({ length: oddIn }, (_, index) => index === 0)));

/** A value for the schema, with something odd in its place or below it now and then. */
function draw(drawing: Drawing, node: JsonSchema, place: SchemaPlace): unknown {
  const { g } = drawing;
  if (typeof node.$ref === "string") {
    const target = resolveRef(node.$ref, place.file);
    return draw(drawing, nodeAt(EXTENDED_SCHEMAS, target), target);
  }
  if (isOdd(drawing)) return drawOdd(g, node);
  if (Array.isArray(node.allOf)) {
    const { allOf, ...rest } = node;
    const parts = [...(allOf as JsonSchema[]), { ...rest, type: "object" }];
    return Object.assign({}, ...parts.map((part) => draw(drawing, part, place)));
  }
  const { anyOf, enum: choices } = node;
  if (Array.isArray(anyOf))
    return draw(
      drawing,
      g(() => fc.constantFrom(...(anyOf as JsonSchema[]))),
      place,
    );
  if (Array.isArray(choices)) return g(() => fc.constantFrom<unknown[]>(...choices));
  if ("const" in node) return node.const;
  if (node.type === "array") return drawArray(drawing, node, place);
  return node.type === "object" || node.properties ? drawObject(drawing, node, place) : drawScalar(g, node);
}

/** On either side of the schema's own limits, or anything at all. */
function drawOdd(g: GeneratorValue, node: JsonSchema): unknown {
  const { minLength, maxLength, minimum, maximum, maxItems, uniqueItems } = node as Record<string, number>;
  const limits: unknown[] = [minimum, maximum].flatMap((limit) => (limit === undefined ? [] : [limit - 1, limit + 1]));
  for (const limit of [minLength, maxLength])
    if (limit !== undefined) limits.push(...[limit - 1, limit, limit + 1].map((length) => "😀".repeat(length)));
  if (maxItems !== undefined) limits.push(...[maxItems, maxItems + 1].map((length) => Array(length).fill("x")));
  if (uniqueItems) limits.push(["read", "write"], ["read", "write", "read"], ["write", "write", "write"]);
  return g(() => fc.constantFrom(...(limits.length > 0 && g(fc.boolean) ? limits : ODD)));
}

function drawArray(drawing: Drawing, node: JsonSchema, place: SchemaPlace): unknown[] {
  const length = drawing.g(() => fc.integer({ min: (node.minItems as number) ?? 0, max: node.uniqueItems ? 1 : 3 }));
  return Array.from({ length }, () => draw(drawing, (node.items ?? {}) as JsonSchema, place));
}

function drawObject(drawing: Drawing, node: JsonSchema, place: SchemaPlace): unknown {
  const members: [string, unknown][] = [];
  const required = (node.required ?? []) as string[];
  for (const [key, value] of Object.entries((node.properties ?? {}) as Record<string, JsonSchema>)) {
    const given = required.includes(key) ? !isOdd(drawing) : drawing.g(fc.boolean);
    if (given) members.push([key, draw(drawing, value, place)]);
  }
  if (isOdd(drawing)) members.push([drawing.g(() => fc.constantFrom("extra", "a/b~c", "", "日本")), 1]);
  return Object.fromEntries(members);
}

const byPattern = new Map<string, fc.Arbitrary<string>>();

// Kept, as it takes milliseconds to make one.
function matching(pattern: string): fc.Arbitrary<string> {
  const made = byPattern.get(pattern) ?? fc.stringMatching(new RegExp(pattern));
  byPattern.set(pattern, made);
  return made;
}

function drawScalar(g: GeneratorValue, node: JsonSchema): unknown {
  if (node.type === "boolean") return g(fc.boolean);
  if (node.type === "null") return null;
  if (node.type === "integer" || node.type === "number")
    return g(() => fc.integer({ min: (node.minimum as number) ?? -9, max: (node.maximum as number) ?? 1e9 }));
  if (node.format === "date-time") return AT;
  if (node.format === "uri") return "https://example.org/a?b#c";
  if (typeof node.pattern === "string") return g(matching, node.pattern);
  return g(() => fc.string({ unit: "grapheme", minLength: (node.minLength as number) ?? 0, maxLength: 8 }));
}

describe("compiled validators", () => {
  test("there is one for both sides of every tool, for every stored document and every record of an archive, and no other", () => {
    const sides = TOOL_NAMES.flatMap((tool) => [`${tool}_input`, `${tool}_output`]);
    const archived = ["change", "partitions", "revision", "version"].map((kind) => `archived_${kind}`);
    expect([...NAMES].sort()).toEqual([...sides, ...DOCUMENTS, ...archived].sort());
  });

  test.each(NAMES)("%s reports what the schema, compiled now, reports", (name) => {
    const place = placeOf(name);
    const [compiled, reference] = [VALIDATORS[name], compiledNow(name)];
    const seen = { fits: 0, breaks: 0 };
    const property = fc.property(fc.gen(), (g) => {
      const oddIn = g(() => fc.constantFrom(0, 3, 12));
      const value = draw({ g, oddIn }, nodeAt(EXTENDED_SCHEMAS, place), place);
      const fits = reference(value);
      seen[fits ? "fits" : "breaks"] += 1;
      expect(compiled(value)).toBe(fits);
      expect(visible(compiled.errors)).toEqual(visible(reference.errors));
    });
    fc.assert(property, { seed: testSeed(), numRuns: Math.max(100, scaled(4000)), endOnFailure: true });
    expect(Math.min(seen.fits, seen.breaks)).toBeGreaterThan(0);
  });

  test("a value that fits leaves no errors behind from the one before", () => {
    const validate = VALIDATORS["profile.core"];
    expect(validate({})).toBe(false);
    expect(validate.errors).toHaveLength(1);
    expect(validate({ name: "x" })).toBe(true);
    expect(validate.errors ?? []).toEqual([]);
  });
});
