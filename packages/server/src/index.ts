export type { ArchiveProblem } from "./archive/archive-contents.js";
export { ArchiveError, type ArchiveErrorCode } from "./archive/archive-error.js";
export { type ArchiveLimits, archiveLimits } from "./archive/archive-limits.js";
export type { ManifestFacts } from "./archive/archive-manifest.js";
export { findNameProblem } from "./archive/archive-name.js";
export { type Identity, parseIdentities, passphraseIdentity } from "./archive/identity.js";
export { type ArchiveReading, type ReadOptions, readArchive } from "./archive/read-archive.js";
export { parseRecipient, passphraseRecipient, type Recipient } from "./archive/recipient.js";
export type { ArchiveFile } from "./archive/tar.js";
export { type ArchiveSpec, writeArchive } from "./archive/write-archive.js";
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
export type { CreatedExport } from "./context/create-export.js";
export type { ErasureItem, ErasureRequest, ErasureSelector } from "./context/erasure-plan.js";
export { erasureSaltMetaKey, selectorDigest } from "./context/erasure-receipt.js";
export type { ImportOptions, ImportSummary } from "./context/imported.js";
export type { JournalLine, ReceiptLine } from "./context/journal-reading.js";
export type { RecordedVersion } from "./context/page-history.js";
export { type PartitionChange, parseGrant } from "./context/people.js";
export type { PageRead } from "./context/read-page.js";
export {
  readRecordedTime,
  type SyncComparison,
  type SyncedPage,
  type SyncScope,
  type SyncText,
  textDigest,
} from "./context/sync-compare.js";
export type { SyncChange, SyncOutcome, SyncWrite } from "./context/sync-write.js";
export type { ToolResult } from "./context/tool-result.js";
export type { JournalVerdict } from "./context/verify-journal.js";
export { type Caller, isPersonalClient, ownerPrincipal } from "./domain/access.js";
export { isRefusal, type Refusal } from "./domain/refusal.js";
export * from "./foreign/index.js";
export { type AnsweredCall, callTool } from "./mcp/call-tool.js";
export { type Call, type CallLog, type CallResult, dispatch, type Operation } from "./mcp/dispatch.js";
export * from "./mcp/local-operations.js";
export type { ServerSettings } from "./mcp/server.js";
export { syncCompareOperation, syncReadOperation, syncWriteOperation } from "./mcp/sync-operations.js";
export { FileLock } from "./store/sqlite/file-lock.js";
