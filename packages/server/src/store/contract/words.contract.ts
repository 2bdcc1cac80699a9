import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scaled, testSeed } from "../../../../../test/scale.js";
import type { Part } from "../../domain/records.js";
import type { CandidateQuery, ReadTransaction, Store, WordQuery } from "../store.js";
import {
  allParts,
  groupsOf,
  type MakeStore,
  normal,
  partitionNamed,
  put,
  remove,
  sensitive,
  tokensOf,
  workNormal,
} from "./fixture.contract.js";
import { withStore } from "./with-store.contract.js";

export function describeWords(makeStore: MakeStore): void {
  describe("words", () => {
    describeMatching(makeStore);
    describeTags(makeStore);
    describeStatistics(makeStore);
    describeApartness(makeStore);
    describeRecount(makeStore);
  });
}

async function matched(store: Store, query: Omit<WordQuery, "parts">, parts = allParts): Promise<string[]> {
  return store.read(async (transaction) => {
    const lists = await transaction.bestMatches({ ...query, parts });
    const nums = lists.flat().map(({ num }) => num);
    const candidates = await transaction.candidates({ nums, parts, tags: [] });
    return candidates.map(({ page }) => page.path);
  });
}

function describeMatching(makeStore: MakeStore): void {
  const found: [terms: string, mode: "all" | "any", paths: string[]][] = [
    ["red", "all", ["one", "two"]],
    ["red green", "all", ["two"]],
    ["red green", "any", ["one", "three", "two"]],
    ["violet", "all", []],
    ["red violet", "all", []],
    ["red violet", "any", ["one", "two"]],
    ["日記", "all", ["three"]],
    ["or", "all", ["one"]],
    ["near not", "all", []],
    ["re", "all", []],
    ["re*", "all", ["one", "two"]],
    ["日*", "all", ["three"]],
    ["gre* re*", "all", ["two"]],
    ["", "all", []],
    ["", "any", []],
  ];
  it.each(found)("matches whole terms, and beginnings where asked: %j, %s", async (terms, mode, paths) => {
    await withStore(makeStore, async ({ store }) => {
      await put(
        store,
        { path: "one", body: "red or" },
        { path: "two", body: "red green" },
        { path: "three", words: { body: "blue green 日記" } },
      );
      const groups = groupsOf(terms);
      expect((await matched(store, { groups, mode })).sort()).toEqual(paths);
      const further = await store.read((t) => t.furtherMatches({ parts: allParts, groups, limit: 10 }));
      const any = await store.read((t) => t.bestMatches({ parts: allParts, groups, mode: "any" }));
      expect(further).toEqual(
        any
          .flat()
          .map(({ num }) => num)
          .sort((a, b) => b - a),
      );
    });
  });

  it("matches each field, best first", async () => {
    await withStore(makeStore, async ({ store }) => {
      const filler = "filler ".repeat(20);
      await put(
        store,
        { path: "p1", keys: { title: "x" }, words: { body: `${filler}needle` } },
        { path: "p2", keys: { title: "x" }, words: { title: "needle", body: filler.trim() } },
        { path: "p3", keys: { title: "x" }, words: { headings: "needle", body: filler.trim() } },
        { path: "p4", keys: { title: "x" }, words: { tags: "needle", body: filler.trim() } },
        { path: "p5", keys: { title: "x" }, words: { body: filler.trim() } },
      );
      const order = await matched(store, { groups: groupsOf("needle"), mode: "all" }, [normal]);
      expect([...order].sort()).toEqual(["p1", "p2", "p3", "p4"]);
      expect([order[0], order[3]]).toEqual(["p2", "p1"]);
      const [ranks] = await store.read((t) =>
        t.bestMatches({ parts: [normal], groups: groupsOf("needle"), mode: "all" }),
      );
      const values = ranks!.map(({ rank }) => rank);
      expect([...values].sort((a, b) => a - b)).toEqual(values);
      expect(values.every((rank) => rank < 0)).toBe(true);
    });
  });

  it("further matches go down by number from where they are asked, across parts", async () => {
    await withStore(makeStore, async ({ store }) => {
      const pages = Array.from({ length: 9 }, (_, at) => ({
        path: `p${at}`,
        body: at === 4 ? "other" : "needle",
        ...(at % 2 === 0 ? {} : { sensitivity: "sensitive" as const }),
      }));
      await put(store, ...pages);
      const ask = (parts: Part[], below?: number) =>
        store.read((t) => t.furtherMatches({ parts, groups: groupsOf("needle"), limit: 3, ...(below && { below }) }));
      const walked: number[] = [];
      for (let nums = await ask(allParts); nums.length > 0; nums = await ask(allParts, walked.at(-1)))
        walked.push(...nums);
      expect(walked).toHaveLength(8);
      expect([...walked].sort((a, b) => b - a)).toEqual(walked);
      const visible = await ask([normal]);
      const shown = await store.read((t) => t.candidates({ nums: visible, parts: allParts, tags: [] }));
      expect(shown.map(({ page }) => page.path)).toEqual(["p8", "p6", "p2"]);
    });
  });

  it("candidates come in the asked order, with their tokens, and without what is gone", async () => {
    await withStore(makeStore, async ({ store }) => {
      const pages = await put(
        store,
        { path: "a", body: "One" },
        { path: "b", body: "Two" },
        { path: "c", body: "Three" },
      );
      await remove(store, "b");
      const nums = [pages[2]!.num, pages[1]!.num, 999_999, pages[0]!.num];
      const load = (query: Partial<CandidateQuery>) =>
        store.read((transaction) => transaction.candidates({ nums, parts: allParts, tags: [], ...query }));
      const candidates = await load({});
      expect(candidates.map(({ page }) => page)).toEqual([pages[2], pages[0]]);
      expect(candidates[0]!.words).toEqual({ title: "c", tags: "c", headings: "", body: "three" });
      expect(await load({ nums: [] })).toEqual([]);
      expect(await load({ parts: [] })).toEqual([]);
      expect(await load({ parts: [sensitive, workNormal] })).toEqual([]);
    });
  });
}

function describeTags(makeStore: MakeStore): void {
  const asked: [tags: string[], paths: string[]][] = [
    [["x"], ["both", "x"]],
    [["x", "y"], ["both"]],
    [["y", "x", "x"], ["both"]],
    [["X"], []],
    [["x", "none"], []],
    [[""], []],
    [[], ["both", "none", "x"]],
  ];
  it.each(asked)("candidates with all of the tags %j", async (tags, paths) => {
    await withStore(makeStore, async ({ store }) => {
      const pages = await put(
        store,
        { path: "both", keys: { tags: ["x", "y", "z"] } },
        { path: "x", keys: { tags: ["x", "xy"] } },
        { path: "none" },
        { path: "hidden", keys: { tags: ["x", "y"] }, sensitivity: "sensitive" },
      );
      const query = { nums: pages.map(({ num }) => num), parts: [normal], tags };
      const candidates = await store.read((transaction) => transaction.candidates(query));
      expect(candidates.map(({ page }) => page.path).sort()).toEqual(paths);
    });
  });

  it("limits the matches of each part to the best", async () => {
    await withStore(makeStore, async ({ store }) => {
      const drafts = Array.from({ length: 6 }, (_, i) => ({ path: `p${i}`, body: `needle ${"hay ".repeat(i * 5)}` }));
      await put(store, ...drafts, { path: "s", body: "needle", sensitivity: "sensitive" });
      const find = (limit?: number) =>
        store.read((t) =>
          t.bestMatches({
            parts: [normal, sensitive],
            groups: groupsOf("needle"),
            mode: "all",
            ...(limit && { limit }),
          }),
        );
      const [all] = await find();
      const [best, other] = await find(2);
      expect(all).toHaveLength(6);
      expect(best).toEqual(all!.slice(0, 2));
      expect(other).toHaveLength(1);
    });
  });
}

function describeStatistics(makeStore: MakeStore): void {
  it("termsByPrefix: most frequent first, also when very many terms share the prefix", async () => {
    await withStore(makeStore, async ({ store }) => {
      const many = Array.from({ length: 3000 }, (_, i) => `term${String(i).padStart(4, "0")}`);
      await put(
        store,
        { path: "many", words: { body: many.join(" ") } },
        { path: "z1", words: { body: "termzz other" } },
        { path: "z2", sensitivity: "sensitive", words: { body: "termzz" } },
      );
      const terms = (prefix: string, parts: Part[], limit = 3) =>
        store.read((t) => t.termsByPrefix({ parts, prefix, limit }));
      expect(await terms("termz", allParts)).toEqual(["termzz"]);
      expect(await terms("term", allParts, 1)).toEqual(["termzz"]);
      expect(await terms("oth", [sensitive])).toEqual([]);
      expect(await terms("nothing", allParts)).toEqual([]);
      expect(await terms("term", [])).toEqual([]);
      expect(await terms("term", allParts, 0)).toEqual([]);
    });
  });

  it("statistics of no part, an unknown part and no term are empty", async () => {
    await withStore(makeStore, async ({ store }) => {
      await put(store, { path: "a", body: "one two" });
      const none = { documents: 0, tokens: 0, frequency: new Map() };
      const statistics = (parts: Part[], terms: string[]) => store.read((t) => t.wordStatistics({ parts, terms }));
      expect(await statistics([], ["one"])).toEqual(none);
      expect(await statistics([workNormal], ["one"])).toEqual(none);
      expect(await statistics([normal], [])).toEqual({ documents: 1, tokens: 2, frequency: new Map() });
      expect(await statistics([normal], ["one", "three"])).toEqual({
        documents: 1,
        tokens: 2,
        frequency: new Map([["one", 1]]),
      });
    });
  });
}

/** Everything a caller who may read `parts` could observe of a word. */
function traces(store: Store, word: string, parts: Part[]) {
  return store.read(async (transaction) => {
    const { frequency, ...totals } = await transaction.wordStatistics({ parts, terms: [word] });
    return {
      ...totals,
      frequency: frequency.get(word) ?? 0,
      matches: (await transaction.bestMatches({ parts, groups: groupsOf(word), mode: "all" })).flat().length,
      terms: await transaction.termsByPrefix({ parts, prefix: word.slice(0, 3), limit: 10 }),
      count: await transaction.countPages({ parts }),
      listed: (await transaction.list({ parts, includeArchived: true, limit: 10 })).length,
      recent: (await transaction.recent({ parts, limit: 10 })).length,
    };
  });
}

function describeApartness(makeStore: MakeStore): void {
  const moves: [name: string, from: Part, to: Part][] = [
    ["sensitivity raised", normal, sensitive],
    ["sensitivity lowered", sensitive, normal],
    ["partition changed", normal, workNormal],
    ["both changed", sensitive, workNormal],
  ];
  it.each(moves)("a page that moves leaves no trace in the old part: %s", async (_name, from, to) => {
    await withStore(makeStore, async ({ store }) => {
      await store.write((transaction) => transaction.putPartition(partitionNamed("work")));
      await put(store, { path: "stays", body: "company", ...from });
      const before = await traces(store, "needle", [from]);
      await put(store, { path: "moves", body: "needle company", ...from });
      const there = { ...before, documents: 2, tokens: 3, frequency: 1, matches: 1, count: 2, listed: 2, recent: 2 };
      expect(await traces(store, "needle", [from])).toEqual({ ...there, terms: ["needle"] });
      await put(store, { path: "moves", body: "needle company", ...to });
      expect(await traces(store, "needle", [from])).toEqual(before);
      expect(await traces(store, "needle", [to])).toMatchObject({ documents: 1, frequency: 1, matches: 1, count: 1 });
      await remove(store, "moves");
      expect(await traces(store, "needle", [to])).toMatchObject({ documents: 0, tokens: 0, frequency: 0, terms: [] });
    });
  });

  it("what other parts hold changes no rank", async () => {
    await withStore(makeStore, async ({ store }) => {
      await put(store, { path: "a", body: "needle hay hay" }, { path: "b", body: "needle needle hay" });
      const rank = () => store.read((t) => t.bestMatches({ parts: [normal], groups: groupsOf("needle"), mode: "all" }));
      const before = await rank();
      const drafts = Array.from({ length: 20 }, (_, i) => ({ path: `s${i}`, body: "needle ".repeat(i + 1) }));
      await put(store, ...drafts.map((draft) => ({ ...draft, sensitivity: "sensitive" as const })));
      expect(await rank()).toEqual(before);
    });
  });
}

type Edit = { path: string; part: Part; words: string[] } | { path: string; removed: true };

const vocabulary = ["alder", "birch", "birchwood", "cedar", "日記", "x1"];
const editedPaths = ["a", "b", "c", "d"];
const edits: fc.Arbitrary<Edit[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        path: fc.constantFrom(...editedPaths),
        part: fc.constantFrom(...allParts),
        words: fc.array(fc.constantFrom(...vocabulary), { maxLength: 8 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ path: fc.constantFrom(...editedPaths), removed: fc.constant(true as const) }) },
  ),
  { maxLength: 25 },
);

function describeRecount(makeStore: MakeStore): void {
  it("after any edits, what the index says equals a recount of the live pages", async () => {
    await fc.assert(
      fc.asyncProperty(edits, fc.subarray(allParts), async (history, asked) => {
        await withStore(makeStore, async ({ store }) => {
          await store.write((transaction) => transaction.putPartition(partitionNamed("work")));
          const live = await replay(store, history);
          for (const parts of [asked, ...allParts.map((part) => [part])]) {
            expect(await store.read((transaction) => observed(transaction, parts))).toEqual(recount(live, parts));
          }
          expect((await store.inspect()).problems).toEqual([]);
        });
      }),
      { seed: testSeed(), numRuns: scaled(400) },
    );
  });
}

type Live = Map<string, { part: Part; words: string[] }>;

async function replay(store: Store, history: Edit[]): Promise<Live> {
  const live: Live = new Map();
  for (const edit of history) {
    if ("removed" in edit) {
      if (live.delete(edit.path)) await remove(store, edit.path);
      continue;
    }
    const { path, part, words } = edit;
    await put(store, { path, ...part, words: { body: words.join(" ") } });
    live.set(path, { part, words });
  }
  return live;
}

async function observed(transaction: ReadTransaction, parts: Part[]) {
  const { documents, tokens, frequency } = await transaction.wordStatistics({ parts, terms: vocabulary });
  const matches: Record<string, string[]> = {};
  for (const word of vocabulary) {
    const lists = await transaction.bestMatches({ parts, groups: groupsOf(word), mode: "all" });
    const nums = lists.flat().map(({ num }) => num);
    const candidates = await transaction.candidates({ nums, parts, tags: [] });
    matches[word] = candidates.map(({ page }) => page.path).sort();
  }
  return {
    documents,
    tokens,
    frequency: Object.fromEntries(vocabulary.map((word) => [word, frequency.get(word) ?? 0])),
    matches,
    birches: await transaction.termsByPrefix({ parts, prefix: "birch", limit: 5 }),
    pages: (await transaction.list({ parts, includeArchived: true, limit: 100 })).map(({ path }) => path),
    count: await transaction.countPages({ parts }),
  };
}

function recount(live: Live, parts: Part[]): Awaited<ReturnType<typeof observed>> {
  const pages = [...live].filter(([, { part }]) => parts.includes(part)).sort(([a], [b]) => (a < b ? -1 : 1));
  const holding = (word: string) =>
    pages.filter(([path, { words }]) => words.includes(word) || tokensOf(path) === word);
  const frequency = Object.fromEntries(vocabulary.map((word) => [word, holding(word).length]));
  const birches = ["birch", "birchwood"].filter((word) => frequency[word]! > 0);
  return {
    documents: pages.length,
    tokens: pages.reduce((sum, [, { words }]) => sum + words.length, 0),
    frequency,
    matches: Object.fromEntries(vocabulary.map((word) => [word, holding(word).map(([path]) => path)])),
    birches: birches.sort((a, b) => frequency[b]! - frequency[a]! || (a < b ? -1 : 1)),
    pages: pages.map(([path]) => path),
    count: pages.length,
  };
}
