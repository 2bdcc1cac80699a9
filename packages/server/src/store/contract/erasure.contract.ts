import { randomBytes } from "node:crypto";
import { twinKey } from "@satchel/pcp";
import { describe, expect, it } from "vitest";
import { type Claim, type ErasureState, erasedBase, type StagedCall } from "../../domain/records.js";
import type { NewRevision, ProfileChange, Store, StoredText } from "../store.js";
import { allParts, type MakeStore, normal, put, remove, sensitive, startMs } from "./fixture.contract.js";
import { withStore } from "./with-store.contract.js";

const all = { after: 0, limit: 1000 };
const at = new Date(startMs).toISOString();

/** What an erasure needs of a store, and what calls leave in it to be erased. */
export function describeErasure(makeStore: MakeStore): void {
  describe("erasure", () => {
    describeReading(makeStore);
    describeErasing(makeStore);
    describeState(makeStore);
    describeLock(makeStore);
    describeScrub(makeStore);
  });
  describe("claims", () => describeClaims(makeStore));
  describe("staged calls", () => describeStagedCalls(makeStore));
}

function revision(id: string, path = "p"): NewRevision {
  const generated = { principal: "user:bob", client: "client:notes", at };
  const content = { head: "", body: `proposed ${id}`, keys: { title: "T" }, note: `why ${id}` };
  return { id, path, twinKey: twinKey(path), ...content, ...normal, generated };
}

function claim(more: Partial<Claim> = {}): Claim {
  return { id: randomBytes(32), input: randomBytes(32), state: "settled", receiptId: "semantic_receipt:1", ...more };
}

const putClaims = (store: Store, ...claims: Claim[]) =>
  store.write(async (transaction) => {
    for (const one of claims) await transaction.putClaim(one);
  });

const change = (namespace: string, title: string, second: number): ProfileChange => ({
  namespace,
  document: { title },
  changed: ["/title"],
  principal: "user:owner",
  at: new Date(startMs + second * 1000).toISOString(),
});

async function versionsOf(store: Store, path: string) {
  return store.read(async (transaction) => {
    const page = (await transaction.storedPages(all)).find((one) => one.path === path);
    return page ? transaction.versions(page.id) : [];
  });
}

const texts = (store: Store, kind?: StoredText["kind"]) =>
  store.read(async (transaction) =>
    [...transaction.storedTexts()].filter((one) => !kind || one.kind === kind).map(({ text }) => text),
  );

function describeReading(makeStore: MakeStore): void {
  it("lists every page, live or removed, hidden or not, a batch at a time", async () => {
    await withStore(makeStore, async ({ store }) => {
      await put(store, { path: "a" }, { path: "b", sensitivity: "sensitive" }, { path: "c", partition: "work" });
      await remove(store, "a");
      await put(store, { path: "a" });
      const pages = await store.read((t) => t.storedPages(all));
      expect(pages.map(({ path, isLive }) => [path, isLive])).toEqual([
        ["a", false],
        ["b", true],
        ["c", true],
        ["a", true],
      ]);
      expect(new Set(pages.map(({ id }) => id)).size).toBe(4);
      const second = await store.read((t) => t.storedPages({ after: pages[0]!.num, limit: 2 }));
      expect(second).toEqual(pages.slice(1, 3));
      expect(await store.read((t) => t.storedPages({ after: pages[3]!.num, limit: 2 }))).toEqual([]);
    });
  });

  it("lists every revision, in whatever state, a batch at a time", async () => {
    await withStore(makeStore, async ({ store }) => {
      await store.write(async (t) => {
        for (const id of ["rev_1", "rev_2", "rev_3"]) await t.addRevision(revision(id));
        const by = { principal: "user:owner", client: "client:local", at };
        await t.decideRevision("rev_2", "rejected", { id: "dec_1", by, note: "no" });
      });
      const found = await store.read((t) => t.storedRevisions(all));
      expect(found.map(({ id, state }) => [id, state])).toEqual([
        ["rev_1", "proposed"],
        ["rev_2", "rejected"],
        ["rev_3", "proposed"],
      ]);
      expect(found[1]).toEqual(await store.read((t) => t.revision("rev_2")));
      expect(await store.read((t) => t.storedRevisions({ after: found[0]!.num, limit: 1 }))).toEqual([found[1]]);
    });
  });

  it("lists the answers that are kept, and no claim without one", async () => {
    await withStore(makeStore, async ({ store }) => {
      const needs = { page: { ...normal, path: "p", right: "write" as const } };
      const kept = [claim({ result: "{}", needs, currentRevision: "ver_1" }), claim({ result: '{"a":1}' })];
      await putClaims(store, kept[0]!, claim({ state: "running" }), claim({ state: "spent" }), kept[1]!);
      const found = await store.read((t) => t.storedAnswers(all));
      expect(found).toEqual(
        kept.map(({ id, needs: needed, result, currentRevision }) => ({
          num: expect.any(Number),
          id,
          result,
          ...(needed && { needs: needed }),
          ...(currentRevision !== undefined && { currentRevision }),
        })),
      );
      expect(await store.read((t) => t.storedAnswers({ after: found[0]!.num, limit: 5 }))).toEqual([found[1]]);
    });
  });

  it("gives every text it holds, wherever it lies", async () => {
    await withStore(makeStore, async ({ store }) => {
      await put(store, { path: "path1", head: "head1", body: "body1", keys: { title: "Title1", tags: ["tag1"] } });
      await put(store, { path: "path1", body: "body2", ...sensitive });
      await put(store, { path: "gone1", body: "body3" });
      await remove(store, "gone1");
      await store.write(async (t) => {
        await t.addRevision(revision("rev_1"));
        await t.putProfile(change("org.example.a", "Profile1", 1));
        await t.setSetting("setting1", "value1");
        await t.putClaim(claim({ result: "answer1" }));
      });
      const found = (await texts(store)).join("\n");
      const held = ["path1", "head1", "body1", "body2", "Title1", "tag1", "gone1", "body3", "proposed rev_1"];
      for (const text of [...held, "why rev_1", "Profile1", "value1", "answer1"]) expect(found).toContain(text);
      const [content, copies] = await Promise.all([texts(store, "content"), texts(store, "copy")]);
      expect(content.sort()).toEqual(expect.arrayContaining([...held, "why rev_1", "Profile1", "/title"].sort()));
      expect(copies).toContain("answer1");
      for (const own of ["user:owner", "client:test", "main", "normal", "value1", "answer1"])
        expect(content).not.toContain(own);
    });
  });
}

function describeErasing(makeStore: MakeStore): void {
  it("a page goes with every version, word, tag and link, and nothing else does", async () => {
    await withStore(makeStore, async ({ store, open }) => {
      const relations = [{ rel: "supersedes" as const, target: "kept" }];
      await put(store, { path: "gone", body: "one shared", keys: { title: "G", tags: ["t"], relations } });
      await put(store, { path: "gone", body: "two shared", keys: { title: "G", tags: ["t"], relations } });
      await put(store, { path: "kept", body: "three shared", keys: { title: "K", tags: ["t"] } });
      const kept = await versionsOf(store, "kept");
      const [page] = await store.read((t) => t.storedPages(all));
      await store.write((t) => t.erasePage(page!.num));
      const other = await open();
      expect(await versionsOf(other, "kept")).toEqual(kept);
      expect((await other.read((t) => t.storedPages(all))).map(({ path }) => path)).toEqual(["kept"]);
      const facts = await other.read(async (t) => ({
        versions: await t.versions(page!.id),
        path: await t.pathOf(page!.id),
        count: await t.countPages({ parts: allParts }),
        superseders: await t.superseders({ paths: ["kept"], parts: allParts }),
        terms: await t.termsByPrefix({ parts: allParts, prefix: "", limit: 100 }),
        words: await t.wordStatistics({ parts: allParts, terms: ["shared", "one", "two"] }),
      }));
      expect(facts).toMatchObject({ versions: [], path: undefined, count: 1, superseders: [] });
      expect(facts.terms.sort()).toEqual(["k", "kept", "shared", "three"]);
      expect(facts.words).toEqual({ documents: 1, tokens: 2, frequency: new Map([["shared", 1]]) });
      expect(await store.inspect()).toMatchObject({ pages: 1, versions: 1, problems: [] });
      expect((await put(store, { path: "gone" }))[0]!.id).not.toBe(page!.id);
    });
  });

  it("a removed page goes too, and one that is not there is no fault", async () => {
    await withStore(makeStore, async ({ store }) => {
      await put(store, { path: "p", body: "text" });
      await remove(store, "p");
      const [page] = await store.read((t) => t.storedPages(all));
      for (let round = 0; round < 2; round++) await store.write((t) => t.erasePage(page!.num));
      expect(await store.read((t) => t.storedPages(all))).toEqual([]);
      expect(await store.inspect()).toMatchObject({ pages: 0, versions: 0, problems: [] });
    });
  });

  it("a version goes unless it is its page's current one", async () => {
    await withStore(makeStore, async ({ store }) => {
      await put(store, { path: "p", body: "one" }, { path: "p", body: "two" }, { path: "p", body: "three" });
      const [first, second, third] = await versionsOf(store, "p");
      await store.write(async (t) => {
        for (const id of [second!.version, third!.version, "ver_none"]) await t.eraseVersion(id);
      });
      expect(await versionsOf(store, "p")).toEqual([first, third]);
      const parts = { parts: allParts, readable: allParts };
      const past = await store.read((t) => t.pastPage({ ...parts, at: second!.updated, selector: { path: "p" } }));
      expect(past?.version).toBe(first!.version);
      expect(await store.read((t) => t.version(second!.version))).toBeUndefined();
    });
  });

  it("a revision goes, and only that", async () => {
    await withStore(makeStore, async ({ store }) => {
      await store.write(async (t) => {
        for (const id of ["rev_1", "rev_2"]) await t.addRevision(revision(id));
        for (const id of ["rev_1", "rev_none"]) await t.eraseRevision(id);
      });
      expect((await store.read((t) => t.storedRevisions(all))).map(({ id }) => id)).toEqual(["rev_2"]);
    });
  });

  it("a revision made from what goes names no version any more, and is not taken for one made from nothing", async () => {
    await withStore(makeStore, async ({ store }) => {
      await put(store, { path: "p", body: "one" }, { path: "p", body: "two" }, { path: "q", body: "three" });
      const [first, second] = await versionsOf(store, "p");
      const [other] = await versionsOf(store, "q");
      const bases = [first!.version, second!.version, other!.version, undefined];
      await store.write(async (t) => {
        for (const [at, base] of bases.entries())
          await t.addRevision({ ...revision(`rev_${at}`), ...(base && { base }) });
      });
      const left = () => store.read(async (t) => (await t.storedRevisions(all)).map(({ base }) => base));
      await store.write(async (t) => {
        await t.eraseVersion(first!.version);
        await t.eraseVersion(second!.version); // Stays: it is the current one.
      });
      expect(await left()).toEqual([erasedBase, second!.version, other!.version, undefined]);
      const [page] = await store.read((t) => t.storedPages(all));
      await store.write((t) => t.erasePage(page!.num));
      expect(await left()).toEqual([erasedBase, erasedBase, other!.version, undefined]);
    });
  });

  it("an answer is forgotten, and its key stays claimed for its input", async () => {
    await withStore(makeStore, async ({ store }) => {
      const needs = { scopes: ["memory:read"] };
      const [erased, kept] = [
        claim({ terminal: 7, result: "{}", needs, currentRevision: "ver_1" }),
        claim({ result: "{}" }),
      ];
      await putClaims(store, erased, kept);
      await store.write((t) => t.eraseAnswer(erased.id));
      const { id, input, receiptId, terminal } = erased;
      expect(await store.read((t) => t.claim(id))).toEqual({ id, input, receiptId, terminal, state: "erased" });
      expect(await store.read((t) => t.claim(kept.id))).toEqual(kept);
      expect(await store.read((t) => t.storedAnswers(all))).toHaveLength(1);
    });
  });

  it("a document's history is replaced, or the document goes; others stay", async () => {
    await withStore(makeStore, async ({ store }) => {
      const changes = [1, 2, 3].map((second) => change("org.example.a", `T${second}`, second));
      const other = change("org.example.b", "B", 4);
      await store.write(async (t) => {
        for (const one of [...changes, other]) await t.putProfile(one);
        await t.rewriteProfile("org.example.a", changes.slice(0, 2));
      });
      const state = () =>
        store.read(async (t) => [
          await t.profileChanges("org.example.a"),
          (await t.profile("org.example.a"))?.document,
        ]);
      expect(await state()).toEqual([changes.slice(0, 2), { title: "T2" }]);
      await store.write((t) => t.rewriteProfile("org.example.a", []));
      expect(await state()).toEqual([[], undefined]);
      expect(await store.read((t) => t.profileChanges("org.example.b"))).toEqual([other]);
    });
  });

  it("nothing of a failed transaction is erased", async () => {
    await withStore(makeStore, async ({ store }) => {
      await put(store, { path: "p", body: "one" });
      const [page] = await store.read((t) => t.storedPages(all));
      const failed = store.write(async (t) => {
        await t.erasePage(page!.num);
        throw new RangeError("no");
      });
      await expect(failed).rejects.toThrow(RangeError);
      expect(await store.inspect()).toMatchObject({ pages: 1, versions: 1, problems: [] });
    });
  });
}

const planned: ErasureState = { id: "era_1", stage: "planned" };

function describeState(makeStore: MakeStore): void {
  it("an erasure under way locks the context for all but itself, in every process", async () => {
    await withStore(makeStore, async ({ store, open }) => {
      const other = await open();
      await store.write((t) => t.setErasure(planned));
      for (const one of [store, other]) {
        await expect(one.read((t) => t.context())).rejects.toMatchObject({ name: "StoreError", code: "locked" });
        await expect(one.write((t) => t.tick(startMs))).rejects.toMatchObject({ code: "locked" });
        expect(await one.read((t) => t.erasure(), { isErasing: true })).toEqual(planned);
      }
      const journal = { size_before: 1, root_before: "a", size_after: 2, root_after: "b" };
      const deleted: ErasureState = { id: "era_1", stage: "deleted", remainingMentions: 2, journal };
      await other.write((t) => t.setErasure(deleted), { isErasing: true });
      expect(await store.read((t) => t.erasure(), { isErasing: true })).toEqual(deleted);
      await store.write((t) => t.setErasure(undefined, at), { isErasing: true });
      expect(await other.read(async (t) => [await t.erasure(), await t.lastErasure()])).toEqual([undefined, at]);
    });
  });

  it("remembers when the latest one ended, not that one was begun or given up", async () => {
    await withStore(makeStore, async ({ store }) => {
      const last = () => store.read((t) => t.lastErasure(), { isErasing: true });
      expect(await last()).toBeUndefined();
      await store.write((t) => t.setErasure(planned));
      expect(await last()).toBeUndefined();
      await store.write((t) => t.setErasure(undefined, at), { isErasing: true });
      await store.write((t) => t.setErasure(planned));
      await store.write((t) => t.setErasure(undefined), { isErasing: true });
      expect(await last()).toBe(at);
    });
  });
}

function describeLock(makeStore: MakeStore): void {
  it("one at a time holds the erasure, and letting it go frees it", async () => {
    await withStore(makeStore, async ({ store, open }) => {
      const other = await open();
      const held = store.lockErasure();
      expect(held).toBeDefined();
      expect([store.lockErasure(), other.lockErasure()]).toEqual([undefined, undefined]);
      held!.release();
      const next = other.lockErasure();
      expect(next).toBeDefined();
      expect(store.lockErasure()).toBeUndefined();
      next!.release();
    });
  });

  it("holds back no transaction by itself", async () => {
    await withStore(makeStore, async ({ store, open }) => {
      const held = store.lockErasure();
      await put(store, { path: "p" });
      expect(await (await open()).read((t) => t.countPages({ parts: allParts }))).toBe(1);
      held!.release();
    });
  });
}

function describeScrub(makeStore: MakeStore): void {
  it("leaves all that was not deleted as it was, with other connections open and busy", async () => {
    await withStore(makeStore, async ({ store, open }) => {
      const other = await open();
      for (let round = 0; round < 20; round++) await put(store, { path: `p${round}`, body: `word${round} shared` });
      const pages = await store.read((t) => t.storedPages(all));
      await store.write(async (t) => {
        for (const { num } of pages.slice(0, 10)) await t.erasePage(num);
      });
      const writes = Promise.all([store, other].flatMap((one) => [1, 2, 3].map((n) => put(one, { path: `w${n}` }))));
      const reads = Promise.all(Array.from({ length: 20 }, () => other.read((t) => t.countPages({ parts: allParts }))));
      expect(await store.scrub()).toBe(true);
      await Promise.all([writes, reads]);
      expect((await store.read((t) => t.storedPages(all))).slice(0, 10)).toEqual(pages.slice(10));
      const terms = await other.read((t) => t.termsByPrefix({ parts: allParts, prefix: "word", limit: 100 }));
      expect(terms).toHaveLength(10);
      expect(await store.inspect()).toMatchObject({ pages: 13, problems: [] });
    });
  });

  it("can be done again, and on an empty store", async () => {
    await withStore(makeStore, async ({ store }) => {
      expect([await store.scrub(), await store.scrub()]).toEqual([true, true]);
      expect(await store.inspect()).toMatchObject({ pages: 0, problems: [] });
    });
  });
}

function describeClaims(makeStore: MakeStore): void {
  it("is kept as it was given, and replaced by its id without its input and receipt", async () => {
    await withStore(makeStore, async ({ store, open }) => {
      const running = claim({ state: "running" });
      await putClaims(store, running);
      const other = await open();
      expect(await other.read((t) => t.claim(running.id))).toEqual(running);
      const needs = { scopes: ["a"], page: { ...sensitive, path: "p", right: "propose" as const } };
      const ended = { state: "settled" as const, terminal: 3, currentRevision: "ver_1", needs, result: '{"a":"ü"}' };
      await putClaims(store, { ...running, ...ended, input: randomBytes(32), receiptId: "other" });
      expect(await other.read((t) => t.claim(running.id))).toEqual({ ...running, ...ended });
      expect(await other.read((t) => t.claim(randomBytes(32)))).toBeUndefined();
    });
  });

  it("that is ended is as if it never was, and can be made again for another input", async () => {
    await withStore(makeStore, async ({ store, open }) => {
      const [ended, kept] = [claim({ result: "{}" }), claim()];
      await putClaims(store, ended, kept);
      await store.write(async (t) => {
        for (const id of [ended.id, randomBytes(32)]) await t.endClaim(id);
      });
      const other = await open();
      expect(await other.read((t) => t.claim(ended.id))).toBeUndefined();
      expect(await other.read((t) => t.storedAnswers(all))).toEqual([]);
      expect(await other.read((t) => t.claim(kept.id))).toEqual(kept);
      const another = claim({ id: ended.id });
      await putClaims(other, another);
      expect(await store.read((t) => t.claim(ended.id))).toEqual(another);
    });
  });

  it("of a failed transaction is not there", async () => {
    await withStore(makeStore, async ({ store }) => {
      const one = claim();
      const failed = store.write(async (t) => {
        await t.putClaim(one);
        throw new RangeError("no");
      });
      await expect(failed).rejects.toThrow(RangeError);
      expect(await store.read((t) => t.claim(one.id))).toBeUndefined();
    });
  });
}

function describeStagedCalls(makeStore: MakeStore): void {
  const staged = (seq: number, claims: Uint8Array[] = []): StagedCall => ({
    seq,
    operation: "erase_request",
    identity: '{"callId":"c"}',
    principal: "user:owner",
    client: "client:local",
    claims,
  });

  it("are listed oldest first until they end", async () => {
    await withStore(makeStore, async ({ store, open }) => {
      const claims = [randomBytes(32), randomBytes(32)];
      await store.write(async (t) => {
        await t.putStagedCall(staged(9));
        await t.putStagedCall(staged(4, claims));
      });
      const other = await open();
      expect(await other.read((t) => t.stagedCalls())).toEqual([staged(4, claims), staged(9)]);
      await other.write(async (t) => {
        for (const seq of [4, 5]) await t.endStagedCall(seq);
      });
      expect(await store.read((t) => t.stagedCalls())).toEqual([staged(9)]);
    });
  });

  it("each place of the journal has one", async () => {
    await withStore(makeStore, async ({ store }) => {
      await store.write((t) => t.putStagedCall(staged(1)));
      await expect(store.write((t) => t.putStagedCall(staged(1)))).rejects.toThrow();
      expect(await store.read((t) => t.stagedCalls())).toHaveLength(1);
    });
  });
}
