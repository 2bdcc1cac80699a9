import { callTool } from "@satchel/server";
import { describe, expect, it } from "vitest";
import { recordAbsentTool } from "../packages/server/src/mcp/call-tool.js";
import { erase, some, survey, verifyJournalOf } from "./erasure-world.js";
import { auditsOf, envelopesOf, journalOf } from "./recorded-calls.js";
import { assistant, owner, Shared } from "./shared-context.js";

/*
 * What an erasure takes, where names are shared: a version and the proposal it came from, two pages that had one path in
 * turns, a subject that is also a word of ours.
 */

const notes = assistant();
const storedTexts = ({ context }: Shared) =>
  context.store.read(async (transaction) => [...transaction.storedTexts()].map(({ text }) => text).join("\n"));

/** What is left of the envelopes, but for those of the erasure: which calls they are of, by operation. */
async function callsLeft(shared: Shared): Promise<string[]> {
  const envelopes = envelopesOf(await journalOf(shared)).filter(({ phase }) => phase !== "input");
  return envelopes.map(({ operationId }) => operationId).filter((operation) => operation !== "erase_request");
}

async function approve(shared: Shared, path: string, revision: string): Promise<void> {
  await shared.ok("review_resolve", { path, revision, verb: "approve" });
}

describe("a version that came from a proposal", () => {
  it("goes with that proposal, which holds the same text; proposals made from it name it no more", async () => {
    const shared = Shared.open();
    await approve(
      shared,
      "p",
      await shared.propose({ path: "p", body: "oakwordling in the harbour at dawn\n" }, notes),
    );
    const open = await shared.propose({ path: "p", body: "another\n" }, notes);
    await shared.ok("memory_write", { path: "p", body: "calm\n" });
    const { version } = (await survey(shared)).pages[0]!.versions[0]!;
    const { receipt } = await erase(shared, { ids: [version] });
    expect(receipt.residual).toMatchObject({ clean: true });
    expect(some(receipt.counts)).toMatchObject({ versions: 1, proposals: 1 });
    expect(await storedTexts(shared)).not.toMatch(new RegExp(`oakwordling|${version}`));
    expect((await survey(shared)).revisions.map(({ id, base }) => [id, base])).toEqual([[open, "erased"]]);
    expect(await callsLeft(shared)).toEqual(["memory_write"]); // Both proposals named the version.
  });

  it("stays when only a later version goes", async () => {
    const shared = Shared.open();
    const revision = await shared.propose({ path: "p", body: "first\n" }, notes);
    await approve(shared, "p", revision);
    await shared.ok("memory_write", { path: "p", body: "second\n" });
    await shared.ok("memory_write", { path: "p", body: "third\n" });
    const { versions } = (await survey(shared)).pages[0]!;
    await erase(shared, { ids: [versions[1]!.version] });
    expect((await survey(shared)).revisions.map(({ id }) => id)).toEqual([revision]);
  });

  it("a proposal whose base was erased is no proposal for a new page, once its page was removed", async () => {
    const shared = Shared.open();
    await shared.write("p", "oakwordling\n");
    const revision = await shared.propose({ path: "p", body: "proposed\n" }, notes);
    await shared.write("p", "calm\n");
    await erase(shared, { subject: "oakwordling" });
    await shared.remove("p");
    expect(await shared.outcome("review_resolve", { path: "p", revision, verb: "approve" })).toBe("conflict");
    expect(await shared.outcome("memory_read", { path: "p" })).toBe("not_found");
  });
});

describe("a removed page, and a new one at its path", () => {
  async function makeBoth(): Promise<{ shared: Shared; kept: string }> {
    const shared = Shared.open();
    await shared.ok("memory_write", { path: "notes/x", body: "Quillon Vexforth\n", idempotencyKey: "old" });
    await shared.propose({ path: "notes/x", body: "old proposal\n" }, notes);
    await shared.write("old/made", "made\n", { title: "Made", derived_from: ["notes/x"] });
    await shared.ok("memory_read", { path: "notes/x" });
    await shared.ok("memory_list", {});
    await shared.remove("notes/x");
    await shared.ok("memory_write", { path: "notes/x", body: "clean\n", idempotencyKey: "new" });
    const kept = await shared.propose({ path: "notes/x", body: "clean too\n" }, notes);
    await shared.write("new/made", "made\n", { title: "Made", derived_from: ["notes/x"] });
    await shared.ok("memory_read", { path: "notes/x" });
    await shared.ok("memory_search", { query: "clean" });
    return { shared, kept };
  }
  const stays = ["memory_write", "memory_propose", "memory_write", "memory_read", "memory_search"];

  it.each(["subject", "ids"])("by %s only the removed one goes, with what was bound to it", async (kind) => {
    const { shared, kept } = await makeBoth();
    const { pages } = await survey(shared);
    const selector = kind === "subject" ? { subject: "Quillon Vexforth" } : { ids: [pages[0]!.id] };
    const { receipt } = await erase(shared, selector);
    expect(some(receipt.counts)).toMatchObject({ pages: 1, derived: 1, proposals: 1, stored_results: 1 });
    expect(receipt.residual).toMatchObject({ clean: true, remaining_mentions: 0 });
    const left = await survey(shared);
    expect(left.pages.map(({ path, isLive }) => [path, isLive])).toEqual([
      ["notes/x", true],
      ["new/made", true],
    ]);
    expect(left.revisions.map(({ id }) => id)).toEqual([kept]);
    const again = { path: "notes/x", body: "clean\n", idempotencyKey: "new" };
    expect(await shared.outcome("memory_write", again)).toBe("ok");
    expect(await shared.outcome("memory_write", { ...again, body: "Quillon Vexforth\n", idempotencyKey: "old" })).toBe(
      "conflict",
    );
    expect((await callsLeft(shared)).slice(0, stays.length)).toEqual(stays);
  });

  it("by path both go", async () => {
    const { shared } = await makeBoth();
    const { receipt } = await erase(shared, { paths: ["notes/x"] });
    expect(some(receipt.counts)).toMatchObject({ pages: 2, derived: 2, proposals: 2, stored_results: 2 });
    expect(await survey(shared)).toMatchObject({ pages: [], revisions: [] });
    expect(await callsLeft(shared)).toEqual([]);
  });
});

describe("one proposal", () => {
  it("goes with the calls that named or returned it, not with those of its page", async () => {
    const shared = Shared.open();
    await shared.write("p", "calm harbour\n");
    await shared.ok("memory_read", { path: "p" });
    const revision = await shared.propose({ path: "p", body: "oakwordling\n" }, notes);
    await shared.ok("memory_search", { query: "oakwordling", include_review: ["proposed"] });
    await shared.ok("memory_list", { include_review: ["proposed"] });
    await shared.ok("review_list", {});
    await shared.ok("memory_search", { query: "harbour" });
    await erase(shared, { ids: [revision] });
    expect(await callsLeft(shared)).toEqual(["memory_write", "memory_read", "memory_search"]);
  });
});

describe("a subject that is a word of ours", () => {
  it.each([
    "Grant",
    "Owner",
    "Read",
    "memory",
    "result",
    "local",
    "succeeded",
    "path",
    "call",
    "profile",
    "title",
    "tags",
  ])("%s: takes no call that only we named so, and is clean", async (subject) => {
    const shared = Shared.open();
    await shared.users("bob");
    await shared.ok("profile_update", { patch: { name: "Robin" } });
    await shared.ok("memory_write", {
      ...{ path: "kept/page", body: "calm\n", idempotencyKey: "k" },
      frontmatter: { title: "Calm", tags: ["one"], relations: [{ rel: "about", target: "else" }] },
    });
    await shared.ok("memory_read", { path: "kept/page" });
    await shared.ok("memory_read", { path: "kept/_index" });
    await shared.ok("context_brief", {});
    await shared.ok("memory_write", { path: "gone", body: `About ${subject}.\n` });
    const before = await callsLeft(shared);
    const { receipt } = await erase(shared, { subject });
    expect(some(receipt.counts)).toMatchObject({ pages: 1, envelopes: 2, audit_details: 1 });
    expect(receipt.residual).toMatchObject({ clean: true });
    expect(await callsLeft(shared)).toEqual(before.slice(0, -1));
  });
});

describe("names that a client chose", () => {
  it("of a call go with it: they are no part of the head of its audit entry", async () => {
    const shared = Shared.open();
    await shared.write("kept", "calm\n");
    const call = { context: shared.context, caller: owner, args: { path: "kept" }, log: { fault: () => undefined } };
    await callTool("memory_read", { ...call, meta: { "dev.satchel/prp": { callId: "about-quillon-vexforth-1" } } });
    const { receipt } = await erase(shared, { subject: "Quillon Vexforth" });
    expect(some(receipt.counts)).toEqual({ envelopes: 2, audit_details: 1 });
    expect(receipt.residual).toMatchObject({ clean: true });
    expect(JSON.stringify(await journalOf(shared))).not.toMatch(/vexforth/i);
  });

  it("of a tool that there is not are recorded nowhere, and all such calls share one limit", async () => {
    const shared = Shared.open();
    await shared.setting("calls_per_minute", "2");
    const log = { fault: () => undefined };
    const call = () => recordAbsentTool({ context: shared.context, caller: notes, args: {}, log });
    const codes = [await call(), await call(), await call()].map((receipt) => receipt?.code);
    expect(codes).toEqual(["operation_absent", "operation_absent", "rate_limited"]);
    expect(
      new Set(
        auditsOf(await journalOf(shared))
          .slice(-3)
          .map(({ tool }) => tool),
      ),
    ).toEqual(new Set(["unknown_tool"]));
  });
});

describe("the search of the files", () => {
  it.each([
    ["a kept answer", { path: "people/quillon-vexforth-of-the-harbour" }, false],
    ["our own words in one", { state: "approved", applied: true, review_state: "proposed" }, true],
  ])("a copy is no reason why text may stay: %s", async (_name, structuredContent, clean) => {
    const shared = Shared.open();
    const path = "people/quillon-vexforth-of-the-harbour";
    await shared.write(path, "review_state applied approved structuredContent\n");
    const result = JSON.stringify({ structuredContent, content: [] });
    const claim = {
      id: Buffer.alloc(32, 1),
      input: Buffer.alloc(32, 2),
      state: "settled",
      receiptId: "r",
      result,
    } as const;
    await shared.context.store.write((transaction) => transaction.putClaim(claim));
    const { receipt } = await erase(shared, { paths: [path] });
    expect(receipt.residual.clean).toBe(clean);
  });
});

describe("digests that a guess could be checked against", () => {
  it("are left of no call that was refused for the page alone, and of no request to erase it", async () => {
    const shared = Shared.open();
    await shared.write("people/vexforth", "x\n");
    const { id } = (await survey(shared)).pages[0]!;
    const stranger = assistant("memory:propose");
    expect(await shared.outcome("memory_read", { path: "people/vexforth" }, stranger)).toBe("forbidden");
    expect(await shared.outcome("memory_read", { id }, stranger)).toBe("forbidden");
    for (const selector of [{ paths: ["people/vexforth"] }, { ids: [id] }])
      await shared.ok("erase_request", selector, owner);
    await erase(shared, { paths: ["people/vexforth"] });
    expect(await callsLeft(shared)).toEqual([]);
    const inputs = envelopesOf(await journalOf(shared)).filter(({ phase }) => phase === "input");
    for (const { content } of inputs) expect(content.redactionDisposition).toBe("redacted");
  });
});

describe("a list of audit entries", () => {
  it("goes when it returned the name of what goes", async () => {
    const shared = Shared.open();
    await shared.write("kept", "calm\n");
    await shared.ok("audit_list", {});
    await shared.write("people/vexforth", "x\n");
    await shared.ok("audit_list", {});
    await shared.ok("audit_list", { limit: 1 });
    await erase(shared, { paths: ["people/vexforth"] });
    expect(await callsLeft(shared)).toEqual(["memory_write", "audit_list"]);
  });
});

describe("what is shown of a profile", () => {
  it("in a brief goes with the profile", async () => {
    const shared = Shared.open();
    await shared.ok("profile_update", { patch: { name: "Robin", preferred_name: "Oakwordling" } });
    await shared.ok("context_brief", {});
    await shared.ok("context_brief", {}, assistant("memory:read"));
    await erase(shared, { subject: "oakwordling" });
    expect(await callsLeft(shared)).toEqual(["context_brief"]);
  });

  it("stays when its key is lost: it is counted, and nothing fails", async () => {
    const shared = Shared.open();
    await shared.ok("profile_update", { patch: { name: "Robin", preferred_name: "Oakwordling" } });
    await shared.ok("profile_update", { namespace: "pcp.health", patch: { blood_type: "A+" } });
    const documents = {
      ...shared.context.documents,
      open: (namespace: string, document: Record<string, unknown>) => {
        if (namespace === "pcp.health") throw new Error("no such key");
        return shared.context.documents.open(namespace, document);
      },
    };
    const { receipt } = await erase(shared.over({ ...shared.context, documents }), { subject: "oakwordling" });
    expect(some(receipt.counts)).toMatchObject({ profile: 1 });
    expect(receipt.residual).toMatchObject({ clean: true, remaining_mentions: 1 });
    expect((await verifyJournalOf(shared.dataDir)).verdict.verdict).toBe("valid");
    expect(JSON.stringify((await survey(shared)).profiles["pcp.health"])).toContain("A+");
  });
});

describe("pages that stay and name an erased path", () => {
  it.each([
    ["banana", 0],
    ["a/b and b/a, x.a, a-b, a.md", 0],
    ["see a, then (a) and `a`.", 1],
    ["It ends with a.", 1],
    ["[[a]]", 1],
  ])("%s: %s", async (body, count) => {
    const shared = Shared.open();
    await shared.write("a", "x\n");
    await shared.write("other", `${body}\n`, { title: "Other" });
    const { receipt } = await erase(shared, { paths: ["a"] });
    expect(receipt.residual).toMatchObject({ remaining_mentions: count });
  });
});

describe("a subject of two words", () => {
  it("is no match where the first ends the frontmatter and the second begins the body", async () => {
    const shared = Shared.open();
    await shared.write("p", "harbour at dawn\n", { title: "Walks", tags: ["oakwordling"] });
    await shared.write("q", "oakwordling\n\nharbour\n");
    const { receipt } = await erase(shared, { subject: "oakwordling harbour" });
    expect(some(receipt.counts)).toMatchObject({ pages: 1 });
    expect((await survey(shared)).pages.map(({ path }) => path)).toEqual(["p"]);
  });
});

describe("a subject of two words over the frontmatter", () => {
  it("is no match where one key's value ends with the first and the next one's begins with the second", async () => {
    const shared = Shared.open();
    await shared.write("p", "x\n", { title: "Walks", tags: ["oakwordling"], derived_from: ["harbour/a"] });
    await shared.write("q", "x\n", { title: "oakwordling harbour" });
    const { receipt } = await erase(shared, { subject: "oakwordling harbour" });
    expect(some(receipt.counts)).toMatchObject({ pages: 1 });
    expect((await survey(shared)).pages.map(({ path }) => path)).toEqual(["p"]);
  });
});

describe("a word index of one piece", () => {
  it("keeps no term of what is erased, neither after the first erasure nor after the next", async () => {
    const shared = Shared.open();
    const pages = Array.from({ length: 600 }, (_, at) => ({ path: `many/${at}`, body: `oakwordling${at} lantern\n` }));
    await shared.addPages(pages);
    for (const from of [0, 250]) {
      const paths = pages.slice(from, from + 250).map(({ path }) => path);
      const { receipt } = await erase(shared, { paths });
      expect(receipt.residual).toMatchObject({ clean: true });
    }
    await shared.remove("many/599");
    const { receipt } = await erase(shared, { subject: "oakwordling599" });
    expect(receipt.residual).toMatchObject({ clean: true });
  });
});
