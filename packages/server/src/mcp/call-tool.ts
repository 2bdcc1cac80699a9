import type { ToolName } from "@satchel/pcp";
import type { SemanticToolEnvelope } from "@satchel/prp";
import type { ToolResult } from "../context/tool-result.js";
import { type Call, dispatch } from "./dispatch.js";
import { unknownOperation } from "./tool.js";
import { tools } from "./tools/index.js";

/** A CallToolResult with the receipt of the call, where one could be stored (journal section 1). */
export interface AnsweredCall extends ToolResult {
  _meta?: { [receiptMetaKey]: SemanticToolEnvelope; [name: string]: unknown };
}

export const receiptMetaKey = "dev.satchel/receipt";

/** Calls a tool of the schema. The answer is checked against the full output schema before it leaves. */
export async function callTool(name: ToolName, call: Call): Promise<AnsweredCall> {
  const tool = tools.get(name);
  if (!tool) throw new Error(`${name} is no tool of the schema`);
  const { result, receipt, meta } = await dispatch(tool, call);
  return { ...result, ...(receipt && { _meta: { ...meta, [receiptMetaKey]: receipt } }) };
}

/** Records the call of a tool that there is not, without its name. @returns its receipt */
export async function recordAbsentTool(call: Call): Promise<SemanticToolEnvelope | undefined> {
  return (await dispatch(unknownOperation(), call)).receipt;
}
