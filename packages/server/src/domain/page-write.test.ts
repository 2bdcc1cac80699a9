import { describe, expect, it } from "vitest";
import type { Caller } from "./access.js";
import { decideWrite, type WriteRequest, type WriteState } from "./page-write.js";
import type { PageContent, PageKeys, PageRecord } from "./records.js";

const readWrite = "memory:read memory:write";
const all = `${readWrite} memory.sensitive:read`;

function caller(scopes: string, principal = "user:owner", client = "client:notes"): Caller {
  return { principal, client, scopes: new Set(scopes.split(" ").filter(Boolean)), grant: "g" };
}

function held(more: Partial<PageRecord & PageContent> = {}): PageRecord & PageContent {
  const times = { created: "2026-01-01T00:00:00.000Z", updated: "2026-01-01T00:00:00.000Z" };
  const part = { partition: "main", sensitivity: "normal" } as const;
  const content = { head: "---\ntitle: Held\n---\n", body: "held text", keys: { title: "Held" } };
  const names = { num: 1, id: "pg_1", path: "a", version: "ver_1", title: "Held", lifecycle: "active" } as const;
  return { ...names, ...times, ...part, ...content, ...more };
}

function state(existing?: PageRecord & PageContent, hidden: string[] = []): WriteState {
  const partitions = [{ name: "main" }, { name: "work" }];
  return { partitions, hiddenLinks: new Set(hidden), ...(existing && { existing }) };
}

const request: WriteRequest = { path: "a", head: "", body: "new text", keys: {} };

describe("who may write", () => {
  const sensitive = held({ sensitivity: "sensitive" });
  const decisions: [name: string, who: Caller, existing: ReturnType<typeof held> | undefined, outcome: string][] = [
    ["owner, everything, new page", caller(all), undefined, "written"],
    ["owner, everything, own page", caller(all), held(), "written"],
    ["owner, everything, sensitive page", caller(all), sensitive, "written"],
    ["write but no read, new page", caller("memory:write"), undefined, "written"],
    ["write but no read, page it can't see", caller("memory:write"), held(), "unsupported"],
    ["no sensitive read, sensitive page", caller(readWrite), sensitive, "unsupported"],
    ["propose only, new page", caller("memory:read memory:propose"), undefined, "unsupported"],
    ["propose only, page it sees", caller("memory:read memory:propose"), held(), "unsupported"],
    ["read only, new page", caller("memory:read"), undefined, "forbidden"],
    ["read only, page it sees", caller("memory:read"), held(), "forbidden"],
    ["read only, page it can't see", caller("memory:read"), sensitive, "forbidden"],
    ["nothing, page it can't see", caller(""), held(), "forbidden"],
    ["another user, new page", caller(all, "user:guest"), undefined, "not_found"],
    ["another user, page it can't see", caller(all, "user:guest"), held(), "not_found"],
    ["a service, page it can't see", caller(all, "service:job"), held(), "not_found"],
  ];
  it.each(decisions)("%s", (_name, who, existing, outcome) => {
    const decided = decideWrite(who, request, state(existing));
    expect("refused" in decided ? decided.refused : "written").toBe(outcome);
  });

  it("a page that the caller can't see shows in no answer of a caller without rights, or who expects a version", () => {
    const hidden = held({
      path: "A",
      title: "Hidden title",
      keys: { title: "Hidden title" },
      sensitivity: "sensitive",
    });
    const blind = [caller(all, "user:guest"), caller("memory:read"), caller(""), caller("memory:propose")];
    for (const who of blind) {
      for (const asked of [
        request,
        { ...request, keys: { partition: "none" } },
        { ...request, expectedUpdated: hidden.updated },
      ]) {
        expect(decideWrite(who, asked, state(hidden))).toEqual(decideWrite(who, asked, state()));
      }
    }
    const writer = caller(readWrite);
    const expecting = { ...request, expectedUpdated: hidden.updated };
    expect(decideWrite(writer, expecting, state(hidden))).toEqual(decideWrite(writer, expecting, state()));
    const answer = JSON.stringify(decideWrite(writer, request, state(hidden)));
    for (const text of ["Hidden title", hidden.updated, '\\"A\\"', "sensitive"]) expect(answer).not.toContain(text);
  });
});

describe("twins and expected versions", () => {
  it("a twin the caller sees is a conflict that names it, before the version is looked at", () => {
    const twin = decideWrite(caller(all), { ...request, expectedUpdated: "other" }, state(held({ path: "A" })));
    expect(twin).toMatchObject({ refused: "conflict" });
    expect("message" in twin && twin.message).toContain('"A"');
  });

  const expected: [name: string, expectedUpdated: string, existing: boolean, conflict: boolean][] = [
    ["the current version", "2026-01-01T00:00:00.000Z", true, false],
    ["an older version", "2025-12-31T00:00:00.000Z", true, true],
    ["a version of no page", "2026-01-01T00:00:00.000Z", false, true],
  ];
  it.each(expected)("%s", (_name, expectedUpdated, existing, conflict) => {
    const decided = decideWrite(caller(all), { ...request, expectedUpdated }, state(existing ? held() : undefined));
    expect("refused" in decided && decided.refused === "conflict").toBe(conflict);
    if (conflict && existing && "message" in decided) expect(decided.message).toContain("2026-01-01T00:00:00.000Z");
  });

  it("a stale version is refused before rights are, but not before sight is", () => {
    const asked = { ...request, expectedUpdated: "2025-12-31T00:00:00.000Z" };
    expect(decideWrite(caller("memory:read"), asked, state(held()))).toMatchObject({ refused: "conflict" });
  });
});

describe("partition and sensitivity", () => {
  const work = held({ partition: "work", sensitivity: "sensitive" });
  const chosen: [name: string, asked: Partial<WriteRequest>, existing: typeof work | undefined, part: string][] = [
    ["a new page", {}, undefined, "main normal"],
    ["a new page under style/", { path: "style/voice" }, undefined, "main sensitive"],
    ["a page named style", { path: "style" }, undefined, "main normal"],
    ["style/ asked to be normal", { path: "style/voice", keys: { sensitivity: "normal" } }, undefined, "main normal"],
    ["keys that say neither", {}, work, "work sensitive"],
    ["no keys at all", { keys: undefined }, work, "work sensitive"],
    ["moved", { keys: { partition: "main" } }, work, "main sensitive"],
    ["lowered", { keys: { sensitivity: "normal" } }, work, "work normal"],
  ];
  it.each(chosen)("%s", (_name, asked, existing, part) => {
    const decided = decideWrite(caller(all), { ...request, ...asked } as WriteRequest, state(existing));
    expect("refused" in decided ? decided : `${decided.partition} ${decided.sensitivity}`).toBe(part);
  });

  it("an unknown partition is not found, and the message says where to look", () => {
    const decided = decideWrite(caller(all), { ...request, keys: { partition: "none" } }, state());
    expect(decided).toMatchObject({ refused: "not_found" });
  });

  it("raising sensitivity needs no right to read it", () => {
    const decided = decideWrite(caller(readWrite), { ...request, keys: { sensitivity: "sensitive" } }, state(held()));
    expect(decided).toMatchObject({ sensitivity: "sensitive" });
  });
});

describe("keys", () => {
  const person = caller(all, "user:owner", "client:local");
  const decide = (who: Caller, asked: Partial<WriteRequest>, now = state()) => {
    const decided = decideWrite(who, { ...request, ...asked } as WriteRequest, now);
    if ("refused" in decided) throw new Error(decided.message);
    return decided;
  };

  it("titles come from the keys, else the first heading, else the path", () => {
    expect(decide(person, { keys: { title: "Given" }, body: "# Heading" }).keys.title).toBe("Given");
    expect(decide(person, { body: "text\n# Heading\n" }).keys.title).toBe("Heading");
    expect(decide(person, { path: "notes/last", body: "text" }).keys.title).toBe("last");
  });

  it("without keys an existing page keeps its own and its head; with keys they are replaced whole", () => {
    const existing = held({ keys: { title: "Held", tags: ["kept"], mood: "calm" } });
    const kept = decide(person, { keys: undefined }, state(existing));
    expect(kept).toMatchObject({ head: existing.head, body: "new text", keys: existing.keys });
    const replaced = decide(person, { keys: { title: "New" }, head: "---\ntitle: New\n---\n" }, state(existing));
    expect(replaced.keys).toEqual({ title: "New" });
    expect(replaced.head).toBe("---\ntitle: New\n---\n");
  });

  const claims: [name: string, keys: Partial<PageKeys>, assistant: Partial<PageKeys>][] = [
    ["validated", { lifecycle: "validated" }, { lifecycle: "active" }],
    ["origin user", { source: { origin: "user", client: "c" } }, { source: { origin: "chat", client: "c" } }],
    ["stale", { lifecycle: "stale" }, { lifecycle: "stale" }],
    ["origin import", { source: { origin: "import" } }, { source: { origin: "import" } }],
  ];
  it.each(claims)("only a person can claim it: %s", (_name, keys, assistant) => {
    const given = JSON.stringify(keys);
    expect(decide(person, { keys }).keys).toMatchObject(keys);
    expect(decide(caller(all), { keys }).keys).toEqual({ title: "a", ...assistant });
    expect(decide(caller(all, "user:owner", "client:locals"), { keys }).keys).toMatchObject(assistant);
    expect(JSON.stringify(keys)).toBe(given);
  });

  it("links the caller can't see survive a write; those it sees are as it says", () => {
    const relations: PageKeys["relations"] = [
      { rel: "about", target: "hidden" },
      { rel: "about", target: "seen" },
    ];
    const existing = held({ keys: { title: "Held", relations, derived_from: ["hidden", "seen"] } });
    const decided = decide(caller(readWrite), { keys: { title: "New" } }, state(existing, ["hidden"]));
    expect(decided.keys).toEqual({
      title: "New",
      relations: [{ rel: "about", target: "hidden" }],
      derived_from: ["hidden"],
    });
  });
});
