import { createRequire } from "node:module";
import { isExtensionNamespace } from "@satchel/pcp";
import type { Ajv2020, ValidateFunction } from "ajv/dist/2020.js";
import { invalidInput, type Refusal } from "../domain/refusal.js";
import type { Context } from "./context.js";

type Schema = Record<string, unknown>;

const schemaMostBytes = 64 * 1024;
const compiled = new Map<string, ValidateFunction>();
const require = createRequire(import.meta.url);

/** Loaded when the first registered schema is used: few contexts have one. */
function createAjv(): Ajv2020 {
  const { Ajv2020: Validator } = require("ajv/dist/2020.js") as { Ajv2020: typeof Ajv2020 };
  return new Validator({ strict: false, allErrors: true, validateFormats: false });
}

function compile(schema: Schema): ValidateFunction {
  const key = JSON.stringify(schema);
  const known = compiled.get(key) ?? createAjv().compile(schema);
  compiled.set(key, known);
  return known;
}

/** Violations of a registered schema, as "pointer: message"; never a value. */
export function validateRegistered(schema: Schema, document: unknown): string[] {
  const validate = compile(schema);
  if (validate(document)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message }) => `${instancePath || "/"}: ${message ?? "is not valid"}`,
  );
}

/** Registers the JSON Schema (2020-12) that an extension's documents have to pass from now on. Refuses with invalid_input, too_large. */
export async function registerExtension(
  context: Context,
  { namespace, schema }: { namespace: string; schema: Schema },
): Promise<{ namespace: string } | Refusal> {
  const refused = verifyExtensionSchema(namespace, schema);
  if (refused) return refused;
  return context.store.write(async (transaction) => {
    await transaction.putExtensionSchema(namespace, schema);
    return { namespace };
  });
}

/** Refuses with invalid_input, too_large. */
export function verifyExtensionSchema(namespace: string, schema: Schema): Refusal | undefined {
  if (!isExtensionNamespace(namespace)) return invalidInput([`"${namespace.slice(0, 100)}" is no extension namespace`]);
  if (namespace === "pcp.health") return invalidInput(["pcp.health has its schema from PCP"]);
  if (JSON.stringify(schema).length > schemaMostBytes) {
    return { refused: "too_large", message: `A schema holds at most ${schemaMostBytes / 1024} KiB.` };
  }
  try {
    // Its answer would be a promise, which is true whatever it holds.
    if ("$async" in compile(schema)) return invalidInput(["the schema can't be used: it is asynchronous"]);
  } catch (error) {
    return invalidInput([`the schema can't be used: ${(error as Error).message}`]);
  }
  return undefined;
}
