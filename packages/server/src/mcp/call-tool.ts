import { errorBody, type ToolName, validateOutput } from "@satchel/pcp";
import type { Context } from "../context/context.js";
import type { Caller } from "../domain/access.js";
import type { Refusal } from "../domain/refusal.js";
import { type CallLog, dispatch, toPcpError } from "./dispatch.js";
import { tools } from "./tools/index.js";

/** A CallToolResult: the structured content, and the same JSON as a text block (pcp section 12). */
export interface ToolResult {
  structuredContent: Record<string, unknown>;
  content: { type: "text"; text: string }[];
  isError?: true;
}

/** Calls a tool of the schema. The answer is checked against the full output schema before it leaves. */
export async function callTool(
  name: ToolName,
  call: { context: Context; caller: Caller; args: unknown; log: CallLog },
): Promise<ToolResult> {
  const tool = tools.get(name);
  if (!tool) throw new Error(`${name} is no tool of the schema`);
  const result = await dispatch(tool, call);
  if (!result.ok) return errorResult(result.refusal);
  const output = tool.present(result.output);
  const violations = validateOutput(name, output);
  if (violations.length === 0) return { structuredContent: output, content: textOf(output) };
  const id = call.context.environment.randomBytes(6).toString("hex");
  call.log.fault({ id, operation: name, error: new Error(`output breaks its schema: ${violations.join("; ")}`) });
  return errorResult({
    refused: "internal",
    message: `Something went wrong on our side (${id}). The server's log says more.`,
  });
}

function errorResult(refusal: Refusal): ToolResult {
  const body = errorBody(toPcpError(refusal));
  return { structuredContent: body, content: textOf(body), isError: true };
}

function textOf(value: unknown): ToolResult["content"] {
  return [{ type: "text", text: JSON.stringify(value) }];
}
