import { coversScope, profileScope } from "@satchel/pcp";
import { type Caller, readableParts } from "../domain/access.js";
import type { PageRecord, Part, Sensitivity } from "../domain/records.js";
import { Ranking } from "../retrieval/ranking.js";
import { excerpt } from "../retrieval/snippet.js";
import { wordRetriever } from "../retrieval/word-retriever.js";
import type { ReadTransaction } from "../store/store.js";
import { loadAccess } from "./access.js";
import type { Context } from "./context.js";
import { withoutStale } from "./list-pages.js";
import { type ListedPartition, listedPartitions } from "./list-partitions.js";
import { coversProfile } from "./profile.js";

export interface BriefInput {
  focus?: string;
  tokenBudget: number;
}

export interface BriefMemory {
  path: string;
  title: string;
  updated: string;
  type?: string;
  sensitivity?: Sensitivity;
  lifecycle?: string;
  excerpt: string;
}

export interface Brief {
  kind: string;
  profile_type: string;
  profile?: Record<string, unknown> | null;
  memory: BriefMemory[];
  partitions?: ListedPartition[];
  omitted: string[];
  truncated: boolean;
}

/** Memory that is looked at for one brief, at most. */
const memoryLimit = 200;
const excerptChars = 400;

/**
 * `context_brief` (pcp section 7): profile, then memory ranked for the focus (else newest first), then partitions. The
 * JSON text of the answer never has more than `tokenBudget` cl100k tokens; what does not fit goes in the order
 * partitions, memory, profile. The same state gives the same brief.
 */
export async function buildBrief(context: Context, caller: Caller, input: BriefInput): Promise<Brief> {
  const { countTokens } = await import("gpt-tokenizer/encoding/cl100k_base");
  const whole = await context.store.read((transaction) => gather(context, transaction, { caller, input }));
  return fit(whole, (brief) => countTokens(JSON.stringify(brief)) <= input.tokenBudget);
}

async function gather(
  context: Context,
  transaction: ReadTransaction,
  { caller, input }: { caller: Caller; input: BriefInput },
): Promise<Brief> {
  const { kind, profileType } = await transaction.context();
  const access = await loadAccess(transaction, caller);
  const readsProfile = profileType !== "none" && coversProfile(access, profileType);
  const profile = readsProfile ? ((await transaction.profile(profileType))?.document ?? null) : undefined;
  const parts = readableParts(access);
  const nowMs = context.environment.now();
  const pages = input.focus?.trim()
    ? await focused(transaction, { parts, focus: input.focus, nowMs })
    : await newest(transaction, parts, nowMs);
  const memory: BriefMemory[] = [];
  for (const page of pages.slice(0, memoryLimit)) memory.push(await present(transaction, page));
  return {
    kind,
    profile_type: profileType,
    ...(profile !== undefined && { profile }),
    memory,
    partitions: listedPartitions(access),
    omitted: omittedParts(caller, profileType),
    truncated: pages.length > memoryLimit,
  };
}

/** Follows from scopes alone, so that it says nothing about what exists. */
function omittedParts(caller: Caller, profileType: string): string[] {
  const omitted: string[] = [];
  if (profileType !== "none" && !coversScope(caller.scopes, profileScope(profileType, "read"))) {
    omitted.push(`profile.${profileType}`);
  }
  if (!coversScope(caller.scopes, "memory:read")) omitted.push("memory");
  if (!coversScope(caller.scopes, "memory.sensitive:read")) omitted.push("memory.sensitive");
  return omitted;
}

/** `memoryLimit` pages, and one more when there are more; so does `newest`. */
async function focused(
  transaction: ReadTransaction,
  { parts, focus, nowMs }: { parts: Part[]; focus: string; nowMs: number },
): Promise<PageRecord[]> {
  const filters = { tags: [], includeStale: false, includeArchived: false };
  const snapshot = await transaction.recordedTime();
  const request = { text: focus, parts, readable: parts, filters, nowMs, snapshot };
  const ranking = await Ranking.prepare(transaction, { retriever: wordRetriever, request });
  const { hits } = await ranking.first(memoryLimit + 1);
  return hits.map(({ page }) => page);
}

async function newest(transaction: ReadTransaction, parts: Part[], nowMs: number): Promise<PageRecord[]> {
  const pages: PageRecord[] = [];
  let before: string | undefined;
  for (;;) {
    const batch = await transaction.recent({ parts, limit: memoryLimit, ...(before !== undefined && { before }) });
    const current = batch.filter(({ lifecycle }) => lifecycle !== "archived");
    pages.push(...(await withoutStale(transaction, { batch: current, readable: parts, nowMs })));
    before = batch.at(-1)?.updated;
    if (pages.length > memoryLimit || batch.length < memoryLimit) return pages.slice(0, memoryLimit + 1);
  }
}

async function present(transaction: ReadTransaction, page: PageRecord): Promise<BriefMemory> {
  const { body } = await transaction.currentVersion(page);
  const { path, title, updated, type, sensitivity, lifecycle } = page;
  return {
    path,
    title,
    updated,
    ...(type && { type }),
    ...(sensitivity === "sensitive" && { sensitivity }),
    ...(lifecycle === "validated" && { lifecycle }),
    excerpt: excerpt(body, excerptChars),
  };
}

/** The largest part of `whole` that fits, found by halving over the number of memory pages. A profile that does not fit by itself leaves its room to memory. */
function fit(whole: Brief, fits: (brief: Brief) => boolean): Brief {
  if (fits(whole)) return whole;
  const { partitions: _, profile, ...rest } = whole;
  const bare: Brief = { ...rest, memory: [], truncated: true };
  const base = profile !== undefined && fits({ ...bare, profile }) ? { ...bare, profile } : bare;
  const withMemory = (count: number): Brief => ({ ...base, memory: whole.memory.slice(0, count) });
  let [low, high] = [0, whole.memory.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(withMemory(middle))) low = middle;
    else high = middle - 1;
  }
  return withMemory(low);
}
