import { journalListOperation, pageHistoryOperation, receiptsOperation } from "@satchel/server";
import { beforeAll, describe, expect, it } from "vitest";
import {
  divide,
  dryRun,
  erase,
  expectNoTrace,
  type Selector,
  type Survey,
  some,
  survey,
  type Taken,
  verifyJournalOf,
} from "./erasure-world.js";
import { assistant, owner, Shared } from "./shared-context.js";

/*
 * Erasure takes what was asked for out of every file and every answer, and nothing else. What a page "holds" here is
 * made of words that occur nowhere else.
 */

const subject = "Quillon Vexforth";
const long = Array.from({ length: 13_000 }, (_, at) => `dossierword${at % 30}x`).join(" ");

/** Pages that hold the subject in one place each: path, body, frontmatter. */
const subjectPages: [path: string, body: string, keys?: Record<string, unknown>][] = [
  ["people/quillon-vexforth", "# Zanzibarine\n\nlanternfishing at dawn\n", { title: "Ambrosiana" }],
  ["titled", "whistlewood\n", { title: "About Quillon Vexforth" }],
  ["tagged", "cindermoss\n", { title: "Plain", tags: ["quillon-vexforth", "bramblequist"] }],
  ["framed", "thistledown\r\nonward\r\n", { title: "Framed", "x-contact": { names: ["Quíllon Vexforth"] } }],
  [
    "body/upper",
    "Met QUILLON\r\n VEXFORTH and 日本語のテスト文章です。 Überraschungsgäste 🦊🦊🦊 came\r\n",
    { title: "Upper" },
  ],
  ["body/wide", "ｑｕｉｌｌｏｎ　ｖｅｘｆｏｒｔｈ kept peppercornelia\n", { title: "Wide" }],
  ["big/dossier", `${long}\nQuillon Vexforth\n`, { title: "Dossier" }],
  [
    "secret",
    "quillon vexforth has moonstonefever\n",
    { title: "Record", sensitivity: "sensitive", partition: "clinic" },
  ],
];

/** Derived from those, and from each other; none holds the phrase. */
const derivedPages: [path: string, body: string, from: string][] = [
  ["derived/summary", "marzipanella in short\n", "titled"],
  ["derived/again", "nougatinelle in shorter\n", "derived/summary"],
];

const keptPages: [path: string, body: string, keys?: Record<string, unknown>][] = [
  [
    "kept/lantern",
    "lanterns and lanternfish at dawn, in Zanzibar; Überraschung\n",
    { title: "Lanterns", tags: ["ordinary", "bramble"] },
  ],
  ["kept/namesake", "quillonvexforth, quillon-and vexforth: neither is the phrase\n", { title: "Namesake" }],
  ["kept/日本", "日本語の別の文章\n", { title: "別" }],
];

interface Made {
  shared: Shared;
  /** Ids of the proposals that hold the subject. */
  proposals: string[];
  oldVersion: string;
  /** Instants after each step, for `as_of`. */
  instants: string[];
}

async function makeWorld(): Promise<Made> {
  const shared = Shared.open();
  const instants: string[] = [];
  const step = async () => {
    instants.push(await shared.recordedTime());
    shared.clock.ms += 60_000;
  };
  await shared.partition("clinic");
  for (const [path, body, keys] of [...keptPages, ...subjectPages]) {
    await shared.write(path, `first ${body}`, keys);
    await step();
    await shared.write(path, body, keys);
  }
  for (const [path, body, from] of derivedPages) await shared.write(path, body, { title: path, derived_from: [from] });
  await shared.write("withdrawn", "Quillon Vexforth left gingersnapper\n", { title: "Removed" });
  await step();
  await shared.remove("withdrawn");
  await shared.write("partial", "oldwordliness of Quillon Vexforth\n", { title: "Partial" });
  await step();
  await shared.ok("memory_write", { path: "partial", body: "newwordliness\n", idempotencyKey: "partial" });
  const notes = assistant();
  const proposals = [
    await shared.propose({ path: "partial", body: "of Quillon Vexforth, proposedword\n" }, notes),
    await shared.propose({ path: "kept/lantern", body: "crystalline\n", note: "because of quillon/vexforth" }, notes),
    await shared.propose({ path: "kept/namesake", body: "rejectedwordy\n" }, notes),
  ];
  const kept = await shared.propose({ path: "kept/lantern", body: "keptproposal\n", note: "no reason" }, notes);
  const { path, revision } = (await shared.items()).find(({ path }) => path === "kept/namesake")!;
  await shared.ok("review_resolve", { path, revision, verb: "reject", note: "not without Quillon Vexforth" });
  await shared.ok("memory_write", { path: "titled", body: "whistlewood again\n", idempotencyKey: "titled" });
  for (const query of [subject, "moonstonefever", "lantern"]) await shared.ok("memory_search", { query });
  await shared.ok("memory_list", { limit: 100 });
  await step();
  const { pages } = await survey(shared);
  const oldVersion = pages.find((page) => page.path === "partial")!.versions[0]!.version;
  expect(kept).toMatch(/^rev_/);
  return { shared, proposals, oldVersion, instants };
}

const subjectPaths = [...subjectPages.map(([name]) => name), "withdrawn"];

interface Case {
  name: string;
  selector(made: Made): Promise<Selector>;
  derived: boolean;
  takes(made: Made): Taken;
  counts: Record<string, number>;
}

const derivedPaths = derivedPages.map(([name]) => name);
const cases = [true, false].flatMap((derived): Case[] => [
  {
    name: "by subject",
    selector: async () => ({ subject: " quillon_VEXFORTH " }),
    derived,
    takes: ({ proposals, oldVersion }) => ({
      paths: new Set([...subjectPaths, ...(derived ? derivedPaths : [])]),
      versions: new Set([oldVersion]),
      revisions: new Set(proposals),
    }),
    counts: { pages: 9, versions: derived ? 22 : 20, proposals: 3, index: derived ? 10 : 8, stored_results: 1 },
  },
  {
    name: "by paths",
    selector: async () => ({ paths: subjectPaths }),
    derived,
    takes: () => ({ paths: new Set([...subjectPaths, ...(derived ? derivedPaths : [])]) }),
    counts: { pages: 9, versions: derived ? 21 : 19, index: derived ? 10 : 8, stored_results: 1 },
  },
  {
    name: "by ids",
    selector: async ({ shared, proposals, oldVersion }) => {
      const { pages } = await survey(shared);
      const ids = pages.filter(({ path }) => subjectPaths.includes(path)).map(({ id }) => id);
      return { ids: [...ids, oldVersion, ...proposals] };
    },
    derived,
    takes: ({ proposals, oldVersion }) => ({
      paths: new Set([...subjectPaths, ...(derived ? derivedPaths : [])]),
      versions: new Set([oldVersion]),
      revisions: new Set(proposals),
    }),
    counts: { pages: 9, versions: derived ? 22 : 20, proposals: 3, index: derived ? 10 : 8, stored_results: 1 },
  },
]);

/** Words that only what goes holds; `derived` where derived pages go too. */
const goneWords =
  /zanzibarine|ambrosiana|lanternfishing|whistlewood|cindermoss|bramblequist|thistledown|überraschungsgäste|日本語のテスト|🦊|peppercornelia|dossierword|moonstonefever|gingersnapper|"(titled|tagged|framed|secret|withdrawn)"|body\/(upper|wide)|big\/dossier|people\/quillon/i;

/** All that any tool or command answers. */
async function everythingShown({ shared, instants, oldVersion }: Made, before: Survey): Promise<string> {
  const shown: unknown[] = [];
  const add = async (name: Parameters<Shared["ok"]>[0], args: Record<string, unknown>) => {
    const { structuredContent } = await shared.call(name, args);
    shown.push(structuredContent);
  };
  const queries = [
    subject,
    "lantern",
    "marzipanella",
    "lanternfishing",
    "whistlewood",
    "moonstonefever",
    "dossierword1x",
    "gingersnapper",
    "日本語",
    "🦊",
  ];
  const times = [{}, ...instants.map((as_of) => ({ as_of }))];
  for (const query of queries) {
    for (const time of times)
      await add("memory_search", { query, include_stale: true, include_archived: true, limit: 50, ...time });
    await add("memory_search", { query, include_review: ["proposed", "rejected"], limit: 50 });
  }
  for (const focus of [{}, { focus: subject }, { focus: "moonstonefever" }])
    await add("context_brief", { token_budget: 100_000, ...focus });
  for (const time of times) await add("memory_list", { include_archived: true, limit: 100, ...time });
  for (const state of ["proposed", "rejected"]) await add("review_list", { state, limit: 100 });
  for (const path of ["_index", "people/_index", "body/_index"]) await add("memory_read", { path });
  await add("partition_list", {});
  await add("profile_get", {});
  for (const limit of [100]) await add("audit_list", { limit });
  shown.push((await shared.run(pageHistoryOperation, { path: "partial" })).result);
  shown.push((await shared.run(receiptsOperation, { limit: 1000 })).result);
  shown.push((await shared.run(journalListOperation, { limit: 1000 })).result);
  for (const { id, path, versions } of before.pages.filter((page) => subjectPaths.includes(page.path))) {
    for (const time of times)
      for (const key of [{ id }, { path }])
        expect(await shared.outcome("memory_read", { ...key, ...time }), path).toBe("not_found");
    expect((await shared.run(pageHistoryOperation, { path })).ok, path).toBe(false);
    for (const { version } of versions) expect(JSON.stringify(shown)).not.toContain(version);
  }
  expect(oldVersion).toMatch(/^ver_/);
  return JSON.stringify(shown);
}

describe.each(cases)("erased $name, derived pages too: $derived", ({ selector, derived, takes, counts }) => {
  let made: Made;
  let before: Survey;
  let taken: Taken;
  let would: Record<string, number>;
  let run: Awaited<ReturnType<typeof erase>>;
  let pageCount: { before: number; after: number };

  beforeAll(async () => {
    made = await makeWorld();
    const { shared } = made;
    const args = { ...(await selector(made)), include_derived: derived };
    before = await survey(shared);
    taken = takes(made);
    const countPages = async () =>
      (await shared.ok<{ pages: unknown[] }>("memory_list", { limit: 100, include_archived: true })).pages.length;
    const pagesBefore = await countPages();
    would = (await dryRun(shared, args)).would_erase;
    run = await erase(shared, args);
    pageCount = { before: pagesBefore, after: await countPages() };
  });

  it("counts what a dry run counted, by store", () => {
    const { counts: real } = run.receipt;
    expect(some(real)).toMatchObject({ ...counts, ...(derived && { derived: 2 }) });
    // The dry run and the count of pages are calls of their own, and none of them names a thing that goes.
    expect({ ...would, envelopes: 0, audit_details: 0 }).toEqual({ ...real, envelopes: 0, audit_details: 0 });
    expect([would.envelopes, would.audit_details]).toEqual([real.envelopes, real.audit_details]);
  });

  it("leaves nothing of it in any file", () => {
    expect(run.receipt.residual).toEqual({
      clean: true,
      files_scanned: expect.any(Number),
      remaining_mentions: expect.any(Number),
    });
    expectNoTrace(made.shared, divide(before, taken));
  });

  it("leaves everything else as it was: text, ids, history, proposals, profile", async () => {
    expect(await survey(made.shared)).toEqual(divide(before, taken).kept);
    expect(await made.shared.context.store.inspect()).toMatchObject({ problems: [] });
  });

  it("shows nothing of it in any answer, at any time", async () => {
    const shown = await everythingShown(made, before);
    expect(shown.match(goneWords)?.[0]).toBeUndefined();
    expect(shown).toMatch(/lanternfish/);
    if (derived) expect(shown).not.toMatch(/marzipanella|nougatinelle|derived\//);
    else expect(shown).toMatch(/marzipanella/);
  });

  it("D3: the counts of pages drop", async () => {
    expect(pageCount.before - pageCount.after).toBe(derived ? 10 : 8);
    const { pages } = await made.shared.context.store.inspect();
    expect(pages).toBe(pageCount.after);
  });

  it("leaves a journal that verifies, and heads of the audit without targets", async () => {
    const { verdict, entries } = await verifyJournalOf(made.shared.dataDir);
    expect(verdict.verdict).toBe("valid");
    const { redacted } = verdict as { redacted: number };
    expect(redacted).toBe(run.receipt.counts.envelopes! + run.receipt.counts.audit_details!);
    for (const { kind, openings } of entries) if (kind === "audit") expect(openings[0]).toBeDefined();
  });

  it("finds nothing the second time, and says so", async () => {
    const { receipt } = await erase(made.shared, { ...(await selector(made)), include_derived: derived });
    expect(some(receipt.counts)).toEqual({});
    expect(receipt.residual.clean).toBe(true);
  });

  it("D6: a path can be used again, with a new id and without the old history", async () => {
    const { shared } = made;
    const old = before.pages.find(({ path }) => path === "titled")!;
    const { id } = await shared.write("titled", "anew\n");
    expect(id).not.toBe(old.id);
    const history = await shared.done(pageHistoryOperation, { path: "titled" });
    expect(history.versions.map(({ body }) => body)).toEqual(["anew\n"]);
    for (const as_of of made.instants)
      expect(await shared.outcome("memory_read", { path: "titled", as_of })).toBe("not_found");
  });

  it("answers no key again whose answer named it", async () => {
    const again = (path: string, body: string) =>
      made.shared.call("memory_write", { path, body, idempotencyKey: path });
    const { isError, structuredContent } = await again("titled", "whistlewood again\n");
    expect([isError, JSON.stringify(structuredContent)]).toEqual([true, expect.stringContaining("was erased since")]);
    expect((await again("partial", "newwordliness\n")).isError ?? false).toBe(false);
    expect(made.shared.faults).toEqual([]);
  });
});

describe("what an erasure takes no more than", () => {
  it("D4: erased pages take no place in a short answer", async () => {
    const shared = Shared.open();
    const like = Array.from({ length: 5 }, (_, at) => `like/${at}`);
    for (const path of like) await shared.write(path, "kettle kettle on the stove\n");
    await erase(shared, { paths: like.slice(1) });
    const { results } = await shared.ok<{ results: { path: string }[] }>("memory_search", {
      query: "kettle",
      limit: 1,
    });
    expect(results.map(({ path }) => path)).toEqual(["like/0"]);
  });

  it("words of our own files and envelopes are no trace of a page that held them", async () => {
    const shared = Shared.open();
    const own =
      "Satchel: the result succeeded, active_task targets of a governed operation; SQLite format, PRIVATE KEY, autoindex";
    await shared.write("p", `${own}, document_revision digest session release\n`);
    const { receipt } = await erase(shared, { paths: ["p"] });
    expect(receipt.residual).toMatchObject({ clean: true });
    expect(receipt.residual.traced).toBeUndefined();
  });

  it("a page that is derived and holds it in an earlier version is counted once", async () => {
    const shared = Shared.open();
    await shared.write("source", "oakwordling\n");
    await shared.write("made", "oakwordling once\n", { title: "Made", derived_from: ["source"] });
    await shared.write("made", "nothing\n");
    const { receipt } = await erase(shared, { subject: "oakwordling" });
    expect(some(receipt.counts)).toMatchObject({ pages: 1, derived: 1, versions: 3 });
  });

  it("pages derived from it go when they were removed, and proposals derived from it go", async () => {
    const shared = Shared.open();
    await shared.write("source", "oakwordling\n");
    await shared.write("made", "derivedwording\n", { title: "Made", derived_from: ["source"] });
    await shared.remove("made");
    await shared.propose(
      { path: "new", body: "proposedwording\n", frontmatter: { title: "New", derived_from: ["source"] } },
      assistant(),
    );
    const before = await survey(shared);
    const { receipt } = await erase(shared, { paths: ["source"] });
    expect(some(receipt.counts)).toMatchObject({ pages: 1, derived: 1, proposals: 1 });
    const revisions = new Set(before.revisions.map(({ id }) => id));
    expectNoTrace(shared, divide(before, { paths: new Set(["source", "made"]), revisions }));
  });

  it("a removed page of which only a title would stay goes whole", async () => {
    const shared = Shared.open();
    await shared.write("p", "text\n", { title: "Titlewordiness of all these many words" });
    const before = await survey(shared);
    await shared.remove("p");
    await erase(shared, { ids: [before.pages[0]!.versions[0]!.version] });
    expectNoTrace(shared, divide(before, { paths: new Set(["p"]) }));
    expect((await survey(shared)).pages).toEqual([]);
  });

  it("counts the pages that stay and name an erased path", async () => {
    const shared = Shared.open();
    await shared.write("gone/page", "x\n");
    await shared.write("linked", "see [[gone/page]]\n");
    await shared.write("related", "x\n", { title: "R", relations: [{ rel: "about", target: "gone/page" }] });
    await shared.write("unrelated", "gone, page\n");
    const { receipt } = await erase(shared, { paths: ["gone/page"] });
    expect(receipt.residual).toMatchObject({ clean: true, remaining_mentions: 2 });
  });

  it("a proposal whose base was erased can still be rejected, and is approved or in conflict, never a fault", async () => {
    const shared = Shared.open();
    await shared.write("p", "oakwordling\nline\n");
    const revision = await shared.propose({ path: "p", body: "other\nline\n" }, assistant());
    const second = await shared.propose({ path: "p", body: "third\nline\n" }, assistant());
    await shared.write("p", "calm\nline\n");
    await erase(shared, { subject: "oakwordling" });
    expect(["ok", "conflict"]).toContain(
      await shared.outcome("review_resolve", { path: "p", revision, verb: "approve" }),
    );
    expect(await shared.outcome("review_resolve", { path: "p", revision: second, verb: "reject" })).toBe("ok");
    expect(shared.faults).toEqual([]);
  });
});

describe("profile documents", () => {
  const health = "pcp.health";
  const diet = "org.example.diet";

  async function makeProfiles(core: Record<string, unknown>): Promise<Shared> {
    const shared = Shared.open();
    await shared.ok("profile_update", { patch: core });
    await shared.ok("profile_update", { patch: { timezone: "Europe/Berlin" } });
    const allergies = [{ substance: "Oakwordling pollen" }, { substance: "birch" }];
    await shared.ok("profile_update", { namespace: health, patch: { blood_type: "A+", allergies } });
    await shared.ok("profile_update", {
      namespace: diet,
      patch: { likes: ["oakwordling bread", "soup"], oakwordling: 1 },
    });
    await shared.write("kept", "a page\n");
    return shared;
  }

  it("lose the members and items that hold it, in their history too", async () => {
    const shared = await makeProfiles({
      name: "Robin",
      interests: ["chess", "the Oakwordling society"],
      preferred_name: "Oakwordling",
    });
    const before = await survey(shared);
    const { receipt } = await erase(shared, { subject: "oakwordling" });
    expect(some(receipt.counts)).toMatchObject({ profile: 3 });
    const { profile, extensions } = await shared.ok<Record<string, Record<string, unknown>>>("profile_get", {});
    expect(profile).toMatchObject({ name: "Robin", timezone: "Europe/Berlin", interests: ["chess"] });
    expect(profile).not.toHaveProperty("preferred_name");
    expect(extensions).toEqual({
      [diet]: { likes: ["soup"] },
      [health]: expect.objectContaining({ blood_type: "A+", allergies: [{ substance: "birch" }] }),
    });
    const after = await survey(shared);
    expect(JSON.stringify(after.profiles)).not.toMatch(/oakwordling/i);
    expect(after.profiles.core).toHaveLength(before.profiles.core!.length);
    expectNoTrace(shared, { gone: { pages: [], revisions: [], profiles: before.profiles }, kept: after });
    expect(some((await erase(shared, { subject: "oakwordling" })).receipt.counts)).toEqual({});
  });

  it("go whole when a required member holds it", async () => {
    const shared = await makeProfiles({ name: "Oakwordling Robinella", interests: ["chessmaster"] });
    const before = await survey(shared);
    await erase(shared, { subject: "Oakwordling Robinella" });
    const { profile } = await shared.ok<Record<string, Record<string, unknown> | null>>("profile_get", {});
    expect(profile).toBeNull();
    const after = await survey(shared);
    expect(after.profiles.core).toBeUndefined();
    expect(after.profiles[health]).toEqual(before.profiles[health]);
    const gone = { pages: [], revisions: [], profiles: { core: before.profiles.core! } };
    expectNoTrace(shared, { gone, kept: after });
    expect(await shared.outcome("profile_update", { patch: { name: "Robin" } })).toBe("ok");
  });

  it("leave no envelope by which a guess could be checked", async () => {
    const shared = await makeProfiles({ name: "Robin", preferred_name: "Oakwordling" });
    await erase(shared, { subject: "oakwordling" });
    const { entries } = await verifyJournalOf(shared.dataDir);
    const bodies = entries.flatMap(({ openings }) => openings.map((opening) => opening?.body ?? ""));
    expect(bodies.filter((body) => body.includes('"operationId":"profile_update"'))).toEqual([]);
    expect(bodies.filter((body) => body.includes('"operationId":"memory_write"'))).toHaveLength(2);
  });
});

describe("as_of_exact", () => {
  it("is false for instants before the latest real erasure, the same for every caller", async () => {
    const shared = Shared.open();
    await shared.users("bob");
    const early = (await shared.write("a", "harbour\n")).updated!;
    shared.clock.ms += 60_000;
    await shared.write("b", "harbour\n");
    const exact = async (as_of: string) => {
      const callers = [owner, assistant(), assistant("memory:read", { user: "bob" })];
      const answers = await Promise.all(
        callers.map((caller) =>
          shared.ok<{ as_of_exact: boolean }>("memory_search", { query: "harbour", as_of }, caller),
        ),
      );
      const [first, ...others] = answers.map(({ as_of_exact }) => as_of_exact);
      for (const other of others) expect(other).toBe(first);
      return first;
    };
    await dryRun(shared, { paths: ["b"] });
    expect(await exact(early)).toBe(true);
    shared.clock.ms += 60_000;
    const { receipt } = await erase(shared, { paths: ["b"] });
    shared.clock.ms += 60_000;
    const justBefore = new Date(Date.parse(receipt.completed_at) - 1).toISOString();
    const table: [instant: string, isExact: boolean][] = [
      [early, false],
      [justBefore, false],
      [receipt.completed_at, true],
      [shared.now, true],
    ];
    for (const [instant, isExact] of table) expect(await exact(instant), instant).toBe(isExact);
    expect(await shared.ok("memory_search", { query: "harbour" })).not.toHaveProperty("as_of_exact");
  });
});

describe("envelopes of calls that named it", () => {
  /** Operation and phase of the envelopes that are left. */
  async function envelopesLeft(shared: Shared): Promise<string[]> {
    const { entries } = await verifyJournalOf(shared.dataDir);
    return entries.flatMap(({ kind, openings: [first] }) =>
      first && kind.startsWith("prp.") ? [(JSON.parse(first.body) as { operationId: string }).operationId] : [],
    );
  }

  const calls: [name: string, call: (shared: Shared) => Promise<unknown>][] = [
    ["memory_read", (shared) => shared.ok("memory_read", { path: "gone/page" })],
    ["memory_search", (shared) => shared.ok("memory_search", { query: "oakwordling" })],
    ["memory_list", (shared) => shared.ok("memory_list", {})],
    ["memory_read", (shared) => shared.ok("memory_read", { path: "gone/_index" })],
    ["memory_read", (shared) => shared.ok("memory_read", { path: "_index" })],
    ["context_brief", (shared) => shared.ok("context_brief", {})],
    ["memory_propose", (shared) => shared.propose({ path: "gone/page", body: "x\n" }, assistant())],
    ["page_history", (shared) => shared.done(pageHistoryOperation, { path: "gone/page" })],
    ["page_remove", (shared) => shared.remove("gone/page")],
  ];

  it.each(calls)("go: %s", async (name, call) => {
    const shared = Shared.open();
    await shared.ok("memory_write", { path: "gone/page", body: "oakwordling\n", idempotencyKey: "k" });
    await call(shared);
    expect(await envelopesLeft(shared)).toContain(name);
    await erase(shared, { paths: ["gone/page"] });
    expect(await envelopesLeft(shared)).toEqual(["erase_request", "erase_request"]);
  });

  it.each(["memory_write", "memory_propose"] as const)(
    "go: a duplicate of %s, and what used its key for another",
    async (name) => {
      const shared = Shared.open();
      const args = { path: "gone/page", body: "oakwordling\n", idempotencyKey: "k" };
      for (let round = 0; round < 3; round++) await shared.ok(name, args, assistant());
      expect(await shared.outcome(name, { ...args, body: "oakwordlings\n" }, assistant())).toBe("conflict");
      expect(await envelopesLeft(shared)).toHaveLength(8);
      await erase(shared, { paths: ["gone/page"] });
      expect(await envelopesLeft(shared)).toEqual(["erase_request", "erase_request"]);
    },
  );

  it("go with the earlier version they wrote, and so does the answer kept for their key", async () => {
    const shared = Shared.open();
    await shared.ok("memory_write", { path: "p", body: "oakwordling\n", idempotencyKey: "k" });
    const { version } = (await survey(shared)).pages[0]!.versions[0]!;
    await shared.write("p", "calm\n");
    await erase(shared, { ids: [version] });
    const texts = await shared.context.store.read(async (transaction) => [...transaction.storedTexts()]);
    expect(texts.filter(({ text }) => text.includes(version))).toEqual([]);
    const { isError } = await shared.call("memory_write", { path: "p", body: "oakwordling\n", idempotencyKey: "k" });
    expect(isError).toBe(true);
  });

  it("stay for calls that named nothing of it", async () => {
    const shared = Shared.open();
    await shared.write("gone/page", "x\n");
    await shared.write("kept/page", "y\n");
    await shared.ok("memory_read", { path: "kept/_index" });
    await shared.ok("memory_read", { path: "kept/page" });
    await erase(shared, { paths: ["gone/page"] });
    expect(await envelopesLeft(shared)).toEqual([
      ...["memory_write", "memory_write", "memory_read", "memory_read", "memory_read", "memory_read"],
      ...["erase_request", "erase_request"],
    ]);
  });
});
