import { buildExactSchema } from "./exact-schema.js";
import type { JsonSchema } from "./json-schema.js";
import { buildPlainSchema } from "./plain-schema.js";
import type { SchemaPlace } from "./schema-document.js";
import { TOOL_NAMES, TOOL_TEXTS, type ToolAnnotations, type ToolName } from "./tools.js";

/** A tool as `tools/list` shows it. Its title is in the annotations, where clients of both eras look. */
export interface PublishedTool {
  name: ToolName;
  description: string;
  inputSchema: JsonSchema & { type: "object" };
  outputSchema: JsonSchema & { type: "object" };
  annotations: ToolAnnotations;
}

/** `plain` is what clients can take; `exact` is the standard's own form, for tools that check conformance. */
export type PublishMode = "plain" | "exact";

/** The error form in every plain output schema: what a client has to know to show an error at all. */
const PLAIN_ERROR: JsonSchema = {
  type: "object",
  required: ["error"],
  properties: {
    error: {
      type: "object",
      required: ["code", "message"],
      properties: { code: { type: "string" }, message: { type: "string" } },
    },
  },
};

const published = new Map<PublishMode, readonly PublishedTool[]>();

/**
 * All tools in the standard's order (pcp section 12). The same object each time, frozen through and through; a server
 * that offers fewer filters it. Plain inputs include the documented extras; exact ones are the standard's.
 */
export function publishedTools(mode: PublishMode): PublishedTool[] {
  let tools = published.get(mode);
  if (!tools) {
    tools = TOOL_NAMES.map((name) => freeze(publish(name, mode)));
    published.set(mode, tools);
  }
  return [...tools];
}

function publish(name: ToolName, mode: PublishMode): PublishedTool {
  const { description, annotations } = TOOL_TEXTS[name];
  const input: SchemaPlace = { file: "tools", steps: ["$defs", `${name}_input`] };
  const output: SchemaPlace = { file: "tools", steps: ["$defs", `${name}_output`] };
  const inputSchema = mode === "plain" ? buildPlainSchema(input, "input") : buildExactSchema(input);
  const outputSchema = mode === "plain" ? plainOutput(output) : buildExactSchema(output);
  return {
    name,
    description,
    inputSchema: rooted(inputSchema),
    outputSchema: rooted(outputSchema),
    annotations,
  };
}

// Clients check an error's structuredContent against the same schema, so it has to pass there.
function plainOutput(place: SchemaPlace): JsonSchema {
  return { type: "object", anyOf: [buildPlainSchema(place, "output"), PLAIN_ERROR] };
}

function rooted(schema: JsonSchema): JsonSchema & { type: "object" } {
  return { ...schema, type: "object" };
}

function freeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) freeze(member);
  return Object.freeze(value);
}
