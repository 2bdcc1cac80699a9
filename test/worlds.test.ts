import {
  type Caller,
  isPersonalClient,
  pageHistoryOperation,
  pageRemoveOperation,
  pageTextOperation,
  reviewTextOperation,
} from "@satchel/server";
import { describe, expect, it } from "vitest";
import { Choices } from "./choices.js";
import { scaled, testSeed } from "./scale.js";
import { type Call, comparable, type Effect, startMs, stepMs, Twin, World } from "./world.js";
import {
  anyCaller,
  describeCall,
  describeStep,
  nameOf,
  owner,
  partitions,
  play,
  randomHistory,
  randomPage,
  randomText,
  type Step,
  somePath,
  withScopes,
  words,
} from "./world-history.js";
import { isHeldUnseen } from "./world-model.js";

/*
 * The leak suite: whatever a caller asks a random world, the answer is the one of a twin in which nothing that this
 * caller may not read was ever made. What it may read is decided by `world-model.ts`.
 */

/** For the full counts; a twentieth takes about half a minute. */
const fullTimeoutMs = 3_600_000;
const callersPerWorld = 3;
const readsPerCaller = 12;
const writesOfLastCaller = 4;
const readsPerWrite = 5;
const walksPerWorld = 4;
/** Questions are asked after everything that can happen in a history, each caller's in a span of its own. */
const firstQuestionAt = 100;
const questionSpan = 1000;

interface Case {
  history: Step[];
  callers: Caller[];
  seed: number;
}

interface Difference {
  caller: Caller;
  call: Call;
  full: unknown;
  twin: unknown;
}

function randomCase(seed: number): Case {
  const chance = new Choices(seed);
  const history = randomHistory(chance);
  const acting = () => withScopes(chance, chance.pick(history).call.caller);
  const callers = chance.many(callersPerWorld, () => (chance.is(0.5) ? acting() : anyCaller(chance)));
  return { history, callers, seed };
}

/** The first answer that differs, if one does. Only the last caller writes, so that it disturbs no other. */
async function findDifference({ history, callers, seed }: Case): Promise<Difference | undefined> {
  const full = new World();
  try {
    await play(full, history);
    const effects = [...full.effects];
    for (const [index, caller] of callers.entries()) {
      const twin = await Twin.make(effects, caller);
      try {
        const asking = new Asking({ full, twin, caller, effects, from: firstQuestionAt + index * questionSpan });
        const chance = new Choices(seed * 31 + index);
        const difference =
          (await asking.read(chance)) ?? (index === callers.length - 1 ? await asking.write(chance) : undefined);
        if (difference) return difference;
        expect([...full.faults, ...twin.world.faults]).toEqual([]);
      } finally {
        await twin.world.close();
      }
    }
    return undefined;
  } finally {
    await full.close();
  }
}

/** The same for walks between whose pages the owner goes on writing. */
async function findDifferenceInWalk({ history, callers, seed }: Case): Promise<Difference | undefined> {
  const full = new World();
  await play(full, history);
  const caller =
    callers.find((one) => one.principal !== "user:owner") ?? withScopes(new Choices(seed), callers[0] ?? owner);
  const twin = await Twin.make(full.effects, caller);
  try {
    const effects = [...full.effects];
    const asking = new Asking({ full, twin, caller, effects, from: firstQuestionAt });
    const chance = new Choices(seed * 31);
    const writes = new Writing({ full, twin, asking }, chance);
    for (let walk = 0; walk < walksPerWorld; walk++) {
      const limit = chance.integer(1, 2);
      const call: Call = chance.is(0.6)
        ? { caller, tool: "memory_search", args: { ...asking.searchArgs(chance), limit } }
        : { caller, tool: "memory_list", args: { ...asking.listArgs(chance), limit } };
      // The twin has no past in which what went out of sight was never made.
      delete call.args.as_of;
      const difference = await asking.compareAll(call, () => writes.go());
      if (difference || writes.isOver) return difference;
    }
    return undefined;
  } finally {
    await twin.world.close();
    await full.close();
  }
}

/** The owner writing between the pages of a walk. */
class Writing {
  isOver = false;

  constructor(
    private readonly about: { full: World; twin: Twin; asking: Asking },
    private readonly chance: Choices,
  ) {}

  /** Of a page there is, mostly: so that pages the walk has not come to yet go out of sight. */
  private knownPath(): { path?: string } {
    const known = this.about.full.effects.flatMap((effect) =>
      effect.method === "createPage" ? [effect.args[1].path] : [],
    );
    return known.length > 0 && this.chance.is(0.7) ? { path: this.chance.pick(known) } : {};
  }

  /** False when a page came into sight that was there before: the walk of the twin can't know of it. */
  async go(): Promise<boolean> {
    const { chance } = this;
    const { full, twin, asking } = this.about;
    const at = asking.nextAt();
    const call: Call = chance.is(0.8)
      ? { caller: owner, tool: "memory_write", args: { ...randomPage(chance), ...this.knownPath() } }
      : { caller: owner, operation: pageRemoveOperation, args: { path: somePath(chance) } };
    const before = [...full.effects];
    await full.call(at, at, call);
    this.isOver = !(await twin.follow(before, full.effects.slice(before.length)));
    return !this.isOver;
  }
}

type Answer = Record<string, unknown>;

type Proposal = Extract<Effect, { method: "addRevision" }>["args"][0];

/** One caller asking a world and its twin the same. */
class Asking {
  private asked = 0;
  private readonly ids: string[];
  private readonly revisions: Proposal[];
  private readonly instants: string[];

  constructor(private readonly about: { full: World; twin: Twin; caller: Caller; effects: Effect[]; from: number }) {
    const { effects } = about;
    this.ids = effects.flatMap(({ method, args }) => (method === "createPage" ? [args[0]] : []));
    this.revisions = effects.flatMap(({ method, args }) => (method === "addRevision" ? [args[0]] : []));
    this.instants = effects.flatMap(({ method, args }) =>
      method === "createPage" || method === "addVersion"
        ? [args[1].updated]
        : method === "addRevision"
          ? [args[0].generated.at]
          : [],
    );
  }

  /** When the next call is made; its number too. */
  nextAt(): number {
    return this.about.from + this.asked++;
  }

  async read(chance: Choices): Promise<Difference | undefined> {
    return this.compareEach([...this.always(), ...chance.many(readsPerCaller, () => this.randomRead(chance))]);
  }

  private async compareEach(calls: Call[]): Promise<Difference | undefined> {
    for (const call of calls) {
      const difference = await this.compareAll(call);
      if (difference) return difference;
    }
    return undefined;
  }

  private always(): Call[] {
    const { caller } = this.about;
    const until = new Date(startMs + firstQuestionAt * stepMs).toISOString();
    return [
      { caller, tool: "partition_list", args: {} },
      { caller, tool: "review_list", args: {} },
      { caller, tool: "review_list", args: { state: "rejected", limit: 2 } },
      { caller, tool: "audit_list", args: { until, limit: 200 } },
      { caller, tool: "memory_list", args: { include_archived: true } },
      { caller, tool: "memory_read", args: { path: "_index" } },
      { caller, tool: "context_brief", args: {} },
      { caller, tool: "profile_get", args: {} },
    ];
  }

  private randomRead(chance: Choices): Call {
    const { caller } = this.about;
    const kind = chance.next();
    if (kind < 0.3) return { caller, tool: "memory_search", args: this.searchArgs(chance) };
    if (kind < 0.5) return { caller, tool: "memory_list", args: this.listArgs(chance) };
    if (kind < 0.75) return { caller, tool: "memory_read", args: this.readArgs(chance) };
    if (kind < 0.83) return { caller, tool: "context_brief", args: briefArgs(chance) };
    if (kind < 0.88) return { caller, tool: "review_list", args: reviewArgs(chance) };
    if (kind < 0.94) return { caller, tool: "audit_list", args: this.auditArgs(chance) };
    return isPersonalClient(caller.client) ? this.personalRead(chance) : this.randomRead(chance);
  }

  searchArgs(chance: Choices): Answer {
    return {
      query: chance.pick([...words, "anch", "fj", "京", "the", "label", "nowhere", `"${randomText(chance, 3)}"`]),
      ...(chance.is(0.3) && { limit: chance.integer(1, 3) }),
      ...(chance.is(0.4) && { include_stale: chance.is(0.7) }),
      ...(chance.is(0.3) && { include_archived: true }),
      ...(chance.is(0.2) && { type: "semantic" }),
      ...(chance.is(0.2) && { tags: chance.pick([["one"], ["one", "two"]]) }),
      ...(chance.is(0.3) && { partitions: chance.some([...partitions, "nowhere"], 0.6) }),
      ...this.reviewOrTime(chance),
    };
  }

  listArgs(chance: Choices): Answer {
    return {
      ...(chance.is(0.5) && { prefix: chance.pick(["", "n", "notes/", "Notes", "plan/", "style/", "nowhere/"]) }),
      ...(chance.is(0.4) && { limit: chance.integer(1, 3) }),
      ...(chance.is(0.3) && { include_stale: false }),
      ...(chance.is(0.4) && { include_archived: true }),
      ...(chance.is(0.2) && { type: "episodic" }),
      ...(chance.is(0.3) && { partition: chance.pick([...partitions, "nowhere"]) }),
      ...this.reviewOrTime(chance),
    };
  }

  private reviewOrTime(chance: Choices): Answer {
    const kind = chance.next();
    if (kind < 0.3) return { include_review: chance.pick([["proposed"], ["rejected"], ["proposed", "rejected"]]) };
    return kind < 0.6 ? { as_of: this.instant(chance) } : {};
  }

  private instant(chance: Choices): string {
    const { unseenInstants } = this.about.twin;
    if (unseenInstants.length > 0 && chance.is(0.4)) return chance.pick(unseenInstants);
    const instants = [...this.instants, new Date(startMs).toISOString()];
    return new Date(Date.parse(chance.pick(instants)) + chance.integer(-1, 1)).toISOString();
  }

  private readArgs(chance: Choices): Answer {
    const revision = chance.is(0.3) ? this.someRevision(chance) : undefined;
    const by = chance.is(0.3) && this.ids.length > 0 ? { id: chance.pick(this.ids) } : undefined;
    const folders = ["_index", "notes/_index", "notes/deep/_index", "plan/_index", "nowhere/_index"];
    const path = chance.is(0.2)
      ? chance.pick(folders)
      : chance.pick([somePath(chance), somePath(chance), "NOTES/B", "nowhere"]);
    if (revision) return { ...(by ?? { path: chance.is(0.9) ? revision.path : path }), revision: revision.id };
    return { ...(by ?? { path }), ...(chance.is(0.4) && { as_of: this.instant(chance) }) };
  }

  /** Its own rather than another. */
  private someRevision(chance: Choices): Proposal | undefined {
    const { principal, client } = this.about.caller;
    const own = this.revisions.filter(({ generated: by }) => by.principal === principal && by.client === client);
    return chance.pick(own.length > 0 && chance.is(0.5) ? own : this.revisions);
  }

  private auditArgs(chance: Choices): Answer {
    const span = chance.is(0.7)
      ? { until: new Date(startMs + firstQuestionAt * stepMs).toISOString() }
      : { since: new Date(startMs + this.about.from * stepMs).toISOString() };
    return {
      ...span,
      ...(chance.is(0.5) && { limit: chance.integer(3, 20) }),
      ...(chance.is(0.3) && { category: chance.pick(["memory", "memory.sensitive", "review"]) }),
      ...(chance.is(0.3) && { principal: chance.pick(["user:owner", "user:one", this.about.caller.principal]) }),
    };
  }

  private personalRead(chance: Choices): Call {
    const { caller } = this.about;
    const path = somePath(chance);
    const revision = this.someRevision(chance);
    const asOf = { as_of: this.instant(chance) };
    if (revision && chance.is(0.3)) return { caller, operation: reviewTextOperation, args: { revision: revision.id } };
    if (chance.is(0.5)) return { caller, operation: pageHistoryOperation, args: { path } };
    return { caller, operation: pageTextOperation, args: { path, ...(chance.is(0.5) && asOf) } };
  }

  /** Writes until one meets the named exception, and looks at the world after each. */
  async write(chance: Choices): Promise<Difference | undefined> {
    for (const call of chance.many(writesOfLastCaller, () => this.randomWrite(chance))) {
      if (!call) continue;
      const [full, twin] = await this.answers(call);
      if (isUnseenWrite(call, full, twin) || this.isUnseenDecision(call, full)) return undefined;
      if (!isSame(full, twin)) return { caller: call.caller, call, full, twin };
      const after = await this.compareEach(chance.many(readsPerWrite, () => this.randomRead(chance)));
      if (after) return after;
    }
    return undefined;
  }

  /** What became a proposal because of a page out of sight is for those to decide who may see both: not its author. */
  private isUnseenDecision(call: Call, full: Answer): boolean {
    const { path, revision } = call.args;
    const { sight } = this.about.twin;
    if (nameOf(call) !== "review_resolve" || !sight.revisions.has(String(revision))) return false;
    if (!isHeldUnseen(sight, String(path))) return false;
    return (full.error as { code?: string } | undefined)?.code === "forbidden";
  }

  private randomWrite(chance: Choices): Call | undefined {
    const { caller, twin } = this.about;
    const kind = chance.next();
    const revision = chance.pick(this.revisions);
    if (kind < 0.25 && revision) {
      // Merging needs the version it was made from, whoever may read that one (see pcp section 5).
      if (revision.base !== undefined && (twin.partial.size > 0 || !twin.shows(revision.base))) return undefined;
      const verb = chance.pick(["approve", "satchel:approve_archive", "reject", "satchel:defer"]);
      return { caller, tool: "review_resolve", args: { path: revision.path, revision: revision.id, verb } };
    }
    if (kind < 0.35) return { caller, operation: pageRemoveOperation, args: { path: somePath(chance) } };
    const expected = chance.is(0.2) && this.expectedUpdated(chance);
    const args = { ...randomPage(chance), ...expected };
    return { caller, tool: kind < 0.75 ? "memory_write" : "memory_propose", args };
  }

  /** Versions before a page went out of sight are none of the page that came back in the twin, so they are not named. */
  private expectedUpdated(chance: Choices): Answer {
    const { partial, unseenInstants } = this.about.twin;
    return { expected_updated: partial.size > 0 ? chance.pick(unseenInstants) : this.instant(chance) };
  }

  /** Follows the cursors. */
  async compareAll(call: Call, between: () => Promise<boolean> = async () => true): Promise<Difference | undefined> {
    let cursors: [unknown, unknown] = [undefined, undefined];
    for (let round = 0; round < 40; round++) {
      const [full, twin] = await this.answers(call, cursors);
      if (this.isPartialHistory(call, full)) return undefined;
      if (!isSame(full, twin)) return { caller: call.caller, call, full, twin };
      if (full.next_cursor === undefined) return undefined;
      cursors = this.cursors;
      if (!(await between())) return undefined;
    }
    return undefined;
  }

  /** A page that was out of sight in between has one history here and two in the twin: only what is shown of it counts. */
  private isPartialHistory(call: Call, full: Answer): boolean {
    const { twin } = this.about;
    if (nameOf(call) !== "page_history" || twin.partial.size === 0) return false;
    const { versions = [] } = (full.output ?? {}) as { versions?: { version: string; removed: boolean }[] };
    return versions.every(({ version, removed }) => removed || twin.shows(version));
  }

  private cursors: [unknown, unknown] = [undefined, undefined];

  private async answers(call: Call, cursors: [unknown, unknown] = [undefined, undefined]): Promise<[Answer, Answer]> {
    const { full, twin } = this.about;
    const at = this.nextAt();
    const raw = [
      await full.call(at, at, withCursor(call, cursors[0])),
      await twin.world.call(at, at, withCursor(idsOf(call, twin), cursors[1])),
    ] as const;
    this.cursors = [raw[0].next_cursor, raw[1].next_cursor];
    return [comparable(raw[0], twin, false) as Answer, comparable(raw[1], twin, true) as Answer];
  }
}

function briefArgs(chance: Choices): Answer {
  return {
    token_budget: chance.pick([200, 300, 500, 1000, 50_000]),
    ...(chance.is(0.5) && { focus: randomText(chance, 3) }),
  };
}

function reviewArgs(chance: Choices): Answer {
  return {
    ...(chance.is(0.4) && { state: "rejected" }),
    ...(chance.is(0.4) && { partition: chance.pick([...partitions, "nowhere"]) }),
    ...(chance.is(0.5) && { limit: chance.integer(1, 3) }),
  };
}

function withCursor(call: Call, cursor: unknown): Call {
  return cursor === undefined ? call : { ...call, args: { ...call.args, cursor } };
}

function idsOf(call: Call, twin: Twin): Call {
  const { id, as_of } = call.args;
  return typeof id === "string" ? { ...call, args: { ...call.args, id: twin.idHere(id, as_of) } } : call;
}

/** A write to a path that a page out of sight holds is stored as a proposal (pcp section 4): the one named exception. */
function isUnseenWrite({ tool }: Call & { tool?: string }, full: Answer, twin: Answer): boolean {
  if (tool !== "memory_write" || twin.applied !== true || full.applied !== false) return false;
  expect(Object.keys(full).filter((key) => key !== "warnings")).toEqual([
    "path",
    "applied",
    "review_state",
    "revision",
  ]);
  expect(full).toMatchObject({ path: twin.path, review_state: "proposed" });
  return true;
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Leaves out every step without which the difference stays. */
async function shrink(found: Case, first: Difference): Promise<Case> {
  let smallest = found;
  for (const step of [...found.history].reverse()) {
    const history = smallest.history.filter((kept) => kept !== step);
    const without = { ...smallest, history };
    const difference = await findDifference(without);
    if (difference && nameOf(difference.call) === nameOf(first.call)) smallest = without;
  }
  return smallest;
}

async function report(found: Case, first: Difference): Promise<string> {
  const smallest = await shrink(found, first);
  return describeDifference(smallest, (await findDifference(smallest)) ?? first);
}

function describeDifference({ seed, history }: Case, { call, full, twin }: Difference): string {
  return [
    `world ${seed}`,
    ...history.map(describeStep),
    `differs for ${describeCall(call)}`,
    `with scopes ${[...call.caller.scopes].join(" ")}`,
    `full ${JSON.stringify(full)}`,
    `twin ${JSON.stringify(twin)}`,
  ].join("\n");
}

describe("what a caller may not read", () => {
  it(
    "changes no answer of a random world",
    async () => {
      const reports: string[] = [];
      for (let round = 0; round < scaled(2000) && reports.length < 3; round++) {
        const world = randomCase(testSeed() + round);
        const difference = await findDifference(world);
        if (difference) reports.push(await report(world, difference));
      }
      expect(reports.join("\n\n")).toBe("");
    },
    fullTimeoutMs,
  );

  it(
    "changes no answer of a walk while it is written and moved out of sight",
    async () => {
      const reports: string[] = [];
      for (let round = 0; round < scaled(1000) && reports.length < 3; round++) {
        const world = randomCase(testSeed() + 1_000_000 + round);
        const difference = await findDifferenceInWalk(world);
        if (difference) reports.push(describeDifference(world, difference));
      }
      expect(reports.join("\n\n")).toBe("");
    },
    fullTimeoutMs,
  );
});
