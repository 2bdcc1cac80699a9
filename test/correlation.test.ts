import { mkdirSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { ToolName } from "@satchel/pcp";
import { digestOf, isStableId, validateTrace } from "@satchel/prp";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Asked,
  ask,
  auditsOf,
  codeOf,
  envelopesOf,
  expectSound,
  failingOnce,
  journalOf,
  kindsOf,
  leftBy,
  receiptOf,
  verdictOn,
} from "./recorded-calls.js";
import { scaled, testSeed } from "./scale.js";
import { assistant, owner, person, Shared } from "./shared-context.js";

const notes = assistant();
const reader = assistant("memory:read");
const bob = person("bob");
const bobNotes = assistant(undefined, { user: "bob" });
const token = ["sk", "live", "0123456789abcdef01234567"].join("_");

describe("what nobody may guess", () => {
  const withheld: [tool: ToolName, name: string, more: Record<string, unknown>, isList?: true][] = [
    ["memory_search", "query", { limit: 5 }],
    ["context_brief", "focus", { token_budget: 500 }],
    ["erase_request", "subject", { include_derived: false }],
    ["erase_request", "paths", { include_derived: false }, true],
    ["erase_request", "ids", { include_derived: false }, true],
  ];

  it.each(withheld)("%s.%s: two differ in no digest", async (tool, name, more, isList) => {
    const shared = Shared.open();
    await shared.write("p", "stone\n");
    const digests: string[] = [];
    for (const text of ["stone", "another"]) {
      const entries = await leftBy(shared, () => ask(shared, tool, { ...more, [name]: isList ? [text] : text }));
      const [input] = envelopesOf(entries);
      expect(input?.content.redactionDisposition).toBe("redacted");
      digests.push(input?.content.digest ?? "");
    }
    expect(digests).toEqual(Array(2).fill(digestOf({ ...more, [name]: "[REDACTED]" })));
    const [other] = envelopesOf(
      await leftBy(shared, () => ask(shared, tool, { [name]: isList ? ["stone"] : "stone" })),
    );
    expect(other?.content.digest, "the other arguments count").not.toBe(digests[0]);
  });

  it("is withheld from failed and denied calls as well", async () => {
    const shared = Shared.open();
    const calls: Asked[] = [{ caller: assistant("profile.core:read") }, { context: failingOnce(shared) }];
    for (const asked of calls) {
      const [input] = envelopesOf(await leftBy(shared, () => ask(shared, "memory_search", { query: "stone" }, asked)));
      expect(input?.content).toEqual({
        digest: digestOf({ query: "[REDACTED]" }),
        redactionDisposition: "redacted",
        references: [],
      });
    }
  });
});

describe("the names a caller gives its call", () => {
  const correlationOf = async (shared: Shared, asked: Asked) =>
    receiptOf(await ask(shared, "memory_list", {}, asked)).correlation;

  it("are used as they are, on both envelopes", async () => {
    const shared = Shared.open();
    const names = {
      runId: "run.1",
      normalizedSessionId: "ses:2",
      turnId: "t-3",
      itemId: "i_4",
      requestId: "r5",
      callId: "c6",
    };
    const entries = await leftBy(shared, () =>
      ask(shared, "memory_list", {}, { names: { ...names, more: "ignored" } }),
    );
    const { callId, ...correlation } = names;
    for (const envelope of envelopesOf(entries)) expect(envelope).toMatchObject({ callId, correlation });
    expect(auditsOf(entries)[0]?.call_id).toBe(callId);
    expect(JSON.stringify(entries)).not.toContain("ignored");
  });

  it("default to a run per grant and a session per connection, which tell nothing of them", async () => {
    const shared = Shared.open();
    const one = await correlationOf(shared, { caller: notes, connection: "first" });
    const two = await correlationOf(shared.again(), { caller: notes, connection: "second" });
    const other = await correlationOf(shared, { caller: reader, connection: "first" });
    const unconnected = await correlationOf(shared, { caller: notes });
    expect(two.runId).toBe(one.runId);
    expect(other.runId).not.toBe(one.runId);
    expect(two.normalizedSessionId).not.toBe(one.normalizedSessionId);
    expect(other.normalizedSessionId).toBe(one.normalizedSessionId);
    expect(unconnected).toMatchObject({ runId: one.runId });
    expect(await correlationOf(shared, { caller: notes })).toMatchObject({
      normalizedSessionId: unconnected.normalizedSessionId,
    });
    expect(two.turnId).not.toBe(one.turnId);
    expect(two.itemId).not.toBe(one.itemId);
    expect("requestId" in one).toBe(false);
    expect(one.runId).toMatch(/^run_[0-9a-f]{32}$/);
    expect(one.normalizedSessionId).toMatch(/^ses_[0-9a-f]{32}$/);
    const elsewhere = await correlationOf(Shared.open(), { caller: notes, connection: "first" });
    expect(elsewhere.runId, "a name nobody can compute without the context's key").not.toBe(one.runId);
  });

  const unfit: unknown[] = ["a b", "/p", "_x", "ä", "x".repeat(161), 1, -0.5, "1", `mapped:${"0".repeat(64)}`, token];
  it("that are no ids are mapped, each to one of its own, and no text of them is kept", async () => {
    const shared = Shared.open();
    const mapped = new Set<string>();
    for (const name of unfit) {
      const names = {
        runId: name,
        normalizedSessionId: name,
        turnId: name,
        itemId: name,
        requestId: name,
        callId: name,
      };
      const entries = await leftBy(shared, () => ask(shared, "memory_list", {}, { names }));
      const [input] = envelopesOf(entries);
      const ids = new Set([...Object.values(input?.correlation ?? {}), input?.callId ?? ""]);
      expect(ids.size, "the same name is the same id").toBe(1);
      for (const id of ids) {
        expect(isStableId(id) && id.length <= 160).toBe(true);
        mapped.add(id);
      }
      if (name !== "1" && typeof name === "string") expect(JSON.stringify(entries)).not.toContain(name);
    }
    expect(mapped.size, '1 and "1" are two').toBe(unfit.length);
    expect(validateTrace(envelopesOf(await journalOf(shared))).issues).toEqual([]);
  });

  const invalid: [name: string, names: unknown][] = [
    ["no object", "run-1"],
    ["a list", ["run-1"]],
    ["an empty id", { runId: "" }],
    ["an id that is null", { turnId: null }],
    ["an id that is an object", { itemId: {} }],
    ["an id that is true", { normalizedSessionId: true }],
    ["an endless number", { requestId: Number.POSITIVE_INFINITY }],
    ["a long id", { callId: "x".repeat(1001) }],
    ["half of a surrogate pair", { runId: "\ud800" }],
    ["an empty key", { idempotencyKey: "" }],
    ["a long key", { idempotencyKey: "x".repeat(241) }],
    ["a key that is a number", { idempotencyKey: 1 }],
  ];
  it.each(invalid)("%s: refused, without effect, and recorded under other names", async (_, names) => {
    const shared = Shared.open();
    const entries = await leftBy(shared, async () => {
      const answer = await ask(shared, "memory_write", { path: "p", body: "x\n" }, { caller: notes, names });
      expect(receiptOf(answer)).toMatchObject({ outcome: "denied", code: "input_invalid", idempotencyKey: null });
      expect(JSON.stringify(answer)).not.toMatch(/run-1|x{200}/);
    });
    expect(kindsOf(entries)).toEqual(["prp.input", "audit", "prp.result"]);
    expectSound(entries);
    expect(await shared.outcome("memory_read", { path: "p" })).toBe("not_found");
  });
});

describe("whatever is called", () => {
  const callers = [owner, notes, reader, bob, bobNotes, assistant("memory:read memory:write memory:propose")];
  const paths = ["a", "b", "work/c", "A"];
  const tools: [ToolName, fc.Arbitrary<Record<string, unknown>>][] = [
    ["memory_read", fc.record({ path: fc.constantFrom(...paths, "..") })],
    ["memory_write", fc.record({ path: fc.constantFrom(...paths), body: fc.constantFrom("x\n", "y\n", `${token}\n`) })],
    ["memory_propose", fc.record({ path: fc.constantFrom(...paths), body: fc.constantFrom("x\n", "y\n") })],
    ["memory_search", fc.record({ query: fc.constantFrom("x", "y", "") })],
    ["profile_update", fc.record({ patch: fc.record({ name: fc.constantFrom("N", "M", 1) }) })],
    ["review_list", fc.constant({})],
    [
      "erase_request",
      fc.record({ paths: fc.constantFrom(["a"], ["b"]), dry_run: fc.constantFrom(true, true, undefined) }),
    ],
    ["export_create", fc.constant({})],
  ];
  const call = fc.constantFrom(...tools).chain(([tool, args]) =>
    fc.record({
      tool: fc.constant(tool),
      args,
      caller: fc.constantFrom(...callers.keys()),
      door: fc.constantFrom(0, 1),
      callId: fc.option(fc.constantFrom("c1", "c2", 3), { nil: undefined }),
      key: fc.option(fc.constantFrom("k1", "k 2"), { nil: undefined }),
      isFailing: fc.integer({ min: 0, max: 9 }).map((lot) => lot === 0),
    }),
  );
  const batches = fc.array(fc.array(call, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 8 });

  type Drawn = typeof call extends fc.Arbitrary<infer One> ? One : never;

  function make({ tool, args: { dry_run, ...args }, caller, door, callId, key, isFailing }: Drawn, doors: Shared[]) {
    const through = doors[door]!;
    // A call that fails under the key of another input is no conflict, and so a fault of the trace.
    const idempotencyKey = isFailing ? undefined : key;
    return ask(
      through,
      tool,
      { ...args, ...(dry_run !== undefined && { dry_run }) },
      {
        caller: callers[caller]!,
        names: { ...(callId !== undefined && { callId }), ...(idempotencyKey !== undefined && { idempotencyKey }) },
        ...(isFailing && { context: failingOnce(through) }),
      },
    );
  }

  it("the trace has no fault, the log is valid, and each answer has its own two envelopes", async () => {
    const seed = testSeed();
    const check = fc.asyncProperty(batches, async (drawn) => {
      const shared = Shared.open();
      await shared.users("bob");
      await shared.partition("main", { "user:bob": "read propose" });
      const doors = [shared, shared.again()];
      const answers = [];
      for (const batch of drawn) answers.push(...(await Promise.all(batch.map((one) => make(one, doors)))));
      const entries = await journalOf(shared);
      expectSound(entries);
      expect(await verdictOn(shared)).toMatchObject({ verdict: "valid", size: entries.length });
      const terminals = new Set(envelopesOf(entries).map((envelope) => JSON.stringify(envelope)));
      for (const answer of answers) expect(sortedIn(terminals, receiptOf(answer)), JSON.stringify(answer)).toBe(true);
      const done = auditsOf(entries);
      expect(done.length).toBe(
        envelopesOf(entries).filter(({ phase, outcome }) => phase === "result" && outcome !== "duplicate").length,
      );
    });
    await fc.assert(check, { seed, numRuns: scaled(400) });
  }, 900_000);

  it("a checkpoint that can't be copied out fails no call", async () => {
    const shared = Shared.open();
    const outside = join(shared.context.folder, "checkpoints.log");
    rmSync(outside, { force: true });
    mkdirSync(outside);
    for (let n = 0; n < 100; n++)
      expect(codeOf(await ask(shared, "memory_write", { path: `p${n}`, body: "x\n" }))).toBe("ok");
    expect(shared.faults).toEqual([]);
    expect((await verdictOn(shared)).checkpointSize).toBeGreaterThan(250);
    rmdirSync(outside);
  });

  /** Entries are canonical, so their members are in another order. */
  function sortedIn(texts: ReadonlySet<string>, envelope: unknown): boolean {
    const sorted = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(sorted);
      if (typeof value !== "object" || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .sort()
          .map(([name, member]) => [name, sorted(member)]),
      );
    };
    return texts.has(JSON.stringify(sorted(envelope)));
  }
});
