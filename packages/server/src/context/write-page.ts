import {
  buildHead,
  encodeId,
  normaliseText,
  type PageProblem,
  parseFrontmatter,
  parsePageText,
  twinKey,
  verifyPageSizes,
} from "@satchel/pcp";
import { type Access, type Caller, includesPart, readableParts } from "../domain/access.js";
import { decideWrite, type WriteRequest, type WriteState } from "../domain/page-write.js";
import type { Decision, PageContent, PageKeys, PageRecord, Part } from "../domain/records.js";
import { isRefusal, type Refusal } from "../domain/refusal.js";
import { indexText } from "../retrieval/index-text.js";
import type { IndexedText, NewVersion, ReadTransaction, WriteTransaction } from "../store/store.js";
import { loadAccess } from "./access.js";
import type { Context } from "./context.js";
import { findHiddenLinks } from "./links.js";
import { addRevision } from "./propose-page.js";

export interface WritePageInput {
  /** Normalised (`parsePath`). */
  path: string;
  body: string;
  frontmatter?: Record<string, unknown>;
  expectedUpdated?: string;
}

export interface WrittenPage extends Part {
  path: string;
  id?: string;
  /** Absent when the write became a proposal. */
  updated?: string;
  /** The page's version after the call; absent when the caller sees no page there. */
  version?: string;
  /** The revision, when the write became a proposal. */
  revision?: string;
  /** The writer said which version it replaced. */
  isChecked: boolean;
  /** What the owner chose to be warned about instead of refused. */
  warnings: string[];
}

/** `memory_write`: creates or replaces a page, or proposes to (pcp sections 3-5). Refuses with invalid_input, too_large, conflict, forbidden, not_found. */
export async function writePage(
  context: Context,
  caller: Caller,
  input: WritePageInput,
): Promise<WrittenPage | Refusal> {
  const request = parseWrite(input);
  if (isRefusal(request)) return request;
  const warnings = await checkSecrets(context, request.head + request.body);
  if (isRefusal(warnings)) return warnings;
  return context.store.write(async (transaction) => {
    const access = await loadAccess(transaction, caller);
    const state = await loadWriteState(transaction, access, input.path);
    const decided = decideWrite(access, request, state);
    if (isRefusal(decided)) return decided;
    const { path } = input;
    const { partition, sensitivity } = decided;
    const isChecked = input.expectedUpdated !== undefined;
    if (decided.outcome === "propose") {
      const base = state.existing?.version;
      const revision = await addRevision(context, transaction, { caller, path, decided, ...(base && { base }) });
      return { path, revision, partition, sensitivity, isChecked, warnings, ...(base && { version: base }) };
    }
    const written = await applyWrite(context, transaction, {
      caller,
      path,
      decided,
      ...(state.existing && { existing: state.existing }),
    });
    return { ...written, partition, sensitivity, isChecked, warnings };
  });
}

/** The text and keys a client sent, checked. */
export function parseWrite(input: WritePageInput): WriteRequest | Refusal {
  const { path, frontmatter, expectedUpdated } = input;
  const text = normaliseText(input.body);
  const common = { path, ...(expectedUpdated !== undefined && { expectedUpdated }) };
  if (frontmatter === undefined) {
    const parsed = parsePageText(text);
    if (!parsed.ok) return refuseProblems(parsed.problems);
    const { head, body } = parsed;
    return { ...common, head, body, ...(head !== "" && { keys: parsed.frontmatter as Partial<PageKeys> }) };
  }
  const keys = parseFrontmatter(frontmatter);
  if (!keys.ok) return refuseProblems(keys.problems);
  const head = buildHead(frontmatter);
  const problems = verifyPageSizes(head, text);
  if (problems.length > 0) return refuseProblems(problems);
  return { ...common, head, body: text, keys: keys.frontmatter as Partial<PageKeys> };
}

export function refuseProblems(problems: PageProblem[]): Refusal {
  const violations = problems.map(({ message, line, column, pointer }) => {
    const where = line === undefined ? pointer : `line ${line}${column === undefined ? "" : `, column ${column}`}`;
    return where ? `${where}: ${message}` : message;
  });
  const refused = problems.some(({ code }) => code === "too_large") ? "too_large" : "invalid_input";
  return { refused, message: `The page cannot be stored: ${violations.slice(0, 5).join("; ")}`, violations };
}

/** By default credentials are refused; the owner's setting `secrets` makes that `warn` or `off`. @returns warnings */
export async function checkSecrets(context: Context, text: string): Promise<string[] | Refusal> {
  const found = await context.scanSecrets(text);
  if (found.length === 0) return [];
  const setting = await context.store.read((transaction) => transaction.setting("secrets"));
  if (setting === "off") return [];
  const violations = found.map(({ kind, line }) => `line ${line}: looks like a ${kind}`);
  if (setting === "warn") return violations;
  const message = `The page holds what looks like a credential (${violations.join("; ")}). Keep credentials in a password manager and write where to find them instead.`;
  return { refused: "invalid_input", message, violations, code: "protected_data_denied" };
}

export async function loadWriteState(transaction: ReadTransaction, access: Access, path: string): Promise<WriteState> {
  const page = await transaction.page({ twinKey: twinKey(path) });
  const parts = readableParts(access);
  if (!page || !includesPart(parts, page)) return { isTakenUnseen: page !== undefined, hiddenLinks: new Set() };
  const existing = await transaction.currentVersion(page);
  return { existing, isTakenUnseen: false, hiddenLinks: await findHiddenLinks(transaction, access, existing) };
}

export interface AppliedWrite {
  caller: Caller;
  path: string;
  existing?: PageRecord;
  decided: PageContent & Part;
  /** The tokens of exactly this content, where they are known already. */
  words?: IndexedText;
  /** Of an approval: who wrote it, and the decision. */
  approved?: { author: { principal: string; client?: string; at: string }; review: Decision };
}

/** Stores decided content as the page's next version, or as a new page. */
export async function applyWrite(
  context: Context,
  transaction: WriteTransaction,
  write: AppliedWrite,
): Promise<{ path: string; id: string; updated: string; version: string }> {
  const { caller, path, existing, decided, words, approved } = write;
  const { newUuid, now } = context.environment;
  const updated = await transaction.tick(now());
  const { head, body, keys, partition, sensitivity } = decided;
  const version: NewVersion = {
    head,
    body,
    keys,
    partition,
    sensitivity,
    version: encodeId("ver", newUuid()),
    path,
    twinKey: twinKey(path),
    updated,
    generated: approved?.author ?? { principal: caller.principal, client: caller.client, at: updated },
    ...(approved && { review: approved.review }),
    words: words ?? indexText({ path, keys, body }),
  };
  const stored = { path, updated, version: version.version };
  if (existing) {
    await transaction.addVersion(existing, version);
    return { ...stored, id: existing.id };
  }
  const id = encodeId("pg", newUuid());
  await transaction.createPage(id, version);
  return { ...stored, id };
}
