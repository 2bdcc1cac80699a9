import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { Store, WriteTransaction } from "../store.js";
import {
  allParts,
  groupsOf,
  type MakeStore,
  normal,
  partitionNamed,
  put,
  putPage,
  remove,
  sensitive,
  startMs,
} from "./fixture.contract.js";
import { withStore } from "./with-store.contract.js";

export function describeTransactions(makeStore: MakeStore): void {
  describe("transactions", () => {
    describeClock(makeStore);
    describeRollback(makeStore);
    describeWaiting(makeStore);
    describeSeveral(makeStore);
  });
}

function describeClock(makeStore: MakeStore): void {
  it("tick is strictly increasing, also when the clock stands still or goes back", async () => {
    await withStore(makeStore, async ({ store, open }) => {
      const other = await open();
      const ticks: string[] = [];
      for (const offset of [0, 0, 5, -60_000, 2.9, 100, -1e9, 100]) {
        const each = ticks.length % 2 === 0 ? store : other;
        ticks.push(await each.write((transaction) => transaction.tick(startMs + offset)));
      }
      const offsets = ticks.map((tick) => Date.parse(tick) - startMs);
      expect(offsets).toEqual([0, 1, 5, 6, 7, 100, 101, 102]);
      expect(ticks.every((tick) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(tick))).toBe(true);
      expect(await other.read((transaction) => transaction.recordedTime())).toBe(ticks.at(-1));
    });
  });

  it("ticks inside one transaction differ", async () => {
    await withStore(makeStore, async ({ store }) => {
      const ticks = await store.write(async (t) => [await t.tick(startMs), await t.tick(startMs), await t.tick(0)]);
      expect(new Set(ticks).size).toBe(3);
      expect([...ticks].sort()).toEqual(ticks);
    });
  });
}

/** Everything a transaction can change, to compare before and after. */
function snapshot(store: Store) {
  return store.read(async (transaction) => ({
    list: await transaction.list({ parts: allParts, includeArchived: true, limit: 100 }),
    statistics: await transaction.wordStatistics({ parts: allParts, terms: ["one", "two", "three"] }),
    terms: await transaction.termsByPrefix({ parts: allParts, prefix: "t", limit: 10 }),
    partitions: await transaction.partitions(),
    profiles: await transaction.profiles(),
    changes: await transaction.profileChanges("core"),
    tokens: await transaction.tokens(),
    setting: await transaction.setting("secrets"),
    recorded: await transaction.recordedTime(),
    superseders: await transaction.superseders({ paths: ["x"], parts: allParts }),
  }));
}

async function changeEverything(transaction: WriteTransaction): Promise<void> {
  await transaction.putPartition(partitionNamed("work"));
  await putPage(transaction, { path: "new", body: "two three", partition: "work" });
  const keys = { relations: [{ rel: "supersedes" as const, target: "x" }] };
  await putPage(transaction, { path: "a", body: "three", sensitivity: "sensitive", keys });
  const at = await transaction.tick(startMs);
  const actor = { principal: "user:owner", at };
  await transaction.putProfile({ namespace: "core", document: { name: "N" }, changed: ["/name"], ...actor });
  await transaction.addToken({
    id: "tok_1",
    digest: "d",
    user: "user:owner",
    client: "client:c",
    scopes: "",
    created: at,
  });
  await transaction.setSetting("secrets", "off");
  const page = (await transaction.page({ path: "b" }))!;
  await transaction.removePage(page, { version: "ver_gone", updated: at, generated: actor });
}

function describeRollback(makeStore: MakeStore): void {
  it("a failed transaction leaves nothing: no effect, no index entry, no time", async () => {
    await withStore(makeStore, async ({ store, open }) => {
      await put(store, { path: "a", body: "one" }, { path: "b", body: "two" });
      const before = await snapshot(store);
      const failed = store.write(async (transaction) => {
        await changeEverything(transaction);
        throw new RangeError("changed its mind");
      });
      await expect(failed).rejects.toThrow(new RangeError("changed its mind"));
      expect(await snapshot(store)).toEqual(before);
      expect(await snapshot(await open())).toEqual(before);
      expect(await store.inspect()).toMatchObject({ pages: 2, versions: 2, problems: [] });
      await store.write(changeEverything);
      expect(await snapshot(store)).not.toEqual(before);
      expect(await store.inspect()).toMatchObject({ pages: 2, versions: 5, problems: [] });
    });
  });

  it("a failure leaves the store usable, and the part it had made is made again", async () => {
    await withStore(makeStore, async ({ store }) => {
      const draft = { path: "s", body: "hidden", sensitivity: "sensitive" as const };
      const failed = store.write(async (transaction) => {
        await putPage(transaction, draft);
        throw new Error("no");
      });
      await expect(failed).rejects.toThrow("no");
      await put(store, draft);
      expect(await store.read((t) => t.countPages({ parts: [sensitive] }))).toBe(1);
      expect((await store.inspect()).problems).toEqual([]);
    });
  });

  it("gives back what the use returned, undefined too", async () => {
    await withStore(makeStore, async ({ store }) => {
      expect(await store.read(async () => undefined)).toBeUndefined();
      expect(await store.write(async () => ({ a: 1 }))).toEqual({ a: 1 });
    });
  });
}

function describeWaiting(makeStore: MakeStore): void {
  it("a write that waits for something else is refused as misused and leaves nothing", async () => {
    await withStore(makeStore, async ({ store, open }) => {
      await put(store, { path: "a", body: "one" });
      const before = await snapshot(store);
      const refused = store.write(async (transaction) => {
        await putPage(transaction, { path: "early", body: "two" });
        await wait(20);
        await putPage(transaction, { path: "late", body: "three" });
      });
      await expect(refused).rejects.toMatchObject({ name: "StoreError", code: "misused" });
      await wait(60); // What the use still tried after its end must have no effect either.
      expect(await snapshot(store)).toEqual(before);
      await put(await open(), { path: "b", body: "two" });
      expect(await store.inspect()).toMatchObject({ pages: 2, versions: 2, problems: [] });
    });
  });

  it("a read that waits for something else is refused as misused", async () => {
    await withStore(makeStore, async ({ store }) => {
      const refused = store.read(async (transaction) => {
        await wait(20);
        return transaction.countPages({ parts: [normal] });
      });
      await expect(refused).rejects.toMatchObject({ name: "StoreError", code: "misused" });
      expect(await store.read((transaction) => transaction.countPages({ parts: [normal] }))).toBe(0);
    });
  });

  it("a transaction inside a transaction is refused as misused instead of waiting for ever", async () => {
    await withStore(makeStore, async ({ store }) => {
      const nested = store.write(async (transaction) => {
        await putPage(transaction, { path: "outer", body: "one" });
        await store.write((inner) => putPage(inner, { path: "inner" }));
        await putPage(transaction, { path: "after", body: "two" });
      });
      await expect(nested).rejects.toMatchObject({ name: "StoreError", code: "misused" });
      await wait(60);
      const paths = await store.read(async (transaction) =>
        (await transaction.list({ parts: allParts, includeArchived: true, limit: 10 })).map(({ path }) => path),
      );
      expect(paths).not.toContain("outer");
      expect(paths).not.toContain("after");
    });
  });

  it("a transaction that was kept is worth nothing after its end", async () => {
    await withStore(makeStore, async ({ store }) => {
      const kept = await store.write(async (transaction) => ({ transaction }));
      await expect((async () => kept.transaction.setSetting("secrets", "off"))()).rejects.toMatchObject({
        code: "misused",
      });
      await expect((async () => kept.transaction.tick(startMs))()).rejects.toMatchObject({ code: "misused" });
      expect(await store.read((transaction) => transaction.setting("secrets"))).toBeUndefined();
    });
  });
}

function describeSeveral(makeStore: MakeStore): void {
  it("reads see one consistent state while another connection writes", async () => {
    await withStore(makeStore, async ({ store, open }) => {
      const other = await open();
      await put(store, { path: "a", body: "round" }, { path: "b", body: "round" });
      let going = true;
      const writing = (async () => {
        for (let round = 0; going; round++) {
          await put(other, { path: "a", body: `round ${round}` }, { path: "b", body: `round ${round}` });
          if (round % 3 === 0) await remove(other, "b");
          if (round % 3 === 0) await put(other, { path: "b", body: `round ${round}` });
          await wait(0);
        }
      })();
      for (let i = 0; i < 100; i++) {
        const seen = await store.read(async (transaction) => {
          const pages = await transaction.list({ parts: [normal], includeArchived: true, limit: 10 });
          const texts = [];
          for (const page of pages) texts.push((await transaction.currentVersion(page)).body);
          const found = await transaction.bestMatches({ parts: [normal], groups: groupsOf("round"), mode: "all" });
          const { documents } = await transaction.wordStatistics({ parts: [normal], terms: [] });
          return { texts, found: found.flat().length, documents };
        });
        expect(new Set(seen.texts).size).toBe(1);
        expect([seen.found, seen.documents]).toEqual([seen.texts.length, seen.texts.length]);
        await wait(0);
      }
      going = false;
      await writing;
    });
  });

  it("several connections write at once: nothing is lost, each time is there once", async () => {
    await withStore(makeStore, async ({ store, open }) => {
      const stores = [store, await open(), await open(), await open()];
      const each = 25;
      const written = await Promise.all(
        stores.flatMap((one, s) =>
          Array.from({ length: each }, (_, i) => put(one, { path: `p${s}-${i}`, body: "word" })),
        ),
      );
      const times = written.flat().map(({ updated }) => updated);
      expect(new Set(times).size).toBe(stores.length * each);
      for (const one of stores) {
        expect(await one.read((transaction) => transaction.countPages({ parts: [normal] }))).toBe(stores.length * each);
      }
      expect((await store.inspect()).problems).toEqual([]);
    });
  });

  it("what one connection removed, the other does not write over", async () => {
    await withStore(makeStore, async ({ store, open }) => {
      const other = await open();
      const [page] = await put(store, { path: "a" });
      await remove(other, "a");
      const [again] = await put(store, { path: "a" });
      expect(again!.id).not.toBe(page!.id);
    });
  });
}
