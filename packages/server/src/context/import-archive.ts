import { type ArchivedChange, twinKey } from "@satchel/pcp";
import type { ArchiveReading } from "../archive/read-archive.js";
import type { Access, Caller } from "../domain/access.js";
import { type ArchivedContext, type ArchivedPage, parseArchived } from "../domain/archived.js";
import type { PartitionRecord } from "../domain/records.js";
import { invalidInput, isRefusal, type Refusal } from "../domain/refusal.js";
import { indexText } from "../retrieval/index-text.js";
import type { RestoredPage, WriteTransaction } from "../store/store.js";
import { loadAccess } from "./access.js";
import type { Context } from "./context.js";
import { verifyExtensionSchema } from "./extensions.js";
import { applyPage, makePartition, type ParsedPage, parsePages } from "./import-pages.js";
import { emptySummary, type ImportOptions, type ImportSummary, importInStages } from "./imported.js";
import { chooseNamespace, patchProfile, putDocument, verifyDocument } from "./profile.js";
import { checkSecrets } from "./write-page.js";

/**
 * Brings an archive of a context in (pcp section 9): pages whose id and name are free come back as they were, with their
 * past; of others the present text is imported. All or nothing. Refuses with invalid_input when the archive is damaged.
 */
export async function importArchive(
  context: Context,
  caller: Caller,
  { archive, options }: { archive: ArchiveReading; options: ImportOptions },
): Promise<ImportSummary | Refusal> {
  const { manifest, problems, files } = archive;
  if (!manifest || problems.length > 0) {
    const found = problems.map(({ path, message }) => (path === undefined ? message : `${path}: ${message}`));
    return {
      ...invalidInput(found),
      message:
        "The archive is damaged, so nothing is imported. satchel verify FILE says where; export it again, or copy it again.",
    };
  }
  const label = `${manifest.context.handle}-${manifest.created.replaceAll(":", "-")}`;
  const archived = parseArchived(files, label);
  const summary = emptySummary(archived.refused, archived.notes);
  return importInStages(context, {
    options,
    summary,
    parse: () => prepare(context, archived, { options, summary }),
    apply: (transaction, prepared) =>
      applyArchive(context, transaction, { caller, archived, prepared, options, summary }),
  });
}

interface Prepared {
  /** Each page's present text; undefined of one that was removed. */
  current: Map<ArchivedPage, ParsedPage>;
  words: Map<ArchivedPage, RestoredPage["words"]>;
  texts: ParsedPage[];
}

interface Run {
  caller: Caller;
  archived: ArchivedContext;
  prepared: Prepared;
  options: ImportOptions;
  summary: ImportSummary;
}

/** A clock that is a little ahead elsewhere is no reason to refuse. */
const aheadMs = 5 * 60_000;
const batch = 50;

/** Everything that needs no look into the context, so that others wait for it no longer than they must. */
async function prepare(
  context: Context,
  archived: ArchivedContext,
  { options, summary }: { options: ImportOptions; summary: ImportSummary },
): Promise<Prepared> {
  const prepared: Prepared = { current: new Map(), words: new Map(), texts: [] };
  const latest = new Date(context.environment.now() + aheadMs).toISOString();
  const total = 2 * archived.pages.length;
  for (const [index, page] of archived.pages.entries()) {
    if (index % batch === 0) await new Promise((resolve) => setImmediate(resolve));
    options.onProgress?.(index + 1, total);
    const last = page.versions.at(-1);
    if (!last) continue;
    const { file } = page;
    const texts = page.versions.map(({ head, body, review }) => `${head}${body}\n${review?.note ?? ""}`);
    if (await isRefusedContent(context, summary, { file, latest, times: timesOf(page), texts })) continue;
    const { path, head, body, keys } = last;
    prepared.words.set(page, indexText({ path, keys, body }));
    if (last.current) prepared.current.set(page, { file, request: { path, head, body, keys } });
  }
  await refuseRecords(context, archived, { latest, summary });
  prepared.texts = await parsePages(context, archived.texts, { options: withoutProgress(options), summary });
  return prepared;
}

function timesOf({ versions }: ArchivedPage): string[] {
  return versions.flatMap(({ updated, review }) => [updated, ...(review ? [review.by.at] : [])]);
}

interface Content {
  file: string;
  latest: string;
  times: string[];
  texts: string[];
}

/** Puts a reason into the summary when it is of a later time, or holds a credential. */
async function isRefusedContent(
  context: Context,
  summary: ImportSummary,
  { file, latest, times, texts }: Content,
): Promise<boolean> {
  if (times.some((time) => time > latest)) {
    summary.refused.push({ file, reason: "it was changed later than this machine's clock says it is now" });
    return true;
  }
  const secrets = await checkSecrets(context, texts.join("\n"));
  if (!isRefusal(secrets)) return false;
  summary.refused.push(...(secrets.violations ?? []).map((reason) => ({ file, reason })));
  return true;
}

/** Of proposals and documents. Those that are refused are taken out. */
async function refuseRecords(
  context: Context,
  archived: ArchivedContext,
  { latest, summary }: { latest: string; summary: ImportSummary },
): Promise<void> {
  const revisions: ArchivedContext["revisions"] = [];
  for (const revision of archived.revisions) {
    const { file, head, body, note, decision, generated } = revision;
    const times = [generated.at, ...(decision ? [decision.by.at] : [])];
    const texts = [head, body, note ?? "", decision?.note ?? ""];
    if (!(await isRefusedContent(context, summary, { file, latest, times, texts }))) revisions.push(revision);
  }
  archived.revisions = revisions;
  for (const [namespace, changes] of archived.profiles) {
    const content = { file: `profile/${namespace}.json`, latest, times: changes.map(({ generated }) => generated.at) };
    if (await isRefusedContent(context, summary, { ...content, texts: [] })) archived.profiles.delete(namespace);
  }
}

function withoutProgress({ onProgress: _, ...options }: ImportOptions): ImportOptions {
  return options;
}

async function applyArchive(context: Context, transaction: WriteTransaction, run: Run): Promise<void> {
  if (run.options.review) await makePartitions(transaction, run.archived);
  else await restorePartitions(transaction, run);
  if (run.prepared.texts.length > 0) await makePartition(transaction, run.options);
  if (!run.options.review) await restoreExtensions(transaction, run);
  await applyArchivedPages(context, transaction, run);
  await restoreRevisions(transaction, run);
  await restoreProfiles(context, transaction, run);
  if (!run.options.review) await attachAudit(context, transaction, run.archived);
}

/** Those that what is brought in names, as new ones are made. */
async function makePartitions(transaction: WriteTransaction, archived: ArchivedContext): Promise<void> {
  const known = new Set((await transaction.partitions()).map(({ name }) => name));
  const contents = [...archived.pages.flatMap(({ versions }) => versions), ...archived.revisions];
  for (const name of new Set(contents.map(({ partition }) => partition)))
    if (!known.has(name)) await transaction.putPartition({ name, grants: [], review: "nobody", fourEyes: false });
}

/** Partitions without pages that nobody has said anything of are as they were there; the others' access is decided here. */
async function restorePartitions(transaction: WriteTransaction, { archived, summary }: Run): Promise<void> {
  await makePartitions(transaction, archived);
  const known = new Map((await transaction.partitions()).map((partition) => [partition.name, partition]));
  for (const { name, label, grants, review, four_eyes } of archived.partitions) {
    const here = known.get(name);
    if (here && (!isPlain(here) || (await holdsPages(transaction, name)))) continue;
    if (grants && grants.length > 0)
      summary.notes.push(
        `The partition "${name}" has the access list of the archive. Look at it: satchel partition list`,
      );
    await transaction.putPartition({
      name,
      ...(label !== undefined && { label }),
      grants: grants ?? [],
      review: review ?? "nobody",
      fourEyes: four_eyes ?? false,
    });
  }
}

async function holdsPages(transaction: WriteTransaction, partition: string): Promise<boolean> {
  const parts = (["normal", "sensitive"] as const).map((sensitivity) => ({ partition, sensitivity }));
  return (await transaction.countPages({ parts })) > 0;
}

function isPlain({ label, grants, review, fourEyes }: PartitionRecord): boolean {
  return label === undefined && grants.length === 0 && review === "nobody" && !fourEyes;
}

async function restoreExtensions(transaction: WriteTransaction, { archived, summary }: Run): Promise<void> {
  for (const [namespace, schema] of archived.extensions) {
    if (await transaction.extensionSchema(namespace)) continue;
    const refused = verifyExtensionSchema(namespace, schema);
    if (refused) summary.refused.push({ file: `extensions/${namespace}.schema.json`, reason: refused.message });
    else await transaction.putExtensionSchema(namespace, schema);
  }
}

async function applyArchivedPages(context: Context, transaction: WriteTransaction, run: Run): Promise<void> {
  const { caller, archived, prepared, options, summary } = run;
  const access = await loadAccess(transaction, caller);
  const times = await transaction.recordedTimes();
  let index = archived.pages.length;
  for (const page of archived.pages) {
    options.onProgress?.(++index, 2 * archived.pages.length);
    const words = prepared.words.get(page);
    if (!words) continue; // Refused.
    if (!options.review && (await isFree(transaction, page, times))) {
      await restorePage(transaction, page, words);
      for (const { updated } of page.versions) times.add(updated);
      if (prepared.current.has(page)) summary.added.push(page.versions[0]?.path ?? "");
    } else await applyPresent(context, transaction, { access, page, run });
  }
  for (const page of prepared.texts) await applyPage(context, transaction, { access, page, options, summary });
}

async function isFree(transaction: WriteTransaction, page: ArchivedPage, times: ReadonlySet<string>): Promise<boolean> {
  const last = page.versions.at(-1);
  for (const id of [page.id, ...page.versions.map(({ version }) => version)])
    if (await transaction.isUsed(id)) return false;
  if (page.versions.some(({ updated }) => times.has(updated))) return false;
  return last !== undefined && (last.removed || !(await transaction.page({ twinKey: twinKey(last.path) })));
}

async function restorePage(
  transaction: WriteTransaction,
  { id, versions }: ArchivedPage,
  words: RestoredPage["words"],
): Promise<void> {
  const last = versions.at(-1);
  if (!last) return;
  await transaction.restorePage({
    id,
    created: last.created,
    words,
    versions: versions.map(({ page: _, created, current, removed = false, ...version }) => ({
      ...version,
      twinKey: twinKey(version.path),
      removed,
    })),
  });
  await transaction.advanceTime(last.updated);
}

/** Of a page whose id or name is taken here: its present text, unless this context has seen that version. */
async function applyPresent(
  context: Context,
  transaction: WriteTransaction,
  { access, page, run }: { access: Access; page: ArchivedPage; run: Run },
): Promise<void> {
  const { prepared, options, summary } = run;
  const present = prepared.current.get(page);
  const last = page.versions.at(-1);
  if (!present || !last || (await transaction.isUsed(last.version))) {
    summary.same++;
    return;
  }
  const { partition, sensitivity } = last;
  const keys = { ...present.request.keys, partition, sensitivity };
  const placed = { ...present, request: { ...present.request, keys } };
  await applyPage(context, transaction, { access, page: placed, options, summary, seen: "ever" });
}

/** Open proposals stay proposals of those who made them. */
async function restoreRevisions(transaction: WriteTransaction, { archived, summary }: Run): Promise<void> {
  for (const { file: _, base, decision, ...revision } of archived.revisions) {
    if (await transaction.isUsed(revision.id)) {
      summary.same++;
      continue;
    }
    const isBased = base !== undefined && (await transaction.isUsed(base));
    await transaction.addRevision({ ...revision, twinKey: twinKey(revision.path), ...(isBased && { base }) });
    if (decision) await transaction.decideRevision(revision.id, "proposed", decision);
    await transaction.advanceTime(revision.generated.at);
    summary.proposed.push(revision.path);
  }
}

async function restoreProfiles(context: Context, transaction: WriteTransaction, run: Run): Promise<void> {
  const { caller, archived, options, summary } = run;
  const access = await loadAccess(transaction, caller);
  const record = await transaction.context();
  for (const [namespace, changes] of archived.profiles) {
    const last = changes.at(-1);
    const isOwn = typeof chooseNamespace(record, namespace) === "string";
    if (!last || options.review || !isOwn) {
      const reason = options.review ? "only pages can wait for review" : "this context keeps another kind of profile";
      summary.notes.push(`The profile document "${namespace}" is left out: ${reason}.`);
      continue;
    }
    const file = `profile/${namespace}.json`;
    const refused = verifyDocument(namespace, last.document, await transaction.extensionSchema(namespace));
    if (refused) {
      summary.refused.push({ file, reason: refused.message });
      continue;
    }
    if (await wasDocument(context, transaction, last)) continue;
    if ((await transaction.profile(namespace)) || last.generated.at === "") {
      const written = await patchProfile(context, transaction, { access, namespace, patch: last.document });
      if (isRefusal(written)) summary.refused.push({ file, reason: written.message });
      else if (written.changed.length > 0) summary.profiles.push(namespace);
      continue;
    }
    for (const { generated, changed, document } of changes)
      await putDocument(context, transaction, { namespace, document, changed, ...generated });
    await transaction.advanceTime(last.generated.at);
    summary.profiles.push(namespace);
  }
}

/** Whether the document once said all that this one says: what was changed here since is newer. */
async function wasDocument(
  { documents }: Context,
  transaction: WriteTransaction,
  { namespace, document }: ArchivedChange,
): Promise<boolean> {
  const said = Object.entries(document).filter(([name]) => name !== "updated" && name !== "pcp_version");
  return (await transaction.profileChanges(namespace)).some((change) => {
    const here = documents.open(namespace, change.document);
    return said.every(([name, value]) => JSON.stringify(here[name]) === JSON.stringify(value));
  });
}

/** What was attached before, and perhaps erased in part since, stays as it is; a context's own audit is in its journal. */
async function attachAudit(
  { store }: Context,
  transaction: WriteTransaction,
  { attachments }: ArchivedContext,
): Promise<void> {
  const known = new Set((await transaction.attachments()).map(({ path }) => path));
  const own = attachments.find(
    ({ path, text }) => /^[^/]+\/[^/]+\/journal\.pub$/.test(path) && text.includes(store.contextId),
  );
  const ownFolder = own?.path.slice(0, own.path.lastIndexOf("/") + 1);
  for (const attachment of attachments) {
    const { path } = attachment;
    if (!known.has(path) && !(ownFolder && path.startsWith(ownFolder))) await transaction.putAttachment(attachment);
  }
}
