import fc from "fast-check";
import { expect, it } from "vitest";
import {
  divide,
  erase,
  expectNoTrace,
  type Selector,
  type Survey,
  some,
  survey,
  type Taken,
  verifyJournalOf,
} from "./erasure-world.js";
import { scaled, testSeed } from "./scale.js";
import { assistant, Shared } from "./shared-context.js";

/*
 * Random contexts and erasures, against a judgement of what goes that is made here from everything that is stored.
 */

/** Words that begin alike, end alike, hold each other, and are one phrase in different ways. */
const words = [
  ...["lantern", "lanterns", "lanternfish", "Lanternfisher", "harbour", "harbourside", "HARBOURS", "whistlewood"],
  ...["whistle", "underwood", "amber-field", "amber field", "Amber.Field", "amberfield", "Zürich", "zurichsee"],
];
const paths = ["a", "lantern", "amber/field", "harbour/lantern-fish", "deep/er/whistlewood", "z"];
const phrases = [
  "lantern",
  "LANTERNS",
  "amber field",
  "harbour",
  "zürich",
  "whistlewood",
  "lantern harbour",
  "nowhere",
];

const word = fc.constantFrom(...words);
const path = fc.constantFrom(...paths);
const text = fc.array(word, { maxLength: 6 }).map((some) => `${some.join(" ")}\n`);
const content = fc.record({
  path,
  body: text,
  title: word,
  tags: fc.uniqueArray(
    word.map((one) => one.replaceAll(" ", "-")),
    { maxLength: 2 },
  ),
  from: fc.option(path, { freq: 2 }),
});
const step = fc.oneof(
  { weight: 6, arbitrary: content.map((given) => ({ kind: "write" as const, ...given })) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("propose" as const), note: fc.option(text), given: content }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("remove" as const), path }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("reject" as const), note: text }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("approve" as const), note: text }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("search" as const), query: word }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
const erasure = fc.record({
  derived: fc.boolean(),
  by: fc.oneof(
    fc.constantFrom(...phrases).map((subject) => ({ subject })),
    fc.uniqueArray(path, { minLength: 1, maxLength: 3 }).map((chosen) => ({ paths: chosen })),
    fc.array(fc.nat(), { minLength: 1, maxLength: 4 }).map((chosen) => ({ chosen })),
  ),
});

async function perform(shared: Shared, one: Step): Promise<void> {
  const argumentsOf = ({ path, body, title, tags, from }: Omit<Extract<Step, { kind: "write" }>, "kind">) => ({
    path,
    body,
    frontmatter: { title, tags, ...(from !== null && { derived_from: [from] }) },
  });
  shared.clock.ms += 1000;
  if (one.kind === "write") await shared.ok("memory_write", argumentsOf(one));
  if (one.kind === "propose")
    await shared.outcome(
      "memory_propose",
      { ...argumentsOf(one.given), ...(one.note !== null && { note: one.note }) },
      assistant(),
    );
  if (one.kind === "search") await shared.ok("memory_search", { query: one.query, include_review: ["proposed"] });
  if (one.kind === "remove" && (await shared.outcome("memory_read", { path: one.path })) === "ok")
    await shared.remove(one.path);
  if (one.kind === "reject" || one.kind === "approve") {
    const [item] = await shared.items();
    const { kind: verb, note } = one;
    if (item) await shared.outcome("review_resolve", { path: item.path, revision: item.revision, verb, note });
  }
}

/** Ids of pages, versions and proposals that are chosen by number, current versions excepted. */
function chooseIds({ pages, revisions }: Survey, chosen: number[]): string[] {
  const ids = [
    ...pages.flatMap(({ id, versions }) => [id, ...versions.slice(0, -1).map(({ version }) => version)]),
    ...revisions.map(({ id }) => id),
  ];
  return ids.length === 0 ? ["pg_none"] : chosen.map((number) => ids[number % ids.length]!);
}

function fold(given: string): string {
  const plain = given.normalize("NFD").replace(/[\u0300-\u036f]/g, "");
  return plain.toLowerCase().replace(/[\s\-_./]+/g, " ");
}

function holds(given: unknown, subject: string): boolean {
  const texts =
    typeof given === "string" ? [given] : Object.values(given ?? {}).filter((one) => typeof one === "string");
  const nested = typeof given === "string" ? [] : Object.values(given ?? {}).filter((one) => typeof one === "object");
  return (
    texts.some((one) => ` ${fold(one).replace(/[^a-z0-9 ]+/g, " ")} `.includes(` ${fold(subject)} `)) ||
    nested.some((one) => holds(one, subject))
  );
}

/** What goes, by the words of the specification. */
function judge({ pages, revisions }: Survey, selector: Selector, derived: boolean): Taken {
  const named = new Set("ids" in selector ? selector.ids : "paths" in selector ? selector.paths : []);
  const subject = "subject" in selector ? selector.subject : undefined;
  const isHeld = (...given: unknown[]) => subject !== undefined && given.some((one) => holds(one, subject));
  const whole = new Set<string>();
  const versions = new Set<string>();
  for (const { id, path: at, versions: all } of pages) {
    const contents = all.filter(({ removed }) => !removed);
    const isContentHeld = ({ head, body, keys, review }: (typeof all)[number]) =>
      isHeld(head, body, keys, review?.note ?? "");
    const heldBy = contents.filter((one) => isContentHeld(one) || named.has(one.version));
    const last = contents.at(-1);
    const isLastHeld = last !== undefined && isContentHeld(last);
    if (named.has(id) || named.has(at) || isHeld(at) || isLastHeld || heldBy.length === contents.length) whole.add(id);
    else for (const { version } of heldBy) versions.add(version);
  }
  /** A path means the page that had it then; when no page that stays ever had it, any page that goes. */
  const isGoneAt = (at: string, time: string) => {
    const holders = pages.filter(({ path: held }) => held === at);
    const gone = holders.filter(({ id }) => whole.has(id));
    if (gone.length === holders.length) return gone.length > 0;
    return gone.some(({ versions: all }) => {
      const end = all.at(-1)!.removed ? all.at(-1)!.updated : "9999";
      return all[0]!.created <= time && time < end;
    });
  };
  for (let before = -1; derived && before !== whole.size; ) {
    before = whole.size;
    for (const { id, versions: all } of pages) {
      const contents = all.filter(({ removed }) => !removed);
      const sources = contents.at(-1)?.keys.derived_from ?? [];
      const isMade = (from: string) =>
        contents.some(({ keys, updated }) => keys.derived_from?.includes(from) && isGoneAt(from, updated));
      if (sources.some(isMade)) whole.add(id);
    }
  }
  const goneReviews = new Set(
    pages.flatMap(({ id, versions: all }) =>
      all
        .filter(({ version }) => whole.has(id) || versions.has(version))
        .map(({ review, version }) => review?.id ?? version),
    ),
  );
  const goes = ({ id, path: at, head, body, keys, note, decision, generated, state }: Survey["revisions"][number]) =>
    named.has(id) ||
    named.has(at) ||
    isGoneAt(at, generated.at) ||
    isHeld(at, head, body, keys, note ?? "", decision?.note ?? "") ||
    (derived && keys.derived_from?.some((from) => isGoneAt(from, generated.at))) ||
    (state === "approved" && goneReviews.has(decision?.id ?? ""));
  return { ids: whole, versions, revisions: new Set(revisions.filter(goes).map(({ id }) => id)) };
}

it("whatever is erased from whatever context: no trace is left, all else is as it was, and nothing is left to erase", async () => {
  const run = async (steps: Step[], erasures: { derived: boolean; by: Record<string, unknown> }[]) => {
    const shared = Shared.open();
    for (const one of steps) await perform(shared, one);
    for (const { derived, by } of erasures) {
      const before = await survey(shared);
      const selector = (
        "chosen" in by ? { ids: [...new Set(chooseIds(before, by.chosen as number[]))] } : by
      ) as Selector;
      const args = { ...selector, include_derived: derived };
      const taken = judge(before, selector, derived);
      const { receipt } = await erase(shared, args);
      const { gone, kept } = divide(before, taken);
      expect(await survey(shared)).toEqual(kept);
      expect(receipt.residual).not.toHaveProperty("traced");
      expect(receipt.residual.clean).toBe(true);
      expectNoTrace(shared, { gone, kept });
      expect(receipt.counts.versions).toBe(gone.pages.flatMap(({ versions }) => versions).length);
      expect(receipt.counts.proposals).toBe(gone.revisions.length);
      expect(some((await erase(shared, args)).receipt.counts)).toEqual({});
    }
    expect((await verifyJournalOf(shared.dataDir)).verdict.verdict).toBe("valid");
    expect(await shared.context.store.inspect()).toMatchObject({ problems: [] });
    expect(shared.faults).toEqual([]);
  };
  const property = fc.asyncProperty(
    fc.array(step, { minLength: 3, maxLength: 14 }),
    fc.array(erasure, { minLength: 1, maxLength: 2 }),
    run,
  );
  await fc.assert(property, {
    seed: testSeed(),
    numRuns: scaled(60),
    endOnFailure: true,
    interruptAfterTimeLimit: 600_000,
  });
}, 900_000);
