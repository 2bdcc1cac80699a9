import { createHash } from "node:crypto";
import type { PcpErrorCode, ToolName } from "@satchel/pcp";
import { digestOf, RECEIPT_CODES, type ReceiptCode, type SemanticToolEnvelope } from "@satchel/prp";
import { type Caller, openContext } from "@satchel/server";
import { describe, expect, it } from "vitest";
import { StoreError } from "../packages/server/src/store/store.js";
import { environmentOf, startMs } from "./environment.js";
import { connectStdio, makeData } from "./harness.js";
import {
  type Asked,
  ask,
  auditsOf,
  envelopesOf,
  errorOf,
  expectSound,
  failingOnce,
  journalOf,
  kindsOf,
  type Recorded,
  receiptOf,
} from "./recorded-calls.js";
import { assistant, owner, person, Shared } from "./shared-context.js";

/** The upstream formula (prp-rules 2.5), written out once more. */
function receiptIdOf({ correlation, operationId, callId, idempotencyKey }: SemanticToolEnvelope): string {
  const text = `${correlation.runId}:${operationId}:${idempotencyKey ?? callId}`;
  return `semantic_receipt:${createHash("sha256").update(text).digest("hex").slice(0, 32)}`;
}

const notes = assistant();
const reader = assistant("memory:read");
const bob = person("bob");
const bobNotes = assistant(undefined, { user: "bob" });
const token = ["sk", "live", "0123456789abcdef01234567"].join("_");

interface Made {
  /** Of the page "plain", which the owner wrote. */
  version: string;
  updated: string;
  /** Proposed by the owner's assistant at "proposed". */
  revision: string;
  /** Proposed by bob in person at "work/own", where bob reviews and four eyes are wanted. */
  own: string;
}

const versionOf = (shared: Shared, path: string) =>
  shared.context.store.read(async (transaction) => (await transaction.page({ path }))?.version ?? "");
const decisionOf = (shared: Shared, revision: string) =>
  shared.context.store.read(async (transaction) => (await transaction.revision(revision))?.decision?.id ?? "");

async function makeWorld(): Promise<{ shared: Shared; made: Made }> {
  const shared = Shared.open();
  await shared.users("bob");
  await shared.partition("work", { "user:bob": "read propose review" }, { fourEyes: true });
  const { updated = "" } = await shared.write("plain", "stone\n");
  await shared.write("work/page", "stone\n", { title: "t", partition: "work" });
  const revision = await shared.propose({ path: "proposed", body: "new\n" }, notes);
  const frontmatter = { title: "t", partition: "work" };
  const own = await shared.propose({ path: "work/own", body: "new\n", frontmatter }, bob);
  return { shared, made: { version: await versionOf(shared, "plain"), updated, revision, own } };
}

type More = Pick<SemanticToolEnvelope, "currentRevision" | "targets" | "causalRefs" | "duplicateOfReceiptId"> & {
  references?: SemanticToolEnvelope["content"]["references"];
  operationReceiptId?: string;
};

interface Row {
  situation: string;
  tool: ToolName;
  args: unknown | ((made: Made) => unknown);
  caller?: Caller;
  asked?: Asked | ((shared: Shared) => Asked);
  prepare?: (shared: Shared, made: Made) => Promise<unknown>;
  /** As the table of journal section 3 has it. */
  is: [SemanticToolEnvelope["outcome"], ReceiptCode, SemanticToolEnvelope["authorizationBoundary"], "retry"?];
  /** What the client is told; absent for a success. */
  error?: PcpErrorCode;
  /** What the input's digest is over, where that is not the arguments. */
  hashed?: unknown;
  /** Default: `redacted` where `hashed` is given. */
  disposition?: "digest_only";
  /** What the terminal has beyond what each has. Nothing else may be there. */
  more?: (found: { shared: Shared; made: Made; answer: Record<string, unknown> }) => More | Promise<More>;
  /** Default: input, audit, result. */
  kinds?: string[];
}

const revisionRef = (id: unknown) => ({ kind: "document_revision", id: String(id) }) as const;
const keyed = { names: { idempotencyKey: "key-1" } };
const page = { path: "p", body: "x\n" };
const stored: Row["more"] = ({ answer }) => ({
  references: [revisionRef(answer.revision)],
  targets: [{ ...revisionRef(answer.revision), immutable: true }],
});
const versionNow = (path: string): Row["more"] =>
  async function written({ shared }) {
    const version = await versionOf(shared, path);
    return { references: [revisionRef(version)], currentRevision: version };
  };

function decided(path?: string): Row["more"] {
  return async ({ shared, made: { revision } }) => {
    const decision = { kind: "decision", id: await decisionOf(shared, revision) } as const;
    const version = path === undefined ? undefined : await versionOf(shared, path);
    return {
      references: [decision, ...(version === undefined ? [] : [revisionRef(version)])],
      targets: [
        { ...revisionRef(revision), immutable: true, decisionId: decision.id },
        { ...decision, immutable: true },
      ],
      causalRefs: [revisionRef(revision), decision],
      ...(version !== undefined && { currentRevision: version }),
    };
  };
}

const rows: Row[] = [
  {
    situation: "a read",
    tool: "memory_read",
    args: { path: "plain" },
    is: ["succeeded", "ok", "active_task"],
    more: versionNow("plain"),
  },
  { situation: "a read that names no version", tool: "memory_list", args: {}, is: ["succeeded", "ok", "active_task"] },
  {
    situation: "a read of a proposal",
    tool: "memory_read",
    args: ({ revision }: Made) => ({ path: "proposed", revision }),
    is: ["succeeded", "ok", "active_task"],
    more: ({ made }) => ({ references: [revisionRef(made.revision)] }),
  },
  {
    situation: "a write",
    tool: "memory_write",
    args: page,
    is: ["succeeded", "ok", "active_task"],
    more: versionNow("p"),
  },
  {
    situation: "a write with a key in the arguments",
    tool: "memory_write",
    args: { ...page, idempotencyKey: "key-1" },
    hashed: page,
    disposition: "digest_only",
    is: ["succeeded", "ok", "active_task"],
    more: versionNow("p"),
  },
  {
    situation: "a checked write",
    tool: "memory_write",
    args: ({ updated }: Made) => ({ path: "plain", body: "x\n", expected_updated: updated }),
    is: ["succeeded", "ok", "revision"],
    more: versionNow("plain"),
  },
  {
    situation: "a profile",
    tool: "profile_update",
    args: { patch: { name: "N" } },
    is: ["succeeded", "ok", "active_task"],
  },
  {
    situation: "an approval",
    tool: "review_resolve",
    args: ({ revision }: Made) => ({ path: "proposed", revision, verb: "approve" }),
    caller: owner,
    is: ["succeeded", "ok", "governed_action"],
    more: decided("proposed"),
  },
  {
    situation: "a rejection",
    tool: "review_resolve",
    args: ({ revision }: Made) => ({ path: "proposed", revision, verb: "reject" }),
    caller: owner,
    is: ["succeeded", "ok", "governed_action"],
    more: decided(),
  },
  {
    situation: "an erasure",
    tool: "erase_request",
    args: { paths: ["plain"], dry_run: false },
    hashed: { paths: "[REDACTED]", dry_run: false },
    caller: owner,
    is: ["succeeded", "ok", "governed_action"],
    more: ({ answer }) => {
      const decision = { kind: "decision", id: (answer.receipt as { id: string }).id } as const;
      return { references: [decision], targets: [{ ...decision, immutable: true }] };
    },
    kinds: ["prp.input", "redaction", "erasure", "audit", "prp.result"],
  },
  {
    situation: "a proposal",
    tool: "memory_propose",
    args: page,
    is: ["succeeded", "proposal_stored", "governed_action"],
    more: stored,
  },
  {
    situation: "a proposal for a page",
    tool: "memory_propose",
    args: { ...page, path: "plain" },
    is: ["succeeded", "proposal_stored", "governed_action"],
    more: async (found) => ({ ...(await stored(found)), currentRevision: found.made.version }),
  },
  {
    situation: "a write that became one",
    tool: "memory_write",
    args: { ...page, path: "plain" },
    caller: assistant("memory:read memory:propose"),
    is: ["succeeded", "proposal_stored", "governed_action"],
    more: async (found) => ({ ...(await stored(found)), currentRevision: found.made.version }),
  },
  {
    situation: "the same key and input again",
    tool: "memory_write",
    args: page,
    asked: keyed,
    prepare: (shared) => ask(shared, "memory_write", page, { ...keyed, caller: notes }),
    is: ["duplicate", "duplicate", "revision"],
    more: async ({ shared }) => {
      const [original] = envelopesOf(await journalOf(shared)).filter(
        ({ code, idempotencyKey }) => code && idempotencyKey,
      );
      const { operationReceiptId = "" } = original ?? {};
      const currentRevision = await versionOf(shared, "p");
      return { operationReceiptId, duplicateOfReceiptId: operationReceiptId, currentRevision };
    },
    kinds: ["prp.input", "prp.result"],
  },
  {
    situation: "the same key for another input",
    tool: "memory_write",
    args: { ...page, body: "other\n" },
    asked: keyed,
    prepare: (shared) => ask(shared, "memory_write", page, { ...keyed, caller: notes }),
    is: ["conflict", "idempotency_conflict", "revision"],
    error: "conflict",
  },
  {
    situation: "the same key while the first call runs",
    tool: "memory_write",
    args: page,
    asked: keyed,
    prepare: async (shared) => {
      await ask(shared, "memory_write", page, { ...keyed, caller: notes });
      await reopenClaim(shared); // Only a call in stages leaves one, and then the context is locked.
    },
    is: ["denied", "idempotency_in_progress", "revision", "retry"],
    error: "locked",
  },
  {
    situation: "the same key after its result was erased",
    tool: "memory_write",
    args: page,
    asked: keyed,
    prepare: async (shared) => {
      await ask(shared, "memory_write", page, { ...keyed, caller: notes });
      await shared.ok("erase_request", { paths: ["p"], dry_run: false }, owner);
    },
    is: ["conflict", "result_erased", "revision"],
    error: "conflict",
  },
  {
    situation: "a call id of another call",
    tool: "memory_write",
    args: { ...page, body: "other\n" },
    asked: { names: { callId: "call-1" } },
    prepare: (shared) => ask(shared, "memory_write", page, { names: { callId: "call-1" }, caller: notes }),
    is: ["conflict", "call_id_conflict", "revision"],
    error: "conflict",
  },
  {
    situation: "a page that moved on",
    tool: "memory_write",
    args: ({ updated }: Made) => ({ path: "plain", body: "x\n", expected_updated: updated }),
    prepare: (shared) => shared.write("plain", "meanwhile\n"),
    is: ["conflict", "document_revision_conflict", "revision", "retry"],
    error: "conflict",
    more: async ({ shared, made }) => {
      const currentRevision = await versionOf(shared, "plain");
      expect(currentRevision).not.toBe(made.version);
      return { currentRevision };
    },
  },
  {
    situation: "an expected page that is not there",
    tool: "memory_write",
    args: { ...page, expected_updated: "2026-01-01T00:00:00.000Z" },
    is: ["conflict", "document_revision_conflict", "revision", "retry"],
    error: "conflict",
  },
  {
    situation: "a twin",
    tool: "memory_write",
    args: { ...page, path: "Plain" },
    is: ["conflict", "path_conflict", "revision"],
    error: "conflict",
  },
  {
    situation: "a proposal that is resolved",
    tool: "review_resolve",
    args: ({ revision }: Made) => ({ path: "proposed", revision, verb: "approve" }),
    caller: owner,
    prepare: (shared, { revision }) => shared.resolve("proposed", revision, "reject"),
    is: ["conflict", "revision_resolved", "governed_action"],
    error: "conflict",
  },
  {
    situation: "a scope that is missing",
    tool: "memory_write",
    args: page,
    caller: reader,
    is: ["denied", "required_claim_missing", "grant"],
    error: "forbidden",
  },
  {
    situation: "an access list that says no",
    tool: "memory_write",
    args: { path: "work/page", body: "x\n", frontmatter: { title: "t", partition: "work" } },
    caller: bobNotes,
    prepare: (shared) => shared.partition("work", { "user:bob": "read" }, { revoke: ["user:bob"] }),
    is: ["denied", "actor_role_denied", "actor"],
    error: "forbidden",
  },
  {
    situation: "an erasure by one who owns nothing",
    tool: "erase_request",
    args: { paths: ["work/page"] },
    hashed: { paths: "[REDACTED]" },
    caller: bob,
    is: ["denied", "actor_role_denied", "actor"],
    error: "forbidden",
  },
  {
    situation: "an own proposal where four eyes are wanted",
    tool: "review_resolve",
    args: ({ own }: Made) => ({ path: "work/own", revision: own, verb: "approve" }),
    caller: bob,
    is: ["denied", "reviewer_denied", "governed_action"],
    error: "forbidden",
  },
  {
    situation: "an assistant that approves",
    tool: "review_resolve",
    args: ({ revision }: Made) => ({ path: "proposed", revision, verb: "approve" }),
    is: ["denied", "approval_required", "governed_action", "retry"],
    error: "forbidden",
  },
  {
    situation: "an assistant that erases",
    tool: "erase_request",
    args: { subject: "stone", dry_run: false },
    hashed: { subject: "[REDACTED]", dry_run: false },
    is: ["denied", "approval_required", "governed_action", "retry"],
    error: "forbidden",
  },
  {
    situation: "arguments that break the schema",
    tool: "memory_read",
    args: { path: 1 },
    is: ["denied", "input_invalid", "active_task"],
    error: "invalid_input",
  },
  {
    situation: "arguments that are none",
    tool: "memory_read",
    args: "plain",
    is: ["denied", "input_invalid", "active_task"],
    error: "invalid_input",
  },
  {
    situation: "half of a surrogate pair",
    tool: "memory_write",
    args: { ...page, body: "\ud800" },
    hashed: "[REDACTED]",
    is: ["denied", "input_invalid", "active_task"],
    error: "invalid_input",
  },
  {
    situation: "a number that is not exact",
    tool: "profile_update",
    args: { namespace: "org.example.a", patch: { count: 2 ** 60 } },
    hashed: "[REDACTED]",
    is: ["denied", "input_invalid", "active_task"],
    error: "invalid_input",
  },
  {
    situation: "a page that is too large",
    tool: "memory_write",
    args: { path: "big", body: "x".repeat(300_000) },
    is: ["denied", "input_too_large", "active_task"],
    error: "too_large",
  },
  {
    situation: "a credential",
    tool: "memory_write",
    args: { path: "p", body: `the key is ${token}\n` },
    hashed: { path: "p", body: "[REDACTED]" },
    is: ["denied", "protected_data_denied", "active_task"],
    error: "invalid_input",
  },
  {
    situation: "a page that is not there",
    tool: "memory_read",
    args: { path: "absent" },
    is: ["denied", "target_not_found", "active_task"],
    error: "not_found",
  },
  {
    situation: "an archive",
    tool: "export_create",
    args: {},
    is: ["succeeded", "ok", "active_task"],
    more: ({ answer }) => {
      const artifact = [{ kind: "artifact" as const, id: String(answer.export_id) }];
      return { references: artifact, artifactRefs: artifact };
    },
  },
  {
    situation: "too many calls",
    tool: "memory_list",
    args: {},
    prepare: async (shared) => {
      await shared.setting("calls_per_minute", "1");
      await shared.ok("memory_list", {}, notes);
    },
    is: ["unavailable", "rate_limited", "active_task", "retry"],
    error: "rate_limited",
  },
  {
    situation: "a store that another process holds",
    tool: "memory_write",
    args: page,
    asked: (shared) => ({ context: failingOnce(shared, new StoreError("locked", "held")) }),
    is: ["unavailable", "context_locked", "lock", "retry"],
    error: "locked",
  },
  {
    situation: "a fault of ours",
    tool: "memory_write",
    args: page,
    asked: (shared) => ({ context: failingOnce(shared) }),
    is: ["failed", "internal", "active_task", "retry"],
    error: "internal",
  },
];

/** As if the call with the key were under way. */
async function reopenClaim({ context }: Shared): Promise<void> {
  const { callKeys, store } = context;
  const runId = JSON.stringify(callKeys.nameOf("run", notes.grant));
  const id = callKeys.claimId({ grant: notes.grant, runId, kind: "key", operation: "memory_write", key: "key-1" });
  await store.write(async (transaction) => {
    const claim = await transaction.claim(id);
    await transaction.putClaim({ ...claim!, state: "running" });
  });
}

describe("what a call leaves", () => {
  it.each(rows)("$situation: $is", async (row) => {
    const { tool, caller = notes, is, error, more, kinds = ["prp.input", "audit", "prp.result"] } = row;
    const { shared, made } = await makeWorld();
    await row.prepare?.(shared, made);
    const args = typeof row.args === "function" ? row.args(made) : row.args;
    const asked = typeof row.asked === "function" ? row.asked(shared) : row.asked;
    const before = (await journalOf(shared)).length;
    const answer = await ask(shared, tool, args, { caller, ...asked });
    const entries = (await journalOf(shared)).slice(before);
    const [outcome, code, authorizationBoundary, retry] = is;
    const { _meta, ...result } = answer;
    expect(answer.isError ? errorOf(answer).code : undefined).toBe(error);
    expect(kindsOf(entries)).toEqual(kinds);

    const [input, terminal] = envelopesOf(entries);
    const erased = kinds.includes("redaction");
    expect(terminal).toEqual(receiptOf(answer));
    const { callId, correlation, idempotencyKey } = terminal!;
    const head = { schema: "paperclip.prp.semantic_tool.v1", schemaVersion: 1, operationId: tool, callId, correlation };
    const given = typeof args === "object" ? { ...(args as object) } : args;
    const { hashed = given } = row;
    const { disposition = hashed === given ? "digest_only" : "redacted" } = row;
    expect(input).toEqual({
      ...head,
      phase: "input",
      idempotencyKey,
      content: {
        digest: digestOf(hashed),
        redactionDisposition: disposition,
        references: [],
      },
    });
    const isShown = ["succeeded", "duplicate", "failed"].includes(outcome ?? "");
    const [audit] = auditsOf(entries);
    const { references = [], ...facts } = (await more?.({ shared, made, answer: answer.structuredContent })) ?? {};
    expect(terminal).toEqual({
      ...head,
      phase: "result",
      idempotencyKey,
      content: {
        digest: digestOf(isShown ? result : { code }),
        redactionDisposition: code === "protected_data_denied" ? "redacted" : "digest_only",
        references,
      },
      outcome,
      code,
      retryable: retry === "retry",
      authorizationBoundary,
      operationReceiptId: receiptIdOf(terminal!),
      ...(audit && { auditReceiptId: audit.id }),
      ...facts,
    });
    if (audit)
      expect(audit).toMatchObject({ call_id: callId, receipt: receiptIdOf(terminal!), outcome: error ?? "ok" });
    if (!erased) expectSound(await journalOf(shared).then(withoutLostCalls));
    const text = JSON.stringify(envelopesOf(entries));
    expect(text).not.toMatch(/stone|meanwhile|other\\n|disk is full|new\\n/);
    expect(text).not.toContain(token);
    expect(shared.faults).toHaveLength(code === "internal" ? 1 : 0);
  });

  /** Erasures leave calls without envelopes; a duplicate of one of those has no original any more. */
  function withoutLostCalls(entries: Recorded[]): Recorded[] {
    return entries.filter(({ bodies: [body] }) => body !== null);
  }

  it("covers every code but those of what there is not yet", () => {
    const covered = new Set(rows.map(({ is }) => is[1]));
    const others = Object.keys(RECEIPT_CODES).filter((code) => !covered.has(code as ReceiptCode));
    expect(others.sort()).toEqual(
      [
        ...["company_mismatch", "tool_not_exposed", "operation_unsupported", "approval_denied", "approval_expired"],
        ...["delegated_authorization_required", "provider_unavailable", "tool_failed", "output_invalid"],
        ...["call_cancelled", "operation_absent"],
      ].sort(),
    );
  });

  it("tells nothing of what is not there and what is not shown: the two look the same", async () => {
    const { shared } = await makeWorld();
    const look = async (path: string) => {
      const before = (await journalOf(shared)).length;
      const answer = await ask(
        shared,
        "memory_read",
        { path },
        { caller: bobNotes, names: { turnId: "t", itemId: "i" } },
      );
      const entries = (await journalOf(shared)).slice(before);
      const { callId, operationReceiptId, auditReceiptId = "" } = receiptOf(answer);
      const [input] = envelopesOf(entries);
      const texts = [path, callId, operationReceiptId ?? "", auditReceiptId, input?.content.digest ?? ""];
      const all = JSON.stringify([answer, entries.map(({ kind, bodies }) => [kind, bodies])]);
      return texts.reduce((text, own) => text.replaceAll(own, "own"), all);
    };
    expect(await look("plain")).toBe(await look("absent"));
  });

  it("of a tool that there is not: recorded, although the client gets a protocol error", async () => {
    const data = await makeData("me");
    const client = await connectStdio("v2 auto", ["--data", data]);
    const names = ["no_such_tool", "no such tool, stone", token];
    for (const name of names)
      await expect(client.callTool(name, { query: "stone" })).rejects.toMatchObject({ code: -32602 });
    await client.close();
    const context = openContext(data, "me", environmentOf({ ms: startMs }));
    const entries = await journalOf({ context });
    await context.store.close();
    expect(kindsOf(entries)).toEqual(["key", ...names.flatMap(() => ["prp.input", "audit", "prp.result"])]);
    const envelopes = envelopesOf(entries);
    expectSound(entries);
    expect(envelopes[0]).toMatchObject({ content: { digest: digestOf({ query: "stone" }) } });
    for (const { operationId } of envelopes) expect(operationId).toBe("unknown_tool");
    for (const { tool } of auditsOf(entries)) expect(tool).toBe("unknown_tool");
    const unavailable = {
      outcome: "unavailable",
      code: "operation_absent",
      authorizationBoundary: "grant",
      retryable: false,
    };
    for (const terminal of envelopes.filter(({ phase }) => phase === "result"))
      expect(terminal).toMatchObject({ ...unavailable, content: { digest: digestOf({ code: "operation_absent" }) } });
    expect(JSON.stringify(entries)).not.toMatch(/stone|sk_live|no_such/);
  });
});
