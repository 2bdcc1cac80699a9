import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormatsModule from "ajv-formats";
import fc from "fast-check";
import { encode } from "gpt-tokenizer/encoding/cl100k_base";
import { describe, expect, test } from "vitest";
import { PCP_ERROR_CODES } from "./errors.js";
import { isJsonObject } from "./json.js";
import type { JsonSchema } from "./json-schema.js";
import { lintPlainSchema } from "./plain-schema.js";
import { publishedTools } from "./publish.js";
import { EXTENDED_SCHEMAS, nodeAt, resolveRef, type SchemaPlace, STANDARD_SCHEMAS } from "./schema-document.js";
import { TOOL_NAMES, type ToolName } from "./tools.js";
import { validateInput, validateOutput } from "./validate.js";

const addFormats = addFormatsModule as unknown as (ajv: Ajv2020) => void;
const plain = publishedTools("plain");
const exact = publishedTools("exact");

/** Values for a schema of ours, extra members included; not all are valid, so the full validator sorts them. */
function samples(node: JsonSchema, place: SchemaPlace): fc.Arbitrary<unknown> {
  if (typeof node.$ref === "string") {
    const target = resolveRef(node.$ref, place.file);
    return samples(nodeAt(EXTENDED_SCHEMAS, target), target);
  }
  if (Array.isArray(node.allOf)) {
    const { allOf, ...rest } = node;
    const parts = [...allOf, { ...rest, type: "object" }].map((part) => samples(part as JsonSchema, place));
    return fc.tuple(...parts).map((objects) => Object.assign({}, ...(objects as object[])));
  }
  if (Array.isArray(node.enum)) return fc.constantFrom(...node.enum);
  if ("const" in node) return fc.constant(node.const);
  if (Array.isArray(node.anyOf)) return fc.oneof(...node.anyOf.map((choice) => samples(choice as JsonSchema, place)));
  return ofType(node, place);
}

function ofType(node: JsonSchema, place: SchemaPlace): fc.Arbitrary<unknown> {
  switch (node.type) {
    case "string":
      if (node.format === "date-time") return fc.constantFrom("2026-01-02T03:04:05.000Z", "2026-01-02T03:04:05+02:00");
      if (node.format === "uri") return fc.constantFrom("https://example.org/a", "file:///a/b");
      if (typeof node.pattern === "string") return fc.stringMatching(new RegExp(node.pattern));
      return fc.string({ unit: "grapheme", minLength: (node.minLength as number) ?? 0, maxLength: 20 });
    case "integer":
      return fc.integer({ min: (node.minimum as number) ?? -9, max: (node.maximum as number) ?? 1e9 });
    case "number":
      return fc.double({ min: (node.minimum as number) ?? -1e9, max: (node.maximum as number) ?? 1e9, noNaN: true });
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "array":
      return fc.array(samples(node.items as JsonSchema, place), { maxLength: 3 });
    default:
      return ofObject(node, place);
  }
}

function ofObject(node: JsonSchema, place: SchemaPlace): fc.Arbitrary<unknown> {
  const model: Record<string, fc.Arbitrary<unknown>> = {};
  for (const [name, member] of Object.entries((node.properties as Record<string, JsonSchema>) ?? {}))
    model[name] = samples(member, place);
  if (node.additionalProperties === false) return fc.record(model, { requiredKeys: required(node) });
  if (isJsonObject(node.additionalProperties))
    return fc.dictionary(fc.string(), samples(node.additionalProperties, place), { maxKeys: 3 });
  model.x_extra = fc.jsonValue();
  return fc.record(model, { requiredKeys: required(node) });
}

const required = (node: JsonSchema): string[] =>
  (Array.isArray(node.required) ? (node.required as string[]) : []).filter(
    (name) => isJsonObject(node.properties) && name in node.properties,
  );

describe("the published list", () => {
  test("14 tools, the standard's order, the same each time, not to be changed by a caller", () => {
    expect(plain.map(({ name }) => name)).toEqual([...TOOL_NAMES]);
    const fromStandard = Object.keys(STANDARD_SCHEMAS.tools.$defs as object).filter(
      (name) => name.endsWith("_input") && name !== "frontmatter_input",
    );
    expect(fromStandard).toEqual(TOOL_NAMES.map((name) => `${name}_input`));
    expect(JSON.stringify(publishedTools("plain"))).toBe(JSON.stringify(plain));
    expect(() => Object.assign(plain[0]!.inputSchema, { type: "x" })).toThrow(TypeError);
    publishedTools("plain").length = 0;
    expect(publishedTools("plain")).toHaveLength(14);
  });

  test("the whole plain list stays in its token budget", () => {
    const tokens = encode(JSON.stringify({ tools: plain })).length;
    console.log(`plain list: ${tokens} tokens`);
    expect(tokens).toBeLessThanOrEqual(6_000);
  });

  test.each(plain.map((tool) => [tool.name, tool] as const))(
    "%s: one sentence, hints, short input descriptions",
    (_name, tool) => {
      expect(tool.description).toMatch(/^Use [^\n]+\.$/);
      expect(tool.annotations.openWorldHint).toBe(false);
      expect(tool.annotations.readOnlyHint && tool.annotations.destructiveHint).toBe(false);
      const descriptions = [...JSON.stringify(tool.inputSchema).matchAll(/"description":"([^"]*)"/g)].map(
        ([, text]) => text!,
      );
      for (const text of descriptions) expect([text, text.split(/\s+/).length <= 12]).toEqual([text, true]);
      expect(JSON.stringify(tool.outputSchema)).not.toMatch(/"(description|pattern|minLength|maxLength|format)":/);
    },
  );

  test("only an erasure and a decision are for good", () => {
    expect(plain.filter(({ annotations }) => annotations.destructiveHint).map(({ name }) => name)).toEqual([
      "review_resolve",
      "erase_request",
    ]);
    const readers = plain.filter(({ annotations }) => annotations.readOnlyHint).map(({ name }) => name);
    expect(readers).toEqual([
      "profile_get",
      "memory_search",
      "memory_read",
      "memory_list",
      "review_list",
      "partition_list",
      "context_brief",
      "audit_list",
    ]);
  });
});

describe("plain schemas", () => {
  test.each(plain.map((tool) => [tool.name, tool] as const))("%s is what every client takes", (_name, tool) => {
    expect(lintPlainSchema(tool.inputSchema, "input")).toEqual([]);
    expect(lintPlainSchema(tool.outputSchema, "output")).toEqual([]);
    for (const schema of [tool.inputSchema, tool.outputSchema]) {
      expect(new Ajv().compile(schema)).toBeTypeOf("function");
      expect(new Ajv2020({ strict: true }).compile(schema)).toBeTypeOf("function");
    }
  });

  test("the linter sees what it is for", () => {
    const bad: [JsonSchema, string][] = [
      [{ type: "object", anyOf: [] }, "at the root"],
      [{ type: "object", properties: { a: { $ref: "#/x" } } }, "$ref"],
      [{ type: "object", properties: { a: { type: ["string", "null"] } } }, "more than one type"],
      [{ type: "object", properties: { a: { type: "array" } } }, "no items"],
      [{ type: "object", properties: { a: { enum: ["x"] } } }, "no type"],
      [{ type: "object", properties: { a: { type: "string", format: "date-time" } } }, "format"],
    ];
    for (const [schema, fault] of bad) expect(lintPlainSchema(schema, "input").join()).toContain(fault);
    expect(
      lintPlainSchema({ type: "object", properties: { type: { type: "string" }, items: { type: "string" } } }, "input"),
    ).toEqual([]);
  });

  test.each(plain.map((tool) => [tool.name, tool] as const))(
    "%s: what passes the full schema passes the plain one",
    (name, tool) => {
      const seed = Date.now();
      const ajv = new Ajv();
      for (const side of ["input", "output"] as const) {
        const place: SchemaPlace = { file: "tools", steps: ["$defs", `${name}_${side}`] };
        const passes = ajv.compile(side === "input" ? tool.inputSchema : tool.outputSchema);
        const full = side === "input" ? validateInput : validateOutput;
        let valid = 0;
        fc.assert(
          fc.property(samples(nodeAt(EXTENDED_SCHEMAS, place), place), (value) => {
            if (full(name, value).length > 0) return;
            valid += 1;
            if (!passes(value)) throw new Error(ajv.errorsText(passes.errors));
          }),
          { seed, numRuns: 300 },
        );
        console.log(`${name}_${side} seed ${seed}: ${valid} of 300 were valid`);
        expect(valid).toBeGreaterThan(10);
      }
    },
  );

  test.each(TOOL_NAMES)(
    "%s: an error passes its output schema, and neither an empty object nor a list does",
    (name) => {
      const passes = new Ajv().compile(plain.find((tool) => tool.name === name)!.outputSchema);
      for (const code of PCP_ERROR_CODES)
        expect(passes({ error: { code, message: "x", required_scopes: ["a"], violations: [] } })).toBe(true);
      expect(passes({})).toBe(false);
      expect(passes([])).toBe(false);
      expect(passes({ error: { code: "internal" } })).toBe(false);
    },
  );

  test("documented extras are there, and nothing else is added", () => {
    const inputs = (name: ToolName): string[] =>
      Object.keys(plain.find((tool) => tool.name === name)!.inputSchema.properties as object);
    for (const name of TOOL_NAMES) {
      const standard = Object.keys(
        nodeAt(STANDARD_SCHEMAS, { file: "tools", steps: ["$defs", `${name}_input`] }).properties as object,
      );
      const extra = inputs(name).filter((argument) => !standard.includes(argument));
      const documented: Partial<Record<ToolName, string[]>> = {
        memory_read: ["as_of"],
        memory_list: ["as_of"],
        memory_write: ["idempotencyKey"],
        memory_propose: ["expected_updated", "idempotencyKey"],
        profile_update: ["idempotencyKey"],
        review_resolve: ["idempotencyKey"],
        export_create: ["idempotencyKey"],
        erase_request: ["idempotencyKey"],
      };
      expect([name, extra]).toEqual([name, documented[name] ?? []]);
    }
  });
});

describe("exact schemas", () => {
  test.each(exact.map((tool) => [tool.name, tool] as const))(
    "%s is one document that judges as the standard does",
    (name, tool) => {
      const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false });
      addFormats(ajv);
      for (const side of ["input", "output"] as const) {
        const schema = side === "input" ? tool.inputSchema : tool.outputSchema;
        expect(schema.type).toBe("object");
        const text = JSON.stringify(schema);
        expect(text).not.toMatch(/"\$(id|schema)":/);
        for (const [, ref] of text.matchAll(/"\$ref":"([^"]*)"/g))
          expect(Object.keys(schema.$defs as object)).toContain(ref!.replace("#/$defs/", ""));
        expect(ajv.compile(schema)).toBeTypeOf("function");
      }
      const standard = nodeAt(STANDARD_SCHEMAS, { file: "tools", steps: ["$defs", `${name}_input`] });
      expect(Object.keys(tool.inputSchema.properties as object)).toEqual(Object.keys(standard.properties as object));
    },
  );
});
