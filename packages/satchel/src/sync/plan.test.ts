import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Action, type Entry, type FileFact, type PageFact, planSync, type Sides } from "./plan.js";
import { answerPlan, asks, openKind } from "./removals.js";

interface Case {
  entry?: Entry;
  /** The file's digest, or why it can't be used. */
  file?: string | { reason: string; isLink?: boolean };
  page?: Partial<PageFact>;
  gone?: "removed" | "erased";
  outside?: "sensitive" | "partition";
}

const entry: Entry = { id: "pg", version: "v1", digest: "old" };
const page = (digest: string, more: Partial<PageFact> = {}): PageFact => ({
  id: "pg",
  version: "v2",
  digest,
  isSensitive: false,
  ...more,
});

function sidesOf(cases: Record<string, Case>, sensitive = false): Sides {
  const sides = {
    entries: new Map(),
    files: new Map(),
    pages: new Map(),
    gone: new Map(),
    outside: new Map(),
    sensitive,
  };
  for (const [path, { entry, file, page: given, gone, outside }] of Object.entries(cases)) {
    if (entry) sides.entries.set(path, entry);
    const name = `${path}.md`;
    if (file !== undefined)
      sides.files.set(path, typeof file === "string" ? { name, digest: file } : { name, ...file });
    if (given) sides.pages.set(path, { ...page("new"), ...given });
    if (gone) sides.gone.set(path, gone);
    if (outside) sides.outside.set(path, outside);
  }
  return sides;
}

const plan = (one: Case, sensitive = false): Partial<Action> | undefined => {
  const actions = planSync(sidesOf({ p: one }, sensitive));
  expect(actions.length).toBeLessThan(2);
  return actions[0];
};

const nothing = undefined;

describe("planSync for one path", () => {
  it.each<[string, Case, Partial<Action> | undefined]>([
    ["nothing changed", { entry, file: "old" }, nothing],
    ["a new file", { file: "f" }, { do: "write-page", digest: "f" }],
    ["a new page", { page: {} }, { do: "write-file" }],
    ["the same text on both sides for the first time", { file: "new", page: {} }, { do: "pair" }],
    ["different texts for the first time", { file: "f", page: {} }, { do: "write-page", merge: {}, expected: "v2" }],
    ["an edited file", { entry, file: "f" }, { do: "write-page", expected: "v1" }],
    ["an edited page", { entry, file: "old", page: {} }, { do: "write-file", over: { name: "p.md", digest: "old" } }],
    ["both edited alike", { entry, file: "new", page: {} }, { do: "pair" }],
    ["both edited", { entry, file: "f", page: {} }, { do: "write-page", expected: "v2", merge: { base: "v1" } }],
    ["a page written anew with the same text", { entry, file: "old", page: { digest: "old" } }, { do: "pair" }],
    [
      "an edited file, and its page written anew with the same text",
      { entry, file: "f", page: { digest: "old" } },
      { do: "write-page", expected: "v2" },
    ],
    [
      "a file whose text was put aside",
      { entry: { id: "", version: "", digest: "f" }, file: "f", page: {} },
      { do: "write-file", over: { name: "p.md", digest: "f" } },
    ],
    [
      "the same, edited again",
      { entry: { id: "", version: "", digest: "f" }, file: "g", page: {} },
      { do: "write-page", expected: "v2", merge: {} },
    ],
    ["a deleted file", { entry }, { do: "remove-page", asks: true }],
    ["a deleted file, its page edited", { entry, page: {} }, { do: "write-file", isRevived: true }],
    ["a removed page", { entry, file: "old", gone: "removed" }, { do: "remove-file", asks: true, isErased: false }],
    ["a removed page, its file edited", { entry, file: "f", gone: "removed" }, { do: "write-page", isRevived: true }],
    ["an erased page", { entry, file: "old", gone: "erased" }, { do: "remove-file", asks: true, isErased: true }],
    ["an erased page, its file edited", { entry, file: "f", gone: "erased" }, { do: "leave-open", why: "page erased" }],
    ["both removed", { entry, gone: "removed" }, { do: "forget" }],
    ["both erased", { entry, gone: "erased" }, { do: "forget" }],
    [
      "a file that can't be read, its page edited",
      { entry, file: { reason: "r" }, page: {} },
      { do: "refuse", reason: "r" },
    ],
    [
      "a file that can't be read, its page removed",
      { entry, file: { reason: "r" }, gone: "removed" },
      { do: "refuse" },
    ],
    ["a link", { file: { reason: "r", isLink: true } }, nothing],
    ["a link in a page's place", { entry, file: { reason: "r", isLink: true } }, { do: "refuse" }],
    ["a sensitive page that is left out", { entry, outside: "sensitive" }, { do: "forget" }],
    ["a page of another partition", { entry, outside: "partition" }, { do: "forget" }],
    ["a file in the place of such a page", { file: "f", outside: "partition" }, { do: "refuse" }],
    ["a sensitive page edited", { entry, file: "old", page: { isSensitive: true } }, { do: "refuse" }],
    ["a sensitive page and its file edited", { entry, file: "f", page: { isSensitive: true } }, { do: "refuse" }],
    [
      "the file of a sensitive page edited",
      { entry, file: "f", page: { isSensitive: true, digest: "old" } },
      { do: "write-page" },
    ],
  ])("%s", (_name, one, expected) => {
    if (expected === undefined) expect(plan(one)).toBeUndefined();
    else expect(plan(one)).toMatchObject(expected);
    const action = plan(one);
    if (action?.do === "write-page" && !(expected as { merge?: object }).merge)
      expect(action).not.toHaveProperty("merge");
  });

  it("writes sensitive pages into the folder when asked to", () => {
    expect(plan({ entry, file: "old", page: { isSensitive: true } }, true)).toMatchObject({ do: "write-file" });
  });

  it.each([".hidden/p", "a/.b", "ü".repeat(127), `x/${"日".repeat(85)}`])(
    "names the page %s, that can be no file",
    (path) => {
      expect(planSync(sidesOf({ [path]: { page: {} } }))).toMatchObject([{ do: "refuse", path }]);
      expect(planSync(sidesOf({ ["x".repeat(252)]: { page: {} } }))).toMatchObject([{ do: "write-file" }]);
    },
  );
});

describe("planSync across paths", () => {
  it("takes a deleted file whose text lies in a new one for a rename", () => {
    const actions = planSync(sidesOf({ a: { entry }, b: { file: "old" }, c: { file: "old" } }));
    expect(actions).toMatchObject([
      { do: "write-page", path: "b", from: { path: "a", expected: "v1" } },
      { do: "write-page", path: "c" },
    ]);
    expect(actions[1]).not.toHaveProperty("from");
  });

  it("takes a removed page whose text lies in a new one for a rename", () => {
    const actions = planSync(sidesOf({ a: { entry, file: "old", gone: "removed" }, b: { page: { digest: "old" } } }));
    expect(actions).toMatchObject([
      { do: "remove-file", path: "a", asks: false, after: "b" },
      { do: "write-file", path: "b" },
    ]);
  });

  it.each<[string, Record<string, Case>]>([
    ["the text is another one", { a: { entry }, b: { file: "f" } }],
    ["the other file was there before", { a: { entry }, b: { entry: { ...entry, digest: "x" }, file: "old" } }],
    ["both have it already", { a: { entry }, b: { entry, file: "old" } }],
  ])("asks when %s", (_name, cases) => {
    expect(planSync(sidesOf(cases)).filter(asks)).toMatchObject([{ do: "remove-page", path: "a" }]);
  });

  it("does not let erased text come back under another name", () => {
    const actions = planSync(sidesOf({ a: { entry, gone: "erased" }, b: { file: "old" }, c: { file: "f" } }));
    expect(actions).toMatchObject([
      { do: "remove-file", path: "b", asks: true, isErased: true },
      { do: "write-page", path: "c" },
    ]);
  });
});

describe("answerPlan", () => {
  const removals = planSync(
    sidesOf({
      a: { entry },
      b: { entry: { ...entry, digest: "b" }, file: "b", gone: "removed" },
      c: { entry: { ...entry, digest: "c" }, file: "c", gone: "erased" },
    }),
  );

  it("deletes", () => {
    expect(answerPlan(removals, () => "delete")).toEqual(removals);
  });
  it("leaves open", () => {
    expect(answerPlan(removals, () => "later")).toEqual([
      { do: "leave-open", path: "a", why: "file deleted" },
      { do: "leave-open", path: "b", why: "page removed" },
      { do: "leave-open", path: "c", why: "page erased" },
    ]);
  });
  it("brings back what is missing, but nothing that was erased", () => {
    expect(answerPlan(removals, () => "keep")).toMatchObject([
      { do: "write-file", path: "a" },
      { do: "write-page", path: "b", digest: "b" },
      { do: "leave-open", path: "c" },
    ]);
  });
});

/** Both sides as plain maps, and every text that either of them, or the history, holds. */
class Model {
  readonly entries = new Map<string, Entry>();
  readonly files = new Map<string, string>();
  readonly pages = new Map<string, { version: string; digest: string }>();
  readonly history = new Map<string, string>();
  readonly written = new Set<string>();
  private count = 0;

  editFile(path: string, digest: string): void {
    const before = this.files.get(path);
    // What a hand replaces before any sync saw it is not the sync's to keep.
    if (before !== undefined && this.entries.get(path)?.digest !== before) this.written.delete(before);
    this.files.set(path, digest);
    this.written.add(digest);
  }

  editPage(path: string, digest: string): void {
    const version = `v${this.count++}`;
    this.pages.set(path, { version, digest });
    this.history.set(version, digest);
    this.written.add(digest);
  }

  sync(answer: "delete" | "keep" | "later"): Action[] {
    for (let round = 0; round < 9; round++) {
      const actions = answerPlan(planSync(this.sides()), () => answer);
      const doing = actions.filter((action) => action.do !== "leave-open");
      if (doing.length === 0) return actions;
      for (const action of doing) this.apply(action);
    }
    throw new Error("it does not settle");
  }

  private sides(): Sides {
    const files = new Map<string, FileFact>([...this.files].map(([path, digest]) => [path, { name: path, digest }]));
    const changed = [...this.pages].filter(([path, { version }]) => this.entries.get(path)?.version !== version);
    const pages = new Map(changed.map(([path, found]) => [path, { id: "pg", isSensitive: false, ...found }]));
    const gone = new Map(
      [...this.entries.keys()].filter((path) => !this.pages.has(path)).map((path) => [path, "removed" as const]),
    );
    return { entries: this.entries, files, pages, gone, outside: new Map(), sensitive: true };
  }

  private apply(action: Action): void {
    const { path } = action;
    if (action.do === "pair") this.entries.set(path, action.entry);
    else if (action.do === "forget") this.entries.delete(path);
    else if (action.do === "write-file") {
      expect(this.files.get(path)).toBe(action.over?.digest);
      this.files.set(path, action.page.digest);
      this.entries.set(path, action.page);
    } else if (action.do === "remove-file") {
      expect(this.files.get(path)).toBe(action.file.digest);
      this.files.delete(path);
      this.entries.delete(path);
    } else if (action.do === "remove-page") {
      expect(this.pages.get(path)?.version).toBe(action.page.version);
      this.pages.delete(path);
      this.entries.delete(path);
    } else if (action.do === "write-page") this.writePage(action);
  }

  private writePage({ path, digest, expected, merge, from }: Extract<Action, { do: "write-page" }>): void {
    expect(this.files.get(path)).toBe(digest);
    expect(this.pages.get(path)?.version).toBe(expected);
    if (merge) {
      this.files.set(`${path} (conflict ${this.count++})`, digest);
      this.entries.set(path, { id: "", version: "", digest });
      return;
    }
    if (from) {
      this.pages.delete(from.path);
      this.entries.delete(from.path);
    }
    this.editPage(path, digest);
    this.entries.set(path, { id: "pg", version: this.pages.get(path)?.version ?? "", digest });
  }

  verify(): void {
    const kept = new Set([...this.files.values(), ...this.history.values()]);
    for (const text of this.written) expect(kept).toContain(text);
  }
}

const paths = fc.constantFrom("a", "b", "c");
const texts = fc.constantFrom("1", "2", "3", "4", "5");
const step = fc.oneof(
  fc.record({ kind: fc.constantFrom("file", "page"), path: paths, text: texts }),
  fc.record({ kind: fc.constantFrom("delete file", "remove page"), path: paths }),
  fc.record({ kind: fc.constant("rename"), path: paths, to: paths }),
  fc.record({
    kind: fc.constant("sync"),
    answer: fc.constantFrom("delete" as const, "keep" as const, "later" as const),
  }),
);

function take(model: Model, one: Record<string, string>): void {
  const { kind, path = "", text = "", to = "", answer } = one;
  if (kind === "file") model.editFile(path, text);
  else if (kind === "page") model.editPage(path, text);
  else if (kind === "sync") model.sync(answer as "keep");
  else if (kind === "remove page") model.pages.delete(path);
  else {
    const moved = model.files.get(path);
    if (moved === undefined || (kind === "delete file" && model.entries.get(path)?.digest !== moved)) return;
    if (kind === "rename" && model.files.has(to)) return;
    model.files.delete(path);
    if (kind === "rename") model.files.set(to, moved);
  }
}

describe("planSync over any edits on both sides", () => {
  it("settles, loses no text, and ends equal unless something is left open", () => {
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 40 }),
        fc.constantFrom("delete" as const, "keep" as const),
        (steps, last) => {
          const model = new Model();
          for (const one of steps) take(model, one as Record<string, string>);
          const open = model.sync("later");
          for (const action of open) expect(action.do).toBe("leave-open");
          model.verify();
          expect(model.sync(last)).toEqual([]);
          model.verify();
          const pages = [...model.pages].map(([path, { digest }]) => [path, digest]);
          expect(pages.sort()).toEqual([...model.files].sort());
          expect(new Set(model.entries.keys())).toEqual(new Set(model.files.keys()));
        },
      ),
      { numRuns: 2000 },
    );
  });

  it("names what is open as it is", () => {
    expect(
      planSync(sidesOf({ p: { entry } }))
        .filter(asks)
        .map(openKind),
    ).toEqual(["file deleted"]);
  });
});
