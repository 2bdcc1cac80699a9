import { describe, expect, it } from "vitest";
import type { PageRecord, Part } from "../../domain/records.js";
import type { ListQuery, Store } from "../store.js";
import {
  allParts,
  type Draft,
  type MakeStore,
  normal,
  partitionNamed,
  put,
  remove,
  sensitive,
  workNormal,
  workSensitive,
} from "./fixture.contract.js";
import { withStore } from "./with-store.contract.js";

/** In code point order; in UTF-16 order the astral ones would come before the private use one. */
const ordered = [
  "A",
  "B",
  "_index",
  "a",
  "a b",
  "a-b",
  "a/b",
  "a/b/c",
  "aa",
  "é",
  "日記/京都",
  "\ue000",
  "\u{1F9F3}",
  "\u{10FFFF}x",
];

const paths = (pages: PageRecord[]) => pages.map(({ path }) => path);

function list(store: Store, query: Partial<ListQuery>): Promise<string[]> {
  const full: ListQuery = { parts: allParts, includeArchived: true, limit: 100, ...query };
  return store.read(async (transaction) => paths(await transaction.list(full)));
}

export function describeListing(makeStore: MakeStore): void {
  describe("listing", () => {
    describePathOrder(makeStore);
    describeFilters(makeStore);
    describeRecency(makeStore);
    describeLinks(makeStore);
  });
}

function describePathOrder(makeStore: MakeStore): void {
  it("lists by path in code point order", async () => {
    await withStore(makeStore, async ({ store }) => {
      const twinsOfNone = ordered.filter((path) => path !== "a");
      await put(store, ...[...twinsOfNone].reverse().map((path) => ({ path })));
      expect(await list(store, {})).toEqual(twinsOfNone);
      expect(await list(store, { prefix: "a" })).toEqual(["a b", "a-b", "a/b", "a/b/c", "aa"]);
      expect(await list(store, { prefix: "a/" })).toEqual(["a/b", "a/b/c"]);
      expect(await list(store, { prefix: "A/" })).toEqual([]);
      expect(await list(store, { prefix: "a/b" })).toEqual(["a/b", "a/b/c"]);
      expect(await list(store, { prefix: "日" })).toEqual(["日記/京都"]);
      expect(await list(store, { prefix: "\u{10FFFF}" })).toEqual(["\u{10FFFF}x"]);
      expect(await list(store, { prefix: "%" })).toEqual([]);
    });
  });

  it.each([1, 2, 3, 7])("pages of %i by key neither repeat nor skip, also while others write", async (limit) => {
    await withStore(makeStore, async ({ store }) => {
      const all = Array.from({ length: 23 }, (_, i) => `p/${String(i).padStart(2, "0")}`);
      await put(store, ...all.map((path) => ({ path })), { path: "q" });
      const seen: string[] = [];
      for (let after: string | undefined; ; after = seen.at(-1)) {
        const batch = await list(store, { prefix: "p/", limit, ...(after !== undefined && { after }) });
        expect(batch.length).toBeLessThanOrEqual(limit);
        seen.push(...batch);
        if (batch.length < limit) break;
        if (seen.length < 9) await put(store, { path: `o/${seen.length}` });
      }
      expect(seen).toEqual(all);
    });
  });

  it("goes on after a path that is gone", async () => {
    await withStore(makeStore, async ({ store }) => {
      await put(store, { path: "a" }, { path: "b" }, { path: "c" });
      await remove(store, "b");
      expect(await list(store, { after: "b" })).toEqual(["c"]);
      expect(await list(store, { after: "c" })).toEqual([]);
    });
  });
}

const filed: Draft[] = [
  { path: "active", keys: { type: "semantic" } },
  { path: "archived", keys: { type: "semantic", lifecycle: "archived" } },
  { path: "episode", keys: { type: "episodic", lifecycle: "stale" } },
  { path: "secret", sensitivity: "sensitive" },
  { path: "work", partition: "work" },
  { path: "work-secret", partition: "work", sensitivity: "sensitive" },
];

const filters: [name: string, query: Partial<ListQuery>, found: string[]][] = [
  ["no part", { parts: [] }, []],
  ["an unknown part", { parts: [{ partition: "none", sensitivity: "normal" }] }, []],
  ["one part", { parts: [normal] }, ["active", "archived", "episode"]],
  ["without archived", { parts: [normal], includeArchived: false }, ["active", "episode"]],
  ["a type", { parts: [normal], type: "semantic" }, ["active", "archived"]],
  ["a type that none has", { type: "procedural" }, []],
  ["sensitive only", { parts: [sensitive, workSensitive] }, ["secret", "work-secret"]],
  ["one partition", { parts: [workNormal, workSensitive] }, ["work", "work-secret"]],
  ["the same part twice", { parts: [workNormal, workNormal] }, ["work"]],
  ["no room", { limit: 0 }, []],
];

function describeFilters(makeStore: MakeStore): void {
  it.each(filters)("lists exactly the asked pages: %s", async (_name, query, found) => {
    await withStore(makeStore, async ({ store }) => {
      await store.write((transaction) => transaction.putPartition({ ...partitionNamed("work"), label: "Work" }));
      await put(store, ...filed);
      expect(await list(store, query)).toEqual(found);
    });
  });
}

function describeRecency(makeStore: MakeStore): void {
  it("recent: newest first, strictly older than the given time, in the asked parts only", async () => {
    await withStore(makeStore, async ({ store }) => {
      const pages = await put(
        store,
        { path: "a" },
        { path: "b", sensitivity: "sensitive" },
        { path: "c" },
        { path: "d" },
      );
      const again = await put(store, { path: "a" });
      await remove(store, "d");
      const recent = (parts: Part[], before?: string, limit = 10) =>
        store.read(async (t) => paths(await t.recent({ parts, limit, ...(before !== undefined && { before }) })));
      expect(await recent(allParts)).toEqual(["a", "c", "b"]);
      expect(await recent([normal])).toEqual(["a", "c"]);
      expect(await recent([])).toEqual([]);
      expect(await recent(allParts, undefined, 1)).toEqual(["a"]);
      expect(await recent(allParts, again[0]!.updated)).toEqual(["c", "b"]);
      expect(await recent(allParts, pages[2]!.updated)).toEqual(["b"]);
      expect(await recent(allParts, pages[1]!.updated)).toEqual([]);
    });
  });

  it("newestUpdate: of the pages under a prefix in the asked parts, and of no other", async () => {
    await withStore(makeStore, async ({ store }) => {
      const pages = await put(store, { path: "f/a" }, { path: "f/\u{10FFFF}" }, { path: "fa" });
      const [hidden] = await put(store, { path: "f/b", sensitivity: "sensitive" });
      const newest = (parts: Part[], prefix: string) => store.read((t) => t.newestUpdate({ parts, prefix }));
      expect(await newest([normal], "f/")).toBe(pages[1]!.updated);
      expect(await newest([normal], "")).toBe(pages[2]!.updated);
      expect(await newest(allParts, "f/")).toBe(hidden!.updated);
      expect(await newest([normal], "f/b")).toBeUndefined();
      expect(await newest([], "")).toBeUndefined();
      await remove(store, "f/b");
      expect(await newest(allParts, "f/")).toBe(pages[1]!.updated);
    });
  });
}

function describeLinks(makeStore: MakeStore): void {
  it("superseders: live pages of the asked parts that name the path, by that relation only", async () => {
    await withStore(makeStore, async ({ store }) => {
      const naming = (target: string, rel: "supersedes" | "about" = "supersedes") => ({
        keys: { relations: [{ rel, target } as const] },
      });
      await put(
        store,
        { path: "old" },
        { path: "new", ...naming("old") },
        { path: "hidden", sensitivity: "sensitive", ...naming("old") },
        { path: "other", ...naming("old", "about") },
        { path: "elsewhere", ...naming("absent") },
        { path: "gone", ...naming("old") },
      );
      await remove(store, "gone");
      const claims = (targets: string[], parts: Part[]) =>
        store.read(async (t) =>
          (await t.superseders({ paths: targets, parts })).map(({ target, page }) => `${page.path}>${target}`).sort(),
        );
      expect(await claims(["old"], [normal])).toEqual(["new>old"]);
      expect(await claims(["old"], allParts)).toEqual(["hidden>old", "new>old"]);
      expect(await claims(["old", "absent", "new"], [normal])).toEqual(["elsewhere>absent", "new>old"]);
      expect(await claims(["old"], [])).toEqual([]);
      expect(await claims([], allParts)).toEqual([]);
      await put(store, { path: "old", ...naming("new") });
      expect(await claims(["old"], [normal])).toEqual(["new>old", "old>new"]);
      await put(store, { path: "new", ...naming("other") });
      expect(await claims(["old"], [normal])).toEqual([]);
    });
  });

  it("readablePaths: of the given paths, those held by a live page in the parts", async () => {
    await withStore(makeStore, async ({ store }) => {
      await put(
        store,
        { path: "seen" },
        { path: "secret", sensitivity: "sensitive" },
        { path: "gone", sensitivity: "sensitive" },
      );
      await remove(store, "gone");
      const readable = (parts: Part[]) =>
        store.read(async (t) =>
          [...(await t.readablePaths({ paths: ["seen", "secret", "gone", "absent"], parts }))].sort(),
        );
      expect(await readable([normal])).toEqual(["seen"]);
      expect(await readable([normal, sensitive])).toEqual(["secret", "seen"]);
      expect(await readable([])).toEqual([]);
      await put(store, { path: "secret", sensitivity: "normal" });
      expect(await readable([normal])).toEqual(["secret", "seen"]);
    });
  });
}
