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
import type { Caller } from "../domain/access.js";
import { isReadable, readableParts } from "../domain/access.js";
import { type DecidedWrite, decideWrite, type WriteRequest, type WriteState } from "../domain/page-write.js";
import type { PageKeys, PageRecord } from "../domain/records.js";
import { isRefusal, type Refusal } from "../domain/refusal.js";
import { indexText } from "../retrieval/index-text.js";
import type { NewVersion, WriteTransaction } from "../store/store.js";
import type { Context } from "./context.js";
import { findHiddenLinks } from "./links.js";

export interface WritePageInput {
  /** Normalised (`parsePath`). */
  path: string;
  body: string;
  frontmatter?: Record<string, unknown>;
  expectedUpdated?: string;
}

export interface WrittenPage {
  path: string;
  id: string;
  updated: string;
  /** What the owner chose to be warned about instead of refused. */
  warnings: string[];
}

/** `memory_write`: creates or replaces a page (pcp section 3). Refuses with invalid_input, too_large, conflict, forbidden, not_found, unsupported. */
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
    const state = await loadWriteState(transaction, caller, input.path);
    const decided = decideWrite(caller, request, state);
    if (isRefusal(decided)) return decided;
    const written = await applyWrite(context, transaction, {
      caller,
      path: input.path,
      existing: state.existing,
      decided,
    });
    return { ...written, warnings };
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
  return { refused: "invalid_input", message, violations };
}

async function loadWriteState(transaction: WriteTransaction, caller: Caller, path: string): Promise<WriteState> {
  const partitions = await transaction.partitions();
  const page = await transaction.page({ twinKey: twinKey(path) });
  const parts = readableParts(caller, partitions);
  if (!page || !isReadable(parts, page)) {
    const unseen = page && { ...page, head: "", body: "", keys: { title: page.title } };
    return { partitions, hiddenLinks: new Set(), ...(unseen && { existing: unseen }) };
  }
  const existing = await transaction.currentVersion(page);
  const hiddenLinks = await findHiddenLinks(transaction, { caller, partitions }, existing);
  return { partitions, existing, hiddenLinks };
}

/** Stores a decided write as the page's next version, or as a new page. */
export async function applyWrite(
  context: Context,
  transaction: WriteTransaction,
  write: { caller: Caller; path: string; existing?: PageRecord; decided: DecidedWrite },
): Promise<{ path: string; id: string; updated: string }> {
  const { caller, path, existing, decided } = write;
  const { newUuid, now } = context.environment;
  const updated = await transaction.tick(now());
  const version: NewVersion = {
    ...decided,
    version: encodeId("ver", newUuid()),
    path,
    twinKey: twinKey(path),
    updated,
    generated: { principal: caller.principal, client: caller.client, at: updated },
    words: indexText({ path, keys: decided.keys, body: decided.body }),
  };
  if (existing) {
    await transaction.addVersion(existing, version);
    return { path, id: existing.id, updated };
  }
  const id = encodeId("pg", newUuid());
  await transaction.createPage(id, version);
  return { path, id, updated };
}
