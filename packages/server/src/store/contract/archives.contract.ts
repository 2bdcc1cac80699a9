import { randomUUID } from "node:crypto";
import { encodeId } from "@satchel/pcp";
import { describe, expect, it } from "vitest";
import type { ExportRecord } from "../../domain/records.js";
import type { RestoredPage } from "../store.js";
import {
  allParts,
  buildVersion,
  type Draft,
  type MakeStore,
  normal,
  put,
  remove,
  startMs,
} from "./fixture.contract.js";
import { withStore } from "./with-store.contract.js";

/** What exports and imports need: archives that were made, foreign audit, pages as they were elsewhere, locks of jobs. */
export function describeArchives(makeStore: MakeStore): void {
  describe("archives", () => {
    describeExports(makeStore);
    describeAttachments(makeStore);
    describeUsed(makeStore);
    describeRestored(makeStore);
    describeJobs(makeStore);
  });
}

const made = { sha256: "a".repeat(64), bytes: 12, pageCount: 3 };
const bare: ExportRecord = {
  id: "exp_1",
  created: "2026-01-01T00:00:00.000Z",
  grant: "local",
  coverage: "partial",
  auditSize: 0,
};
const whole: ExportRecord = {
  ...bare,
  id: "exp_2",
  file: "exp_2.tar.gz",
  secret: "ab",
  expires: "2026-01-01T00:15:00.000Z",
  made,
  coverage: "full",
  auditSize: 7,
};

function describeExports(makeStore: MakeStore): void {
  it("keeps each archive with what is known of it, by id", async () => {
    await withStore(makeStore, async ({ store, open }) => {
      await store.write(async (transaction) => {
        for (const record of [whole, bare]) await transaction.putExport(record);
      });
      const found = await (await open()).read((transaction) => transaction.exports());
      expect(found).toEqual([bare, whole]);
      for (const name of ["file", "secret", "expires", "made"]) expect(found[0]).not.toHaveProperty(name);
    });
  });

  it("an archive that was made keeps what was planned", async () => {
    await withStore(makeStore, async ({ store }) => {
      const { made: _, expires: __, ...planned } = whole;
      await store.write((transaction) => transaction.putExport(planned));
      await store.write((transaction) => transaction.putExport(whole));
      expect(await store.read((transaction) => transaction.exports())).toEqual([whole]);
    });
  });

  it("remembers what is in an archive until it ends, and nothing of others", async () => {
    await withStore(makeStore, async ({ store }) => {
      await store.write(async (transaction) => {
        for (const record of [bare, whole]) await transaction.putExport(record);
        await transaction.putExportedItems(bare.id, ["pg_1"]);
        await transaction.putExportedItems(bare.id, ["pg_2", "core"]);
        await transaction.putExportedItems("exp_9", ["pg_1"]);
      });
      const items = (id: string) => store.read((transaction) => transaction.exportedItems(id));
      expect([await items(bare.id), await items(whole.id), await items("exp_9")]).toEqual([["pg_2", "core"], [], []]);
      await store.write((transaction) => transaction.putExport({ ...bare, made }));
      expect(await items(bare.id)).toEqual(["pg_2", "core"]);
      await store.write((transaction) => transaction.endExport(bare.id));
      await store.write((transaction) => transaction.endExport(bare.id));
      expect(await items(bare.id)).toEqual([]);
      expect(await store.read((transaction) => transaction.exports())).toEqual([whole]);
    });
  });
}

function describeAttachments(makeStore: MakeStore): void {
  it("keeps attached files byte for byte, each path once, by path", async () => {
    await withStore(makeStore, async ({ store, open }) => {
      expect(await store.read((transaction) => transaction.attachments())).toEqual([]);
      await store.write(async (transaction) => {
        await transaction.putAttachment({ path: "imported/b/log.jsonl", text: "{}\r\n\u2028" });
        await transaction.putAttachment({ path: "imported/a/log.jsonl", text: "before" });
        await transaction.putAttachment({ path: "imported/a/log.jsonl", text: "" });
      });
      expect(await (await open()).read((transaction) => transaction.attachments())).toEqual([
        { path: "imported/a/log.jsonl", text: "" },
        { path: "imported/b/log.jsonl", text: "{}\r\n\u2028" },
      ]);
    });
  });
}

function describeUsed(makeStore: MakeStore): void {
  it("knows the ids of pages, versions and proposals, also of removed pages, until they are erased", async () => {
    await withStore(makeStore, async ({ store }) => {
      await put(store, { path: "kept", body: "one" }, { path: "kept", body: "two" });
      const [page] = await put(store, { path: "gone" });
      await remove(store, "gone");
      const revision = {
        ...buildVersion({ path: "proposed" }, "2026-01-01T00:00:00.000Z"),
        id: encodeId("rev", randomUUID()),
      };
      await store.write((transaction) => transaction.addRevision(revision));
      const ids = await store.read(async (transaction) => {
        const pages = await transaction.storedPages({ after: 0, limit: 10 });
        const versions = await Promise.all(pages.map(({ id }) => transaction.versions(id)));
        return [...pages.map(({ id }) => id), ...versions.flat().map(({ version }) => version), revision.id];
      });
      const used = () =>
        store.read(async (transaction) => {
          const found: string[] = [];
          for (const id of ids) if (await transaction.isUsed(id)) found.push(id);
          return found;
        });
      expect(ids).toHaveLength(7);
      expect(await used()).toEqual(ids);
      for (const id of ["", "pg_", "kept", page?.id.toUpperCase() ?? "", encodeId("pg", randomUUID())])
        expect(await store.read((transaction) => transaction.isUsed(id)), id).toBe(false);
      await store.write(async (transaction) => {
        await transaction.erasePage(page?.num ?? 0);
        await transaction.eraseRevision(revision.id);
      });
      expect(await used()).toHaveLength(3);
    });
  });

  it("tells every recorded time of a version, also of removals", async () => {
    await withStore(makeStore, async ({ store }) => {
      const pages = await put(store, { path: "a", body: "one" }, { path: "a", body: "two" }, { path: "b" });
      const removed = await remove(store, "b");
      const times = await store.read((transaction) => transaction.recordedTimes());
      expect(times).toEqual(new Set([...pages.map(({ updated }) => updated), removed]));
    });
  });

  it("recorded times go on after a time that was advanced to, and never back", async () => {
    await withStore(makeStore, async ({ store, open }) => {
      const later = "2026-05-01T10:00:00.123Z";
      await store.write((transaction) => transaction.advanceTime(later));
      await store.write((transaction) => transaction.advanceTime("2026-04-01T00:00:00.000Z"));
      const other = await open();
      expect(await other.read((transaction) => transaction.recordedTime())).toBe(later);
      expect(await other.write((transaction) => transaction.tick(startMs))).toBe("2026-05-01T10:00:00.124Z");
    });
  });
}

/** A page with a version at each of these seconds, the last one removed or not. */
function pastPage(drafts: Draft[], { removed = false, from = 0 } = {}): RestoredPage {
  const versions = drafts.map((draft, at) => {
    const updated = new Date(Date.UTC(2025, 0, 1, 0, 0, from + at)).toISOString();
    return { ...buildVersion(draft, updated), removed: removed && at === drafts.length - 1 };
  });
  const created = versions[0]?.updated ?? "";
  const { words } = versions.at(-1) ?? buildVersion({ path: "" }, created);
  return {
    id: encodeId("pg", randomUUID()),
    created,
    words,
    versions: versions.map(({ words: _, ...version }) => version),
  };
}

const restore = (store: Awaited<ReturnType<MakeStore>>["store"], ...pages: RestoredPage[]) =>
  store.write(async (transaction) => {
    for (const page of pages) await transaction.restorePage(page);
  });

function describeRestored(makeStore: MakeStore): void {
  it("a page comes back as it was: id, times, every version, and its words are found", async () => {
    await withStore(makeStore, async ({ store, open }) => {
      const past = pastPage([
        { path: "notes/a", body: "first ember", keys: { tags: ["one"] } },
        {
          path: "notes/a",
          body: "second basalt",
          keys: { tags: ["two"] },
          partition: "work",
          sensitivity: "sensitive",
        },
      ]);
      await restore(store, past);
      const other = await open();
      const [first, second] = past.versions;
      const page = await other.read((transaction) => transaction.page({ path: "notes/a" }));
      expect(page).toMatchObject({ id: past.id, created: past.created, updated: second?.updated, partition: "work" });
      const versions = await other.read((transaction) => transaction.versions(past.id));
      const shown = versions.map(({ version, updated, body, generated, removed }) => [
        version,
        updated,
        body,
        generated,
        removed,
      ]);
      expect(shown).toEqual(
        [first, second].map((one) => [one?.version, one?.updated, one?.body, one?.generated, false]),
      );
      const find = (term: string) =>
        other.read((transaction) =>
          transaction.bestMatches({ parts: allParts, groups: [{ term, isBeginning: false }], mode: "all" }),
        );
      expect((await find("basalt")).flat()).toHaveLength(1);
      expect((await find("ember")).flat()).toEqual([]);
      expect(await other.read((transaction) => transaction.countPages({ parts: [normal] }))).toBe(0);
      expect(await store.inspect()).toMatchObject({ pages: 1, versions: 2, problems: [] });
    });
  });

  it("a restored page goes on like any other", async () => {
    await withStore(makeStore, async ({ store }) => {
      await restore(store, pastPage([{ path: "a", body: "ember", keys: { tags: ["one"] } }]));
      await put(store, { path: "a", body: "basalt", keys: { tags: ["two"] } });
      const match = (term: string) =>
        store.read((t) => t.bestMatches({ parts: [normal], groups: [{ term, isBeginning: false }], mode: "all" }));
      expect([(await match("ember")).flat().length, (await match("basalt")).flat().length]).toEqual([0, 1]);
      await remove(store, "a");
      expect(await store.inspect()).toMatchObject({ pages: 0, versions: 3, problems: [] });
    });
  });

  it("a removed page comes back removed: its name is free and nothing of it is found", async () => {
    await withStore(makeStore, async ({ store }) => {
      const gone = pastPage([{ path: "a", body: "ember" }, { path: "a" }], { removed: true });
      await restore(store, gone);
      await put(store, { path: "a", body: "basalt" });
      const found = await store.read(async (transaction) => ({
        page: (await transaction.page({ path: "a" }))?.id === gone.id,
        path: await transaction.pathOf(gone.id),
        removed: (await transaction.versions(gone.id)).map(({ removed }) => removed),
        terms: await transaction.termsByPrefix({ parts: allParts, prefix: "em", limit: 5 }),
      }));
      expect(found).toEqual({ page: false, path: "a", removed: [false, true], terms: [] });
      expect(await store.inspect()).toMatchObject({ pages: 1, versions: 3, problems: [] });
    });
  });

  it("an id, a version or a live name that is taken fails, and nothing of the page is left", async () => {
    await withStore(makeStore, async ({ store }) => {
      const there = pastPage([{ path: "a" }]);
      await restore(store, there);
      const other = (path: string) => pastPage([{ path }], { from: 10 });
      const taken = [
        { ...other("b"), id: there.id },
        { ...other("b"), versions: there.versions.map((one) => ({ ...one, path: "b", twinKey: "b" })) },
        other("a"),
        { ...other("b"), versions: [] },
      ];
      for (const page of taken) await expect(restore(store, other("c"), page)).rejects.toThrow();
      expect(await store.inspect()).toMatchObject({ pages: 1, versions: 1, problems: [] });
    });
  });
}

function describeJobs(makeStore: MakeStore): void {
  it("a job is locked for every connection until it is let go, and no other job with it", async () => {
    await withStore(makeStore, async ({ store, open }) => {
      const other = await open();
      const lock = store.lockJob("job-1");
      expect(lock).toBeDefined();
      expect([other.lockJob("job-1"), store.lockJob("job-1")]).toEqual([undefined, undefined]);
      const second = other.lockJob("job-2");
      expect(other.lockedJobs().sort()).toEqual(["job-1", "job-2"]);
      second?.release();
      expect(other.lockedJobs()).toEqual(["job-1"]);
      lock?.release();
      expect(store.lockedJobs()).toEqual([]);
      const again = other.lockJob("job-1");
      expect(again).toBeDefined();
      again?.release();
    });
  });

  it("a job's lock holds up no transaction, and letting go twice is once", async () => {
    await withStore(makeStore, async ({ store }) => {
      const lock = store.lockJob("job-1");
      await put(store, { path: "a" });
      lock?.release();
      const next = store.lockJob("job-1");
      lock?.release();
      expect(next).toBeDefined();
      next?.release();
      expect(store.lockedJobs()).toEqual([]);
    });
  });
}
