import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeId, twinKey } from "@satchel/pcp";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scaled, testSeed } from "../../../../test/scale.js";
import { collectVersion } from "../context/past.js";
import type { PageKeys, PageVersion, Part } from "../domain/records.js";
import { createSqliteStore, openSqliteStore } from "../store/sqlite/store.js";
import type { Store } from "../store/store.js";
import { createCollection, uniteIndexes } from "./collection.js";
import { indexText } from "./index-text.js";
import { Ranking } from "./ranking.js";
import type { WordIndex } from "./retriever.js";
import { wordRetriever } from "./word-retriever.js";

/*
 * The stored index is the reference: a collection of the same pages has to answer as it does, in the same order and
 * with the same scores.
 */

const parts: Part[] = [{ partition: "main", sensitivity: "normal" }];
const vocabulary = [
  "anchor",
  "anchorage",
  "basalt",
  "cedar",
  "C++",
  "naïve",
  "京都旅行",
  "京都市",
  "the",
  "0xFFEE",
  "re-use",
];
const startMs = Date.UTC(2026, 2, 1);

let folder: string;
let stores = 0;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "satchel-collection-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

interface Draft {
  words: string[];
  title: string;
  tags: string[];
  lifecycle: PageKeys["lifecycle"];
  supersedes: number[];
}

const word = fc.constantFrom(...vocabulary);
const draft = fc.record<Draft>({
  words: fc.array(word, { maxLength: 25 }),
  title: word,
  tags: fc.array(fc.constantFrom("one", "two", "three"), { maxLength: 3 }),
  lifecycle: fc.constantFrom("active", "active", "validated", "stale", "archived"),
  supersedes: fc.array(fc.nat({ max: 9 }), { maxLength: 2 }),
});

async function storePages(drafts: Draft[]): Promise<{ store: Store; pages: PageVersion[] }> {
  const file = join(folder, `${stores++}.db`);
  createSqliteStore(file, {
    id: "1",
    handle: "me",
    kind: "personal",
    profileType: "core",
    created: "2020-01-01T00:00:00.000Z",
  });
  const store = openSqliteStore(file);
  const pages = await store.write(async (transaction) => {
    const made: PageVersion[] = [];
    for (const [index, { words, title, tags, lifecycle, supersedes }] of drafts.entries()) {
      const path = `p/${index}`;
      const relations = supersedes.map((target) => ({ rel: "supersedes" as const, target: `p/${target}` }));
      const keys: PageKeys = { title, tags, lifecycle, relations } as PageKeys;
      const body = words.map((one, at) => (at % 9 === 4 ? `\n# ${one}\n` : one)).join(" ");
      const updated = await transaction.tick(startMs);
      const version = encodeId("ver", uuid());
      const generated = { principal: "user:owner", client: "client:local", at: updated };
      const text = { head: "", body, keys, ...parts[0]!, path, twinKey: twinKey(path), version, updated, generated };
      await transaction.createPage(encodeId("pg", uuid()), { ...text, words: indexText({ path, keys, body }) });
      const page = await transaction.page({ path });
      made.push(await transaction.currentVersion(page!));
    }
    return made;
  });
  return { store, pages };
}

const uuid = () => crypto.randomUUID();

const queries = [
  "anchor",
  "anch",
  "anchor basalt",
  "basalt the",
  "C++",
  "京都",
  "naive",
  "nowhere",
  "p",
  "0xffee cedar",
  "re-use",
  "the",
];
const filters = [
  { tags: [], includeStale: false, includeArchived: false },
  { tags: [], includeStale: true, includeArchived: true },
  { tags: ["one"], includeStale: true, includeArchived: false },
  { tags: ["one", "one", "two"], includeStale: true, includeArchived: true },
];

async function ranked(index: WordIndex, text: string, filter: (typeof filters)[number]) {
  const snapshot = "2030-01-01T00:00:00.000Z";
  const request = { text, parts, readable: parts, filters: filter, nowMs: startMs, snapshot };
  const ranking = await Ranking.prepare(index, { retriever: wordRetriever, request });
  const { hits } = await ranking.first(1000);
  return hits.map(({ page, ...hit }) => ({ ...hit, path: page.path }));
}

describe("a collection answers as the stored index does for the same pages", () => {
  it("the same hits in the same order with the same scores", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(draft, { minLength: 1, maxLength: 30 }), async (drafts) => {
        const { store, pages } = await storePages(drafts);
        const collection = createCollection(pages.map(collectVersion));
        for (const query of queries) {
          for (const filter of filters) {
            const expected = await store.read((transaction) => ranked(transaction, query, filter));
            expect(await ranked(collection, query, filter), `${query} ${JSON.stringify(filter)}`).toEqual(expected);
          }
        }
        await store.close();
      }),
      { seed: testSeed(), numRuns: scaled(200) },
    );
  }, 300_000);

  it("matches, statistics, terms by prefix and superseders, one by one", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(draft, { minLength: 1, maxLength: 20 }),
        fc.array(fc.constantFrom("anchor", "basalt", "cedar", "one", "absent"), { maxLength: 3 }),
        async (drafts, terms) => {
          const groups = terms.map((term) => ({ term, isBeginning: false }));
          const { store, pages } = await storePages(drafts);
          const collection = createCollection(pages.map(collectVersion));
          const paths = pages.map(({ path }) => path);
          const ask = async (index: WordIndex) => ({
            all: rounded(await index.bestMatches({ parts, groups, mode: "all" })),
            any: rounded(await index.bestMatches({ parts, groups, mode: "any" })),
            some: (await index.bestMatches({ parts, groups, mode: "any", limit: 3 }))
              .flat()
              .map(({ rank }) => Number(rank.toFixed(6))),
            further: await index.furtherMatches({ parts, groups, below: 9, limit: 4 }),
            beginnings: await index.furtherMatches({ parts, groups: [{ term: "a", isBeginning: true }], limit: 4 }),
            statistics: await index.wordStatistics({ parts, terms: ["anchor", "one", "absent"] }),
            terms: await index.termsByPrefix({ parts, prefix: "a", limit: 3 }),
            superseders: (await index.superseders({ paths, parts }))
              .map(({ target, page }) => `${page.path} > ${target}`)
              .sort(),
            candidates: await index
              .candidates({ nums: [3, 1, 99, 2], parts, tags: ["one"] })
              .then((found) => found.map(({ page, words }) => [page.path, words])),
          });
          expect(await ask(collection)).toEqual(await store.read(ask));
          await store.close();
        },
      ),
      { seed: testSeed(), numRuns: scaled(200) },
    );
  }, 300_000);

  it("looks at the likeliest pages first, also when there are more than it ranks at once", async () => {
    const plain: Draft = {
      words: ["anchor", ...Array<string>(20).fill("cedar")],
      title: "basalt",
      tags: [],
      lifecycle: "active",
      supersedes: [],
    };
    const drafts = Array.from({ length: 260 }, (_, n) => (n === 251 ? { ...plain, title: "anchor" } : plain));
    const { store, pages } = await storePages(drafts);
    const collection = createCollection(pages.map(collectVersion));
    const [best] = await ranked(collection, "anchor", filters[0]!);
    expect(best?.num).toBe(pages[251]!.num);
    expect(await ranked(collection, "anchor", filters[0]!)).toEqual(
      await store.read((t) => ranked(t, "anchor", filters[0]!)),
    );
    await store.close();
  });
});

const rounded = (lists: { num: number; rank: number }[][]) =>
  lists.flat().map(({ num, rank }) => [num, Number(rank.toFixed(6))]);

describe("two indexes as one", () => {
  it("hold the pages of both, and their statistics added up", async () => {
    const drafts: Draft[] = ["anchor", "anchor basalt", "cedar"].map((text) => ({
      words: text.split(" "),
      title: "t",
      tags: [],
      lifecycle: "active",
      supersedes: [],
    }));
    const { store, pages } = await storePages(drafts);
    const [first, second, third] = pages.map(collectVersion) as [
      ReturnType<typeof collectVersion>,
      ReturnType<typeof collectVersion>,
      ReturnType<typeof collectVersion>,
    ];
    const whole = uniteIndexes(createCollection([first]), createCollection([second, third]));
    const statistics = await whole.wordStatistics({ parts, terms: ["anchor"] });
    expect(statistics).toEqual(
      await createCollection([first, second, third]).wordStatistics({ parts, terms: ["anchor"] }),
    );
    const hits = await ranked(whole, "anchor", filters[0]!);
    expect(hits.map(({ num }) => num).sort()).toEqual([first.page.num, second.page.num]);
    await store.close();
  });
});
