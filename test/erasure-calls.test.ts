import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { joinHashes, parseVerifierKey, verifyProof } from "@satchel/journal";
import { SCHEMAS } from "@satchel/pcp";
import { canonicalJson, type SemanticToolEnvelope } from "@satchel/prp";
import { callTool, journalProveOperation, selectorDigest } from "@satchel/server";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { listFiles } from "./erased-traces.js";
import { divide, dryRun, erase, expectNoTrace, type RealRun, some, survey, verifyJournalOf } from "./erasure-world.js";
import { connectHttp, makeData, makeToken, run, runOk, startServe } from "./harness.js";
import { assistant, owner, person, Shared, temporaryFolder } from "./shared-context.js";

/*
 * Who may erase, what a call of it answers and records, and what the command shows.
 */

const counted = [
  ...["pages", "versions", "proposals", "index", "embeddings", "derived", "exports", "audit_details", "envelopes"],
  ...["stored_results", "profile"],
];

async function withPages(...paths: string[]): Promise<Shared> {
  const shared = Shared.open();
  for (const path of paths) await shared.write(path, `${path} holds harbourlights\n`);
  return shared;
}

/** The receipt's code of a call. */
async function codeOf(shared: Shared, args: unknown, caller: typeof owner): Promise<string | undefined> {
  const answered = await callTool("erase_request", {
    context: shared.context,
    caller,
    args,
    log: { fault: (entry) => void shared.faults.push(entry) },
  });
  return (answered._meta!["dev.satchel/receipt"] as SemanticToolEnvelope & { code: string }).code;
}

describe("who may", () => {
  const callers: [who: string, caller: typeof owner, dry: string, dryCode: string, real: string, realCode: string][] = [
    ["the owner in person", owner, "ok", "ok", "ok", "ok"],
    ["the owner's assistant", assistant(), "ok", "ok", "forbidden", "approval_required"],
    ["an assistant with erase:write", assistant("erase:write"), "ok", "ok", "forbidden", "approval_required"],
    [
      "an assistant without",
      assistant("memory:write"),
      "forbidden",
      "required_claim_missing",
      "forbidden",
      "required_claim_missing",
    ],
    ["another user in person", person("bob"), "forbidden", "actor_role_denied", "forbidden", "actor_role_denied"],
    [
      "another user's assistant",
      assistant(undefined, { user: "bob" }),
      "forbidden",
      "actor_role_denied",
      "forbidden",
      "actor_role_denied",
    ],
    ["nobody known", person("mallory"), "forbidden", "actor_role_denied", "forbidden", "actor_role_denied"],
  ];

  it.each(callers)("%s", async (_who, caller, dry, dryCode, real, realCode) => {
    const shared = await withPages("p");
    await shared.users("bob");
    const before = await survey(shared);
    for (const [dry_run, outcome, code] of [
      [true, dry, dryCode],
      [false, real, realCode],
    ] as const) {
      if (!dry_run && real === "ok") expect(await survey(shared)).toEqual(before);
      expect(await shared.outcome("erase_request", { paths: ["p"], dry_run }, caller)).toBe(outcome);
      expect(await codeOf(shared, { paths: ["p"], dry_run }, caller)).toBe(code);
    }
    expect((await survey(shared)).pages).toHaveLength(real === "ok" ? 0 : 1);
    const { entries } = await shared.ok<{ entries: { tool: string; action: string; targets: string[] }[] }>(
      "audit_list",
      { limit: 1 },
    );
    expect(entries[0]).toMatchObject({
      tool: "erase_request",
      category: "erase",
      action: real === "ok" ? "erase" : "deny",
    });
    if (real !== "ok") expect(entries[0]!.targets).toEqual([]);
    expect(shared.faults).toEqual([]);
  });

  it("a hidden sensitive page is reached, whatever partition hides it", async () => {
    const shared = await withPages();
    await shared.partition("private");
    await shared.ok("memory_write", {
      path: "h",
      body: "moonstonefever\n",
      frontmatter: { title: "H", sensitivity: "sensitive", partition: "private" },
    });
    const dry = await shared.ok<{ would_erase: Record<string, number> }>(
      "erase_request",
      { subject: "moonstonefever" },
      assistant("erase:write"),
    );
    expect(dry.would_erase).toMatchObject({ pages: 1, versions: 1, index: 1 });
    expect((await erase(shared, { subject: "moonstonefever" })).receipt.counts).toMatchObject({ pages: 1 });
  });
});

describe("what is asked for", () => {
  const refused: [args: Record<string, unknown>, says: RegExp][] = [
    [{}, /exactly one/],
    [{ dry_run: false }, /exactly one/],
    [{ subject: "a", paths: ["p"] }, /exactly one/],
    [{ paths: ["p"], ids: ["pg_1"] }, /exactly one/],
    [{ subject: "" }, /\/subject/],
    [{ subject: " -_./ " }, /\/subject/],
    [{ subject: "🦊" }, /\/subject/],
    [{ subject: "x".repeat(501) }, /\/subject/],
    [{ paths: [] }, /\/paths/],
    [{ paths: ["/absolute"] }, /\/paths\/0/],
    [{ paths: ["a/../b"] }, /\/paths\/0/],
    [{ paths: Array.from({ length: 501 }, (_, at) => `p${at}`) }, /\/paths/],
    [{ ids: ["x".repeat(129)] }, /\/ids/],
    [{ subject: "a", dry_run: "no" }, /\/dry_run/],
  ];

  it.each(refused)("refused: %j", async (args, says) => {
    const shared = await withPages("p");
    const before = await survey(shared);
    for (const dry_run of [undefined, true, false]) {
      if (dry_run !== undefined && "dry_run" in args) continue;
      const error = await shared.refused("erase_request", { ...args, ...(dry_run !== undefined && { dry_run }) });
      expect(error.code).toBe("invalid_input");
      expect(JSON.stringify(error)).toMatch(says);
    }
    expect(await survey(shared)).toEqual(before);
  });

  it("unknown paths and ids are nothing to erase, and a real run says so", async () => {
    const shared = await withPages("p");
    const before = await survey(shared);
    for (const args of [
      { paths: ["nope", "P"] },
      { ids: ["pg_none", "junk", "p", "ver_00000000000000000000000000"] },
      { subject: "not in here" },
      { subject: "holds harbourlight" },
    ]) {
      expect(some((await dryRun(shared, args)).would_erase)).toEqual({});
      const { receipt } = await erase(shared, args);
      expect(some(receipt.counts)).toEqual({});
      expect(receipt.residual).toMatchObject({ clean: true });
      expect(receipt.journal.size_after).toBe(receipt.journal.size_before);
    }
    expect(await survey(shared)).toEqual(before);
  });

  it("500 paths at once", async () => {
    const shared = Shared.open();
    const pages = Array.from({ length: 520 }, (_, at) => ({ path: `many/${at}`, body: `number${at} harbourlights\n` }));
    await shared.addPages(pages);
    const paths = pages.slice(0, 500).map(({ path }) => path);
    const before = await survey(shared);
    const { receipt } = await erase(shared, { paths });
    expect(receipt.counts).toMatchObject({ pages: 500, versions: 500, index: 500 });
    expect(receipt.residual.clean).toBe(true);
    const { gone, kept } = divide(before, { paths: new Set(paths) });
    expect(await survey(shared)).toEqual(kept);
    expect(gone.pages).toHaveLength(500);
  });
});

describe("the receipt", () => {
  const validate = new Ajv2020({ strict: false, validateFormats: false });
  for (const schema of Object.values(SCHEMAS)) validate.addSchema(schema);

  async function erased(
    args: Record<string, unknown> = { subject: "Harbourlights" },
  ): Promise<{ shared: Shared; run: RealRun }> {
    const shared = await withPages("gone/a", "gone/b");
    await shared.write("kept", "calm\n");
    return { shared, run: await erase(shared, args) };
  }

  it("has the form of its schema, with the fixed names of the stores", async () => {
    const {
      run: { receipt },
    } = await erased();
    const isValid = validate.validate(
      "https://pcp-protocol.github.io/pcp/schemas/0.3/erasure.receipt.schema.json",
      receipt,
    );
    expect(validate.errors).toBeNull();
    expect(isValid).toBe(true);
    expect(Object.keys(receipt.counts)).toEqual(counted);
    expect(receipt).toMatchObject({
      id: expect.stringMatching(/^era_/),
      requested_by: "user:owner",
      selector: { kind: "subject" },
    });
    expect(receipt.requested_at <= receipt.completed_at).toBe(true);
    expect(JSON.stringify(receipt)).not.toMatch(/harbour|gone/i);
  });

  it("is signed by the key of journal.pub over its canonical form", async () => {
    const {
      shared,
      run: { receipt },
    } = await erased();
    const key = parseVerifierKey(readFileSync(join(shared.context.folder, "journal.pub"), "utf8").trim());
    const verify = ({ signature, ...facts }: Record<string, unknown>) =>
      key.verify(Buffer.from(canonicalJson(facts)), Buffer.from(String(signature), "base64url"));
    expect(receipt.key_id).toBe(key.id);
    expect(verify(receipt)).toBe(true);
    expect(verify({ ...receipt, counts: { ...receipt.counts, pages: 1 } })).toBe(false);
  });

  const selectors: Record<string, unknown>[] = [
    { subject: "Harbourlights" },
    { paths: ["gone/a", "gone/b"] },
    { ids: ["pg_none"] },
  ];
  it.each(selectors)("tells its requester alone what was asked for: %j", async (args) => {
    const {
      shared,
      run: { receipt, salt },
    } = await erased(args);
    const [kind] = Object.keys(args) as ["subject" | "paths" | "ids"];
    const selector = { kind, ...args } as Parameters<typeof selectorDigest>[0];
    expect(Buffer.from(salt, "base64")).toHaveLength(32);
    expect(receipt.selector).toEqual({ kind, digest: selectorDigest(selector, salt) });
    const hash = createHash("sha256").update(Buffer.from(salt, "base64")).update(canonicalJson(selector));
    expect(receipt.selector.digest).toBe(hash.digest("hex"));
    expect(filesThatHold(shared.dataDir, salt)).toEqual([]);
  });

  it("is given with its salt once: a key's second answer has none, and no file holds it", async () => {
    const {
      shared,
      run: { salt },
    } = await erased({ paths: ["gone/a"], idempotencyKey: "once" });
    expect(filesThatHold(shared.dataDir, salt)).toEqual([]);
    const again = await erase(shared, { paths: ["gone/a"], idempotencyKey: "once" });
    expect(again.salt).toBeUndefined();
    expect(again.receipt.id).toMatch(/^era_/);
  });

  it("fits the journal: sizes and roots before and after, and the redaction names exactly the bodies that went", async () => {
    const {
      shared,
      run: { receipt },
    } = await erased();
    const { entries, verdict } = await verifyJournalOf(shared.dataDir);
    expect(verdict.verdict).toBe("valid");
    const rootOf = (size: number) => rootOfLeaves(entries.slice(0, size).map(({ leaf }) => leaf));
    const { size_before, root_before, size_after, root_after } = receipt.journal as Record<string, number | string>;
    expect(rootOf(Number(size_before))).toBe(root_before);
    expect(rootOf(Number(size_after))).toBe(root_after);
    expect(entries.slice(Number(size_before)).map(({ kind }) => kind)).toEqual([
      "redaction",
      "erasure",
      "audit",
      "prp.result",
    ]);
    const redaction = JSON.parse(entries[Number(size_before)]!.openings[0]!.body);
    expect(redaction.receipt).toBe(receipt.id);
    const named = (redaction.entries as [number, number, number][]).flatMap(([seq, count, mask]) =>
      Array.from({ length: count }, (_, at) => `${seq + at}:${mask}`),
    );
    const lost = entries.flatMap(({ seq, openings }) => {
      const mask = openings.reduce((sum, opening, slot) => sum + (opening ? 0 : 1 << slot), 0);
      return mask === 0 ? [] : [`${seq}:${mask}`];
    });
    expect(named).toEqual(lost);
    expect(lost).toHaveLength(receipt.counts.envelopes! + receipt.counts.audit_details!);
    expect(JSON.parse(entries[Number(size_before) + 1]!.openings[0]!.body)).toEqual(receipt);
  });

  it("leaves the audit readable, and proofs of redacted entries valid", async () => {
    const { shared } = await erased();
    const { entries } = await shared.ok<{ entries: { id: string; tool: string; targets?: string[] }[] }>("audit_list", {
      limit: 100,
    });
    expect(entries.map(({ tool, targets }) => [tool, targets?.length])).toEqual([
      ["erase_request", 1],
      ["memory_write", 1],
      ["memory_write", undefined],
      ["memory_write", undefined],
    ]);
    const key = parseVerifierKey(readFileSync(join(shared.context.folder, "journal.pub"), "utf8").trim());
    for (const name of [entries[3]!.id, "1", "3"]) {
      const proof = await shared.done(journalProveOperation, { name });
      expect(verifyProof(proof, [key])).toMatchObject({ valid: true });
      expect(JSON.stringify(proof)).not.toMatch(/gone/);
    }
  });
});

/** Files that hold the text, also in what an inflated body says. */
function filesThatHold(dataDir: string, text: string): string[] {
  return listFiles(dataDir).filter((file) => readFileSync(join(dataDir, file)).includes(text));
}

function rootOfLeaves(leaves: Uint8Array[]): string {
  return Buffer.from(joinHashes(subtreesOf(leaves))).toString("base64");
}

/** RFC 9162: the roots of the complete subtrees that the leaves fall into, left to right. */
function subtreesOf(leaves: Uint8Array[]): Uint8Array[] {
  const roots: Uint8Array[] = [];
  for (let at = 0; at < leaves.length; ) {
    const size = 2 ** Math.floor(Math.log2(leaves.length - at));
    roots.push(completeRoot(leaves.slice(at, at + size)));
    at += size;
  }
  return roots;
}

function completeRoot(leaves: Uint8Array[]): Uint8Array {
  if (leaves.length === 1) return leaves[0]!;
  const half = leaves.length / 2;
  const pair = [completeRoot(leaves.slice(0, half)), completeRoot(leaves.slice(half))];
  return createHash("sha256").update(Buffer.of(1)).update(pair[0]!).update(pair[1]!).digest();
}

describe("satchel erase", () => {
  /** Every file and what is in it. */
  function fingerprint(data: string): Record<string, string> {
    const hash = (file: string) =>
      createHash("sha256")
        .update(readFileSync(join(data, file)))
        .digest("hex");
    return Object.fromEntries(listFiles(data).map((file) => [file, hash(file)]));
  }

  async function withHarbour(): Promise<string> {
    const data = await makeData("me");
    const put = (path: string, text: string) => runOk(["page", "put", path, "--data", data], { input: text });
    await put("gone/harbour", "harbourlights one\n");
    await put("gone/harbour", "harbourlights two\n");
    await put("made", "---\ntitle: Made\nderived_from: [gone/harbour]\n---\nshort\n");
    await put("part", "harbourlights once\n");
    await put("part", "nothing\n");
    await put("kept", "calm\n");
    return data;
  }

  const preview = (data: string, more: string[] = []) =>
    run(["erase", "--data", data, "--subject", "HARBOURLIGHTS", ...more]);

  it("without --yes shows page by page what would go and changes no byte of any file", async () => {
    const data = await withHarbour();
    const before = fingerprint(data);
    const shown = await preview(data);
    expect([shown.code, fingerprint(data)]).toEqual([0, before]);
    for (const row of [/page\tgone\/harbour\t2\tpg_/, /derived page\tmade\t1\tpg_/, /versions\tpart\t1\tpg_/])
      expect(shown.stdout).toMatch(row);
    expect(shown.stdout).not.toMatch(/kept/);
    const plain = await preview(data, ["--no-derived", "--json"]);
    expect(JSON.parse(plain.stdout)).toMatchObject({
      dry_run: true,
      would_erase: { pages: 1, derived: 0, versions: 3 },
    });
    const none = await run(["erase", "--data", data, "--path", "nowhere"]);
    expect([none.code, none.stdout + none.stderr]).toEqual([0, expect.stringContaining("nothing to erase")]);
    for (const args of [[], ["--path", "a", "--id", "b"], ["--path", "../a"]])
      expect((await run(["erase", "--data", data, ...args])).code).toBe(2);
    expect(fingerprint(data)).toEqual(before);
    const real = JSON.parse((await preview(data, ["--yes", "--json"])).stdout) as RealRun;
    expect(real.receipt.counts).toMatchObject({ pages: 1, derived: 1, versions: 4, index: 2 });
    expect((await run(["journal", "verify", "--data", data])).code).toBe(0);
  });

  it("without --yes changes no byte beside a live server but of -shm, and none of what a crash left", async () => {
    const data = await withHarbour();
    const server = await startServe(data);
    await runOk(["page", "put", "more", "--data", data], { input: "harbourlights more\n" });
    const shm = "contexts/me/context.db-shm";
    const without = () => ({ ...fingerprint(data), [shm]: "" });
    const before = without();
    expect((await preview(data)).stdout).toMatch(/page\tmore/);
    expect(without()).toEqual(before);
    const crashed = temporaryFolder();
    cpSync(data, crashed, { recursive: true });
    await server.stop();
    const left = { ...fingerprint(crashed), [shm]: "" };
    expect(Object.keys(left)).toContain("contexts/me/context.db-wal");
    expect((await preview(crashed)).stdout).toMatch(/page\tmore/);
    expect({ ...fingerprint(crashed), [shm]: "" }).toEqual(left);
    rmSync(join(crashed, shm));
    const none = fingerprint(crashed);
    expect((await preview(crashed)).stdout).toMatch(/page\tmore/);
    const { [shm]: _, ...rest } = fingerprint(crashed);
    expect(rest).toEqual(none);
  });
});

/** What a server says beyond its greeting. */
function faultsIn(stderr: string): string {
  return stderr.slice(
    Math.max(0, stderr.search(/satchel: fault|Error/)),
    stderr.search(/satchel: fault|Error/) < 0 ? 0 : undefined,
  );
}

describe("D8: while others write", () => {
  it("keeps its locks: after its scan other processes still know that the database is open", async () => {
    const shared = await withPages("p", "q");
    await erase(shared, { paths: ["p"] });
    const log = join(shared.context.folder, "context.db-wal");
    await runOk(["page", "ls", "--data", shared.dataDir]);
    expect(existsSync(log)).toBe(true); // The last one to close the database removes it.
    await shared.write("q", "still here\n");
    expect((await runOk(["page", "cat", "q", "--data", shared.dataDir])).stdout).toContain("still here");
  });

  it("is done or locked beside bulk imports and 50 writers in other processes, never a fault", async () => {
    const data = await makeData("me");
    const server = await startServe(data);
    const folder = temporaryFolder();
    mkdirSync(join(folder, "bulk"));
    for (let at = 0; at < 400; at++) writeFileSync(join(folder, "bulk", `p${at}.md`), `harbourlights ${at}\n`);
    const token = await makeToken(data, "memory:read memory:write");
    const client = await connectHttp("v2 pinned", `${server.origin}/mcp`, token);
    const ends = new Set<string>();
    let isOver = false;
    const writer = async (name: number) => {
      for (let round = 0; !isOver; round++) {
        const page = { path: `w${name}/${round}`, body: "harbourlights\n" };
        const answer = await client
          .callTool("memory_write", page)
          .catch((error: Error) => ({ thrown: String(error.cause ?? error) }));
        const { error } = ("structuredContent" in answer ? answer.structuredContent : {}) as {
          error?: { code: string };
        };
        ends.add("thrown" in answer ? answer.thrown : (error?.code ?? "ok"));
      }
    };
    const writers = Array.from({ length: 50 }, (_, name) => writer(name));
    const importing = run(["import", folder, "--data", data]);
    const eraseAll = () => run(["erase", "--data", data, "--subject", "harbourlights", "--yes", "--json"]);
    const runs = [await eraseAll(), await eraseAll(), await eraseAll()];
    const imported = await importing;
    isOver = true;
    await Promise.all(writers);
    expect([server.child.exitCode, faultsIn(server.stderr())]).toEqual([null, ""]);
    expect([...ends].filter((end) => !["ok", "locked", "rate_limited"].includes(end))).toEqual([]);
    expect(ends).toContain("ok");
    expect(imported.code === 0 || /locked/.test(imported.stderr), imported.stderr).toBe(true);
    for (const { stdout, stderr, code } of runs) {
      if (code === 0) expect(JSON.parse(stdout).receipt.residual).toMatchObject({ clean: true });
      else expect(stderr).toMatch(/locked/);
    }
    expect(runs.some(({ code }) => code === 0)).toBe(true);
    await server.stop();
    const last = await eraseAll();
    expect([last.code, last.stderr]).toEqual([0, expect.stringContaining("Erasing")]);
    const { receipt } = JSON.parse(last.stdout) as RealRun;
    expect(receipt.residual).toMatchObject({ clean: true });
    expect((await run(["journal", "verify", "--data", data])).code).toBe(0);
    const kept = { pages: [], revisions: [], profiles: {} };
    expectNoTrace({ dataDir: data }, { gone: { ...kept, profiles: { none: ["harbourlights"] } }, kept });
  });
});
