import { randomBytes, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { allScopes } from "@satchel/pcp";
import { describe, expect, it } from "vitest";
import { type Caller, ownerPrincipal } from "../domain/access.js";
import { isRefusal } from "../domain/refusal.js";
import type { Context, Environment } from "./context.js";
import { createContext, openContext } from "./context-directory.js";
import { listPages } from "./list-pages.js";
import { searchPages } from "./search-pages.js";
import { writePage } from "./write-page.js";

const owner: Caller = { principal: ownerPrincipal, client: "client:local", scopes: allScopes(), grant: "g" };

async function withContext(use: (context: Context) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "satchel-supersession-"));
  const environment: Environment = { now: () => Date.now(), newUuid: randomUUID, randomBytes };
  createContext(folder, { handle: "me", kind: "personal" }, environment);
  const context = openContext(folder, "me", environment);
  try {
    await use(context);
  } finally {
    await context.store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function write(context: Context, path: string, page: { body: string; supersedes: string }): Promise<void> {
  const relations = [{ rel: "supersedes", target: page.supersedes }];
  const written = await writePage(context, owner, { path, body: page.body, frontmatter: { title: path, relations } });
  if (isRefusal(written)) throw new Error(written.message);
}

/** Of two pages that supersede each other the later written one counts, wherever the other one stands. */
describe("two pages that supersede each other", () => {
  it.each([1, 2, 100])("a listing of %i at a time shows the later one, and only it", (limit) =>
    withContext(async (context) => {
      await write(context, "a", { body: "alder", supersedes: "z" });
      for (const path of ["m", "n"]) await write(context, path, { body: "birch", supersedes: "none" });
      await write(context, "z", { body: "cedar", supersedes: "a" });
      const listed = await listAll(context, limit);
      expect(listed).toEqual(["m", "n", "z"]);
    }),
  );

  it("a search that matches only the later one finds it as current", () =>
    withContext(async (context) => {
      await write(context, "a", { body: "alder", supersedes: "z" });
      await write(context, "z", { body: "cedar", supersedes: "a" });
      const found = await searchPages(context, owner, { query: "cedar", limit: 5, includeStale: false });
      if (isRefusal(found)) throw new Error(found.message);
      expect(found.hits.map(({ page, stale }) => [page.path, stale])).toEqual([["z", false]]);
      const old = await searchPages(context, owner, { query: "alder", limit: 5, includeStale: false });
      expect(isRefusal(old) ? old : old.hits).toEqual([]);
    }));
});

async function listAll(context: Context, limit: number): Promise<string[]> {
  const paths: string[] = [];
  let cursor: string | undefined;
  do {
    const query = { includeArchived: false, includeStale: false, limit, ...(cursor !== undefined && { cursor }) };
    const answer = await listPages(context, owner, query);
    if (isRefusal(answer)) throw new Error(answer.message);
    paths.push(...answer.pages.map(({ page }) => page.path));
    cursor = answer.nextCursor;
  } while (cursor !== undefined);
  return paths;
}
