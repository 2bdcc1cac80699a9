import { twinKey } from "@satchel/pcp";
import { describe, expect, it } from "vitest";
import type { Decision, Part } from "../../domain/records.js";
import type { AuditQuery, NewRevision, RevisionQuery, Store, WriteTransaction } from "../store.js";
import { allParts, type MakeStore, normal, put, remove, sensitive, startMs, workNormal } from "./fixture.contract.js";
import { withStore } from "./with-store.contract.js";

const author = { principal: "user:bob", client: "client:notes" };

function revision(id: string, more: Partial<NewRevision> = {}): NewRevision {
  const path = more.path ?? "p";
  return {
    id,
    path,
    twinKey: twinKey(path),
    head: "---\ntitle: T\n---\n",
    body: "text\r\n\0\u2028\u{1F9F3}",
    keys: { title: "T", tags: ["a"], "x-own": { deep: [1] } },
    ...normal,
    generated: { ...author, at: new Date(startMs).toISOString() },
    ...more,
  };
}

const add = (store: Store, ...revisions: NewRevision[]) =>
  store.write(async (transaction) => {
    for (const one of revisions) await transaction.addRevision(one);
  });

const nobody: RevisionQuery["author"] = {
  principal: "user:none",
  client: "client:none",
  sensitivities: ["normal", "sensitive"],
};

function listed(store: Store, query: Partial<RevisionQuery>): Promise<string[]> {
  const full: RevisionQuery = { states: ["proposed"], reviewable: allParts, author: nobody, ...query };
  return store.read(async (transaction) => (await transaction.revisions(full)).map(({ id }) => id));
}

const decision: Decision = {
  id: "dec_1",
  by: { principal: "user:owner", client: "client:local", at: "2026-01-02T00:00:00.000Z" },
  note: 'why "so"',
};

/** Revisions and the audit. */
export function describeRevisions(makeStore: MakeStore): void {
  describe("revisions", () => {
    describeKeeping(makeStore);
    describeVisibility(makeStore);
  });
  describe("audit", () => describeAudit(makeStore));
}

function describeKeeping(makeStore: MakeStore): void {
  it("keeps a revision whole, numbered by age", async () => {
    await withStore(makeStore, async ({ store, open }) => {
      const [plain, full] = [revision("rev_1"), revision("rev_2", { base: "ver_1", note: "why", ...sensitive })];
      await add(store, plain, full);
      const other = await open();
      const found = await other.read(async (t) => [await t.revision("rev_1"), await t.revision("rev_2")]);
      for (const [index, made] of [plain, full].entries()) {
        const { twinKey: _, ...kept } = made;
        expect(found[index]).toEqual({ ...kept, num: expect.any(Number), state: "proposed" });
      }
      expect(found[1]!.num).toBeGreaterThan(found[0]!.num);
      expect(await other.read((t) => t.revision("rev_3"))).toBeUndefined();
    });
  });

  it("refuses a second revision with the same id", async () => {
    await withStore(makeStore, async ({ store }) => {
      await add(store, revision("rev_1"));
      await expect(add(store, revision("rev_1", { path: "q" }))).rejects.toThrow();
      expect(await listed(store, {})).toEqual(["rev_1"]);
    });
  });

  it("keeps the last decision, and the text as it was", async () => {
    await withStore(makeStore, async ({ store }) => {
      await add(store, revision("rev_1"), revision("rev_2"));
      await store.write((t) => t.decideRevision("rev_1", "proposed", decision));
      expect(await listed(store, {})).toEqual(["rev_2", "rev_1"]);
      await store.write((t) => t.decideRevision("rev_1", "rejected", { ...decision, id: "dec_2" }));
      const found = await store.read((t) => t.revision("rev_1"));
      expect(found).toMatchObject({
        state: "rejected",
        decision: { ...decision, id: "dec_2" },
        body: revision("").body,
      });
      expect(await listed(store, {})).toEqual(["rev_2"]);
      expect(await listed(store, { states: ["rejected", "approved"] })).toEqual(["rev_1"]);
      expect(await listed(store, { states: [] })).toEqual([]);
    });
  });

  it("a revision is no page and in no index", async () => {
    await withStore(makeStore, async ({ store }) => {
      await add(store, revision("rev_1"));
      const found = await store.read(async (t) => [
        await t.page({ path: "p" }),
        await t.countPages({ parts: allParts }),
        (await t.wordStatistics({ parts: allParts, terms: ["text"] })).documents,
      ]);
      expect(found).toEqual([undefined, 0, 0]);
      expect(await store.inspect()).toMatchObject({ pages: 0, versions: 0, problems: [] });
    });
  });
}

function describeVisibility(makeStore: MakeStore): void {
  it("reviewable: in those parts, and aimed at no page or twin outside them", async () => {
    await withStore(makeStore, async ({ store }) => {
      await put(
        store,
        { path: "taken", partition: "work" },
        { path: "Twin", sensitivity: "sensitive" },
        { path: "gone", partition: "work" },
        { path: "seen" },
      );
      await remove(store, "gone");
      const paths = ["free", "taken", "twin", "gone", "seen"];
      await add(
        store,
        ...paths.map((path) => revision(path, { path })),
        revision("secret", { ...sensitive }),
        revision("work", { ...workNormal }),
      );
      const seen = async (reviewable: Part[]) => (await listed(store, { reviewable })).sort();
      expect(await seen([normal])).toEqual(["free", "gone", "seen"]);
      expect(await seen([normal, sensitive])).toEqual(["free", "gone", "secret", "seen", "twin"]);
      expect(await seen([normal, workNormal])).toEqual(["free", "gone", "seen", "taken", "work"]);
      expect(await seen([workNormal])).toEqual(["work"]);
      expect(await seen([])).toEqual([]);
    });
  });

  it("an author sees its own in the sensitivities it may read, wherever they aim", async () => {
    await withStore(makeStore, async ({ store }) => {
      await put(store, { path: "taken", partition: "work" });
      const from = (principal: string, client?: string) => ({
        generated: { principal, ...(client && { client }), at: "2026-01-01T00:00:00.000Z" },
      });
      await add(
        store,
        revision("own", { path: "taken" }),
        revision("own secret", { ...sensitive }),
        revision("other client", from(author.principal, "client:other")),
        revision("other user", from("user:ann", author.client)),
        revision("no client", from(author.principal)),
      );
      const own = (sensitivities: Part["sensitivity"][]) =>
        listed(store, { reviewable: [], author: { ...author, sensitivities } });
      expect((await own(["normal", "sensitive"])).sort()).toEqual(["own", "own secret"]);
      expect(await own(["normal"])).toEqual(["own"]);
      expect(await own([])).toEqual([]);
    });
  });

  it("newest first, by partition, by twin, before a number, at most so many", async () => {
    await withStore(makeStore, async ({ store }) => {
      await add(
        store,
        revision("a"),
        revision("b", { path: "P" }),
        revision("c", { path: "q" }),
        revision("d", { ...workNormal }),
      );
      expect(await listed(store, {})).toEqual(["d", "c", "b", "a"]);
      expect(await listed(store, { partition: "work" })).toEqual(["d"]);
      expect(await listed(store, { partition: "none" })).toEqual([]);
      expect(await listed(store, { twinKey: twinKey("p") })).toEqual(["d", "b", "a"]);
      expect(await listed(store, { limit: 2 })).toEqual(["d", "c"]);
      const before = (await store.read((t) => t.revision("c")))!.num;
      expect(await listed(store, { before, limit: 1 })).toEqual(["b"]);
    });
  });
}

function describeAudit(makeStore: MakeStore): void {
  type Line = Parameters<WriteTransaction["indexAudit"]>[1];
  const line = (more: Partial<Line> = {}): Line => ({
    at: "2026-01-01T00:00:00.000Z",
    principal: "user:bob",
    category: "memory",
    ...more,
  });
  const found = (store: Store, query: Partial<AuditQuery> = {}) => store.read((t) => t.audit({ limit: 100, ...query }));

  it("finds the places of entries, newest first, each only once", async () => {
    await withStore(makeStore, async ({ store, open }) => {
      for (const seq of [2, 7]) await store.write((t) => t.indexAudit(seq, line()));
      await expect(store.write((t) => t.indexAudit(2, line()))).rejects.toThrow();
      expect(await found(await open())).toEqual([7, 2]);
    });
  });

  it("filters by time, from the first instant up to but without the last, by principal and category", async () => {
    await withStore(makeStore, async ({ store }) => {
      const at = (day: number) => `2026-01-0${day}T00:00:00.000Z`;
      await store.write(async (t) => {
        await t.indexAudit(1, line({ at: at(1) }));
        await t.indexAudit(2, line({ at: at(2), principal: "user:ann" }));
        await t.indexAudit(3, line({ at: at(3), category: "review" }));
      });
      const table: [query: Partial<AuditQuery>, expected: number[]][] = [
        [{}, [3, 2, 1]],
        [{ since: at(2) }, [3, 2]],
        [{ until: at(2) }, [1]],
        [{ since: at(2), until: at(3) }, [2]],
        [{ principal: "user:ann" }, [2]],
        [{ principal: "user:an" }, []],
        [{ category: "review" }, [3]],
        [{ category: "memory", principal: "user:bob" }, [1]],
        [{ limit: 1 }, [3]],
        [{ limit: 0 }, []],
        [{ before: 2 }, [1]],
      ];
      for (const [query, expected] of table) expect(await found(store, query), JSON.stringify(query)).toEqual(expected);
    });
  });

  it("a line of a failed transaction is not there", async () => {
    await withStore(makeStore, async ({ store }) => {
      const failed = store.write(async (t) => {
        await t.indexAudit(1, line());
        throw new RangeError("no");
      });
      await expect(failed).rejects.toThrow(RangeError);
      expect(await found(store)).toEqual([]);
    });
  });
}
