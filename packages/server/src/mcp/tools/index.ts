import { TOOL_NAMES, type ToolName } from "@satchel/pcp";
import { absentOperation, type Tool } from "../tool.js";
import { auditList } from "./audit-list.js";
import { contextBrief } from "./context-brief.js";
import { eraseRequest } from "./erase-request.js";
import { memoryList } from "./memory-list.js";
import { memoryPropose } from "./memory-propose.js";
import { memoryRead } from "./memory-read.js";
import { memorySearch } from "./memory-search.js";
import { memoryWrite } from "./memory-write.js";
import { partitionList } from "./partition-list.js";
import { profileGet } from "./profile-get.js";
import { profileUpdate } from "./profile-update.js";
import { reviewList } from "./review-list.js";
import { reviewResolve } from "./review-resolve.js";

const served: readonly Tool[] = [
  profileGet,
  profileUpdate,
  memorySearch,
  memoryRead,
  memoryList,
  memoryWrite,
  memoryPropose,
  reviewList,
  reviewResolve,
  partitionList,
  contextBrief,
  auditList,
  eraseRequest,
];

/** What the audit says of a call of a tool that is not served. */
const unservedFacts: Partial<Record<ToolName, { category: string; action: string }>> = {
  export_create: { category: "export", action: "export" },
};

/** Every tool of the schema in its order; those that are not served yet answer `unsupported`. */
export const tools: ReadonlyMap<ToolName, Tool> = new Map(
  TOOL_NAMES.map((name) => [name, served.find((tool) => tool.name === name) ?? unservedTool(name)]),
);

export function isServed(name: ToolName): boolean {
  return served.some((tool) => tool.name === name);
}

function unservedTool(name: ToolName): Tool {
  return absentOperation(name, unservedFacts[name]) as unknown as Tool;
}
