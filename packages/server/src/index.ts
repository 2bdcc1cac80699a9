export { parseCheckpoints } from "./context/checkpoint-file.js";
export type { Context, Environment } from "./context/context.js";
export {
  type ContextSpec,
  createContext,
  listContexts,
  openContext,
  previewErasure,
  verifyContextJournal,
} from "./context/context-directory.js";
export type { ErasureItem, ErasureRequest, ErasureSelector } from "./context/erasure-plan.js";
export { erasureSaltMetaKey, selectorDigest } from "./context/erasure-receipt.js";
export type { ImportFile, ImportSummary, RefusedFile } from "./context/import-pages.js";
export type { JournalLine, ReceiptLine } from "./context/journal-reading.js";
export type { RecordedVersion } from "./context/page-history.js";
export { type PartitionChange, parseGrant } from "./context/people.js";
export type { PageRead } from "./context/read-page.js";
export type { ToolResult } from "./context/tool-result.js";
export type { JournalVerdict } from "./context/verify-journal.js";
export { type Caller, isPersonalClient, ownerPrincipal } from "./domain/access.js";
export { isRefusal, type Refusal } from "./domain/refusal.js";
export { type AnsweredCall, callTool } from "./mcp/call-tool.js";
export { type CallLog, type CallResult, dispatch, type Operation } from "./mcp/dispatch.js";
export * from "./mcp/local-operations.js";
export type { ServerSettings } from "./mcp/server.js";
