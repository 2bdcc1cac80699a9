import type { ToolName } from "@satchel/pcp";
import type { SemanticToolEnvelope } from "@satchel/prp";
import type { ToolResult } from "../context/tool-result.js";
import { type Call, dispatch } from "./dispatch.js";
import { absentOperation } from "./tool.js";
import { tools } from "./tools/index.js";

/** A CallToolResult with the receipt of the call, where one could be stored (journal section 1). */
export interface AnsweredCall extends ToolResult {
  _meta?: { [receiptMetaKey]: SemanticToolEnvelope };
}

export const receiptMetaKey = "dev.satchel/receipt";

/** Calls a tool of the schema. The answer is checked against the full output schema before it leaves. */
export async function callTool(name: ToolName, call: Call): Promise<AnsweredCall> {
  const tool = tools.get(name);
  if (!tool) throw new Error(`${name} is no tool of the schema`);
  const { result, receipt } = await dispatch(tool, call);
  return { ...result, ...(receipt && { _meta: { [receiptMetaKey]: receipt } }) };
}

/** Records the call of a tool that there is not. @returns its receipt */
export async function recordAbsentTool(name: string, call: Call): Promise<SemanticToolEnvelope | undefined> {
  return (await dispatch(absentOperation(name), call)).receipt;
}
