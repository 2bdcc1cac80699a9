import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Ranking } from "../retrieval/ranking.js";
import { wordRetriever } from "../retrieval/word-retriever.js";
import { createSqliteStore, openSqliteStore } from "../store/sqlite/store.js";
import { createRankingCache } from "./ranking-cache.js";

const capacity = 32;
const created = "2026-01-01T00:00:00.000Z";

/** Real rankings, of an empty context. */
async function makeRankings(count: number): Promise<Ranking[]> {
  const folder = mkdtempSync(join(tmpdir(), "satchel-rankings-"));
  const file = join(folder, "context.db");
  createSqliteStore(file, { id: "c", handle: "me", kind: "personal", profileType: "core", created });
  const store = openSqliteStore(file);
  try {
    return await store.read((transaction) => {
      const request = {
        parts: [],
        readable: [],
        filters: { tags: [], includeStale: false, includeArchived: false },
        nowMs: 0,
        snapshot: created,
      };
      const start = (_: unknown, i: number) => Ranking.start(transaction, wordRetriever, { ...request, text: `q${i}` });
      return Promise.all(Array.from({ length: count }, start));
    });
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

describe("ranking cache", () => {
  it("gives back what was set last under exactly that key", async () => {
    const [one, two] = await makeRankings(2);
    const cache = createRankingCache();
    cache.set("a", one!);
    expect(cache.get("a")).toBe(one);
    for (const other of ["", "A", "a ", "__proto__"]) expect(cache.get(other)).toBeUndefined();
    cache.set("a", two!);
    expect(cache.get("a")).toBe(two);
  });

  it("drops the least recently used, and only when it is full", async () => {
    const rankings = await makeRankings(capacity + 3);
    const cache = createRankingCache();
    for (let i = 0; i < capacity; i++) cache.set(`k${i}`, rankings[i]!);
    expect(cache.get("k0")).toBe(rankings[0]);
    cache.set("k1", rankings[1]!);
    for (let i = capacity; i < capacity + 3; i++) cache.set(`k${i}`, rankings[i]!);
    const kept = rankings.map((_, i) => cache.get(`k${i}`) !== undefined);
    expect(kept.flatMap((isKept, i) => (isKept ? [] : [i]))).toEqual([2, 3, 4]);
  });
});
