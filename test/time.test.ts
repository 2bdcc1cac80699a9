import { describe, expect, it } from "vitest";
import { Choices } from "./choices.js";
import { startMs } from "./environment.js";
import { scaled, testSeed } from "./scale.js";
import { assistant, owner, type Read, Shared } from "./shared-context.js";

/*
 * A random history is played on a context and, beside it, on plain arrays. Whatever is asked of an instant has to be
 * what the arrays say.
 */

const limited = assistant("memory:read memory:write");
const dayMs = 86_400_000;

/** A version as it was recorded; `removed` ends the page. */
interface Recorded {
  at: string;
  page: number;
  path: string;
  removed: boolean;
  body: string;
  tags: string[];
  partition: string;
  sensitivity: string;
  lifecycle: string;
  validFrom?: string;
  validUntil?: string;
  supersedes: string[];
}

const words = ["anchor", "basalt", "cedar", "delta", "ember"];
const folders = ["notes", "plans", "plans/deep"];

class History {
  readonly versions: Recorded[] = [];
  private readonly live = new Map<string, Recorded>();
  private readonly ids: string[] = [];

  constructor(
    readonly shared: Shared,
    private readonly choices: Choices,
  ) {}

  async play(edits: number): Promise<void> {
    await this.shared.partition("work");
    for (let edit = 0; edit < edits; edit++) {
      this.shared.clock.ms += this.choices.integer(0, 3) * this.choices.integer(1, dayMs);
      const known = [...this.live.keys()];
      if (known.length > 0 && this.choices.next() < 0.15) await this.remove(this.choices.pick(known));
      else await this.write(this.choices.next() < 0.6 && known.length > 0 ? this.choices.pick(known) : this.newPath());
    }
  }

  private newPath(): string {
    return `${this.choices.pick(folders)}/${this.choices.integer(0, 30)}`;
  }

  private async remove(path: string): Promise<void> {
    const last = this.live.get(path) as Recorded;
    await this.shared.remove(path);
    const at = await this.shared.recordedTime();
    this.versions.push({ ...last, at, removed: true });
    this.live.delete(path);
  }

  private async write(path: string): Promise<void> {
    const { choices, live } = this;
    const before = live.get(path);
    const day = (offset: number) => new Date(this.shared.clock.ms + offset * dayMs).toISOString();
    const version: Omit<Recorded, "at" | "page"> = {
      path,
      removed: false,
      body: `${choices.many(choices.integer(1, 6), () => choices.pick(words)).join(" ")} v${this.versions.length}\n`,
      tags: choices.many(choices.integer(0, 2), () => choices.pick(["one", "two"])),
      partition: choices.next() < 0.2 ? choices.pick(["main", "work"]) : (before?.partition ?? "main"),
      sensitivity: choices.next() < 0.2 ? choices.pick(["normal", "sensitive"]) : (before?.sensitivity ?? "normal"),
      lifecycle: choices.pick(["active", "active", "active", "validated", "stale", "archived"]),
      ...(choices.next() < 0.2 && { validFrom: day(choices.integer(-9, 9)) }),
      ...(choices.next() < 0.2 && { validUntil: day(choices.integer(-9, 9)).slice(0, choices.pick([10, 24])) }),
      supersedes: choices.next() < 0.2 ? [choices.pick([...live.keys(), "notes/absent"])] : [],
    };
    const { id, updated } = await this.shared.write(path, version.body, keysOf(version));
    if (before === undefined) this.ids.push(String(id));
    const page = before?.page ?? this.ids.length - 1;
    const recorded = { ...version, at: String(updated), page };
    this.versions.push(recorded);
    live.set(path, recorded);
  }

  id(page: number): string {
    return this.ids[page] as string;
  }

  /** The pages at an instant, by path, as one who reads normal pages only (or all) is shown them today. */
  at(instant: string, readsAll: boolean): Recorded[] {
    const [then, now] = [new Map<number, Recorded>(), new Map<number, Recorded>()];
    for (const version of this.versions) {
      now.set(version.page, version);
      if (version.at <= instant) then.set(version.page, version);
    }
    const isSeen = (version?: Recorded) => readsAll || version?.sensitivity === "normal";
    return [...then.values()]
      .filter((version) => !version.removed && isSeen(version) && isSeen(now.get(version.page)))
      .sort((a, b) => (a.path < b.path ? -1 : 1));
  }
}

function keysOf(version: Omit<Recorded, "at" | "page">): Record<string, unknown> {
  const { tags, partition, sensitivity, lifecycle, validFrom, validUntil, supersedes } = version;
  return {
    title: "T",
    tags,
    partition,
    sensitivity,
    lifecycle,
    ...(validFrom && { valid_from: validFrom }),
    ...(validUntil && { valid_until: validUntil }),
    ...(supersedes.length > 0 && { relations: supersedes.map((target) => ({ rel: "supersedes", target })) }),
  };
}

function standing({ lifecycle, validFrom, validUntil }: Recorded, instant: string): "current" | "stale" | "archived" {
  if (lifecycle === "archived" || lifecycle === "stale") return lifecycle;
  const ms = Date.parse(instant);
  if (validFrom && ms < Date.parse(validFrom)) return "stale";
  const until = validUntil && (validUntil.length === 10 ? Date.parse(validUntil) + dayMs - 1 : Date.parse(validUntil));
  return until !== undefined && until !== "" && ms > until ? "stale" : "current";
}

/** Current at the instant: neither stale nor archived, and superseded by no page that was current. */
function isCurrent(page: Recorded, all: Recorded[], instant: string): boolean {
  if (standing(page, instant) !== "current") return false;
  return !all.some((other) => {
    if (other === page || !other.supersedes.includes(page.path) || standing(other, instant) !== "current") return false;
    const isMutual = page.supersedes.includes(other.path);
    return !isMutual || other.at > page.at;
  });
}

/** Not stale: an archived page is that only when it is superseded. */
function isFresh(page: Recorded, all: Recorded[], instant: string): boolean {
  if (page.lifecycle !== "archived") return isCurrent(page, all, instant);
  const { validFrom: _, validUntil: __, ...rest } = page;
  const others = all.filter((other) => other !== page);
  return isCurrent({ ...rest, lifecycle: "active" }, others, instant);
}

/** A random instant: between two edits, at one, just before one, or before all of them. */
function randomInstant(history: History, choices: Choices): string {
  const { at } = choices.pick(history.versions);
  const offsetMs = choices.pick([0, 0, -1, 1, 1000, -dayMs]);
  const ms = Math.min(Date.parse(at) + offsetMs, history.shared.clock.ms);
  return new Date(ms).toISOString();
}

/** RFC 3339 with another offset, for the same instant. */
function withOffset(instant: string, hours: number): string {
  const shifted = new Date(Date.parse(instant) + hours * 3_600_000).toISOString().replace("Z", "");
  return `${shifted}${hours < 0 ? "-" : "+"}${String(Math.abs(hours)).padStart(2, "0")}:00`;
}

interface Summary {
  path: string;
  id: string;
  updated: string;
  stale?: boolean;
}

async function walk(shared: Shared, tool: "memory_search" | "memory_list", args: Record<string, unknown>) {
  const found: Summary[] = [];
  let cursor: string | undefined;
  do {
    const answer = await shared.ok<{
      results?: Summary[];
      pages?: Summary[];
      next_cursor?: string;
      as_of_exact?: boolean;
    }>(tool, { ...args, ...(cursor !== undefined && { cursor }) });
    if (tool === "memory_search") expect(answer.as_of_exact).toBe(true);
    found.push(...(answer.results ?? answer.pages ?? []));
    cursor = answer.next_cursor;
  } while (cursor !== undefined);
  return found;
}

describe("a random history, asked at random instants", () => {
  const choices = new Choices(testSeed());
  const edits = Math.max(200, scaled(1000));

  async function expectReads(history: History, instant: string, caller = owner): Promise<void> {
    const all = history.at(instant, caller === owner);
    const as_of = choices.next() < 0.3 ? withOffset(instant, choices.integer(-11, 11)) : instant;
    const asked = [
      ...choices.many(3, () => choices.pick(history.versions)),
      ...(all.length > 0 ? [choices.pick(all)] : []),
    ];
    for (const { path, page } of asked) {
      const there = all.find((version) => version.path === path);
      expect(await readAt(history.shared, { path, as_of }, caller), `${path} at ${instant}`).toEqual(
        there && shown(history, there),
      );
      const same = all.find((version) => version.page === page);
      const id = history.id(page);
      expect(await readAt(history.shared, { id, as_of }, caller), `${id} at ${instant}`).toEqual(
        same && shown(history, same),
      );
    }
  }

  async function expectLists(history: History, instant: string, caller = owner): Promise<void> {
    const all = history.at(instant, caller === owner);
    const prefix = choices.pick([undefined, "notes/", "plans/", "plans/deep/", "nowhere"]);
    const partition = choices.pick([undefined, undefined, "main", "work", "none"]);
    const include_archived = choices.next() < 0.5;
    const include_stale = choices.next() < 0.5;
    const args = {
      as_of: instant,
      include_archived,
      include_stale,
      ...(prefix && { prefix }),
      ...(partition && { partition }),
    };
    const inside = all.filter((page) => !partition || page.partition === partition);
    const expected = inside
      .filter((page) => page.path.startsWith(prefix ?? ""))
      .filter((page) => include_archived || page.lifecycle !== "archived")
      .filter((page) => include_stale || isFresh(page, all, instant));
    const found = await walk(history.shared.as(caller), "memory_list", { ...args, limit: choices.integer(1, 20) });
    expect(
      found.map(({ path, updated, id }) => [path, updated, id]),
      JSON.stringify(args),
    ).toEqual(expected.map((page) => [page.path, page.at, history.id(page.page)]));
  }

  async function expectSearches(history: History, instant: string, caller = owner): Promise<void> {
    const all = history.at(instant, caller === owner);
    const query = choices.pick(words);
    const tags = choices.pick([[], [], ["one"], ["one", "two"]]);
    const include_archived = choices.next() < 0.5;
    const include_stale = choices.pick([undefined, true, false]);
    const args = {
      query,
      as_of: instant,
      include_archived,
      tags,
      ...(include_stale !== undefined && { include_stale }),
    };
    const matching = all
      .filter(({ body }) => body.split(/\s/).includes(query))
      .filter((page) => tags.every((tag) => page.tags.includes(tag)));
    const isArchived = (page: Recorded) => page.lifecycle === "archived";
    const fresh = matching.filter((page) => (include_archived || !isArchived(page)) && isFresh(page, all, instant));
    const wide = matching.filter((page) => include_archived || !isArchived(page));
    const isWide = include_stale ?? fresh.length === 0;
    const expected = isWide ? wide : fresh;
    const found = await walk(history.shared.as(caller), "memory_search", { ...args, limit: choices.integer(1, 20) });
    expect(found.map(({ path }) => path).sort(), JSON.stringify(args)).toEqual(expected.map(({ path }) => path).sort());
    for (const hit of found) {
      const page = expected.find(({ path }) => path === hit.path) as Recorded;
      expect([hit.id, hit.updated]).toEqual([history.id(page.page), page.at]);
    }
  }

  it("read by path and id, list and search equal a replayed model, for the owner and for one without the scope for sensitive pages", async () => {
    const history = new History(Shared.open(), choices);
    await history.play(edits);
    const instants = scaled(1000);
    for (let round = 0; round < instants; round++) {
      const instant = randomInstant(history, choices);
      for (const caller of [owner, limited]) {
        await expectReads(history, instant, caller);
        await expectLists(history, instant, caller);
        await expectSearches(history, instant, caller);
      }
    }
    expect(history.shared.faults).toEqual([]);
  }, 900_000);
});

function shown(history: History, { path, body, page, at }: Recorded) {
  return { path, body, id: history.id(page), updated: at };
}

/** What a read gives of a page; undefined when there is none. */
async function readAt(shared: Shared, args: Record<string, unknown>, caller = owner) {
  const { isError, structuredContent } = await shared.call("memory_read", args, caller);
  if (isError) {
    expect(structuredContent).toMatchObject({ error: { code: "not_found" } });
    return undefined;
  }
  const { path, body, frontmatter } = structuredContent as unknown as Read;
  return { path, body, id: frontmatter.id, updated: frontmatter.updated };
}

describe("an instant", () => {
  it("validity is judged there, and so is supersession", async () => {
    const shared = Shared.open();
    await shared.write("fact", "stone\n", { title: "t", valid_from: "2026-03-03", valid_until: "2026-03-05" });
    await shared.write("old", "stone\n");
    shared.clock.ms += 20 * dayMs;
    await shared.write("new", "stone\n", { title: "t", relations: [{ rel: "supersedes", target: "old" }] });
    const current = async (as_of: string) =>
      (await walk(shared, "memory_search", { query: "stone", as_of, include_stale: false }))
        .map(({ path }) => path)
        .sort();
    expect(await current("2026-03-02T23:59:59.999Z")).toEqual(["old"]);
    expect(await current("2026-03-03T00:00:00Z")).toEqual(["fact", "old"]);
    expect(await current("2026-03-05T23:59:59.999Z")).toEqual(["fact", "old"]);
    expect(await current("2026-03-06T01:00:00+02:00")).toEqual(["fact", "old"]);
    expect(await current("2026-03-06T00:00:00Z")).toEqual(["old"]);
    expect(await current("2026-03-20T00:00:00Z")).toEqual(["old"]);
    expect(await current(shared.now)).toEqual(["new"]);
    const [stale] = (
      await shared.ok<{ results: Record<string, unknown>[] }>("memory_search", {
        query: "stone",
        as_of: shared.now,
        include_stale: true,
      })
    ).results.filter(({ path }) => path === "old");
    expect(stale).toMatchObject({ stale: true, superseded_by: "new" });
  });

  it("later than the clock and than the last change is refused; otherwise not", async () => {
    const shared = Shared.open();
    await shared.write("p", "stone\n");
    const ahead = String((await shared.write("p", "stone again\n")).updated);
    expect(Date.parse(ahead)).toBeGreaterThan(shared.clock.ms);
    const asks: [tool: "memory_search" | "memory_list" | "memory_read", args: Record<string, unknown>][] = [
      ["memory_search", { query: "stone" }],
      ["memory_list", {}],
      ["memory_read", { path: "p" }],
    ];
    for (const [tool, args] of asks) {
      const outcome = (as_of: string) => shared.outcome(tool, { ...args, as_of });
      expect(await outcome(ahead), "the last change").toBe("ok");
      expect(await outcome(new Date(Date.parse(ahead) + 1).toISOString())).toBe("invalid_input");
      expect(await outcome("2999-01-01T00:00:00Z")).toBe("invalid_input");
      for (const text of ["yesterday", "2026-03-01", "", "2026-03-01 12:00:00Z"])
        expect(await outcome(text), text).toBe("invalid_input");
    }
    shared.clock.ms += 1000;
    for (const [tool, args] of asks) expect(await shared.outcome(tool, { ...args, as_of: shared.now })).toBe("ok");
  });

  it("goes together with no review", async () => {
    const shared = Shared.open();
    const revision = await shared.propose({ path: "p", body: "x" }, assistant());
    const as_of = shared.now;
    for (const include_review of [["proposed"], ["rejected"], ["proposed", "rejected"]]) {
      expect(await shared.outcome("memory_search", { query: "x", as_of, include_review })).toBe("invalid_input");
      expect(await shared.outcome("memory_list", { as_of, include_review })).toBe("invalid_input");
    }
    expect(await shared.outcome("memory_read", { path: "p", as_of, revision })).toBe("invalid_input");
    expect(await shared.ok("memory_list", { as_of })).toEqual({ pages: [] });
  });

  it("is the same question whatever its offset, and a cursor is for one instant", async () => {
    const shared = Shared.open();
    for (const path of ["a", "b", "c"]) await shared.write(path, "stone\n");
    const as_of = "2026-03-01T12:00:00.003Z";
    const args = { query: "stone", limit: 1 };
    const first = await shared.ok<{ results: Summary[]; next_cursor: string }>("memory_search", { ...args, as_of });
    expect(first).toMatchObject({ results: [{}], next_cursor: expect.any(String) });
    const go = (more: Record<string, unknown>) =>
      shared.outcome("memory_search", { ...args, cursor: first.next_cursor, ...more });
    expect(await go({ as_of: "2026-03-01T17:30:00.003+05:30" })).toBe("ok");
    expect(await go({ as_of: "2026-03-01T12:00:00.002Z" })).toBe("invalid_input");
    expect(await go({})).toBe("invalid_input");
  });

  it("a listing goes on as it began while others write, move and remove", async () => {
    const shared = Shared.open();
    for (let n = 0; n < 9; n++) await shared.write(`p/${n}`, "stone\n");
    shared.clock.ms += 1000;
    const as_of = shared.now;
    for (const tool of ["memory_list", "memory_search"] as const) {
      const seen: string[] = [];
      let cursor: string | undefined;
      for (let round = 0; round === 0 || cursor !== undefined; round++) {
        const args = {
          ...(tool === "memory_search" && { query: "stone" }),
          as_of,
          limit: 2,
          ...(cursor !== undefined && { cursor }),
        };
        const answer = await shared.ok<{ results?: Summary[]; pages?: Summary[]; next_cursor?: string }>(tool, args);
        seen.push(...(answer.results ?? answer.pages ?? []).map(({ path }) => path));
        cursor = answer.next_cursor;
        shared.clock.ms += 1000;
        await shared.write(`p/${round}`, "changed\n");
        await shared.write(`q/${tool}/${round}`, "stone\n");
        if (tool === "memory_search") await shared.remove(`p/${8 - round}`);
      }
      expect(seen.sort()).toEqual(Array.from({ length: 9 }, (_, n) => `p/${n}`));
    }
  });

  it("what became hidden since is hidden then too, and what was hidden then stays so", async () => {
    const shared = Shared.open();
    const first = await shared.write("p", "stone\n");
    shared.clock.ms += 1000;
    const second = await shared.write("p", "stone\n", { title: "t", sensitivity: "sensitive" });
    const seen = async (as_of: unknown) => shared.outcome("memory_read", { path: "p", as_of }, limited);
    expect(await seen(first.updated)).toBe("not_found");
    shared.clock.ms += 1000;
    const third = await shared.write("p", "stone\n", { title: "t", sensitivity: "normal" });
    expect([await seen(first.updated), await seen(second.updated), await seen(third.updated)]).toEqual([
      "ok",
      "not_found",
      "ok",
    ]);
    await shared.remove("p");
    expect(await seen(first.updated)).toBe("ok");
    expect(await shared.outcome("memory_read", { path: "p" }, limited)).toBe("not_found");
  });

  it("a folder's index is that of the instant", async () => {
    const shared = Shared.open();
    await shared.write("f/a", "x\n");
    shared.clock.ms += 1000;
    const as_of = shared.now;
    shared.clock.ms += 1000;
    await shared.write("f/b", "x\n");
    await shared.remove("f/a");
    expect((await shared.read("f/_index", { as_of })).body).toBe("- f/a: a\n");
    expect((await shared.read("f/_index")).body).toBe("- f/b: b\n");
    expect(await shared.outcome("memory_read", { path: "f/_index", as_of: new Date(startMs - 1).toISOString() })).toBe(
      "not_found",
    );
  });
});

describe("speed", () => {
  it("one search at an instant over 2,000 pages of 3 versions", async () => {
    const shared = Shared.open();
    const choices = new Choices(7);
    const text = () => choices.many(80, () => choices.pick([...words, "fjord", "grove", "harbour", "inlet"])).join(" ");
    const pages = Math.max(200, scaled(2000));
    await shared.addPages(choices.many(pages, (n) => ({ path: `p/${n}`, body: `${text()} w${n}\n` })));
    const as_of = await shared.recordedTime();
    for (let version = 0; version < 2; version++) {
      shared.clock.ms += 1000;
      await shared.addPages(choices.many(pages, (n) => ({ path: `p/${n}`, body: `${text()} changed w${n}\n` })));
    }
    const startedMs = performance.now();
    const found = await walk(shared, "memory_search", {
      query: "w17 anchor",
      as_of,
      limit: 10,
      include_stale: true,
    }).then((hits) => hits.length);
    const all = performance.now() - startedMs;
    const onceMs = performance.now();
    await shared.ok("memory_search", { query: "w17 anchor", as_of });
    console.log(
      `as_of search over ${pages} pages x 3 versions: ${(performance.now() - onceMs).toFixed(0)} ms; walking ${found} hits: ${all.toFixed(0)} ms`,
    );
    expect(found).toBeGreaterThan(0);
    expect((await shared.ok<{ results: unknown[] }>("memory_search", { query: "changed", as_of })).results).toEqual([]);
  }, 300_000);
});
