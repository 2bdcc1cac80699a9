import { describe, expect, it } from "vitest";
import type { Access } from "./access.js";
import {
  erasedBase,
  type PageContent,
  type PageVersion,
  type Part,
  type PartitionRecord,
  type Revision,
  type Right,
} from "./records.js";
import { decideApproval, isReviewer, type ReviewState, verifyReviewer } from "./review.js";

const everything = "memory:read memory:propose memory:write memory:review memory.sensitive:read";
const at = "2026-01-01T00:00:00.000Z";

interface Who {
  principal?: string;
  client?: string;
  scopes?: string;
  isOwner?: boolean;
  rights?: Record<string, string>;
  fourEyes?: string[];
}

/** An owner in person unless told otherwise. `rights` by partition. */
function reviewer(who: Who = {}): Access {
  const { principal = "user:owner", client = "client:local", scopes = everything, fourEyes = [] } = who;
  const partitions = ["main", "work"].map(
    (name): PartitionRecord => ({
      name,
      grants: [{ principal, rights: (who.rights?.[name] ?? "").split(" ").filter(Boolean) as Right[] }],
      review: "clients",
      fourEyes: fourEyes.includes(name),
    }),
  );
  const caller = { principal, client, scopes: new Set(scopes.split(" ")), grant: "g" };
  return { caller, partitions, groups: [], isOwner: who.isOwner ?? principal === "user:owner" };
}

const normal: Part = { partition: "main", sensitivity: "normal" };
const content = (body: string, keys = {}): PageContent => ({ head: "", body, keys: { title: "T", ...keys } });

function version(id: string, page: Partial<PageVersion> = {}): PageVersion {
  return {
    num: 1,
    id: "pg_1",
    path: "p",
    version: id,
    title: "T",
    lifecycle: "active",
    created: at,
    updated: at,
    generated: { principal: "user:owner", client: "client:local", at },
    ...normal,
    ...content("one\ntwo\nthree\n"),
    ...page,
  };
}

function revision(more: Partial<Revision> = {}): Revision {
  return {
    num: 1,
    id: "rev_1",
    path: "p",
    state: "proposed",
    generated: { principal: "user:owner", client: "client:notes", at },
    ...normal,
    ...content("one\ntwo\nTHREE\n"),
    ...more,
  };
}

describe("who resolves a revision", () => {
  const bob = (more: Who = {}): Access => reviewer({ principal: "user:bob", rights: { main: "review" }, ...more });
  const rows: [name: string, access: Access, state: ReviewState, refused: string | undefined][] = [
    ["the owner in person", reviewer(), { revision: revision() }, undefined],
    ["a reviewer in person", bob(), { revision: revision() }, undefined],
    ["a reader", bob({ rights: { main: "read propose write" } }), { revision: revision() }, "not_found"],
    ["a reviewer of another partition", bob({ rights: { work: "review" } }), { revision: revision() }, "not_found"],
    [
      "without the scope to review",
      reviewer({ scopes: "memory:read memory:write" }),
      { revision: revision() },
      "not_found",
    ],
    [
      "a sensitive one without the scope",
      reviewer({ scopes: "memory:read memory:review" }),
      { revision: revision({ sensitivity: "sensitive" }) },
      "not_found",
    ],
    [
      "aimed at a page that is not the reviewer's to see",
      bob(),
      { revision: revision(), current: version("ver_1", { partition: "work" }) },
      "not_found",
    ],
    ["the owner's assistant", reviewer({ client: "client:notes" }), { revision: revision() }, "forbidden"],
    ["another assistant", reviewer({ client: "client:other" }), { revision: revision() }, "forbidden"],
    ["a rejected one", reviewer(), { revision: revision({ state: "rejected" }) }, "conflict"],
    ["an approved one", reviewer(), { revision: revision({ state: "approved" }) }, "conflict"],
    [
      "an assistant is not told that it is resolved",
      reviewer({ client: "client:other", scopes: "memory:read" }),
      { revision: revision({ state: "approved" }) },
      "not_found",
    ],
    ["four eyes: its author", reviewer({ fourEyes: ["main"] }), { revision: revision() }, "forbidden"],
    ["four eyes: another user", bob({ fourEyes: ["main"] }), { revision: revision() }, undefined],
    [
      "four eyes where the page lies now",
      reviewer({ fourEyes: ["work"] }),
      { revision: revision(), current: version("ver_1", { partition: "work" }) },
      "forbidden",
    ],
    ["four eyes elsewhere", reviewer({ fourEyes: ["work"] }), { revision: revision() }, undefined],
  ];
  it.each(rows)("%s", (_name, access, state, refused) => {
    expect(verifyReviewer(access, state)?.refused).toBe(refused);
  });

  const authors: [name: string, who: Who, refused: string][] = [
    ["through the same client", { client: "client:notes" }, "forbidden"],
    ["through another client", { client: "client:other" }, "not_found"],
    ["as another user", { principal: "user:eve", client: "client:notes" }, "not_found"],
    [
      "without the scope for what it holds",
      { client: "client:notes", scopes: "memory:review memory:propose" },
      "not_found",
    ],
  ];
  it.each(authors)(
    "an author that is no reviewer sees its own proposal and may not decide: %s",
    (_name, who, refused) => {
      const own = revision({
        generated: { principal: "user:bob", client: "client:notes", at },
        sensitivity: "sensitive",
      });
      const access = reviewer({ principal: "user:bob", rights: { main: "read propose" }, ...who });
      const refusal = verifyReviewer(access, { revision: own });
      expect(refusal?.refused).toBe(refused);
      expect(isReviewer(access, { revision: own })).toBe(false);
    },
  );

  it("nothing in a refusal says what the page or the proposal holds", () => {
    const held = {
      revision: revision(content("secretword", { title: "secrettitle" })),
      current: version("v", content("secretword")),
    };
    for (const access of [
      reviewer({ scopes: "memory:review" }),
      reviewer({ client: "client:x" }),
      reviewer({ fourEyes: ["main"] }),
    ]) {
      expect(JSON.stringify(verifyReviewer(access, held))).not.toMatch(/secret/);
    }
  });
});

describe("what an approval makes", () => {
  const base = version("ver_1");
  const decide = (state: Partial<ReviewState>, access = reviewer()) =>
    decideApproval(access, { revision: revision({ base: "ver_1" }), ...state });

  it("a new page is the revision as it stands", () => {
    const proposed = revision({ partition: "work", sensitivity: "sensitive" });
    expect(decideApproval(reviewer(), { revision: proposed })).toEqual({
      ...content("one\ntwo\nTHREE\n"),
      partition: "work",
      sensitivity: "sensitive",
    });
  });

  it("a revision whose base was erased is in conflict, whether its page is there or was removed", () => {
    for (const named of ["ver_1", erasedBase])
      for (const current of [undefined, base])
        expect(
          decideApproval(reviewer(), { revision: revision({ base: named }), ...(current && { current }) }),
        ).toMatchObject({ refused: "conflict" });
  });

  it("an unchanged page becomes the revision, server facts left out", () => {
    const made = decide({ current: base, base });
    expect(made).toEqual({ ...content("one\ntwo\nTHREE\n"), ...normal });
    for (const key of ["id", "note", "state", "generated", "base", "num"]) expect(made).not.toHaveProperty(key);
  });

  const moved = (page: Partial<PageVersion>) => ({ base, current: version("ver_2", page) });
  const rows: [name: string, state: Partial<ReviewState>, made: Record<string, unknown>][] = [
    ["clean body", moved(content("ONE\ntwo\nthree\n")), { body: "ONE\ntwo\nTHREE\n" }],
    ["clean key", moved(content(base.body, { mood: "calm" })), { keys: { title: "T", mood: "calm" } }],
    ["moved since", moved({ partition: "work" }), { partition: "work", body: "one\ntwo\nTHREE\n" }],
    ["made sensitive since", moved({ sensitivity: "sensitive" }), { sensitivity: "sensitive" }],
    ["the same text twice", moved(content("one\ntwo\nTHREE\n")), { body: "one\ntwo\nTHREE\n" }],
  ];
  it.each(rows)("merged: %s", (_name, state, made) => {
    expect(decide(state)).toMatchObject(made);
  });

  const conflicts: [name: string, state: Partial<ReviewState>][] = [
    ["the same line", moved(content("one\ntwo\ndrei\n"))],
    [
      "the same key",
      {
        ...moved(content(base.body, { title: "Mine" })),
        revision: revision({ base: "ver_1", ...content(base.body, { title: "Yours" }) }),
      },
    ],
    [
      "a clean body but not the keys",
      {
        ...moved(content("ONE\ntwo\nthree\n", { title: "Mine" })),
        revision: revision({ base: "ver_1", ...content("one\ntwo\nTHREE\n", { title: "Yours" }) }),
      },
    ],
    [
      "moved to two places",
      { ...moved({ partition: "work" }), revision: revision({ base: "ver_1", partition: "other" }) },
    ],
    ["the page is gone", { base }],
    ["the page is gone and another one is there", { base, current: version("ver_9", { id: "pg_2" }) }],
    ["made without a base, and now there is a page", { revision: revision(), current: version("ver_2") }],
    ["a twin is there", { revision: revision(), current: version("ver_2", { path: "P" }) }],
  ];
  it.each(conflicts)("no merge: %s", (_name, state) => {
    const refusal = decide(state);
    expect(refusal).toMatchObject({ refused: "conflict" });
    expect(refusal).not.toHaveProperty("body");
  });
});

describe("moving and lowering by approval", () => {
  const to = (part: Partial<Part>) => ({ revision: revision({ base: "ver_1", ...part }) });
  const secret = { sensitivity: "sensitive" } as const;
  const bob = (main: string, work: string) =>
    reviewer({ principal: "user:bob", rights: { main: `review ${main}`, work: `review ${work}` } });
  const rows: [name: string, access: Access, from: Partial<Part>, proposed: Partial<Part>, allowed: boolean][] = [
    ["stays", bob("", ""), {}, {}, true],
    ["raised", bob("", ""), {}, secret, true],
    ["lowered with write", bob("write", ""), secret, {}, true],
    ["lowered without write", bob("", "write"), secret, {}, false],
    ["moved with write in both", bob("write", "write"), {}, { partition: "work" }, true],
    ["moved with write here only", bob("write", ""), {}, { partition: "work" }, false],
    ["moved with write there only", bob("", "write"), {}, { partition: "work" }, false],
    ["moved and lowered with write in both", bob("write", "write"), secret, { partition: "work" }, true],
    ["an owner in person", reviewer(), secret, { partition: "work" }, true],
  ];
  it.each(rows)("%s", (_name, access, from, proposed, allowed) => {
    const base = version("ver_1", from);
    const made = decideApproval(access, { ...to(proposed), current: base, base });
    if (allowed) expect(made).toMatchObject({ body: "one\ntwo\nTHREE\n" });
    else expect(made).toMatchObject({ refused: "forbidden" });
  });
});
