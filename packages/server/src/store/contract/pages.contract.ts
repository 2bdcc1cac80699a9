import { describe, expect, it } from "vitest";
import type { PageKeys } from "../../domain/records.js";
import type { ReadTransaction, Store } from "../store.js";
import {
  allParts,
  buildVersion,
  groupsOf,
  type MakeStore,
  normal,
  partitionNamed,
  put,
  putPage,
  remove,
  startMs,
  workNormal,
} from "./fixture.contract.js";
import { withStore } from "./with-store.contract.js";

const maxBodyBytes = 262_144;

const texts: [name: string, text: string][] = [
  ["empty", ""],
  ["NUL, first and last", "\0a\0b\0"],
  ["line and paragraph separators", "a\u2028b\u2029c\u0085d"],
  ["lone CR and CRLF, which the codec would have changed", "a\rb\r\nc\n"],
  ["astral characters and joined emoji", "\u{1F9D1}\u200D\u{1F680} \u{20000} \u{10FFFF}"],
  ["not normalised", "e\u0301 \u00e9 \ufb01"],
  ["byte order mark inside", "a\ufeffb"],
  ["quotes and SQL", `'"; DROP TABLE pages; --`],
  ["white space at both ends", " \n\t text \t\n "],
  ["the largest body, ASCII", "x".repeat(maxBodyBytes)],
  ["the largest body, four bytes a character", "\u{1F9F3}".repeat(maxBodyBytes / 4)],
];

export function describePages(makeStore: MakeStore): void {
  describe("pages", () => {
    describeTexts(makeStore);
    describeVersions(makeStore);
    describeRemoval(makeStore);
    describeTwins(makeStore);
  });
}

function describeTexts(makeStore: MakeStore): void {
  it.each(texts)("gives text back as it was written: %s", async (_name, text) => {
    await withStore(makeStore, async ({ store, open }) => {
      const keys: PageKeys = { title: text || "-", tags: [text], note: { deep: [text, null, 1.5, true] } };
      await put(store, { path: "a", head: text, body: text, keys, words: { body: "word" } });
      for (const each of [store, await open()]) {
        const read = await each.read(async (transaction) => {
          const page = (await transaction.page({ path: "a" }))!;
          const query = { nums: [page.num], parts: allParts, tags: [text, text] };
          const [candidate] = await transaction.candidates(query);
          return { version: await transaction.currentVersion(page), candidate };
        });
        expect(read.version.body === text && read.version.head === text).toBe(true);
        expect(read.version.keys).toEqual(keys);
        expect(read.version.title).toBe(keys.title);
        expect(read.candidate?.page.path).toBe("a");
      }
    });
  });

  it("keeps every kind of key, __proto__ among them", async () => {
    await withStore(makeStore, async ({ store }) => {
      const keys = JSON.parse('{"title":"t","__proto__":{"x":1},"n":1e21,"empty":{},"list":[[]],"minus":-0.5}');
      await put(store, { path: "a", keys });
      const [version] = await versionsOf(store, "a");
      expect(JSON.stringify(version?.keys)).toBe(JSON.stringify(keys));
      expect(Object.getPrototypeOf(version?.keys)).toBe(Object.prototype);
    });
  });
}

function describeVersions(makeStore: MakeStore): void {
  it("keeps every version with its own text, keys, part and writer", async () => {
    await withStore(makeStore, async ({ store }) => {
      await store.write((transaction) => transaction.putPartition(partitionNamed("work")));
      const keys: Partial<PageKeys> = {
        title: "Second",
        type: "semantic",
        lifecycle: "validated",
        valid_from: "2026-01-01",
        valid_until: "2026-12-31",
      };
      await put(store, { path: "a", body: "one" }, { path: "b", body: "other" });
      await put(store, { path: "a", body: "two", head: "---\ntitle: Second\n---\n", keys, partition: "work" });
      const [last] = await put(store, { path: "a", body: "three", sensitivity: "sensitive" });
      const versions = await versionsOf(store, "a");
      expect(versions.map(({ body }) => body)).toEqual(["one", "two", "three"]);
      expect(versions.map(({ partition }) => partition)).toEqual(["main", "work", "main"]);
      expect(versions.map(({ sensitivity }) => sensitivity)).toEqual(["normal", "normal", "sensitive"]);
      expect(versions[1]).toMatchObject({ ...pageFactsOf(keys), head: "---\ntitle: Second\n---\n", removed: false });
      expect(versions[2]).not.toHaveProperty("type");
      expect(new Set(versions.map(({ version }) => version)).size).toBe(3);
      expect(new Set(versions.map(({ id }) => id))).toEqual(new Set([last!.id]));
      expect(new Set(versions.map(({ created }) => created))).toEqual(new Set([versions[0]!.updated]));
      expect(versions[2]!.generated).toEqual({ principal: "user:owner", client: "client:test", at: last!.updated });
      expect(await store.inspect()).toMatchObject({ pages: 2, versions: 4, problems: [] });
    });
  });

  it("a page's facts are those of its current version only", async () => {
    await withStore(makeStore, async ({ store }) => {
      const keys: Partial<PageKeys> = {
        type: "episodic",
        tags: ["old"],
        valid_until: "2026-02-01",
        relations: [{ rel: "supersedes", target: "x" }],
      };
      await put(store, { path: "a", keys });
      const [page] = await put(store, { path: "a", keys: { tags: ["new", "new"] } });
      expect(page).not.toHaveProperty("type");
      expect(page).not.toHaveProperty("validUntil");
      const found = await store.read(async (transaction) => ({
        byId: await transaction.page({ id: page!.id }),
        old: await transaction.candidates({ nums: [page!.num], parts: allParts, tags: ["old"] }),
        fresh: await transaction.candidates({ nums: [page!.num], parts: allParts, tags: ["new"] }),
        superseders: await transaction.superseders({ paths: ["x"], parts: allParts }),
      }));
      expect(found.byId).toEqual(page);
      expect([found.old.length, found.fresh.length]).toEqual([0, 1]);
      expect(found.superseders).toEqual([]);
    });
  });

  it("knows nothing of what was never written", async () => {
    await withStore(makeStore, async ({ store }) => {
      const found = await store.read(async (transaction) => [
        await transaction.page({ path: "a" }),
        await transaction.page({ id: "pg_00000000000000000000000000" }),
        await transaction.page({ twinKey: "a" }),
        await transaction.pathOf("pg_00000000000000000000000000"),
        await transaction.newestUpdate({ parts: allParts, prefix: "" }),
      ]);
      expect(found).toEqual([undefined, undefined, undefined, undefined, undefined]);
      expect(await store.read((transaction) => transaction.versions("pg_00000000000000000000000000"))).toEqual([]);
    });
  });
}

function describeRemoval(makeStore: MakeStore): void {
  it("ends a page with a tombstone; nothing finds it, its versions stay", async () => {
    await withStore(makeStore, async ({ store }) => {
      const relations: PageKeys["relations"] = [{ rel: "supersedes", target: "x" }];
      const [page] = await put(store, { path: "a", body: "needle", keys: { title: "T", relations } });
      const at = await remove(store, "a");
      const seen = await store.read(async (transaction) => ({
        page: await transaction.page({ path: "a" }),
        byId: await transaction.page({ id: page!.id }),
        byTwin: await transaction.page({ twinKey: "a" }),
        list: await transaction.list({ parts: allParts, includeArchived: true, limit: 10 }),
        recent: await transaction.recent({ parts: allParts, limit: 10 }),
        newest: await transaction.newestUpdate({ parts: allParts, prefix: "" }),
        superseders: await transaction.superseders({ paths: ["x"], parts: allParts }),
        readable: [...(await transaction.readablePaths({ paths: ["a"], parts: allParts }))],
        candidates: await transaction.candidates({ nums: [page!.num], parts: allParts, tags: [] }),
        matches: await matchesOf(transaction, ["needle"]),
        terms: await transaction.termsByPrefix({ parts: allParts, prefix: "n", limit: 5 }),
        count: await transaction.countPages({ parts: allParts }),
        path: await transaction.pathOf(page!.id),
      }));
      expect(seen).toEqual({
        ...{ page: undefined, byId: undefined, byTwin: undefined, newest: undefined },
        ...{ list: [], recent: [], superseders: [], readable: [], candidates: [], matches: [], terms: [] },
        ...{ count: 0, path: "a" },
      });
      const versions = await store.read((transaction) => transaction.versions(page!.id));
      expect(versions.map(({ removed, body }) => [removed, body])).toEqual([
        [false, "needle"],
        [true, ""],
      ]);
      expect(versions[1]).toMatchObject({ updated: at, title: "T", generated: { client: "client:local", at } });
    });
  });

  it("a removed page's path is free for a new page with an id of its own", async () => {
    await withStore(makeStore, async ({ store }) => {
      const [old] = await put(store, { path: "a", body: "old" });
      await remove(store, "a");
      const [fresh] = await put(store, { path: "A", body: "new" });
      expect(fresh!.id).not.toBe(old!.id);
      expect(fresh!.created > old!.created).toBe(true);
      const bodies = (id: string) => store.read(async (t) => (await t.versions(id)).map(({ body }) => body));
      expect(await bodies(old!.id)).toEqual(["old", ""]);
      expect(await bodies(fresh!.id)).toEqual(["new"]);
      await remove(store, "A");
      await put(store, { path: "a", body: "third" });
      expect(await store.inspect()).toMatchObject({ pages: 1, versions: 5, problems: [] });
    });
  });
}

function describeTwins(makeStore: MakeStore): void {
  it("refuses a twin of a live page and keeps nothing of it", async () => {
    await withStore(makeStore, async ({ store }) => {
      await put(store, { path: "notes/Straße", body: "first" });
      const twin = put(store, { path: "before", body: "before" }, { path: "Notes/STRASSE", body: "second" });
      await expect(twin).rejects.toThrow();
      const found = await store.read(async (transaction) => ({
        paths: (await transaction.list({ parts: allParts, includeArchived: true, limit: 10 })).map(({ path }) => path),
        matches: await matchesOf(transaction, ["second", "before"]),
      }));
      expect(found).toEqual({ paths: ["notes/Straße"], matches: [] });
      expect(await store.inspect()).toMatchObject({ pages: 1, versions: 1, problems: [] });
    });
  });

  it("refuses an id or version id that is taken", async () => {
    await withStore(makeStore, async ({ store }) => {
      const [page] = await put(store, { path: "a" });
      const again = store.write(async (transaction) => {
        await transaction.createPage(page!.id, buildVersion({ path: "b" }, await transaction.tick(startMs)));
      });
      await expect(again).rejects.toThrow();
      const versionAgain = store.write(async (transaction) => {
        const version = buildVersion({ path: "a" }, await transaction.tick(startMs));
        await transaction.addVersion(page!, { ...version, version: page!.version });
      });
      await expect(versionAgain).rejects.toThrow();
      expect(await store.inspect()).toMatchObject({ pages: 1, versions: 1, problems: [] });
    });
  });

  it("reads its own writes inside the transaction", async () => {
    await withStore(makeStore, async ({ store }) => {
      await store.write(async (transaction) => {
        const page = await putPage(transaction, { path: "a", body: "early words" });
        expect((await transaction.currentVersion(page)).body).toBe("early words");
        expect(await matchesOf(transaction, ["early"])).toEqual([page.num]);
        const moved = await putPage(transaction, { path: "a", body: "late words", sensitivity: "sensitive" });
        expect(await matchesOf(transaction, ["words"])).toEqual([moved.num]);
        expect(await matchesOf(transaction, ["early"])).toEqual([]);
        expect(await matchesOf(transaction, ["words"], [normal, workNormal])).toEqual([]);
      });
    });
  });
}

async function matchesOf(transaction: ReadTransaction, terms: string[], parts = allParts): Promise<number[]> {
  const lists = await transaction.bestMatches({ parts, groups: groupsOf(terms.join(" ")), mode: "all" });
  return lists.flat().map(({ num }) => num);
}

function pageFactsOf({ title, type, lifecycle, valid_from, valid_until }: Partial<PageKeys>) {
  return { title, type, lifecycle, validFrom: valid_from, validUntil: valid_until };
}

function versionsOf(store: Store, path: string) {
  return store.read(async (transaction) => {
    const page = await transaction.page({ path });
    return page ? transaction.versions(page.id) : [];
  });
}
