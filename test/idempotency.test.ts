import type { ToolName } from "@satchel/pcp";
import type { SemanticToolEnvelope } from "@satchel/prp";
import { type AnsweredCall, type Caller, userAddOperation } from "@satchel/server";
import { describe, expect, it } from "vitest";
import { StoreError } from "../packages/server/src/store/store.js";
import {
  type Asked,
  ask,
  auditsOf,
  codeOf,
  envelopesOf,
  errorOf,
  expectSound,
  failingOnce,
  journalOf,
  kindsOf,
  leftBy,
  receiptOf,
} from "./recorded-calls.js";
import { scaled } from "./scale.js";
import { assistant, owner, person, Shared } from "./shared-context.js";

const notes = assistant();
const key = (idempotencyKey: string, more: object = {}): Asked => ({ names: { idempotencyKey, ...more } });
const answerOf = ({ _meta, ...answer }: AnsweredCall) => answer;

/** Everything a call can change but the journal and the claims. */
function stateOf({ context }: Shared): Promise<string> {
  return context.store.read(async (transaction) => {
    const pages = await transaction.storedPages({ after: 0, limit: 1000 });
    const versions = [];
    for (const { id } of pages) versions.push(await transaction.versions(id));
    const revisions = await transaction.storedRevisions({ after: 0, limit: 1000 });
    const time = await transaction.recordedTime();
    return JSON.stringify([time, pages, versions, revisions, await transaction.profiles()]);
  });
}

interface Mutation {
  tool: ToolName;
  caller: Caller;
  args: Record<string, unknown>;
  /** The same tool, to another effect. */
  other: Record<string, unknown>;
}

const frontmatter = { title: "t", tags: ["a"] };
const mutations: Mutation[] = [
  { tool: "memory_write", caller: notes, args: { path: "p", body: "x\n", frontmatter }, other: { body: "y\n" } },
  { tool: "memory_propose", caller: notes, args: { path: "p", body: "x\n", note: "n" }, other: { note: "m" } },
  { tool: "profile_update", caller: notes, args: { patch: { name: "N" } }, other: { patch: { name: "M" } } },
  { tool: "review_resolve", caller: owner, args: { path: "q", verb: "reject" }, other: { verb: "approve" } },
  { tool: "erase_request", caller: owner, args: { paths: ["old"], dry_run: false }, other: { paths: ["plain"] } },
];

/** A context in which each mutation can be made. */
async function makeWorld(tool: ToolName, args: Record<string, unknown>) {
  const shared = Shared.open();
  await shared.users("bob");
  await shared.partition("work", { "user:bob": "read propose write" });
  for (const path of ["plain", "old"]) await shared.write(path, "stone\n");
  const revision = await shared.propose({ path: "q", body: "new\n" }, notes);
  return { shared, given: tool === "review_resolve" ? { ...args, revision } : args };
}

function expectDuplicate(again: AnsweredCall, first: AnsweredCall): void {
  const { operationReceiptId, currentRevision, callId, content } = receiptOf(first);
  expect(answerOf(again)).toEqual(answerOf(first));
  const receipt = receiptOf(again);
  expect(receipt).toMatchObject({ outcome: "duplicate", code: "duplicate", retryable: false });
  expect(receipt).toMatchObject({ operationReceiptId, duplicateOfReceiptId: operationReceiptId });
  expect(receipt.currentRevision).toBe(currentRevision);
  expect(receipt.content.digest).toBe(content.digest);
  expect(receipt.callId).not.toBe(callId);
  expect(receipt).not.toHaveProperty("auditReceiptId");
}

describe("a key used again", () => {
  it.each(mutations)("$tool, same input: the first answer, no second effect, no second audit entry", async (row) => {
    const { tool, caller, args } = row;
    const { shared, given } = await makeWorld(tool, args);
    const asked = { ...key("k"), caller };
    const first = await ask(shared, tool, given, asked);
    expect(codeOf(first)).toMatch(/^(ok|proposal_stored)$/);
    const before = await stateOf(shared);
    for (const through of [shared, shared.again()]) {
      shared.clock.ms += 60_000;
      const reordered = Object.fromEntries(Object.entries(given).reverse());
      const entries = await leftBy(shared, async () =>
        expectDuplicate(await ask(through, tool, reordered, asked), first),
      );
      expect(kindsOf(entries)).toEqual(["prp.input", "prp.result"]);
    }
    expect(await stateOf(shared)).toBe(before);
    if (tool !== "erase_request") expectSound(await journalOf(shared));
  });

  it.each(mutations)("$tool, other input: refused, nothing done, and the first answer stays", async (row) => {
    const { tool, caller, args, other } = row;
    const { shared, given } = await makeWorld(tool, args);
    const asked = { ...key("k"), caller };
    const first = await ask(shared, tool, given, asked);
    const before = await stateOf(shared);
    const entries = await leftBy(shared, async () => {
      const refused = await ask(shared, tool, { ...given, ...other }, asked);
      expect(receiptOf(refused)).toMatchObject({ outcome: "conflict", code: "idempotency_conflict", retryable: false });
      expect(receiptOf(refused).operationReceiptId, "of the same key").toBe(receiptOf(first).operationReceiptId);
      expect(receiptOf(refused)).not.toHaveProperty("currentRevision");
      expect(errorOf(refused).code).toBe("conflict");
    });
    expect(auditsOf(entries)).toMatchObject([{ outcome: "conflict", targets: [] }]);
    expect(await stateOf(shared)).toBe(before);
    expectDuplicate(await ask(shared, tool, given, asked), first);
  });

  it("can be said as an argument or in _meta, and both ways it is the same key", async () => {
    const shared = Shared.open();
    const page = { path: "p", body: "x\n" };
    const ways: [args: object, asked: Asked, code: string][] = [
      [{ ...page, idempotencyKey: "k" }, {}, "ok"],
      [page, key("k"), "duplicate"],
      [{ ...page, idempotencyKey: "k" }, key("k"), "duplicate"],
      [{ ...page, idempotencyKey: "k" }, key("l"), "input_invalid"],
      [{ ...page, idempotencyKey: "l" }, key("k"), "input_invalid"],
      [{ ...page, body: "y\n", idempotencyKey: "k" }, {}, "idempotency_conflict"],
      [page, { names: { idempotencyKey: null } }, "ok"],
      [page, {}, "ok"],
    ];
    for (const [args, asked, code] of ways) {
      const answer = await ask(shared, "memory_write", args, { ...asked, caller: notes });
      expect(codeOf(answer), JSON.stringify([args, asked])).toBe(code);
      const isKeyed = code !== "input_invalid" && JSON.stringify([args, asked]).includes('"k"');
      expect(receiptOf(answer).idempotencyKey).toBe(isKeyed ? "k" : null);
    }
    expectSound(await journalOf(shared));
  });

  it("is another one for another grant, run or operation", async () => {
    const shared = Shared.open();
    const run = (runId: unknown) => key("k", { runId });
    const calls: [tool: ToolName, asked: Asked][] = [
      ["memory_write", { ...key("k"), caller: notes }],
      ["memory_write", { ...key("k"), caller: assistant(undefined, { client: "other" }) }],
      ["memory_write", { ...key("k"), caller: assistant("memory:read memory:write") }],
      ["memory_write", { ...key("k"), caller: owner }],
      ["memory_write", { ...run("run-1"), caller: notes }],
      ["memory_write", { ...run(1), caller: notes }],
      ["memory_write", { ...run("1"), caller: notes }],
      ["memory_propose", { ...key("k"), caller: notes }],
      ["memory_write", { ...key("K"), caller: notes }],
    ];
    const receipts: SemanticToolEnvelope[] = [];
    for (const [n, [tool, asked]] of calls.entries())
      receipts.push(receiptOf(await ask(shared, tool, { path: `p${n}`, body: "x\n" }, asked)));
    expect(receipts.map(({ outcome }) => outcome)).toEqual(calls.map(() => "succeeded"));
    expect(new Set(receipts.map(({ operationReceiptId }) => operationReceiptId)).size).toBe(calls.length);
    for (const [n, [tool, asked]] of calls.entries()) {
      const again = await ask(shared, tool, { path: `p${n}`, body: "x\n" }, asked);
      expect(receiptOf(again).duplicateOfReceiptId).toBe(receipts[n]?.operationReceiptId);
    }
  });

  it("is another one for another grant that names the same run, although their receipts look alike", async () => {
    const shared = Shared.open();
    const others = [notes, assistant(undefined, { client: "other" }), assistant("memory:read memory:write"), owner];
    const write = (n: number) =>
      ask(
        shared,
        "memory_write",
        { path: `p${n}`, body: "x\n" },
        { ...key("k", { runId: "run-1" }), caller: others[n]! },
      );
    const first = [];
    for (const n of others.keys()) first.push(await write(n));
    expect(first.map(codeOf)).toEqual(others.map(() => "ok"));
    expect(new Set(first.map((answer) => receiptOf(answer).operationReceiptId)).size).toBe(1);
    for (const n of others.keys()) expectDuplicate(await write(n), first[n]!);
  });

  it("means nothing to a tool that changes nothing", async () => {
    const shared = Shared.open();
    await shared.write("p", "one\n");
    const read = () => ask(shared, "memory_read", { path: "p" }, { ...key("k"), caller: notes });
    const first = await read();
    await shared.write("p", "two\n");
    const again = await read();
    expect(again.structuredContent).toMatchObject({ body: "two\n" });
    for (const answer of [first, again]) expect(receiptOf(answer)).toMatchObject({ code: "ok", idempotencyKey: null });
  });
});

describe("a refused call lets its key go", () => {
  const page = { path: "p", body: "x\n" };
  interface Refused {
    code: string;
    args?: Record<string, unknown>;
    asked?: (shared: Shared) => Asked;
    prepare?: (shared: Shared) => Promise<unknown>;
    undo?: (shared: Shared) => Promise<unknown>;
  }
  const refusals: Refused[] = [
    { code: "document_revision_conflict", args: { ...page, expected_updated: "2020-01-01T00:00:00.000Z" } },
    { code: "path_conflict", args: { ...page, path: "Taken" } },
    { code: "input_invalid", args: { ...page, path: ".." } },
    { code: "input_invalid", args: { ...page, frontmatter: { title: "t", number: 2 ** 60 } } },
    { code: "input_too_large", args: { ...page, body: "x".repeat(300_000) } },
    { code: "target_not_found", args: { ...page, frontmatter: { title: "t", partition: "nowhere" } } },
    { code: "required_claim_missing", asked: () => ({ caller: { ...notes, scopes: new Set(["memory:read"]) } }) },
    { code: "internal", asked: (shared) => ({ context: failingOnce(shared) }) },
    { code: "context_locked", asked: (shared) => ({ context: failingOnce(shared, new StoreError("locked", "held")) }) },
    {
      code: "rate_limited",
      prepare: async (shared) => {
        await shared.setting("calls_per_minute", "1");
        await ask(shared, "memory_write", { ...page, path: ".." }, { caller: notes });
      },
      undo: async ({ clock }) => {
        clock.ms += 600_000;
      },
    },
  ];

  it.each(refusals)("$code", async ({ code, args = page, asked, prepare, undo }) => {
    const shared = Shared.open();
    await shared.write("taken", "x\n");
    await prepare?.(shared);
    const refused = await ask(shared, "memory_write", args, { ...key("k"), caller: notes, ...asked?.(shared) });
    expect(receiptOf(refused)).toMatchObject({ code, idempotencyKey: "k" });
    expect(await shared.outcome("memory_read", { path: "p" })).toBe("not_found");
    await undo?.(shared);
    const done = await ask(shared, "memory_write", { ...page, body: "now\n" }, { ...key("k"), caller: notes });
    expect(codeOf(done)).toBe("ok");
    expect((await shared.read("p")).body).toBe("now\n");
    expectSound(await journalOf(shared));
  });
});

describe("the rights are asked again", () => {
  const bob = assistant(undefined, { user: "bob" });
  const page = { path: "work/p", body: "x\n", frontmatter: { title: "t", partition: "work" } };
  const move = (shared: Shared, keys: object) => shared.write("work/p", "x\n", { title: "t", ...keys });
  interface Loss {
    loss: string;
    tool?: ToolName;
    args?: Record<string, unknown>;
    caller?: Caller;
    lose?: (shared: Shared) => Promise<unknown>;
    regain?: (shared: Shared) => Promise<unknown>;
    /** The same grant with these scopes. */
    scopes?: string;
    code: string;
  }
  const asOwner = (isOwner: boolean) => (shared: Shared) =>
    shared.done(userAddOperation, { principal: "user:bob", isOwner });
  const grants = (rights: string) => (shared: Shared) =>
    shared.partition("work", { "user:bob": rights }, { revoke: [] });
  const losses: Loss[] = [
    {
      loss: "the right to the partition",
      lose: (shared) => shared.partition("work", {}, { revoke: ["user:bob"] }),
      regain: grants("write"),
      code: "target_not_found",
    },
    {
      loss: "the page to another partition",
      lose: (shared) => move(shared, { partition: "main" }),
      regain: (shared) => move(shared, { partition: "work" }),
      code: "target_not_found",
    },
    { loss: "the scope to read", scopes: "memory:write memory:propose", code: "target_not_found" },
    {
      loss: "the scope to read what is sensitive",
      args: { ...page, frontmatter: { ...page.frontmatter, sensitivity: "sensitive" } },
      scopes: "memory:read memory:write",
      code: "target_not_found",
    },
    { loss: "the scope to write", scopes: "memory:read memory:propose", code: "target_not_found" },
    { loss: "every scope of memory", scopes: "profile.core:read", code: "required_claim_missing" },
    {
      loss: "a proposal's partition",
      tool: "memory_propose",
      lose: (shared) => shared.partition("work", {}, { revoke: ["user:bob"] }),
      regain: grants("write"),
      code: "target_not_found",
    },
    {
      loss: "the ownership, of a profile",
      tool: "profile_update",
      args: { patch: { name: "Somebody" } },
      lose: asOwner(false),
      regain: asOwner(true),
      code: "actor_role_denied",
    },
    {
      loss: "the ownership, of an erasure",
      tool: "erase_request",
      args: { paths: ["old"], dry_run: false },
      caller: person("bob"),
      lose: asOwner(false),
      regain: asOwner(true),
      code: "actor_role_denied",
    },
  ];

  it.each(losses)("$loss is lost: refused, and nothing of the answer is told", async (row) => {
    const { tool = "memory_write", args = page, caller = bob, lose, regain, scopes, code } = row;
    const { shared } = await makeWorld(tool, args);
    if (code === "actor_role_denied") await asOwner(true)(shared);
    const first = await ask(shared, tool, args, { ...key("k", { callId: "c" }), caller });
    expect(receiptOf(first).outcome).toBe("succeeded");
    shared.clock.ms += 60_000;
    await lose?.(shared);
    const now = scopes === undefined ? caller : { ...caller, scopes: new Set(scopes.split(" ")) };
    const before = await stateOf(shared);
    for (const names of [
      { idempotencyKey: "k" },
      { idempotencyKey: "k", callId: "c" },
      { idempotencyKey: "k", callId: "d" },
    ]) {
      const refused = await ask(shared, tool, args, { names, caller: now });
      expect(receiptOf(refused)).toMatchObject({ outcome: "denied", code, content: { references: [] } });
      for (const member of ["currentRevision", "duplicateOfReceiptId", "targets"])
        expect(receiptOf(refused)).not.toHaveProperty(member);
      const { id, updated, revision } = first.structuredContent as Record<string, string | undefined>;
      const salt = first._meta?.["dev.satchel/erasure-salt"];
      for (const told of [id, updated, revision, salt].filter((text) => text !== undefined))
        expect(JSON.stringify(refused)).not.toContain(told);
    }
    expect(await stateOf(shared), "and not done again").toBe(before);
    if (tool !== "erase_request") expectSound(await journalOf(shared));
    await regain?.(shared);
    expectDuplicate(await ask(shared, tool, args, { ...key("k"), caller }), first);
  });

  const sensitive = { title: "t", sensitivity: "sensitive" };
  const blind: [scopes: string, tool: ToolName, more: Record<string, unknown>][] = [
    ["memory:write", "memory_write", {}],
    ["memory:write memory:propose", "memory_write", {}],
    ["memory:propose", "memory_write", {}],
    ["memory:propose", "memory_propose", { frontmatter: sensitive }],
    ["memory:read memory:write", "memory_write", { frontmatter: sensitive }],
    ["memory:read memory:write", "memory_write", { path: "style/tone" }],
  ];
  it.each(blind)("%s, %s %j: what the writer never saw is no loss", async (scopes, tool, more) => {
    const shared = Shared.open();
    const asked = { ...key("k"), caller: assistant(scopes) };
    const args = { path: "p", body: "x\n", ...more };
    const first = await ask(shared, tool, args, asked);
    expect(receiptOf(first).outcome).toBe("succeeded");
    expectDuplicate(await ask(shared, tool, args, asked), first);
  });

  it("a page that was removed since is no reason to do it again", async () => {
    const shared = Shared.open();
    const first = await ask(shared, "memory_write", { path: "p", body: "x\n" }, { ...key("k"), caller: notes });
    await shared.remove("p");
    expectDuplicate(
      await ask(shared, "memory_write", { path: "p", body: "x\n" }, { ...key("k"), caller: notes }),
      first,
    );
    expect(await shared.outcome("memory_read", { path: "p" })).toBe("not_found");
  });
});

describe("an executed key is never forgotten", () => {
  it("over restarts, other keys and time", async () => {
    const shared = Shared.open();
    const write = (through: Shared, n: number, asked: Asked = {}) =>
      ask(through, "memory_write", { path: `p${n}`, body: "x\n" }, { ...key(`k${n}`), caller: notes, ...asked });
    const count = scaled(2000);
    const first = await write(shared, 0);
    const last = [];
    for (let n = 1; n <= count; n++) last.push(await write(shared, n));
    await shared.context.store.close();
    shared.clock.ms += 10 * 365 * 86_400_000;
    const later = shared.again();
    const before = await stateOf(later);
    expectDuplicate(await write(later, 0), first);
    expectDuplicate(await write(later, count), last.at(-1)!);
    expect(codeOf(await write(later, count, { names: { idempotencyKey: "k0" } }))).toBe("idempotency_conflict");
    expect(await stateOf(later)).toBe(before);
  });
});

describe("a call id used again", () => {
  const callId = { names: { callId: "c" } };

  it.each(mutations)("$tool, the same call: the recorded answer and receipt, and nothing new", async (row) => {
    const { tool, caller, args } = row;
    const { shared, given } = await makeWorld(tool, args);
    for (const asked of [callId, { names: { callId: "d", idempotencyKey: "k" } }]) {
      const { shared: fresh, given: own } = asked === callId ? { shared, given } : await makeWorld(tool, args);
      const first = await ask(fresh, tool, own, { ...asked, caller });
      expect(receiptOf(first).outcome).toBe("succeeded");
      const before = await stateOf(fresh);
      const entries = await leftBy(fresh, async () => {
        for (const through of [fresh, fresh.again()]) {
          fresh.clock.ms += 60_000;
          const again = await ask(through, tool, own, { ...asked, caller });
          expect(answerOf(again)).toEqual(answerOf(first));
          expect(receiptOf(again)).toEqual(receiptOf(first));
        }
      });
      expect(entries).toEqual([]);
      expect(await stateOf(fresh)).toBe(before);
    }
  });

  const others: [what: string, tool: ToolName, args: Record<string, unknown>, asked: Asked][] = [
    ["other arguments", "memory_write", { path: "p", body: "y\n" }, callId],
    ["another tool", "memory_propose", { path: "p", body: "x\n" }, callId],
    ["a read", "memory_read", { path: "p" }, callId],
    ["a key", "memory_write", { path: "p", body: "x\n" }, key("k", { callId: "c" })],
  ];
  it.each(others)("with %s: refused, nothing done, recorded under an id of its own", async (_, tool, args, asked) => {
    const shared = Shared.open();
    const first = await ask(shared, "memory_write", { path: "p", body: "x\n" }, { ...callId, caller: notes });
    const before = await stateOf(shared);
    const refused = receiptOf(await ask(shared, tool, args, { ...asked, caller: notes }));
    expect(refused).toMatchObject({ outcome: "conflict", code: "call_id_conflict", authorizationBoundary: "revision" });
    expect(refused.callId).toMatch(/^call_/);
    expect(await stateOf(shared)).toBe(before);
    const again = await ask(shared, "memory_write", { path: "p", body: "x\n" }, { ...callId, caller: notes });
    expect(receiptOf(again)).toEqual(receiptOf(first));
    expectSound(await journalOf(shared));
  });

  it("of another grant or run is another one", async () => {
    const shared = Shared.open();
    const calls: Asked[] = [
      { ...callId, caller: notes },
      { ...callId, caller: assistant(undefined, { client: "other" }) },
      { names: { callId: "c", runId: "r" }, caller: notes },
      { names: { callId: 1 }, caller: notes },
      { names: { callId: "1" }, caller: notes },
    ];
    for (const [n, asked] of calls.entries())
      expect(codeOf(await ask(shared, "memory_write", { path: `p${n}`, body: "x\n" }, asked))).toBe("ok");
  });

  it("of a read is a call of its own, with an id of its own", async () => {
    const shared = Shared.open();
    const read = () => ask(shared, "memory_read", { path: "p" }, { ...callId, caller: notes });
    await shared.write("p", "one\n");
    const first = await read();
    await shared.write("p", "two\n");
    const again = await read();
    expect(receiptOf(first).callId).toBe("c");
    expect(again.structuredContent).toMatchObject({ body: "two\n" });
    expect(receiptOf(again).callId).toMatch(/^call_/);
    expectSound(await journalOf(shared));
  });

  it("of a refused call: the same call is made anew, and no other may have it", async () => {
    const shared = Shared.open();
    const write = () =>
      ask(shared, "memory_write", { path: "p", body: "x\n", expected_updated: updated }, { ...callId, caller: notes });
    let updated = "2020-01-01T00:00:00.000Z";
    expect(codeOf(await write())).toBe("document_revision_conflict");
    const written = await shared.write("p", "one\n");
    expect(codeOf(await write()), "made anew").toBe("document_revision_conflict");
    updated = written.updated ?? "";
    expect(codeOf(await write()), "another call").toBe("call_id_conflict");
    expectSound(await journalOf(shared));
  });

  it("counts once against the rate limit, and a limited repetition forgets nothing", async () => {
    const shared = Shared.open();
    await shared.setting("calls_per_minute", "2");
    const write = () => ask(shared, "memory_write", { path: "p", body: "x\n" }, { ...callId, caller: notes });
    const first = await write();
    const before = await stateOf(shared);
    const codes = [codeOf(await write()), codeOf(await write())];
    shared.clock.ms += 600_000;
    const again = await write();
    expect(codes).toEqual(["ok", "rate_limited"]);
    expect(receiptOf(again)).toEqual(receiptOf(first));
    expect(await stateOf(shared)).toBe(before);
    shared.clock.ms += 600_000;
    const read = () => ask(shared, "memory_list", {}, { names: { callId: "r" }, caller: notes });
    expect([codeOf(await read()), codeOf(await read()), codeOf(await read())]).toEqual(["ok", "ok", "rate_limited"]);
    expectSound(await journalOf(shared));
  });

  it("of a duplicate gives that duplicate again", async () => {
    const shared = Shared.open();
    const write = (more: object = {}) =>
      ask(shared, "memory_write", { path: "p", body: "x\n" }, { ...key("k", more), caller: notes });
    const first = await write();
    const duplicate = await write({ callId: "d" });
    expectDuplicate(duplicate, first);
    const entries = await leftBy(shared, async () =>
      expect(receiptOf(await write({ callId: "d" }))).toEqual(receiptOf(duplicate)),
    );
    expect(entries).toEqual([]);
  });
});

describe("a fault while the first answer is given again", () => {
  it.each([key("k"), key("k", { callId: "d" })])(
    "is answered and recorded, and gives nothing away: %j",
    async (asked) => {
      const shared = Shared.open();
      const args = { path: "p", body: "x\n" };
      const first = await ask(shared, "memory_write", args, { ...key("k"), caller: notes });
      const failed = await ask(shared, "memory_write", args, { ...asked, caller: notes, context: failingOnce(shared) });
      expect(receiptOf(failed)).toMatchObject({ outcome: "failed", code: "internal" });
      expect(JSON.stringify(failed)).not.toMatch(/disk is full|pg_/);
      expect(shared.faults).toHaveLength(1);
      expectDuplicate(await ask(shared, "memory_write", args, { ...key("k"), caller: notes }), first);
      expectSound(await journalOf(shared));
      expect(envelopesOf(await journalOf(shared))).toHaveLength(6);
    },
  );
});

describe("after its result was erased", () => {
  const selectors: [kind: string, selector: (id: string) => Record<string, unknown>][] = [
    ["paths", () => ({ paths: ["p"] })],
    ["ids", (id) => ({ ids: [id] })],
    ["subject", () => ({ subject: "granite" })],
  ];

  it.each(selectors)(
    "by %s: the key and the call id are answered so, and nothing is done again",
    async (_, selector) => {
      const shared = Shared.open();
      const write = (path: string, names: object) =>
        ask(shared, "memory_write", { path, body: `${path === "p" ? "granite" : "x"}\n` }, { names, caller: notes });
      const first = await write("p", { idempotencyKey: "k", callId: "c" });
      const stays = await write("q", { idempotencyKey: "l" });
      const { id } = first.structuredContent as { id: string };
      await shared.ok("erase_request", { ...selector(id), dry_run: false }, owner);
      const before = await stateOf(shared);
      for (const through of [shared, shared.again()])
        for (const names of [
          { idempotencyKey: "k" },
          { idempotencyKey: "k", callId: "c" },
          { idempotencyKey: "k", callId: "new" },
        ]) {
          const erased = await ask(through, "memory_write", { path: "p", body: "granite\n" }, { names, caller: notes });
          expect(receiptOf(erased)).toMatchObject({ outcome: "conflict", code: "result_erased", retryable: false });
          expect(errorOf(erased).code).toBe("conflict");
          expect(JSON.stringify(erased)).not.toContain(id);
        }
      const other = await ask(shared, "memory_write", { path: "p", body: "other\n" }, { ...key("k"), caller: notes });
      expect(codeOf(other)).toBe("idempotency_conflict");
      expect(await stateOf(shared)).toBe(before);
      expect(await shared.outcome("memory_read", { path: "p" })).toBe("not_found");
      expectDuplicate(await write("q", { idempotencyKey: "l" }), stays);
    },
  );
});
