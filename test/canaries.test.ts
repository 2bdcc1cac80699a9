import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ToolName } from "@satchel/pcp";
import { digestOf } from "@satchel/prp";
import {
  type Caller,
  extensionAddOperation,
  openContext,
  pageTextOperation,
  settingOperation,
  tokenCreateOperation,
} from "@satchel/server";
import { describe, expect, it } from "vitest";
import { recordAbsentTool } from "../packages/server/src/mcp/call-tool.js";
import { Choices } from "./choices.js";
import { environmentOf } from "./environment.js";
import { makeData, makeToken, startCommand, startServe } from "./harness.js";
import {
  type Asked,
  ask,
  envelopesOf,
  expectSound,
  failingOnce,
  journalOf,
  leftBy,
  type Recorded,
} from "./recorded-calls.js";
import { scaled, testSeed } from "./scale.js";
import { assistant, owner, person, Shared } from "./shared-context.js";

/*
 * Canaries are texts that have to stay where a client put them. Each has 20 hex digits of its own in it, and those are
 * looked for. What is an id by its form (letters, digits, ". _ : -") goes into envelopes as it is, so a name that has to
 * be mapped is a credential or has a space.
 */

/** What credentials look like. */
const shapes: ((core: string) => string)[] = [
  (core) => ["ghp", `${core}${core}`].join("_"),
  (core) => ["sk", "live", core].join("_"),
  (core) => ["eyJhbGciOiJIUzI1NiJ9", `eyJ${core}`, core].join("."),
  (core) => `Bearer ${core}`,
  (core) => ["-----BEGIN PRIVATE", `KEY-----\n${core}\n-----END PRIVATE`, "KEY-----"].join(" "),
  (core) => `https://user:${core}@example.org/x`,
];

interface Canary {
  core: string;
  text: string;
  /** It has the form of a credential. */
  isSecret: boolean;
}

function makeCanary(choices: Choices): Canary {
  const core = choices.many(20, () => choices.integer(0, 15).toString(16)).join("");
  const shape = choices.is(0.6) ? choices.pick(shapes) : undefined;
  return { core, text: shape ? shape(core) : `bird ${core} sings`, isSecret: shape !== undefined };
}

/** Where a call may put it. `keeps`: the store may hold it, because it is what was asked to be stored. */
interface Place {
  place: string;
  tool: ToolName;
  args(canary: Canary): unknown;
  asked?(canary: Canary): Asked;
  /** It is a path, which the audit may name. */
  isPath?: true;
  /** The answer to the one who sent it names it, so that they see what was wrong. */
  isEchoed?: true;
  /** Its digest gives no way to check a guess, whatever its form. */
  isWithheld?: true;
  keeps?: true;
}

const written = { path: "notes/p", body: "x\n" };
const titled = (more: object) => ({ ...written, frontmatter: { title: "t", ...more } });

const places: Place[] = [
  {
    place: "body",
    tool: "memory_write",
    args: ({ text }) => ({ path: "notes/a", body: `# a\n\n${text}\n` }),
    keeps: true,
  },
  {
    place: "title",
    tool: "memory_write",
    args: ({ text }) => titled({ title: text.split("\n").join(" ") }),
    keeps: true,
  },
  { place: "tags", tool: "memory_write", args: ({ core }) => titled({ tags: ["a", core] }), keeps: true },
  { place: "nested", tool: "memory_write", args: ({ text }) => titled({ x: [[{ y: ["a", text] }]] }), keeps: true },
  { place: "key of a page", tool: "memory_write", args: ({ text }) => titled({ x: { [text]: 1 } }), keeps: true },
  { place: "member", tool: "memory_write", args: ({ text }) => ({ ...written, [text]: { a: 1 } }), isEchoed: true },
  {
    place: "path",
    tool: "memory_write",
    args: ({ core }) => ({ ...written, path: `notes/${core}` }),
    isPath: true,
    keeps: true,
  },
  { place: "absent path", tool: "memory_read", args: ({ core }) => ({ path: `notes/${core}` }), isEchoed: true },
  { place: "bad path", tool: "memory_read", args: ({ text }) => ({ path: `../${text}` }) },
  { place: "page id", tool: "memory_read", args: ({ text }) => ({ id: text }) },
  { place: "note", tool: "memory_propose", args: ({ text }) => ({ ...written, note: text }), keeps: true },
  { place: "verb", tool: "review_resolve", args: ({ text }) => ({ path: "p", revision: "rev_0", verb: text }) },
  {
    place: "review note",
    tool: "review_resolve",
    args: ({ text }) => ({ path: "p", revision: "rev_0", verb: "reject", note: text }),
  },
  { place: "revision", tool: "review_resolve", args: ({ text }) => ({ path: "p", revision: text, verb: "reject" }) },
  { place: "query", tool: "memory_search", args: ({ text }) => ({ query: text }), isWithheld: true },
  { place: "long query", tool: "memory_search", args: ({ text }) => ({ query: text.repeat(100) }), isWithheld: true },
  { place: "filters", tool: "memory_search", args: ({ text }) => ({ query: "x", tags: [text], partitions: [text] }) },
  { place: "cursor", tool: "memory_search", args: ({ text }) => ({ query: "x", cursor: text }) },
  { place: "focus", tool: "context_brief", args: ({ text }) => ({ focus: text }), isWithheld: true },
  { place: "subject", tool: "erase_request", args: ({ text }) => ({ subject: text }), isWithheld: true },
  { place: "ids", tool: "erase_request", args: ({ text }) => ({ ids: [text] }) },
  { place: "prefix", tool: "memory_list", args: ({ text }) => ({ prefix: text }) },
  { place: "value", tool: "profile_update", args: ({ text }) => ({ patch: { interests: [text] } }), keeps: true },
  {
    place: "name",
    tool: "profile_update",
    args: ({ text }) => ({ patch: { [text]: { [text]: 1 } } }),
    keeps: true,
    isEchoed: true,
  },
  { place: "namespace", tool: "profile_get", args: ({ text }) => ({ namespaces: [text] }), isEchoed: true },
  { place: "category", tool: "audit_list", args: ({ text }) => ({ category: text, principal: text }) },
  { place: "no arguments", tool: "memory_list", args: ({ text }) => text },
  { place: "a list", tool: "memory_list", args: ({ text }) => [text, [text]] },
  { place: "half a pair", tool: "memory_write", args: ({ text }) => ({ ...written, body: `${text}\ud800` }) },
  {
    place: "key",
    tool: "memory_write",
    args: () => written,
    asked: ({ text }) => ({ names: { idempotencyKey: text } }),
  },
  { place: "argument key", tool: "memory_write", args: ({ text }) => ({ ...written, idempotencyKey: text }) },
  { place: "bad key", tool: "memory_write", args: ({ text }) => ({ ...written, idempotencyKey: { [text]: text } }) },
  {
    place: "names",
    tool: "memory_list",
    args: () => ({}),
    asked: ({ text }) => ({
      names: { runId: text, normalizedSessionId: text, turnId: text, itemId: text, callId: text },
    }),
  },
  {
    place: "bad names",
    tool: "memory_list",
    args: () => ({}),
    asked: ({ text }) => ({ names: { runId: [text], [text]: text } }),
  },
  { place: "no names", tool: "memory_list", args: () => ({}), asked: ({ text }) => ({ names: text }) },
  { place: "recipient", tool: "export_create", args: ({ text }) => ({ encrypt_to: [text] }) },
  {
    place: "connection",
    tool: "memory_list",
    args: () => ({}),
    asked: ({ text }) => ({ connection: text, caller: { ...assistant(), grant: text } }),
  },
];

const callers: Caller[] = [
  owner,
  assistant(),
  assistant("memory:read memory:propose"),
  assistant("profile.core:read"),
  person("bob"),
];

/** What the owner may want done with credentials in pages. */
const settings = ["refuse", "off", "warn"];

/** The bodies in which no text of a client may be: all but the detail of the audit, which names what was touched. */
function plainBodies(entries: Recorded[]): string {
  return JSON.stringify(entries.map(({ kind, bodies }) => (kind === "audit" ? bodies.slice(0, 1) : bodies)));
}

const auditDetails = (entries: Recorded[]) =>
  JSON.stringify(entries.flatMap(({ kind, bodies }) => (kind === "audit" ? bodies.slice(1) : [])));

function filesOf(folder: string): string {
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), "latin1"))
    .join("\n");
}

interface Sent extends Canary {
  at: Place;
}

/** Whether what is hashed holds it in the form of a credential: some places take it without, and the key is not hashed. */
function isHashed({ text, isSecret }: Canary, args: unknown): boolean {
  const hashed = JSON.stringify(args, (name, value) => (name === "idempotencyKey" ? undefined : value));
  return isSecret && hashed.includes(JSON.stringify(text).slice(1, -1));
}

describe("canaries", () => {
  it("stay out of the journal, the log and the receipts, in calls of every kind", async () => {
    const choices = new Choices(testSeed());
    const shared = Shared.open();
    await shared.users("bob");
    await shared.partition("main", { "user:bob": "read propose write" });
    const sent: Sent[] = [];
    const echoed = new Set<string>();
    const rounds = Math.max(3 * places.length, scaled(1000));
    let seq = (await journalOf(shared)).length;
    for (let n = 0; n < rounds; n++) {
      const at = places[n % places.length]!;
      const canary = makeCanary(choices);
      sent.push({ ...canary, at });
      if (n % 20 === 0) seq += (await leftBy(shared, () => shared.setting("secrets", choices.pick(settings)))).length;
      const asked = { caller: choices.pick(callers), ...at.asked?.(canary) };
      const context = choices.is(0.1) ? failingOnce(shared, new Error("a fault")) : shared.context;
      const args = at.args(canary);
      const { _meta, ...answer } = await ask(shared, at.tool, args, { ...asked, context });
      const left = await journalOf(shared, seq);
      seq += left.length;
      const [input] = envelopesOf(left);
      const where = `${at.tool}: ${at.place}`;
      expect(JSON.stringify(_meta).includes(canary.core), where).toBe(false);
      if (answer.isError && JSON.stringify(answer).includes(canary.core)) echoed.add(at.place);
      if (!at.isWithheld && !isHashed(canary, args)) continue;
      expect(input?.content.redactionDisposition, where).toBe("redacted");
      if (at.place !== "half a pair") expect(input?.content.digest, where).not.toBe(digestOf(args));
    }
    const entries = await journalOf(shared);
    expectSound(entries);
    const bodies = plainBodies(entries);
    const details = auditDetails(entries);
    const log = JSON.stringify(
      (shared.faults as { error: Error }[]).map(({ error, ...entry }) => [entry, error.message]),
    );
    const files = filesOf(shared.context.folder);
    for (const { core, at } of sent) {
      expect(bodies.includes(core), `a body holds the canary of ${at.place}`).toBe(false);
      expect(log.includes(core), `the log holds the canary of ${at.place}`).toBe(false);
      if (!at.isPath) expect(details.includes(core), `the audit holds the canary of ${at.place}`).toBe(false);
      if (!at.keeps) expect(files.includes(core), `a file holds the canary of ${at.place}`).toBe(false);
    }
    const isNamed = sent.some(({ core, at }) => at.isPath && details.includes(core));
    expect(isNamed, "the audit names paths that were touched").toBe(true);
    const declared = places.filter(({ isEchoed }) => isEchoed).map(({ place }) => place);
    expect(declared, "told to the one who sent it").toEqual(expect.arrayContaining([...echoed]));
  });

  it.each(shapes.map((shape, n) => ({ n, shape })))(
    "credentials of shape $n have one digest: none can be tried",
    async ({ shape }) => {
      const shared = Shared.open();
      await shared.setting("secrets", "off");
      const digests = new Set<string>();
      for (const core of ["0123456789abcdef0123", "fedcba9876543210fedc"]) {
        const inputs = await leftBy(shared, async () => {
          await ask(shared, "memory_write", { path: "p", body: `${shape(core)}\n` });
          await ask(shared, "memory_write", {
            path: "p",
            body: "x\n",
            frontmatter: { title: "t", api_key: shape(core) },
          });
          const { structuredContent } = await ask(shared, "memory_read", { path: "p" });
          expect(JSON.stringify(structuredContent), "it was stored").toContain(core);
        });
        const [body, key] = envelopesOf(inputs).filter(({ phase }) => phase === "input");
        for (const envelope of [body, key]) digests.add(envelope?.content.digest ?? "");
        const [, , read] = envelopesOf(inputs).filter(({ phase }) => phase === "result");
        expect(read?.content.redactionDisposition).toBe("redacted");
      }
      expect(digests.size).toBe(2);
    },
  );

  it("stay out when the store, the journal or our own code fails", async () => {
    const choices = new Choices(testSeed() + 1);
    const shared = Shared.open();
    const canary = makeCanary(choices);
    const errors = [new Error(canary.text), Object.assign(new Error("x"), { refused: canary.text })];
    for (const error of errors)
      for (const tool of ["memory_list", "memory_write"] as const) {
        const context = failingOnce(shared, error);
        const args = tool === "memory_list" ? {} : written;
        const answer = await ask(shared, tool, args, { context, names: { idempotencyKey: canary.text } });
        expect(answer.isError).toBe(true);
        expect(JSON.stringify(answer)).not.toContain(canary.core);
      }
    expect(JSON.stringify(await journalOf(shared))).not.toContain(canary.core);
  });

  it("stay out as names of tools that there are not, their arguments and those of terminal operations", async () => {
    const choices = new Choices(testSeed() + 2);
    const shared = Shared.open();
    const canaries = choices.many(30, () => makeCanary(choices));
    for (const { text } of canaries) {
      const call = {
        context: shared.context,
        caller: assistant(),
        args: { [text]: text },
        log: { fault: () => undefined },
      };
      await recordAbsentTool(call);
      await shared.run(pageTextOperation, { path: `../${text}` });
      await shared.run(settingOperation, { name: text, value: text });
      await shared.run(tokenCreateOperation, { scopes: text, user: text, client: text });
      await shared.run(extensionAddOperation, { namespace: text, schema: { [text]: text } });
    }
    const text = JSON.stringify(await journalOf(shared)) + filesOf(shared.context.folder);
    for (const { core } of canaries) expect(text.includes(core)).toBe(false);
    expectSound(await journalOf(shared));
  });
});

describe("canaries sent to processes", () => {
  const choices = new Choices(testSeed() + 3);
  const canaries = choices.many(12, () => makeCanary(choices));
  const messages = canaries.flatMap(({ text, core }, n) => {
    const params = {
      name: "memory_search",
      arguments: { query: text },
      _meta: { "dev.satchel/prp": { callId: text } },
    };
    const message = (more: object) =>
      JSON.stringify({ jsonrpc: "2.0", id: `${n} ${text}`, method: "tools/call", ...more });
    return [
      message({ params }),
      message({ params: { name: text, arguments: { [text]: [text] } } }),
      message({ params: { name: "memory_write", arguments: { ...written, [text]: text } } }),
      message({ params: { name: "memory_read", arguments: text } }),
      message({ method: text, params: { text } }),
      message({ params: text }),
      `{"jsonrpc": "2.0", "id": 1, "method": "${core}`,
      `${core} is no JSON`,
      `{"${core}": ${core}}`,
      `[${message({ params })}]`,
    ];
  });

  async function expectClean(data: string, log: string): Promise<void> {
    const context = openContext(data, "me", environmentOf({ ms: Date.now() }));
    const entries = await journalOf({ context });
    const files = filesOf(context.folder);
    await context.store.close();
    expect(entries.length, "the calls were recorded").toBeGreaterThan(canaries.length * 6);
    expectSound(entries);
    for (const { core } of canaries) {
      expect(JSON.stringify(entries).includes(core)).toBe(false);
      expect(files.includes(core)).toBe(false);
      expect(log.includes(core), log).toBe(false);
    }
  }

  it("over stdio: not in its log", async () => {
    const data = await makeData("me");
    const session = startCommand(["mcp", "--data", data]);
    const handshake = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "0" } };
    const first = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params: handshake });
    session.child.stdin.end([first, ...messages, ""].join("\n"));
    await session.exit;
    await expectClean(data, session.stderr());
  });

  it("over HTTP: not in its log", async () => {
    const data = await makeData("me");
    const token = await makeToken(data, "memory:read memory:write");
    const server = await startServe(data);
    const post = (body: string, headers: Record<string, string>, path = "/mcp") => {
      const all = { "Content-Type": "application/json", Accept: "application/json, text/event-stream", ...headers };
      return fetch(server.origin + path, { method: "POST", headers: all, body }).then((answer) => answer.text());
    };
    for (const body of messages) await post(body, { Authorization: `Bearer ${token}` });
    for (const { core } of canaries) {
      await post("{}", { Authorization: `Bearer satchel_${core}` });
      await post("{}", { Authorization: `Bearer ${token}`, "Mcp-Session-Id": core, Origin: `https://${core}.example` });
      await post("{}", {}, `/${core}/mcp?token=${core}`);
    }
    await server.stop();
    await expectClean(data, server.stderr() + server.stdout());
  });
});
