import type { ToolName } from "@satchel/pcp";
import type { Tool } from "../tool.js";
import { auditList } from "./audit-list.js";
import { contextBrief } from "./context-brief.js";
import { eraseRequest } from "./erase-request.js";
import { exportCreate } from "./export-create.js";
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

/** Every tool of the schema, in its order. */
const all: readonly Tool[] = [
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
  exportCreate,
  eraseRequest,
];

export const tools: ReadonlyMap<ToolName, Tool> = new Map(all.map((tool) => [tool.name, tool]));
