import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { encodeId } from "@satchel/pcp";
import { ArchiveError } from "../archive/archive-error.js";
import { parseRecipient, passphraseRecipient, type Recipient } from "../archive/recipient.js";
import { writeArchive } from "../archive/write-archive.js";
import { type Caller, readableParts } from "../domain/access.js";
import { archivedFor, decideCoverage } from "../domain/export-coverage.js";
import type { ContextRecord, ExportRecord } from "../domain/records.js";
import { invalidInput, isRefusal, type Refusal } from "../domain/refusal.js";
import type { ReadTransaction } from "../store/store.js";
import { loadAccess } from "./access.js";
import type { Context, Staging } from "./context.js";
import { type ExportSelection, exportedFiles } from "./export-content.js";
import { exportLifeMs, exportPath, removeExpiredExports, removeExportFiles } from "./export-folder.js";
import { lockJob } from "./imported.js";
import { syncFolder } from "./key-file.js";
import { journalKeysFile } from "./open-journal.js";

export interface ExportInput {
  /** age or SSH public keys. */
  encryptTo: string[];
  /** In place of public keys; for a person. */
  passphrase?: string;
  includeAudit: boolean;
  /** Where the archive is to be; else it lies in the context's folder for a while. */
  out?: string;
}

export interface CreatedExport {
  id: string;
  coverage: "full" | "partial";
  omitted: { part: string; reason: string }[];
  sha256: string;
  bytes: number;
  pageCount: number;
  /** Where it can be fetched, and until when; absent when it is where it was to be. */
  download?: { url: string; expiresAt: string; name: string };
}

/**
 * `export_create` (pcp section 9): one archive of everything the caller can read, in stages. Refuses with invalid_input,
 * conflict (something changed under it, or the file is there already); throws `locked` while an erasure runs.
 */
export async function createExport(
  context: Context,
  caller: Caller,
  input: ExportInput,
): Promise<CreatedExport | Refusal> {
  const recipients = parseRecipients(input);
  if (isRefusal(recipients)) return recipients;
  const { staging, environment } = context;
  if (!staging) throw new Error("an export is an operation in stages");
  const source = { ...context, store: staging.store };
  await removeExpiredExports(source);
  const { record, selection } = await select(source, caller, { input, isEncrypted: recipients.length > 0 });
  const id = encodeId("exp", environment.newUuid());
  const name = `${id}.tar.gz${recipients.length > 0 ? ".age" : ""}`;
  const { coverage, omitted } = selection.scope;
  const planned: ExportRecord = {
    id,
    created: new Date(environment.now()).toISOString(),
    grant: caller.grant,
    coverage,
    auditSize: selection.scope.audit ? selection.auditSize : 0,
    ...(input.out === undefined && { file: name, secret: environment.randomBytes(16).toString("hex") }),
  };
  const target = input.out ?? exportPath(context.folder, name);
  if (existsSync(target)) return takenName(target);
  const lock = lockJob(source.store, id);
  try {
    await staging.begin((transaction) => transaction.putExport(planned), id);
    let isPlaced = false;
    try {
      const made = await make(source, { record, selection, recipients, target, planned });
      isPlaced = true;
      return await keep(context, planned, { ...made, target, name, omitted });
    } catch (error) {
      if (isPlaced) rmSync(target, { force: true });
      return await takeBack(context, id, toRefusal(error, { staging, target }));
    }
  } finally {
    lock.release();
  }
}

function takenName(target: string): Refusal {
  return { refused: "conflict", message: `${target} exists already. Choose another name.` };
}

function parseRecipients({ encryptTo, passphrase }: ExportInput): Recipient[] | Refusal {
  const violations: string[] = [];
  const recipients = encryptTo.flatMap((text, at) => {
    try {
      return [parseRecipient(text)];
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
      violations.push(`/encrypt_to/${at}: ${error.message}`);
      return [];
    }
  });
  if (violations.length > 0) return invalidInput(violations);
  return passphrase === undefined ? recipients : [...recipients, passphraseRecipient(passphrase)];
}

async function select(
  { store, folder, environment }: Context,
  caller: Caller,
  { input, isEncrypted }: { input: ExportInput; isEncrypted: boolean },
): Promise<{ record: ContextRecord; selection: Selected }> {
  const journalKeys = join(folder, journalKeysFile);
  return store.read(async (transaction) => {
    const record = await transaction.context();
    const { isOwner } = await transaction.membership(caller.principal);
    const { profileType } = record;
    const { includeAudit } = input;
    const scope = decideCoverage(caller, { profileType, isOwner, isEncrypted, includeAudit });
    const reader = archivedFor(caller, scope);
    const parts = readableParts(await loadAccess(transaction, reader));
    return {
      record,
      selection: {
        pages: await transaction.countPages({ parts }),
        caller: reader,
        scope,
        at: await transaction.recordedTime(),
        madeMs: environment.now(),
        auditSize: (await transaction.journal.state()).size,
        journalKeys: existsSync(journalKeys) ? readFileSync(journalKeys, "utf8") : "",
      },
    };
  });
}

/** What goes in, and how many pages that is. */
type Selected = ExportSelection & { pages: number };

interface Making {
  record: ContextRecord;
  selection: Selected;
  recipients: Recipient[];
  target: string;
  planned: ExportRecord;
}

interface MadeArchive {
  sha256: string;
  bytes: number;
  pageCount: number;
  items: string[];
}

/** Writes it aside, so that at any instant the target is the whole archive or not there. */
async function make(context: Context, making: Making): Promise<MadeArchive> {
  const { record, selection, recipients, target, planned } = making;
  const { handle, kind, profileType } = record;
  const { coverage, omitted } = selection.scope;
  const total = 2 * selection.pages; // Each is read twice: measured, then written.
  let done = 0;
  const items = new Set<string>();
  let pageCount = 0;
  const files = () => {
    const soFar = { items, pageCount: 0, onPage: () => context.onProgress?.(++done, total) };
    const made = exportedFiles(context, selection, soFar);
    return (async function* () {
      yield* made;
      pageCount = soFar.pageCount;
    })();
  };
  const manifest = () => ({
    pcp_version: "0.3" as const,
    created: new Date(context.environment.now()).toISOString(),
    generator: "satchel",
    context: { handle, kind, profile_type: profileType },
    coverage,
    page_count: pageCount,
    omitted,
  });
  // In our own folder, where whoever comes after a crash, or an erasure, finds it.
  const aside = exportPath(context.folder, `${planned.id}.part`);
  for (const path of [aside, target]) mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    const { sha256, bytes } = await writeArchive(aside, { manifest, files, recipients });
    const made = { sha256, bytes, pageCount, items: [...items] };
    await remember(context, planned, made);
    place(aside, target);
    syncFolder(dirname(target));
    return made;
  } finally {
    rmSync(aside, { force: true });
  }
}

/** Before the archive is where its owner wanted it: from then on erasures have to know what is in it. */
async function remember({ store }: Context, planned: ExportRecord, made: MadeArchive): Promise<void> {
  const { sha256, bytes, pageCount, items } = made;
  await store.write(async (transaction) => {
    await verifyKept(transaction, planned);
    await transaction.putExport({ ...planned, made: { sha256, bytes, pageCount } });
    await transaction.putExportedItems(planned.id, items);
  });
}

/** @throws ArchiveError `changed` when an erasure took it meanwhile */
async function verifyKept(transaction: ReadTransaction, { id }: ExportRecord): Promise<void> {
  if ((await transaction.exports()).some((one) => one.id === id)) return;
  throw new ArchiveError("changed", "An erasure took this archive while it was made.");
}

/** Never over another file, and at once; by way of a copy beside it when it is on another disk. */
function place(aside: string, target: string): void {
  if (tryLink(aside, target)) return;
  const near = `${target}.${basename(aside)}`;
  copyFileSync(aside, near, constants.COPYFILE_EXCL);
  try {
    syncFile(near);
    if (!tryLink(near, target)) renameSync(near, target);
  } finally {
    rmSync(near, { force: true });
  }
}

/** @returns false when the disk is another one or has no hard links. @throws EEXIST */
function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST" || existsSync(to)) throw error;
    return false;
  }
}

function syncFile(path: string): void {
  const handle = openSync(path, "r+");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function codeOf(error: unknown): unknown {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}

async function keep(
  context: Context,
  planned: ExportRecord,
  made: MadeArchive & { name: string; target: string; omitted: CreatedExport["omitted"] },
): Promise<CreatedExport> {
  const { id, file, secret, coverage } = planned;
  const { sha256, bytes, pageCount, name, target, omitted } = made;
  const expiresAt = new Date(context.environment.now() + exportLifeMs).toISOString();
  const created = await context.store.write(async (transaction): Promise<CreatedExport> => {
    await verifyKept(transaction, planned);
    await transaction.putExport({
      ...planned,
      made: { sha256, bytes, pageCount },
      ...(file !== undefined && { expires: expiresAt }),
    });
    const url = context.baseUrl ? `${context.baseUrl}/exports/${id}/${secret}` : pathToFileURL(target).href;
    return {
      id,
      coverage,
      omitted,
      sha256,
      bytes,
      pageCount,
      ...(file !== undefined && { download: { url, expiresAt, name } }),
    };
  });
  if (file !== undefined) setTimeout(() => void removeExpiredExports(context).catch(() => {}), exportLifeMs).unref();
  return created;
}

/** Nothing is left of it: the call ends as refused, and its key is free. Also when an erasure was what stopped it. */
async function takeBack(context: Context, id: string, refusal: Refusal): Promise<Refusal> {
  removeExportFiles(context.folder, id);
  return context.store.write(
    async (transaction) => {
      await transaction.endExport(id);
      return refusal;
    },
    { isErasing: true },
  );
}

function toRefusal(error: unknown, { staging, target }: { staging: Staging; target: string }): Refusal {
  if (codeOf(error) === "EEXIST") return takenName(target);
  if (!(error instanceof ArchiveError)) return staging.toRefusal(error);
  const message = "What may be read changed while the archive was made. Make it again.";
  return error.code === "changed" ? { refused: "conflict", message } : staging.toRefusal(error);
}
