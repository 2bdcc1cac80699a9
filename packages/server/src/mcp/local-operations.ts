import type { Proof } from "@satchel/journal";
import { isPartitionName } from "@satchel/pcp";
import type { ArchiveReading } from "../archive/read-archive.js";
import type { AuditFacts } from "../context/call-record.js";
import type { Context } from "../context/context.js";
import type { CreatedExport, ExportInput } from "../context/create-export.js";
import { registerExtension } from "../context/extensions.js";
import { importArchive } from "../context/import-archive.js";
import { importPages } from "../context/import-pages.js";
import type { ImportOptions, ImportSummary } from "../context/imported.js";
import { type ContextReport, inspectContext } from "../context/inspect.js";
import {
  type JournalLine,
  type ListJournalInput,
  type ListReceiptsInput,
  listJournal,
  listReceipts,
  listUnsettled,
  proveJournalEntry,
  type ReceiptLine,
  readJournalEntry,
  type UnsettledCall,
} from "../context/journal-reading.js";
import { readRevision } from "../context/list-revisions.js";
import { type RecordedVersion, readHistory, restorePage } from "../context/page-history.js";
import * as people from "../context/people.js";
import { type PageRead, readPage } from "../context/read-page.js";
import { type RemovePageInput, removePage } from "../context/remove-page.js";
import { rotateJournalKey } from "../context/rotate-journal-key.js";
import { chooseSetting, type SettingChange } from "../context/settings.js";
import { createToken, listTokens, type NewToken, revokeToken, type TokenRecord } from "../context/tokens.js";
import type { Caller } from "../domain/access.js";
import type { GroupRecord, PartitionRecord, Revision, UserRecord } from "../domain/records.js";
import { invalidInput, isRefusal, type Refusal } from "../domain/refusal.js";
import type { ForeignReading } from "../foreign/foreign-format.js";
import { parsePathArgument, parseTimeArgument } from "./arguments.js";
import type { Operation } from "./dispatch.js";
import { inPerson, localResult, ownersOnly } from "./in-person.js";
import { memoryAudit, versionReceipt } from "./tool.js";
import { exportCreate } from "./tools/export-create.js";
import { auditRead, readReceipt } from "./tools/memory-read.js";

/*
 * What the terminal offers beyond the tools of the schema: the same dispatch, for a person only. Administration is for
 * owners in person.
 */

/** A change of one page, and the version it left. */
interface ChangedPage {
  path: string;
  id: string;
  updated: string;
  version: string;
}

interface Administration<Output> {
  /** Default: `admin`. */
  category?: string;
  action: "read" | "write" | "grant" | "revoke";
  /** What was changed. */
  targets?(output: Output): string[];
}

const journalReading = { category: "audit", action: "read" } as const;

function administration<Input, Output>(
  name: string,
  run: Operation<Input, Output>["run"],
  { category = "admin", action, targets }: Administration<Output> = { action: "read" },
): Operation<Input, Output> {
  const facts = { category, action };
  return {
    name,
    permit: inPerson,
    parse: (args) => args as Input,
    run: async (context, caller, input) => (await ownersOnly(context, caller)) ?? run(context, caller, input),
    toResult: localResult,
    refused: facts,
    audit: (output): AuditFacts => ({ ...facts, targets: targets?.(output) ?? [] }),
  };
}

function parsePath(args: Record<string, unknown>): { path: string } | Refusal {
  const parsed = parsePathArgument(String(args.path));
  return isRefusal(parsed) ? parsed : { path: parsed };
}

/** A page's own text: frontmatter block and body as they were written. */
export const pageTextOperation: Operation<{ path: string; asOf?: string }, PageRead> = {
  name: "page_text",
  permit: inPerson,
  parse: (args) => {
    const path = parsePath(args);
    const asOf = parseTimeArgument("as_of", args.as_of as string | undefined);
    if (isRefusal(path) || isRefusal(asOf)) return isRefusal(path) ? path : (asOf as Refusal);
    return { ...path, ...(asOf !== undefined && { asOf }) };
  },
  run: readPage,
  toResult: localResult,
  refused: { category: "memory", action: "read" },
  audit: auditRead,
  receipt: readReceipt,
};

/** A revision's own text, for a diff. */
export const reviewTextOperation: Operation<{ revision: string }, Revision> = {
  name: "review_text",
  permit: inPerson,
  parse: ({ revision }) => ({ revision: String(revision) }),
  run: (context, caller, { revision }) => readRevision(context, caller, revision),
  toResult: localResult,
  refused: { category: "review", action: "read" },
  audit: ({ id }) => ({ category: "review", action: "read", targets: [id] }),
};

export const pageRemoveOperation: Operation<RemovePageInput, ChangedPage> = {
  name: "page_remove",
  permit: inPerson,
  parse: (args) => {
    const path = parsePath(args);
    if (isRefusal(path)) return path;
    const expectedUpdated = parseTimeArgument("expected_updated", args.expected_updated as string | undefined);
    if (isRefusal(expectedUpdated)) return expectedUpdated;
    return { ...path, ...(expectedUpdated !== undefined && { expectedUpdated }) };
  },
  run: removePage,
  toResult: localResult,
  refused: { category: "memory", action: "write" },
  audit: (removed) => memoryAudit("write", [removed]),
  receipt: ({ version }) => versionReceipt(version),
};

export const pageHistoryOperation: Operation<{ path: string }, { path: string; versions: RecordedVersion[] }> = {
  name: "page_history",
  permit: inPerson,
  parse: parsePath,
  run: readHistory,
  toResult: localResult,
  refused: { category: "memory", action: "read" },
  audit: ({ path, versions }) => memoryAudit("read", [{ path, ...versions.at(-1) }]),
};

export const pageRestoreOperation: Operation<{ path: string; version: string }, ChangedPage> = {
  name: "page_restore",
  permit: inPerson,
  parse: (args) => {
    const path = parsePath(args);
    return isRefusal(path) ? path : { ...path, version: String(args.version) };
  },
  run: restorePage,
  toResult: localResult,
  refused: { category: "memory", action: "write" },
  audit: (restored) => memoryAudit("write", [restored]),
  receipt: ({ version }) => versionReceipt(version),
};

/** What is imported and `onProgress` come from the terminal itself, so only what the person typed is checked. */
export function importOperation(
  source: ForeignReading | ArchiveReading,
  options: ImportOptions,
): Operation<ImportOptions, ImportSummary> {
  const bringIn = (context: Context, caller: Caller) =>
    "manifest" in source
      ? importArchive(context, caller, { archive: source, options })
      : importPages(context, caller, { reading: source, options });
  return {
    name: "import",
    permit: inPerson,
    parse: () => {
      const { partition } = options;
      const isKnown = partition === undefined || isPartitionName(partition);
      return isKnown ? options : invalidInput([`partition: "${partition}" is no partition name (a-z, 0-9, - and _)`]);
    },
    run: async (context, caller) => (await ownersOnly(context, caller)) ?? bringIn(context, caller),
    toResult: localResult,
    refused: { category: "memory", action: "write" },
    audit: ({ applied, added, changed, proposed }) =>
      memoryAudit("write", applied ? [...added, ...changed, ...proposed].map((path) => ({ path })) : []),
  };
}

/** `export_create` for a person: under a passphrase, or into a file of theirs. */
export function exportOperation({
  onProgress,
  ...taken
}: Pick<ExportInput, "out" | "passphrase"> & Pick<Context, "onProgress">): Operation<ExportInput, CreatedExport> {
  const { permit, run, ...operation } = exportCreate as unknown as Operation<ExportInput, CreatedExport>;
  return {
    ...operation,
    permit: (caller) => inPerson(caller) ?? permit(caller),
    run: (context, caller, input) =>
      run({ ...context, ...(onProgress && { onProgress }) }, caller, { ...input, ...taken }),
  };
}

export const inspectOperation: Operation<Record<string, unknown>, ContextReport> = administration("doctor", (context) =>
  inspectContext(context),
);

export const settingsOperation: Operation<{ name?: string }, Record<string, string>> = administration(
  "config",
  (context, _caller, { name }) => chooseSetting(context, name === undefined ? {} : { name }),
);

export const settingOperation: Operation<SettingChange, Record<string, string>> = administration(
  "config",
  (context, _caller, input) => chooseSetting(context, input),
  { action: "write", targets: (settings) => Object.keys(settings) },
);

export const partitionSetOperation: Operation<people.PartitionChange, PartitionRecord> = administration(
  "partition_set",
  (context, _caller, input) => people.setPartition(context, input),
  { action: "write", targets: ({ name }) => [name] },
);

export const partitionsOperation: Operation<Record<string, unknown>, PartitionRecord[]> = administration(
  "partitions",
  (context) => people.listAllPartitions(context),
);

export const userAddOperation: Operation<UserRecord, UserRecord> = administration(
  "user_add",
  (context, _caller, input) => people.addUser(context, input),
  { action: "write", targets: ({ principal }) => [principal] },
);

export const userRemoveOperation: Operation<{ principal: string }, { principal: string }> = administration(
  "user_remove",
  (context, _caller, { principal }) => people.removeUser(context, principal),
  { action: "write", targets: ({ principal }) => [principal] },
);

export const usersOperation: Operation<Record<string, unknown>, UserRecord[]> = administration("users", (context) =>
  people.listUsers(context),
);

export const groupSetOperation: Operation<GroupRecord, GroupRecord> = administration(
  "group_set",
  (context, _caller, input) => people.setGroup(context, input),
  { action: "write", targets: ({ principal }) => [principal] },
);

export const groupsOperation: Operation<Record<string, unknown>, GroupRecord[]> = administration("groups", (context) =>
  people.listGroups(context),
);

export const extensionAddOperation: Operation<
  { namespace: string; schema: Record<string, unknown> },
  { namespace: string }
> = administration("extension_add", (context, _caller, input) => registerExtension(context, input), {
  action: "write",
  targets: ({ namespace }) => [namespace],
});

export const journalListOperation: Operation<ListJournalInput, JournalLine[]> = administration(
  "journal_list",
  (context, _caller, input) => listJournal(context, input),
  journalReading,
);

export const journalShowOperation: Operation<{ name: string }, JournalLine> = administration(
  "journal_show",
  (context, _caller, { name }) => readJournalEntry(context, name),
  journalReading,
);

export const journalProveOperation: Operation<{ name: string }, Proof> = administration(
  "journal_prove",
  (context, _caller, { name }) => proveJournalEntry(context, name),
  journalReading,
);

export const receiptsOperation: Operation<ListReceiptsInput, ReceiptLine[]> = administration(
  "receipts",
  (context, _caller, input) => listReceipts(context, input),
  journalReading,
);

export const journalUnsettledOperation: Operation<Record<string, unknown>, UnsettledCall[]> = administration(
  "journal_unsettled",
  (context) => listUnsettled(context),
  journalReading,
);

/** @returns the signed note */
export const journalCheckpointOperation: Operation<Record<string, unknown>, { checkpoint: string }> = administration(
  "journal_checkpoint",
  async (context) => ({ checkpoint: (await context.journal?.seal()) ?? "" }),
  { action: "write" },
);

export const journalRotateOperation: Operation<
  Record<string, unknown>,
  { key: string; previous: string }
> = administration("journal_rotate_key", (context) => rotateJournalKey(context), { action: "write" });

export const tokenCreateOperation: Operation<NewToken, { token: string; record: TokenRecord }> = administration(
  "token_create",
  (context, _caller, input) => createToken(context, input),
  { category: "auth", action: "grant", targets: ({ record }) => [record.id] },
);

export const tokenRevokeOperation: Operation<{ id: string }, { id: string }> = administration(
  "token_revoke",
  (context, _caller, { id }) => revokeToken(context, id),
  { category: "auth", action: "revoke", targets: ({ id }) => [id] },
);

export const tokensOperation: Operation<Record<string, unknown>, Omit<TokenRecord, "digest">[]> = administration(
  "tokens",
  (context) => listTokens(context),
  { category: "auth", action: "read" },
);
