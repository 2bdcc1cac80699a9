import { describe, expect, it } from "vitest";
import type { Access } from "./access.js";
import { decideWrite, type WriteRequest, type WriteState } from "./page-write.js";
import type { PageKeys, PageVersion } from "./records.js";

const readWrite = "memory:read memory:write";
const all = `${readWrite} memory.sensitive:read`;

function access(scopes: string, principal = "user:owner", client = "client:notes"): Access {
  const caller = { principal, client, scopes: new Set(scopes.split(" ").filter(Boolean)), grant: "g" };
  const rules = { grants: [], review: "nobody", fourEyes: false } as const;
  const partitions = ["main", "work"].map((name) => ({ name, ...rules, grants: [...rules.grants] }));
  return { caller, partitions, isOwner: principal === "user:owner", groups: [] };
}

function held(more: Partial<PageVersion> = {}): PageVersion {
  const times = { created: "2026-01-01T00:00:00.000Z", updated: "2026-01-01T00:00:00.000Z" };
  const part = { partition: "main", sensitivity: "normal" } as const;
  const content = { head: "---\ntitle: Held\n---\n", body: "held text", keys: { title: "Held" } };
  const names = { num: 1, id: "pg_1", path: "a", version: "ver_1", title: "Held", lifecycle: "active" } as const;
  const generated = { principal: "user:owner", at: times.updated };
  return { ...names, ...times, ...part, ...content, generated, ...more };
}

function state(existing?: PageVersion, hidden: string[] = []): WriteState {
  return { isTakenUnseen: false, hiddenLinks: new Set(hidden), ...(existing && { existing }) };
}

/** A page is there, and the caller may not read it. */
const unseen: WriteState = { isTakenUnseen: true, hiddenLinks: new Set() };

const request: WriteRequest = { path: "a", head: "", body: "new text", keys: {} };

describe("who may write", () => {
  const readPropose = "memory:read memory:propose";
  const decisions: [name: string, who: Access, state: WriteState, outcome: string][] = [
    ["owner, everything, new page", access(all), state(), "apply"],
    ["owner, everything, own page", access(all), state(held()), "apply"],
    ["owner, everything, sensitive page", access(all), state(held({ sensitivity: "sensitive" })), "apply"],
    ["write but no read, new page", access("memory:write"), state(), "apply"],
    ["write, page it can't see", access(readWrite), unseen, "propose"],
    ["propose only, new page", access(readPropose), state(), "propose"],
    ["propose only, page it sees", access(readPropose), state(held()), "propose"],
    ["read only, new page", access("memory:read"), state(), "forbidden"],
    ["read only, page it sees", access("memory:read"), state(held()), "forbidden"],
    ["read only, page it can't see", access("memory:read"), unseen, "forbidden"],
    ["nothing, page it can't see", access(""), unseen, "forbidden"],
    ["another user, new page", access(all, "user:guest"), state(), "not_found"],
    ["another user, page it can't see", access(all, "user:guest"), unseen, "not_found"],
    ["a service, page it can't see", access(all, "service:job"), unseen, "not_found"],
  ];
  it.each(decisions)("%s", (_name, who, now, outcome) => {
    const decided = decideWrite(who, request, now);
    expect("refused" in decided ? decided.refused : decided.outcome).toBe(outcome);
  });

  it("a page that the caller can't see shows in nothing but that the write became a proposal", () => {
    const blind = [access(all, "user:guest"), access("memory:read"), access(""), access("memory:propose")];
    const asked = [
      request,
      { ...request, keys: { partition: "none" } },
      { ...request, expectedUpdated: "2026-01-01T00:00:00.000Z" },
    ];
    for (const who of blind) {
      for (const each of asked) expect(decideWrite(who, each, unseen)).toEqual(decideWrite(who, each, state()));
    }
    const writer = access(readWrite);
    for (const each of asked) {
      const [hidden, free] = [decideWrite(writer, each, unseen), decideWrite(writer, each, state())];
      expect({ ...hidden, outcome: "", keys: {} }).toEqual({ ...free, outcome: "", keys: {} });
    }
  });
});

describe("twins and expected versions", () => {
  it("a twin the caller sees is a conflict that names it, before the version is looked at", () => {
    const twin = decideWrite(access(all), { ...request, expectedUpdated: "other" }, state(held({ path: "A" })));
    expect(twin).toMatchObject({ refused: "conflict" });
    expect("message" in twin && twin.message).toContain('"A"');
  });

  const expected: [name: string, expectedUpdated: string, existing: boolean, conflict: boolean][] = [
    ["the current version", "2026-01-01T00:00:00.000Z", true, false],
    ["an older version", "2025-12-31T00:00:00.000Z", true, true],
    ["a version of no page", "2026-01-01T00:00:00.000Z", false, true],
  ];
  it.each(expected)("%s", (_name, expectedUpdated, existing, conflict) => {
    const decided = decideWrite(access(all), { ...request, expectedUpdated }, state(existing ? held() : undefined));
    expect("refused" in decided && decided.refused === "conflict").toBe(conflict);
    if (conflict && existing && "message" in decided) expect(decided.message).toContain("2026-01-01T00:00:00.000Z");
  });

  it("a stale version is refused before rights are, but not before sight is", () => {
    const asked = { ...request, expectedUpdated: "2025-12-31T00:00:00.000Z" };
    expect(decideWrite(access("memory:read"), asked, state(held()))).toMatchObject({ refused: "conflict" });
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
    const decided = decideWrite(access(all), { ...request, ...asked } as WriteRequest, state(existing));
    expect("refused" in decided ? decided : `${decided.partition} ${decided.sensitivity}`).toBe(part);
  });

  it("an unknown partition is not found, and the message says where to look", () => {
    const decided = decideWrite(access(all), { ...request, keys: { partition: "none" } }, state());
    expect(decided).toMatchObject({ refused: "not_found" });
  });

  it("raising sensitivity needs no right to read it", () => {
    const decided = decideWrite(access(readWrite), { ...request, keys: { sensitivity: "sensitive" } }, state(held()));
    expect(decided).toMatchObject({ sensitivity: "sensitive" });
  });
});

describe("keys", () => {
  const person = access(all, "user:owner", "client:local");
  const decide = (who: Access, asked: Partial<WriteRequest>, now = state()) => {
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
    expect(decide(access(all), { keys }).keys).toEqual({ title: "a", ...assistant });
    expect(decide(access(all, "user:owner", "client:locals"), { keys }).keys).toMatchObject(assistant);
    expect(JSON.stringify(keys)).toBe(given);
  });

  it("links the caller can't see survive a write; those it sees are as it says", () => {
    const relations: PageKeys["relations"] = [
      { rel: "about", target: "hidden" },
      { rel: "about", target: "seen" },
    ];
    const existing = held({ keys: { title: "Held", relations, derived_from: ["hidden", "seen"] } });
    const decided = decide(access(readWrite), { keys: { title: "New" } }, state(existing, ["hidden"]));
    expect(decided.keys).toEqual({
      title: "New",
      relations: [{ rel: "about", target: "hidden" }],
      derived_from: ["hidden"],
    });
  });
});
