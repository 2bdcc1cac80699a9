import { describe, expect, it } from "vitest";
import type { Decision, PageVersion, Part } from "../../domain/records.js";
import type { Store } from "../store.js";
import {
  allParts,
  buildVersion,
  type MakeStore,
  normal,
  put,
  remove,
  sensitive,
  startMs,
  workNormal,
} from "./fixture.contract.js";
import { withStore } from "./with-store.contract.js";

const past = (
  store: Store,
  at: string,
  { parts = allParts, readable = parts }: { parts?: Part[]; readable?: Part[] } = {},
) => store.read((t) => t.past({ at, parts, readable }));
const texts = (versions: PageVersion[]) => versions.map(({ path, body }) => `${path}: ${body}`);
const before = (time: string) => new Date(Date.parse(time) - 1).toISOString();

/** What was recorded when. */
export function describeHistory(makeStore: MakeStore): void {
  describe("history", () => {
    describeVersions(makeStore);
    describePast(makeStore);
  });
}

function describeVersions(makeStore: MakeStore): void {
  it("finds a version by its id and by its time, also of a removed page", async () => {
    await withStore(makeStore, async ({ store }) => {
      const [first] = await put(store, { path: "p", body: "one" });
      const [second] = await put(store, {
        path: "p",
        body: "two",
        keys: { title: "Two" },
        sensitivity: "sensitive",
        nowMs: startMs + 10,
      });
      const by = (id: string) => store.read((t) => t.version(id));
      expect(await by(first!.version)).toMatchObject({
        id: first!.id,
        body: "one",
        title: "p",
        ...normal,
        updated: first!.updated,
      });
      expect(await by(second!.version)).toMatchObject({
        body: "two",
        title: "Two",
        ...sensitive,
        created: first!.created,
      });
      const at = (updated: string) => store.read((t) => t.versionAt(second!, updated));
      expect((await at(first!.updated))?.body).toBe("one");
      expect((await at(second!.updated))?.body).toBe("two");
      for (const wrong of [before(first!.updated), before(second!.updated), "", "~"])
        expect(await at(wrong)).toBeUndefined();
      await remove(store, "p");
      expect((await by(first!.version))?.body).toBe("one");
      expect(await by("ver_none")).toBeUndefined();
      expect(await store.read((t) => t.pathOf(first!.id))).toBe("p");
      expect(await store.read((t) => t.pathOf("pg_none"))).toBeUndefined();
    });
  });

  it("shows an approval with its version only", async () => {
    await withStore(makeStore, async ({ store }) => {
      const review: Decision = {
        id: "dec_1",
        by: { principal: "user:ann", client: "client:web", at: "2026-01-01T00:00:00.000Z" },
        note: "n",
      };
      const [page] = await put(store, { path: "p" });
      await store.write(async (t) =>
        t.addVersion(page!, { ...buildVersion({ path: "p", body: "2" }, await t.tick(startMs)), review }),
      );
      const approved = (await store.read((t) => t.page({ path: "p" })))!;
      expect(approved.approved).toBe(true);
      expect(await store.read((t) => t.currentVersion(approved))).toMatchObject({ review, approved: true });
      expect(await store.read((t) => t.version(page!.version))).not.toHaveProperty("review");
      await put(store, { path: "p", body: "3" });
      const after = (await store.read((t) => t.page({ path: "p" })))!;
      expect(after).not.toHaveProperty("approved");
      const all = await store.read((t) => t.versions(page!.id));
      expect(all.map(({ review: shown }) => shown?.id)).toEqual([undefined, "dec_1", undefined]);
    });
  });
}

function describePast(makeStore: MakeStore): void {
  it("gives each page as it was at the instant, by path, before its first version nothing", async () => {
    await withStore(makeStore, async ({ store }) => {
      const [b1, a1] = await put(store, { path: "b", body: "1" }, { path: "a", body: "1" });
      const [b2] = await put(store, { path: "b", body: "2", keys: { tags: ["x"], lifecycle: "stale" } });
      const gone = await remove(store, "a");
      const [again] = await put(store, { path: "a", body: "new" });
      expect(texts(await past(store, before(b1!.updated)))).toEqual([]);
      expect(texts(await past(store, b1!.updated))).toEqual(["b: 1"]);
      expect(texts(await past(store, a1!.updated))).toEqual(["a: 1", "b: 1"]);
      expect(texts(await past(store, b2!.updated))).toEqual(["a: 1", "b: 2"]);
      expect(texts(await past(store, gone))).toEqual(["b: 2"]);
      expect(texts(await past(store, again!.updated))).toEqual(["a: new", "b: 2"]);
      expect((await past(store, b2!.updated))[1]).toMatchObject({ lifecycle: "stale", keys: { tags: ["x"] } });
      expect((await past(store, b1!.updated))[0]?.lifecycle).toBe("active");
    });
  });

  it("only what lay, and lies now or lay last, in the asked parts", async () => {
    await withStore(makeStore, async ({ store }) => {
      const [first] = await put(store, { path: "p", body: "1" });
      const [second] = await put(store, { path: "p", body: "2", partition: "work" });
      const [third] = await put(store, { path: "p", body: "3", sensitivity: "sensitive" });
      const seen = async (at: string, parts: Part[]) => texts(await past(store, at, { parts }));
      for (const { updated } of [first!, second!, third!]) {
        expect(await seen(updated, [normal, workNormal]), "it lies in a part that is not asked for").toEqual([]);
      }
      expect(await seen(first!.updated, [normal, sensitive])).toEqual(["p: 1"]);
      expect(await seen(second!.updated, [normal, sensitive])).toEqual([]);
      expect(await seen(third!.updated, [sensitive])).toEqual(["p: 3"]);
      expect(
        texts(await past(store, first!.updated, { parts: [normal], readable: allParts })),
        "it has moved since",
      ).toEqual(["p: 1"]);
      expect(texts(await past(store, second!.updated, { parts: [normal], readable: allParts }))).toEqual([]);
      await remove(store, "p");
      expect(await seen(first!.updated, [normal])).toEqual([]);
      expect(await seen(first!.updated, [normal, sensitive])).toEqual(["p: 1"]);
      expect(await seen(third!.updated, [])).toEqual([]);
    });
  });

  it("names the page that a path or an id named then", async () => {
    await withStore(makeStore, async ({ store }) => {
      const [old] = await put(store, { path: "p", body: "old" });
      const gone = await remove(store, "p");
      const [fresh] = await put(store, { path: "p", body: "new" });
      const at = async (time: string, selector: { path: string } | { id: string }, parts = allParts) =>
        (await store.read((t) => t.pastPage({ at: time, parts, readable: parts, selector })))?.body;
      expect(await at(old!.updated, { path: "p" })).toBe("old");
      expect(await at(gone, { path: "p" })).toBeUndefined();
      expect(await at(fresh!.updated, { path: "p" })).toBe("new");
      expect(await at(fresh!.updated, { id: old!.id })).toBeUndefined();
      expect(await at(old!.updated, { id: fresh!.id })).toBeUndefined();
      expect(await at(old!.updated, { id: old!.id })).toBe("old");
      expect(await at(old!.updated, { path: "P" })).toBeUndefined();
      expect(await at(old!.updated, { path: "p" }, [sensitive])).toBeUndefined();
    });
  });
}
