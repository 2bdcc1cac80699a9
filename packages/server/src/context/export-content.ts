import type { ArchivedChange, ArchivedPartitions, ArchivedRevision, ArchivedVersion } from "@satchel/pcp";
import { buildHead, coversScope, isExtensionNamespace } from "@satchel/pcp";
import type { ArchiveFile } from "../archive/tar.js";
import { type Access, type Caller, includesPart, isInPerson, readableParts } from "../domain/access.js";
import { buildArchivedPage } from "../domain/archived.js";
import type { ExportCoverage } from "../domain/export-coverage.js";
import { keysView } from "../domain/page-view.js";
import type { PageContent, PageKeys, Revision } from "../domain/records.js";
import type { ReadTransaction, StoredPage } from "../store/store.js";
import { loadAccess } from "./access.js";
import { readAuditEntry } from "./audit-entry.js";
import type { Context } from "./context.js";
import { isSealedNamespace } from "./document-seal.js";
import { findHiddenLinks } from "./links.js";
import { withReadableTargets } from "./list-audit.js";
import { listedPartitions } from "./list-partitions.js";
import { visibleRevisions } from "./list-revisions.js";
import { coversProfile } from "./profile.js";
import type { AnyVersion } from "./stored-walks.js";

/** The state that an archive is made of: everything recorded until then, as its caller may read it now. */
export interface ExportSelection {
  caller: Caller;
  scope: ExportCoverage;
  /** The last recorded time that counts. It may be that of something hidden, so nothing in the archive says it. */
  at: string;
  /** The time of files that were not recorded at one. */
  madeMs: number;
  /** Audit entries below this place of the journal count. */
  auditSize: number;
  /** The verifier keys of the journal, as they lie beside it. */
  journalKeys: string;
}

/** What came along while the files were made. */
export interface ExportedSoFar {
  /** Ids of pages and proposals, and namespaces. */
  items: Set<string>;
  pageCount: number;
  onPage(): void;
}

/** Pages, and audit entries, of one transaction. */
const batch = { pages: 50, audit: 1000 };
/** An audit longer than this is more than one file. */
const auditFileChars = 16 * 1024 * 1024;

type Reading = Pick<Context, "store" | "documents">;

/**
 * The files of an archive but the manifest (pcp section 9), the same each time while nobody's rights change and nothing
 * is erased. A batch of them is one transaction.
 */
export async function* exportedFiles(
  context: Reading,
  selection: ExportSelection,
  soFar: ExportedSoFar,
): AsyncGenerator<ArchiveFile> {
  const read = <T>(use: (transaction: ReadTransaction, access: Access) => Promise<T>): Promise<T> =>
    context.store.read(async (transaction) => use(transaction, await loadAccess(transaction, selection.caller)));
  yield* await read((transaction, access) => profileFiles(context, transaction, { access, selection, soFar }));
  yield* await read((transaction, access) => revisionFiles(transaction, { access, selection, soFar }));
  for (let after = 0; ; ) {
    const { files, last } = await read(async (transaction, access) => {
      const pages = await transaction.storedPages({ after, limit: batch.pages });
      const made: ArchiveFile[] = [];
      for (const page of pages) made.push(...(await pageFiles(transaction, page, { access, selection, soFar })));
      return { files: made, last: pages.length < batch.pages ? undefined : pages.at(-1)?.num };
    });
    yield* files;
    if (last === undefined) break;
    after = last;
  }
  if (selection.scope.audit) yield* auditFiles(read, selection);
}

interface Made {
  access: Access;
  selection: ExportSelection;
  soFar: ExportedSoFar;
}

function file(path: string, text: string, mtime: string | number): ArchiveFile {
  return { path, bytes: Buffer.from(text), mtimeMs: new Date(mtime).getTime() };
}

function jsonFile(path: string, value: unknown, mtime: string | number): ArchiveFile {
  return file(path, `${JSON.stringify(value, null, 2)}\n`, mtime);
}

/** Profiles, the schemas they have to pass, and the partitions. */
async function profileFiles(
  { documents }: Pick<Context, "documents">,
  transaction: ReadTransaction,
  { access, selection, soFar }: Made,
): Promise<ArchiveFile[]> {
  const { at, madeMs, scope } = selection;
  const { profileType } = await transaction.context();
  const files: ArchiveFile[] = [jsonFile("partitions.json", archivedPartitions(access), madeMs)];
  for (const { namespace } of await transaction.profiles()) {
    const isOwn = namespace === profileType || isExtensionNamespace(namespace);
    if (!isOwn || !coversProfile(access, namespace) || (isSealedNamespace(namespace) && !scope.special)) continue;
    const changes = (await transaction.profileChanges(namespace)).filter((change) => change.at <= at);
    const records = changes.map(({ principal, client, changed, document, ...change }): ArchivedChange => {
      const generated = { principal, ...(client !== undefined && { client }), at: change.at };
      return { namespace, generated, changed, document: documents.open(namespace, document) };
    });
    const last = records.at(-1);
    if (!last) continue;
    soFar.items.add(namespace);
    files.push(jsonFile(`profile/${namespace}.json`, last.document, last.generated.at));
    if (seesPast(access))
      files.push(
        ...records.map((record, at) =>
          jsonFile(`history/profile/${namespace}/${String(at + 1).padStart(6, "0")}.json`, record, record.generated.at),
        ),
      );
  }
  for (const namespace of await transaction.extensionNamespaces())
    if (coversProfile(access, namespace))
      files.push(jsonFile(`extensions/${namespace}.schema.json`, await transaction.extensionSchema(namespace), madeMs));
  return files;
}

/** No tool shows earlier documents of a profile. */
function seesPast({ caller, isOwner }: Access): boolean {
  return isOwner && isInPerson(caller);
}

/** Access lists are for owners in person; others see which partitions there are for them. */
function archivedPartitions(access: Access): ArchivedPartitions {
  if (!seesPast(access))
    return listedPartitions(access).map(({ name, label }) => ({ name, ...(label !== undefined && { label }) }));
  return access.partitions.map(({ name, label, review, fourEyes, grants }) => ({
    name,
    ...(label !== undefined && { label }),
    review,
    four_eyes: fourEyes,
    grants,
  }));
}

/** Open proposals that the caller may see. */
async function revisionFiles(
  transaction: ReadTransaction,
  { access, selection: { at }, soFar }: Made,
): Promise<ArchiveFile[]> {
  const files: ArchiveFile[] = [];
  const { scopes } = access.caller;
  if (!coversScope(scopes, "memory:review") && !coversScope(scopes, "memory:propose")) return files; // As review_list.
  const revisions = (await transaction.revisions(visibleRevisions(access, ["proposed"]))).reverse();
  for (const revision of revisions) {
    if (revision.generated.at > at) continue;
    const shown = await shownContent(transaction, access, revision);
    soFar.items.add(revision.id);
    files.push(jsonFile(`review/${revision.id}.json`, archivedRevision(revision, shown), revision.generated.at));
  }
  return files;
}

function archivedRevision(revision: Revision, { head, keys }: Shown): ArchivedRevision {
  const { id, path, base, generated, partition, sensitivity, note, decision, body } = revision;
  return {
    id,
    path,
    ...(base !== undefined && { base }),
    generated: { ...generated },
    partition,
    sensitivity,
    ...(note !== undefined && { note }),
    ...(decision && { decision: { ...decision, by: { ...decision.by } } }),
    keys,
    head,
    body,
  };
}

type Shown = Pick<PageContent, "head" | "keys">;

/** The client's own text, unless it names pages that this caller is not shown. */
async function shownContent(
  transaction: ReadTransaction,
  access: Access,
  content: Pick<PageContent, "head" | "keys">,
): Promise<Shown> {
  const hiddenLinks = await findHiddenLinks(transaction, access, content);
  if (hiddenLinks.size === 0) return { head: content.head, keys: content.keys };
  const keys = keysView(content, hiddenLinks) as PageKeys;
  return { head: buildHead(keys), keys };
}

/** A page's own file, and a record of each version that the caller may read. */
async function pageFiles(
  transaction: ReadTransaction,
  page: StoredPage,
  { access, selection: { at }, soFar }: Made,
): Promise<ArchiveFile[]> {
  const parts = readableParts(access);
  const all = await transaction.versions(page.id);
  const now = all.at(-1);
  const last = all.findLast(({ updated }) => updated <= at);
  if (!now || !last || !includesPart(parts, now) || !includesPart(parts, last)) return [];
  soFar.items.add(page.id);
  const files: ArchiveFile[] = [];
  for (const version of all) {
    if (version.updated > at || !includesPart(parts, version)) continue;
    const shown = await shownContent(transaction, access, version);
    const isCurrent = version === last && !version.removed;
    const record = archivedVersion(version, shown, isCurrent);
    files.push(jsonFile(`history/${page.id}/${version.version}.json`, record, version.updated));
    if (!isCurrent) continue;
    soFar.pageCount++;
    soFar.onPage();
    files.push(file(`memory/${page.path}.md`, buildArchivedPage(record, version.body), version.updated));
  }
  return files;
}

function archivedVersion(version: AnyVersion, { head, keys }: Shown, isCurrent: boolean): ArchivedVersion {
  const { id, path, created, updated, generated, review, partition, sensitivity, removed, body } = version;
  return {
    page: id,
    version: version.version,
    path,
    created,
    updated,
    generated: { ...generated },
    ...(review && { review: { ...review, by: { ...review.by } } }),
    partition,
    sensitivity,
    ...(isCurrent && { current: true }),
    ...(removed && { removed: true }),
    keys,
    head,
    ...(!isCurrent && { body }),
  };
}

type Read = <T>(use: (transaction: ReadTransaction, access: Access) => Promise<T>) => Promise<T>;

/** What `audit_list` shows the caller, oldest first; then the keys that the journal is verified by, and foreign audit. */
async function* auditFiles(read: Read, selection: ExportSelection): AsyncGenerator<ArchiveFile> {
  const { madeMs, auditSize, journalKeys } = selection;
  let lines: string[] = [];
  let chars = 0;
  let count = 0;
  const take = () => {
    count++;
    const taken = file(`audit/log${count === 1 ? "" : `-${count}`}.jsonl`, lines.join(""), madeMs);
    lines = [];
    chars = 0;
    return taken;
  };
  for (let after: number | undefined = -1; after !== undefined; ) {
    const range: { after: number; limit: number } = { after, limit: batch.audit };
    const next = await read((transaction, access) => readAudit(transaction, access, { range, auditSize }));
    for (const line of next.lines) {
      lines.push(line);
      chars += line.length;
      if (chars > auditFileChars) yield take(); // Where a file ends must not tell how many lines of others lie between.
    }
    after = next.last;
  }
  if (lines.length > 0 || count === 0) yield take();
  if (journalKeys !== "") yield file("audit/journal.pub", journalKeys, madeMs);
  const attachments = await read(async (transaction, access) => (seesPast(access) ? transaction.attachments() : []));
  for (const { path, text } of attachments) yield file(`audit/${path}`, text, madeMs);
}

async function readAudit(
  transaction: ReadTransaction,
  access: Access,
  { range, auditSize }: { range: { after: number; limit: number }; auditSize: number },
): Promise<{ lines: string[]; last: number | undefined }> {
  const found = await transaction.auditLines(range);
  const lines: string[] = [];
  for (const { seq, principal } of found) {
    if (seq >= auditSize || (!access.isOwner && principal !== access.caller.principal)) continue;
    const entry = await withReadableTargets(transaction, access, await readAuditEntry(transaction, seq));
    lines.push(`${JSON.stringify(entry)}\n`);
  }
  const last = found.at(-1)?.seq;
  return { lines, last: found.length < range.limit || (last ?? 0) >= auditSize ? undefined : last };
}
