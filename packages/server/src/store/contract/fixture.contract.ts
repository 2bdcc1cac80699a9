import { randomUUID } from "node:crypto";
import { encodeId, twinKey } from "@satchel/pcp";
import type { ContextRecord, PageKeys, PageRecord, Part, PartitionRecord, Sensitivity } from "../../domain/records.js";
import type { IndexedText, NewVersion, Store, TermGroup, WriteTransaction } from "../store.js";

/** A fresh, empty context that an engine made for one test. */
export interface StoreUnderTest {
  store: Store;
  /** Another connection to the same context, closed by `dispose`. */
  open(): Promise<Store>;
  /** Closes everything and removes the context. */
  dispose(): Promise<void>;
}

/** Makes a store that holds `testContext`, the partition `main` and nothing else. */
export type MakeStore = () => Promise<StoreUnderTest>;

/** Created far in the past, so that a test chooses its own times freely. */
export const testContext: ContextRecord = {
  id: "018f0000-0000-7000-8000-000000000001",
  handle: "me",
  kind: "personal",
  profileType: "core",
  created: "2020-01-01T00:00:00.000Z",
};

export const startMs = Date.parse("2026-01-01T00:00:00.000Z");

export const normal: Part = { partition: "main", sensitivity: "normal" };
export const sensitive: Part = { partition: "main", sensitivity: "sensitive" };
export const workNormal: Part = { partition: "work", sensitivity: "normal" };
export const workSensitive: Part = { partition: "work", sensitivity: "sensitive" };
export const allParts: Part[] = [normal, sensitive, workNormal, workSensitive];

export interface Draft {
  path: string;
  head?: string;
  body?: string;
  keys?: Partial<PageKeys>;
  partition?: string;
  sensitivity?: Sensitivity;
  words?: Partial<IndexedText>;
  nowMs?: number;
}

/** The tokens of ASCII test text: lower-case, joined by one space. */
export function tokensOf(text: string): string {
  return (text.toLowerCase().match(/[a-z0-9]+/g) ?? []).join(" ");
}

export function buildVersion(draft: Draft, updated: string): NewVersion {
  const { path, head = "", body = "", keys = {}, partition = "main", sensitivity = "normal", words = {} } = draft;
  const title = keys.title ?? path;
  return {
    path,
    twinKey: twinKey(path),
    head,
    body,
    keys: { ...keys, title },
    partition,
    sensitivity,
    version: encodeId("ver", randomUUID()),
    updated,
    generated: { principal: "user:owner", client: "client:test", at: updated },
    words: { title: tokensOf(title), tags: tokensOf(path), headings: "", body: tokensOf(body), ...words },
  };
}

/** Creates the page, or makes the draft its next version. */
export async function putPage(transaction: WriteTransaction, draft: Draft): Promise<PageRecord> {
  const existing = await transaction.page({ path: draft.path });
  const version = buildVersion(draft, await transaction.tick(draft.nowMs ?? startMs));
  if (existing) await transaction.addVersion(existing, version);
  else await transaction.createPage(encodeId("pg", randomUUID()), version);
  const page = await transaction.page({ path: draft.path });
  if (!page) throw new Error(`${draft.path} is not there after it was written`);
  return page;
}

export function put(store: Store, ...drafts: Draft[]): Promise<PageRecord[]> {
  return store.write(async (transaction) => {
    const pages: PageRecord[] = [];
    for (const draft of drafts) pages.push(await putPage(transaction, draft));
    return pages;
  });
}

/** @returns the time of the tombstone */
export function remove(store: Store, path: string): Promise<string> {
  return store.write(async (transaction) => {
    const page = await transaction.page({ path });
    if (!page) throw new Error(`there is no page ${path} to remove`);
    const updated = await transaction.tick(startMs);
    const generated = { principal: "user:owner", client: "client:local", at: updated };
    await transaction.removePage(page, { version: encodeId("ver", randomUUID()), updated, generated });
    return updated;
  });
}

/** Terms as they are searched; one that ends in `*` as the beginning of terms. */
export function groupsOf(terms: string): TermGroup[] {
  return terms
    .split(" ")
    .filter(Boolean)
    .map((term) => ({ term: term.replace(/\*$/, ""), isBeginning: term.endsWith("*") }));
}

/** A partition without access list or rules. */
export function partitionNamed(name: string): PartitionRecord {
  return { name, grants: [], review: "nobody", fourEyes: false };
}
