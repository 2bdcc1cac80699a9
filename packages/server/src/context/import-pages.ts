import { parsePath, titleFromBody, twinKey } from "@satchel/pcp";
import type { Access, Caller } from "../domain/access.js";
import { decideProposal, decideWrite, type WriteRequest } from "../domain/page-write.js";
import type { PageVersion } from "../domain/records.js";
import { isRefusal, type Refusal } from "../domain/refusal.js";
import type { ForeignPage, ForeignReading } from "../foreign/foreign-format.js";
import { indexText } from "../retrieval/index-text.js";
import type { IndexedText, WriteTransaction } from "../store/store.js";
import { loadAccess } from "./access.js";
import type { Context } from "./context.js";
import { emptySummary, type ImportOptions, type ImportSummary, importInStages } from "./imported.js";
import { visibleRevisions } from "./list-revisions.js";
import { patchProfile } from "./profile.js";
import { addRevision } from "./propose-page.js";
import { applyWrite, checkSecrets, loadWriteState, parseWrite } from "./write-page.js";

export interface ParsedPage {
  file: string;
  line?: number;
  request: WriteRequest;
  /** Made before the transaction, so that others wait for it no longer than they must. */
  words?: IndexedText;
}

/**
 * Brings pages in that something else exported, all or none (pcp section 9): one refused entry refuses the import unless
 * `skipRefused`. A page that holds the same text already is left as it is.
 */
export async function importPages(
  context: Context,
  caller: Caller,
  { reading, options }: { reading: ForeignReading; options: ImportOptions },
): Promise<ImportSummary | Refusal> {
  const summary = emptySummary(reading.refused, reading.notes);
  return importInStages(context, {
    options,
    summary,
    parse: () => parsePages(context, reading.pages, { options, summary }),
    async apply(transaction, pages) {
      await applyPages(context, transaction, { caller, pages, options, summary });
      await applyProfiles(context, transaction, { caller, profiles: reading.profiles ?? {}, options, summary });
    },
  });
}

/** Other calls get their turn after this many. */
const batch = 50;

/** Checks each page by itself, and that no two have one name. */
export async function parsePages(
  context: Context,
  pages: ForeignPage[],
  { options, summary }: { options: ImportOptions; summary: ImportSummary },
): Promise<ParsedPage[]> {
  const parsed: ParsedPage[] = [];
  const taken = new Map<string, string>();
  for (const [index, page] of pages.entries()) {
    if (index % batch === 0) await new Promise((resolve) => setImmediate(resolve));
    const request = await parsePage(context, page, options);
    const place = { file: page.file, ...(page.line !== undefined && { line: page.line }) };
    if (isRefusal(request)) summary.refused.push(...toRefusedEntries(place, request));
    else {
      const key = twinKey(request.path);
      const other = taken.get(key);
      if (other === undefined) {
        taken.set(key, page.file);
        parsed.push({ ...place, request, words: wordsOf(request) });
      } else {
        const reason = `same page name as "${other}" (names that differ only by case or Unicode form are one)`;
        summary.refused.push({ ...place, reason });
      }
    }
    options.onProgress?.(index + 1, pages.length * 2);
  }
  return parsed;
}

/** As the page is stored when nothing of it is decided otherwise than it asks. */
function wordsOf({ path, body, keys }: WriteRequest): IndexedText {
  return indexText({ path, body, keys: { ...keys, title: keys?.title ?? titleFromBody(body, path) } });
}

/** What a page asks to be written, and no key that it does not say but the partition. */
export async function parsePage(
  context: Context,
  page: ForeignPage,
  { partition }: Pick<ImportOptions, "partition">,
): Promise<WriteRequest | Refusal> {
  const name = parsePath(`${page.path}.md`);
  if (!name.ok) return { refused: "invalid_input", message: "", violations: name.violations };
  const content = "text" in page ? { body: page.text } : { frontmatter: page.frontmatter, body: page.body };
  const request = parseWrite({ path: name.path, ...content });
  if (isRefusal(request)) return request;
  const secrets = await checkSecrets(context, request.head + request.body);
  if (isRefusal(secrets)) return secrets;
  if (partition && !request.keys?.partition) return { ...request, keys: { ...request.keys, partition } };
  return { ...request, keys: request.keys ?? {} };
}

export function toRefusedEntries(place: { file: string; line?: number }, refusal: Refusal): ImportSummary["refused"] {
  return (refusal.violations ?? [refusal.message]).map((reason) => {
    const line = /^line (\d+)/.exec(reason)?.[1];
    return { ...place, ...(line && place.line === undefined && { line: Number(line) }), reason };
  });
}

export interface PagesToApply {
  caller: Caller;
  pages: ParsedPage[];
  options: ImportOptions;
  summary: ImportSummary;
}

export async function applyPages(
  context: Context,
  transaction: WriteTransaction,
  { caller, pages, options, summary }: PagesToApply,
): Promise<void> {
  await makePartition(transaction, options);
  const access = await loadAccess(transaction, caller);
  for (const [index, page] of pages.entries()) {
    await applyPage(context, transaction, { access, page, options, summary });
    options.onProgress?.(pages.length + index + 1, pages.length * 2);
  }
}

export async function makePartition(transaction: WriteTransaction, { partition: name }: ImportOptions): Promise<void> {
  const known = await transaction.partitions();
  if (name === undefined || known.some((partition) => partition.name === name)) return;
  await transaction.putPartition({ name, grants: [], review: "nobody", fourEyes: false });
}

export interface PageToApply {
  access: Access;
  page: ParsedPage;
  options: ImportOptions;
  summary: ImportSummary;
  /** Which earlier text of the page is no news: any, or the last one by this caller's client, which is the default. */
  seen?: "ever" | "last";
}

export async function applyPage(
  context: Context,
  transaction: WriteTransaction,
  { access, page, options, summary, seen = "last" }: PageToApply,
): Promise<void> {
  const { request, words, ...place } = page;
  const { path } = request;
  const state = await loadWriteState(transaction, access, path);
  const { existing } = state;
  if (
    existing &&
    (isUnchanged(existing, request) || (await wasSeen(transaction, existing, { request, access, seen })))
  ) {
    summary.same++;
    return;
  }
  const decided = options.review ? decideProposal(access, request, state) : decideWrite(access, request, state);
  if (isRefusal(decided)) {
    summary.refused.push({
      file: place.file,
      ...(place.line !== undefined && { line: place.line }),
      reason: decided.message,
    });
    return;
  }
  const { caller } = access;
  if (decided.outcome === "propose") {
    if (await isProposed(transaction, access, request)) {
      summary.same++;
      return;
    }
    await addRevision(context, transaction, { caller, path, decided, ...(existing && { base: existing.version }) });
    summary.proposed.push(path);
    return;
  }
  await applyWrite(context, transaction, {
    caller,
    path,
    decided,
    ...(words && { words }),
    ...(existing && { existing }),
  });
  (existing ? summary.changed : summary.added).push(path);
}

function isUnchanged(existing: PageVersion, { path, head, body, keys }: WriteRequest): boolean {
  const isInPlace = keys?.partition === undefined || keys.partition === existing.partition;
  return existing.path === path && existing.head === head && existing.body === body && isInPlace;
}

/** What is brought in again, and was changed here since, does not undo that change. */
async function wasSeen(
  transaction: WriteTransaction,
  existing: PageVersion,
  { request, access, seen }: { request: WriteRequest; access: Access; seen: "ever" | "last" },
): Promise<boolean> {
  if (existing.path !== request.path) return false;
  const { client } = access.caller;
  const earlier = (await transaction.versions(existing.id)).filter(
    ({ generated, removed }) => !removed && (seen === "ever" || generated.client === client),
  );
  const isSame = ({ head, body }: PageVersion) => head === request.head && body === request.body;
  return seen === "ever"
    ? earlier.some(isSame)
    : earlier.slice(-1).some(isSame) && earlier.at(-1)?.version !== existing.version;
}

/** The same page waits for review already. */
async function isProposed(transaction: WriteTransaction, access: Access, request: WriteRequest): Promise<boolean> {
  const query = { ...visibleRevisions(access, ["proposed"]), twinKey: twinKey(request.path) };
  const waiting = await transaction.revisions(query);
  return waiting.some(({ head, body }) => head === request.head && body === request.body);
}

async function applyProfiles(
  context: Context,
  transaction: WriteTransaction,
  run: {
    caller: Caller;
    profiles: Record<string, Record<string, unknown>>;
    options: ImportOptions;
    summary: ImportSummary;
  },
): Promise<void> {
  const { caller, profiles, options, summary } = run;
  const access = await loadAccess(transaction, caller);
  for (const [namespace, patch] of Object.entries(profiles)) {
    if (options.review) {
      summary.notes.push(`The profile document "${namespace}" is left out: only pages can wait for review.`);
      continue;
    }
    const written = await patchProfile(context, transaction, { access, namespace, patch });
    if (isRefusal(written)) summary.refused.push({ file: `profile/${namespace}`, reason: written.message });
    else if (written.changed.length > 0) summary.profiles.push(namespace);
  }
}
