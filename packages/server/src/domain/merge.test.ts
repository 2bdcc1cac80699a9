import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { testSeed } from "../../../../test/scale.js";
import { mergePages } from "./merge.js";
import type { PageContent, PageKeys } from "./records.js";

/** A page whose text says its keys and nothing else. */
function page(body: string, keys: Partial<PageKeys> = {}, head = ""): PageContent {
  return { head, body, keys: { title: "T", ...keys } };
}

const base = page("one\ntwo\nthree\nfour\nfive\n", { tags: ["a"], mood: "calm" });

function merge(theirs: PageContent, proposed: PageContent, from = base): PageContent | undefined {
  return mergePages({ base: from, theirs, proposed });
}

describe("three-way merge of the body", () => {
  const clean: [name: string, theirs: string, proposed: string, merged: string][] = [
    ["nothing changed", base.body, base.body, base.body],
    ["only theirs", "one\nTWO\nthree\nfour\nfive\n", base.body, "one\nTWO\nthree\nfour\nfive\n"],
    ["only the proposal", base.body, "one\ntwo\nthree\nFOUR\nfive\n", "one\ntwo\nthree\nFOUR\nfive\n"],
    [
      "both, in different places",
      "ONE\ntwo\nthree\nfour\nfive\n",
      "one\ntwo\nthree\nfour\nFIVE\n",
      "ONE\ntwo\nthree\nfour\nFIVE\n",
    ],
    [
      "both the same",
      "one\nTWO\nthree\nfour\nfive\n",
      "one\nTWO\nthree\nfour\nfive\n",
      "one\nTWO\nthree\nfour\nfive\n",
    ],
    [
      "a line taken out, another put in",
      "one\nthree\nfour\nfive\n",
      "one\ntwo\nthree\nfour\nfive\nsix\n",
      "one\nthree\nfour\nfive\nsix\n",
    ],
    [
      "the end without a line break",
      "ONE\ntwo\nthree\nfour\nfive\n",
      base.body.trimEnd(),
      "ONE\ntwo\nthree\nfour\nfive",
    ],
    ["all of it taken out, nothing else done", "", base.body, ""],
  ];
  it.each(clean)("clean: %s", (_name, theirs, proposed, merged) => {
    expect(merge({ ...base, body: theirs }, { ...base, body: proposed })?.body).toBe(merged);
    expect(merge({ ...base, body: proposed }, { ...base, body: theirs })?.body, "the other way round").toBe(merged);
  });

  const conflicts: [name: string, theirs: string, proposed: string][] = [
    ["the same line, differently", "one\nTWO\nthree\nfour\nfive\n", "one\nzwei\nthree\nfour\nfive\n"],
    ["changed here, taken out there", "one\nTWO\nthree\nfour\nfive\n", "one\nthree\nfour\nfive\n"],
    ["two lines put in at one place", `${base.body}six\n`, `${base.body}sechs\n`],
    ["all of it taken out, changed there", "", "one\ntwo\nTHREE\nfour\nfive\n"],
  ];
  it.each(conflicts)("no merge: %s", (_name, theirs, proposed) => {
    expect(merge({ ...base, body: theirs }, { ...base, body: proposed })).toBeUndefined();
    expect(merge({ ...base, body: proposed }, { ...base, body: theirs })).toBeUndefined();
  });
});

describe("lines that every object has as members", () => {
  it.each(["constructor", "valueOf", "toString", "__proto__", "hasOwnProperty"])(
    "%s is a line like any other",
    (line) => {
      const body = (first: string, last: string) => page(`${first}\n${line}\nmiddle\n${line}\n${last}\n`);
      expect(merge(body("A", "z"), body("a", "Z"), body("a", "z"))).toEqual(body("A", "Z"));
      expect(merge(page(`a\n${line}\n`), page("a\n"), page("a\n"))?.body).toBe(`a\n${line}\n`);
    },
  );
});

describe("three-way merge of the keys", () => {
  const clean: [
    name: string,
    theirs: Partial<PageKeys>,
    proposed: Partial<PageKeys>,
    merged: Record<string, unknown>,
  ][] = [
    ["different keys", { title: "New" }, { confidence: 0.5 }, { title: "New", confidence: 0.5 }],
    ["the same value", { title: "New" }, { title: "New" }, { title: "New" }],
    ["a list is one value", { tags: ["a", "b"] }, {}, { tags: ["a", "b"] }],
    ["a key of the client's own", { mood: "wild" }, { colour: "blue" }, { mood: "wild", colour: "blue" }],
    ["order of members in a value", { place: { x: 1, y: 2 } }, { place: { y: 2, x: 1 } }, { place: { x: 1, y: 2 } }],
  ];
  it.each(clean)("clean: %s", (_name, theirs, proposed, merged) => {
    const result = merge(page(base.body, { ...base.keys, ...theirs }), page(base.body, { ...base.keys, ...proposed }));
    expect(result?.keys).toEqual({ ...base.keys, ...merged });
  });

  it("a key taken out by one side stays out", () => {
    const { mood: _, ...without } = base.keys;
    const other = page(base.body, { ...base.keys, confidence: 1 });
    for (const merged of [merge(page(base.body, without), other), merge(other, page(base.body, without))]) {
      expect(merged?.keys).toEqual({ title: "T", tags: ["a"], confidence: 1 });
      expect(Object.hasOwn(merged?.keys ?? {}, "mood")).toBe(false);
    }
  });

  const conflicts: [name: string, theirs: Partial<PageKeys>, proposed: Partial<PageKeys>][] = [
    ["one key, two values", { title: "A" }, { title: "B" }],
    ["one list, two lists", { tags: ["a", "b"] }, { tags: ["a", "c"] }],
    ["a new key, two values", { colour: "blue" }, { colour: "red" }],
    ["changed here, taken out there", { mood: "wild" }, { mood: undefined }],
    ["a prototype's name", JSON.parse('{"__proto__":1}'), JSON.parse('{"__proto__":2}')],
  ];
  it.each(conflicts)("no merge: %s", (_name, theirs, proposed) => {
    const given = (keys: Partial<PageKeys>) =>
      page(
        base.body,
        Object.fromEntries(Object.entries({ ...base.keys, ...keys }).filter(([, value]) => value !== undefined)),
      );
    expect(merge(given(theirs), given(proposed))).toBeUndefined();
    expect(merge(given(proposed), given(theirs))).toBeUndefined();
  });

  it("a conflict in a key keeps a clean body from being merged, and the other way round", () => {
    expect(merge(page("ONE\n", { title: "A" }), page(base.body, { title: "B" }))).toBeUndefined();
    expect(merge(page("ONE\n", { mood: "wild" }, ""), { ...base, body: "EINS\n" })).toBeUndefined();
  });
});

describe("the text of a merged page", () => {
  const text = (keys: string) => `---\n${keys}---\n`;
  const from = { ...page("b\n", { mood: "calm" }), head: text("title: T # a remark\nmood: calm\n") };

  it("is the one that says these keys already, remarks and all", () => {
    const theirs = { ...page("b\n", { mood: "calm" }), head: text("# reordered\nmood: calm\ntitle: T\n") };
    expect(merge(theirs, { ...from, body: "c\n" }, from)?.head).toBe(theirs.head);
    const proposed = { ...page("b\n", { mood: "wild" }), head: text("title: T # mine\nmood: wild\n") };
    expect(merge({ ...from, body: "c\n" }, proposed, from)?.head).toBe(proposed.head);
  });

  it("is written anew when neither says them", () => {
    const theirs = { ...page("b\n", { mood: "wild" }), head: text("title: T\nmood: wild\n") };
    const proposed = { ...page("b\n", { mood: "calm", tags: ["x"] }), head: text("title: T\nmood: calm\ntags: [x]\n") };
    const head = merge(theirs, proposed, from)?.head;
    expect(head).toContain("mood: wild");
    expect(head).toContain("x");
    expect(head).not.toContain("calm");
  });
});

/** Edits of numbered lines: each is kept, changed to something unlike all else, or taken out. */
const edits = (side: string, count: number) =>
  fc
    .array(fc.constantFrom("keep", "keep", "keep", "change", "drop", "add"), { minLength: count, maxLength: count })
    .map((acts) =>
      acts.flatMap((act, line) => {
        if (act === "drop") return [];
        if (act === "change") return [`${side} ${line}`];
        return act === "add" ? [`line ${line}`, `${side} after ${line}`] : [`line ${line}`];
      }),
    );

const original = Array.from({ length: 12 }, (_, line) => `line ${line}`);

describe("whatever both sides did", () => {
  it("a merge holds every line either side wrote and none that either took out; else there is none", () => {
    fc.assert(
      fc.property(edits("theirs", 12), edits("ours", 12), (theirs, ours) => {
        const content = (lines: string[]) => page(lines.map((line) => `${line}\n`).join(""));
        const merged = merge(content(theirs), content(ours), content(original));
        if (!merged) return;
        const lines = merged.body.split("\n").slice(0, -1);
        for (const line of [...theirs, ...ours].filter((written) => !original.includes(written))) {
          expect(lines).toContain(line);
        }
        for (const line of original) {
          const isKept = theirs.includes(line) && ours.includes(line);
          expect(lines.filter((other) => other === line).length, line).toBe(isKept ? 1 : 0);
        }
      }),
      { seed: testSeed(), numRuns: 300 },
    );
  });

  it("edits with an untouched line between them always merge", () => {
    const place = fc.integer({ min: 0, max: 11 });
    fc.assert(
      fc.property(place, place, fc.boolean(), (a, b, drops) => {
        fc.pre(Math.abs(a - b) > 1);
        const theirs = original.map((line, at) => (at === a ? "theirs" : line));
        const ours = original.flatMap((line, at) => (at === b ? (drops ? [] : ["ours"]) : [line]));
        const both = original.flatMap((line, at) =>
          at === a ? ["theirs"] : at === b ? (drops ? [] : ["ours"]) : [line],
        );
        const content = (lines: string[]) => page(lines.join("\n"));
        expect(merge(content(theirs), content(ours), content(original))?.body).toBe(both.join("\n"));
      }),
      { seed: testSeed(), numRuns: 200 },
    );
  });

  it("a side that changed nothing gives way to the other, byte for byte", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 60 }),
        fc.string({ unit: "binary", maxLength: 60 }),
        (a, b) => {
          const [from, to] = [page(a, {}, "head a"), page(b, { extra: b }, "head b")];
          expect(merge(to, from, from)).toEqual(to);
          expect(merge(from, to, from)).toEqual(to);
        },
      ),
      { seed: testSeed(), numRuns: 200 },
    );
  });
});
