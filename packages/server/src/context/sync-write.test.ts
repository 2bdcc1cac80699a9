import { randomBytes, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { allScopes } from "@satchel/pcp";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Caller, ownerPrincipal } from "../domain/access.js";
import type { Context, Environment } from "./context.js";
import { createContext, openContext } from "./context-directory.js";
import { comparePages, readSyncTexts } from "./sync-compare.js";
import { type SyncChange, type SyncOutcome, writeSyncChanges } from "./sync-write.js";

const owner: Caller = { principal: ownerPrincipal, client: "client:local", scopes: allScopes(), grant: "g" };
const scope = { prefix: "", sensitive: true };

let folder: string;
let context: Context;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "satchel-sync-"));
  const environment: Environment = { now: () => Date.now(), newUuid: randomUUID, randomBytes };
  createContext(folder, { handle: "me", kind: "personal" }, environment);
  context = openContext(folder, "me", environment);
});
afterEach(async () => {
  await context.store.close();
  rmSync(folder, { recursive: true, force: true });
});

type Asked = Partial<Extract<SyncChange, { kind: "write" }>> & { path: string };

const write = ({ text = "x\n", ...more }: Asked): SyncChange => ({
  kind: "write",
  file: `${more.path}.md`,
  text,
  ...more,
});

const send = (changes: SyncChange[], more: { dryRun?: boolean; partition?: string } = {}): Promise<SyncOutcome[]> =>
  writeSyncChanges(context, owner, { changes, dryRun: false, ...more });

async function put(path: string, text: string, expected?: string): Promise<string> {
  const [outcome] = await send([write({ path, text, ...(expected !== undefined && { expected }) })]);
  if (!outcome || !("version" in outcome)) throw new Error(JSON.stringify(outcome));
  return outcome.version;
}

async function textsNow(): Promise<Record<string, string>> {
  const { changed } = await comparePages(context, owner, { scope, known: new Map(), present: new Set() });
  const texts = await readSyncTexts(context, owner, { pages: changed });
  return Object.fromEntries(texts.map(({ path, text }) => [path, text]));
}

describe("writeSyncChanges", () => {
  it("lets no change keep another one out", async () => {
    const version = await put("there", "1\n");
    const outcomes = await send([
      write({ path: "bad", text: "---\na: [\n---\n" }),
      write({ path: "there", text: "2\n", expected: "ver_other" }),
      write({ path: "There", text: "twin\n" }),
      write({ path: "good" }),
      { kind: "remove", path: "absent", expected: "ver_other" },
      { kind: "remove", path: "there", expected: "ver_other" },
      write({ path: "there", text: "1\n", expected: "ver_other" }),
      write({ path: "elsewhere", text: "---\npartition: none\n---\n" }),
    ]);
    expect(outcomes.map(({ outcome }) => outcome)).toEqual([
      "refused",
      "moved",
      "refused",
      "added",
      "moved",
      "moved",
      "same",
      "refused",
    ]);
    expect(outcomes[0]).toMatchObject({ problems: [{ file: "bad.md", line: 3 }] });
    expect(outcomes[6]).toMatchObject({ version });
    expect(await textsNow()).toEqual({ good: "x\n", there: "1\n" });
  });

  it("writes nothing on a dry run, and says the same", async () => {
    const version = await put("page", "1\n");
    const changes = [write({ path: "page", text: "2\n", expected: version }), write({ path: "new" })];
    expect((await send(changes, { dryRun: true })).map(({ outcome }) => outcome)).toEqual(["changed", "added"]);
    expect(await textsNow()).toEqual({ page: "1\n" });
  });

  it("merges what can be, and writes nothing where it can't", async () => {
    const base = await put("page", "1\n2\n3\n");
    const theirs = await put("page", "1\n2\n3\n4\n", base);
    const asked = { path: "page", expected: theirs };
    const lost = [{}, { base: "ver_gone" }];
    for (const merge of lost) {
      expect(await send([write({ ...asked, text: "0\n2\n3\n", merge })])).toEqual([
        { outcome: "conflict", path: "page" },
      ]);
    }
    expect(await send([write({ ...asked, text: "1\n2\n3\n5\n", merge: { base } })])).toMatchObject([
      { outcome: "conflict" },
    ]);
    const [merged] = await send([write({ ...asked, text: "0\n2\n3\n", merge: { base } })]);
    expect(merged).toMatchObject({ outcome: "merged" });
    expect(await textsNow()).toEqual({ page: "0\n2\n3\n4\n" });
    const known = merged && "version" in merged ? merged.version : "";
    const own = await context.store.read((transaction) => transaction.version(known));
    expect(own?.body).toBe("0\n2\n3\n");
  });

  it("ends a renamed page only when the new one is written, and keeps where it lay", async () => {
    await context.store.write((transaction) =>
      transaction.putPartition({ name: "work", grants: [], review: "nobody", fourEyes: false }),
    );
    const text = "---\npartition: work\nsensitivity: sensitive\n---\nx\n";
    const expected = await put("Old", text);
    const from = { path: "Old", expected };
    await put("taken", "t\n");
    const refused = await send([write({ path: "Taken", text, from })]);
    expect(refused).toMatchObject([{ outcome: "refused" }]);
    expect(await send([write({ path: "new", text, from: { ...from, expected: "ver_other" } })])).toMatchObject([
      { outcome: "moved" },
    ]);
    expect(Object.keys(await textsNow())).toEqual(["Old", "taken"]);
    expect(await send([write({ path: "old", text: "x\n", from })])).toMatchObject([
      { outcome: "added", path: "old", from: "Old", partition: "work", sensitivity: "sensitive" },
    ]);
    expect(Object.keys(await textsNow())).toEqual(["old", "taken"]);
  });
});

describe("comparePages", () => {
  it("tells what changed, what is gone and what is left out, and nothing of the rest", async () => {
    const versions = new Map<string, { id: string; version: string }>();
    for (const path of ["same", "edited", "removed", "style/known"]) {
      const version = await put(path, `${path}\n`);
      const page = await context.store.read((transaction) => transaction.page({ path }));
      versions.set(path, { id: page?.id ?? "", version });
    }
    versions.set("erased", { id: "pg_gone", version: "ver_gone" });
    await put("edited", "2\n", versions.get("edited")?.version);
    await send([{ kind: "remove", path: "removed", expected: versions.get("removed")?.version ?? "" }]);
    await put("style/unknown", "s\n");
    await put("style/present", "s\n");
    await put("new", "n\n");
    const compare = (sensitive: boolean, prefix = "") =>
      comparePages(context, owner, {
        scope: { prefix, sensitive },
        known: new Map([...versions].filter(([path]) => path.startsWith(prefix))),
        present: new Set(["style/present", "removed"]),
      });
    const compared = await compare(false);
    expect(compared.changed.map(({ path }) => path)).toEqual(["edited", "new", "style/present"]);
    expect(compared.gone).toEqual([
      { path: "removed", isErased: false },
      { path: "erased", isErased: true },
    ]);
    expect(compared).toMatchObject({ outside: [{ path: "style/known", why: "sensitive" }], sensitive: 2 });
    expect((await compare(true, "style/")).changed.map(({ path }) => path)).toEqual(["style/present", "style/unknown"]);
  });
});
