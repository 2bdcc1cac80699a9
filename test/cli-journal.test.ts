import { spawnSync } from "node:child_process";
import { copyFileSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseCheckpoint, parseVerifierKey, verifyNote, verifyProof } from "@satchel/journal";
import { beforeAll, describe, expect, it } from "vitest";
import { cleanEnvironment, connectStdio, makeData, type Ran, run, runOk, temporaryFolder } from "./harness.js";

const proofScript = fileURLToPath(new URL("../packages/journal/bin/verify-proof", import.meta.url));

interface Line {
  seq: number;
  at: string;
  kind: string;
  commitments: string[];
  bodies: (Record<string, unknown> | null)[];
}

let data: string;
/** The verifier key of `data`, and one of another context. */
let key: string;
let otherKey: string;
/** What entries of a write and of the erasure are called. */
const names = { call: "", receipt: "", audit: "", erasure: "" };

const folderOf = (home: string) => join(home, "contexts", "me");
const keyOf = (home: string) => readFileSync(join(folderOf(home), "journal.pub"), "utf8").trim();
const satchel = (...args: string[]) => run([...args, "--data", data]);
const ok = async (...args: string[]) => (await runOk([...args, "--data", data])).stdout;
const json = async <Output>(...args: string[]) => JSON.parse(await ok(...args, "--json")) as Output;
const rowsOf = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((row) => row.split("\t"));

/** One line for the person, nothing for the next command in the pipe, no stack trace. */
function expectFailure(ran: Ran, code: 1 | 2, message: RegExp): void {
  expect({ code: ran.code, stdout: ran.stdout }, ran.stderr).toEqual({ code, stdout: "" });
  expect(ran.stderr).toMatch(/^satchel: [^\n]+\n$/);
  expect(ran.stderr).toMatch(message);
  expect(ran.stderr).not.toMatch(/node:internal|file:\/\/|Error:/);
}

beforeAll(async () => {
  data = await makeData("me");
  key = keyOf(data);
  otherKey = keyOf(await makeData("me"));
  await runOk(["page", "put", "people/gone", "--data", data], { input: "Leaves.\n" });
  const client = await connectStdio("v2 auto", ["--data", data, "--client", "client:notes"]);
  const write = await client.callTool("memory_write", { path: "kept", body: "Stays.\n", idempotencyKey: "once" });
  const receipt = (write as { _meta?: Record<string, Record<string, string>> })._meta?.["dev.satchel/receipt"];
  names.call = receipt?.callId ?? "";
  names.receipt = receipt?.operationReceiptId ?? "";
  names.audit = receipt?.auditReceiptId ?? "";
  await client.callTool("memory_read", { path: "people/gone" });
  await client.callTool("memory_read", { path: "absent" });
  await client.close();
  const erased = await json<{ receipt: { id: string } }>("erase", "--path", "people/gone", "--yes");
  names.erasure = erased.receipt.id;
});

describe("satchel journal list", () => {
  it("shows the newest entries first: plain rows in a pipe, everything with --json", async () => {
    const { entries } = await json<{ entries: Line[] }>("journal", "list", "--limit", "1000");
    const seqs = entries.map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.map((_, i) => seqs.length - 1 - i));
    expect(entries.at(-1)).toMatchObject({ seq: 0, kind: "key", bodies: [{ key }] });
    const kinds = new Set(entries.map(({ kind }) => kind));
    expect([...kinds].sort()).toEqual(["audit", "erasure", "key", "prp.input", "prp.result", "redaction"]);
    const text = await ok("journal", "list", "--limit", "1000");
    expect(text).not.toContain("\u001b");
    const rows = rowsOf(text);
    const row = (seq: number) => rows.find(([first]) => first === String(seq));
    for (const { seq, at, kind } of entries) expect(row(seq)?.slice(0, 3)).toEqual([String(seq), at, kind]);
    const said = (wanted: string, what: RegExp) =>
      expect(rows.filter(([, , kind, text]) => kind === wanted && what.test(text ?? "")).length).toBeGreaterThan(0);
    said("prp.input", /^memory_write$/);
    said("prp.result", /^memory_write succeeded ok$/);
    said("prp.result", /^memory_read denied target_not_found$/);
    said("prp.input", /^erased$/);
    said("audit", /^memory_read read ok aud_\w+ \(targets erased\)$/);
    said("redaction", /^era_\w+$/);
    said("erasure", /^era_\w+$/);
  });

  it("stops at --limit", async () => {
    expect(rowsOf(await ok("journal", "list", "--limit", "2"))).toHaveLength(2);
  });
});

describe("satchel journal show", () => {
  it("finds an entry by its number and by every id in it, the newest of several", async () => {
    const { entries } = await json<{ entries: Line[] }>("journal", "list", "--limit", "1000");
    const newest = (holds: (body: Record<string, unknown>) => boolean) =>
      entries.find(({ bodies }) => bodies[0] && holds(bodies[0]))?.seq;
    const rows: [string, number | undefined, string][] = [
      ["0", 0, "key"],
      [names.audit, newest(({ id }) => id === names.audit), "audit"],
      [names.call, newest(({ callId }) => callId === names.call), "prp.result"],
      [names.receipt, newest(({ operationReceiptId }) => operationReceiptId === names.receipt), "prp.result"],
      [names.erasure, newest(({ id }) => id === names.erasure), "erasure"],
    ];
    for (const [name, seq, kind] of rows) {
      const entry = await json<Line>("journal", "show", name);
      expect(entry, name).toEqual(entries.find((each) => each.seq === seq));
      expect(entry.kind, name).toBe(kind);
    }
  });

  it("prints each commitment and what opens it, or that it is erased", async () => {
    const shown = await ok("journal", "show", names.audit);
    expect(shown).toMatch(
      /^Entry \d+ {2}audit, \S+Z\ncommitment [0-9a-f]{64}\n\{\n[\s\S]*\}\ncommitment [0-9a-f]{64}\n\{/,
    );
    expect(shown).toContain('"kept"');
    const { entries } = await json<{ entries: Line[] }>("journal", "list", "--limit", "1000");
    const erased = entries.find(({ kind, bodies }) => kind === "prp.input" && bodies[0] === null);
    expect(await ok("journal", "show", String(erased?.seq))).toMatch(
      /^Entry \d+ {2}prp\.input, \S+Z\ncommitment [0-9a-f]{64}\nerased\n$/,
    );
    const coloured = await runOk(["journal", "show", "0", "--data", data], {
      env: cleanEnvironment({ FORCE_COLOR: "1" }),
    });
    expect(coloured.stdout).toContain("\u001b[1mEntry 0");
  });
});

describe("satchel journal verify", () => {
  it("says that the log is what was signed, and changes no file", async () => {
    const files = () =>
      Object.fromEntries(
        readdirSync(folderOf(data)).map((name) => [name, readFileSync(join(folderOf(data), name)).toString("base64")]),
      );
    const before = files();
    expect(await satchel("journal", "verify")).toMatchObject({
      code: 0,
      stderr: "",
      stdout: expect.stringMatching(
        /^valid: [^\n]+\n(\d+) entries, \1 of them under a signed checkpoint, [1-9]\d* bodies erased\.\n$/,
      ),
    });
    const verdict = await json<Record<string, unknown>>("journal", "verify");
    expect(verdict).toMatchObject({ verdict: "valid", unsettled: [], key, checkpointSize: verdict.size });
    expect(files()).toEqual(before);
  });
});

describe("satchel journal prove and verify-proof", () => {
  const check = (...args: string[]) => run(["journal", "verify-proof", ...args]);

  it("proves any entry in 4 KB, for a program that needs nothing else", async () => {
    const empty = temporaryFolder("satchel-empty-");
    copyFileSync(proofScript, join(empty, "verify-proof"));
    for (const name of ["0", names.audit, names.call, names.receipt, names.erasure]) {
      const file = join(empty, "proof.json");
      const proved = await satchel("journal", "prove", name, "--out", file);
      expect(proved).toMatchObject({
        code: 0,
        stdout: "",
        stderr: expect.stringMatching(/^Wrote [^\n]+ bytes[^\n]+\n$/),
      });
      expect(statSync(file).size).toBeLessThanOrEqual(4096);
      const said = await check(file, "--key", key);
      expect(said).toMatchObject({
        code: 0,
        stderr: "",
        stdout: expect.stringMatching(/^valid: entry \d+, \S+, \S+Z\n$/),
      });
      const { seq } = JSON.parse(readFileSync(file, "utf8")).entry;
      expect(JSON.parse((await check(file, "--key", key, "--json")).stdout)).toMatchObject({
        valid: true,
        entry: { seq },
      });
      const alone = spawnSync(process.execPath, ["verify-proof", "proof.json", "--key", key, "--json"], {
        cwd: empty,
        env: {},
        encoding: "utf8",
      });
      expect([alone.status, alone.stderr], name).toEqual([0, ""]);
      expect(JSON.parse(alone.stdout)).toMatchObject({ valid: true, entry: { seq } });
    }
  });

  it("prints the proof alone without --out, the same with --json", async () => {
    const printed = await satchel("journal", "prove", names.audit);
    expect(printed).toMatchObject({ code: 0, stderr: "" });
    const trusted = [parseVerifierKey(key)];
    expect(verifyProof(JSON.parse(printed.stdout), trusted).valid).toBe(true);
    expect(verifyProof(await json("journal", "prove", names.audit), trusted).valid).toBe(true);
  });

  it("fails a proof of which any byte is another", async () => {
    const text = (await ok("journal", "prove", names.audit)).trimEnd();
    const trusted = [parseVerifierKey(key)];
    const stillValid: number[] = [];
    for (let at = 0; at < text.length; at++) {
      const changed = Buffer.from(text);
      changed[at]! ^= 1;
      try {
        if (verifyProof(JSON.parse(changed.toString("utf8")), trusted).valid) stillValid.push(at);
      } catch (error) {
        expect(error).toBeInstanceOf(SyntaxError);
      }
    }
    expect(stillValid).toEqual([]);
    const file = join(temporaryFolder(), "changed.json");
    writeFileSync(file, text.replace('"kept"', '"kepu"'));
    expect(await check(file, "--key", key)).toMatchObject({
      code: 1,
      stderr: "",
      stdout: expect.stringMatching(/^invalid: /),
    });
    expect(await check(file, "--key", key, "--json")).toMatchObject({ code: 1, stderr: "" });
    expect(JSON.parse((await check(file, "--key", key, "--json")).stdout)).toEqual({
      valid: false,
      reason: "bad_opening",
    });
  });

  it("fails a proof by another key, and can't check without a key, a file or JSON", async () => {
    const folder = temporaryFolder();
    const file = join(folder, "proof.json");
    await ok("journal", "prove", "0", "--out", file);
    expect(await check(file, "--key", otherKey)).toMatchObject({
      code: 1,
      stderr: "",
      stdout: expect.stringMatching(/unknown_key/),
    });
    expect(await check(file, "--key", otherKey, "--key", key)).toMatchObject({ code: 0 });
    writeFileSync(join(folder, "no.json"), "no json");
    writeFileSync(join(folder, "list.json"), "[]");
    expectFailure(await check(file), 2, /--key/);
    expectFailure(await check(file, "--key", "satchel/x+1+2"), 2, /--key satchel\/x/);
    expectFailure(await check(join(folder, "none.json"), "--key", key), 2, /no such file/);
    expectFailure(await check(folder, "--key", key), 2, /directory/);
    expectFailure(await check(join(folder, "no.json"), "--key", key), 2, /no JSON/);
    expect(await check(join(folder, "list.json"), "--key", key)).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/bad_form/),
    });
  });
});

describe("satchel journal checkpoint", () => {
  it("prints the signed note and nothing else, and verifies against it later", async () => {
    const printed = await satchel("journal", "checkpoint");
    expect(printed).toMatchObject({ code: 0, stderr: "" });
    expect(verifyNote(printed.stdout, [parseVerifierKey(key)]).signers).toHaveLength(1);
    const { checkpoint } = await json<{ checkpoint: string }>("journal", "checkpoint");
    expect(parseCheckpoint(checkpoint).size).toBeGreaterThan(parseCheckpoint(printed.stdout).size);
    const file = join(temporaryFolder(), "kept.txt");
    writeFileSync(file, `My notes:\n\n${printed.stdout}\n${checkpoint}`);
    expect(await satchel("journal", "verify", "--checkpoint", file, "--key", key)).toMatchObject({ code: 0 });
  });
});

describe("satchel journal unsettled", () => {
  it("says that there is none", async () => {
    expect(await satchel("journal", "unsettled")).toEqual({ code: 0, stdout: "", stderr: "Every call is settled.\n" });
    expect(await json("journal", "unsettled")).toEqual({ calls: [] });
  });
});

describe("satchel audit", () => {
  interface Entry {
    id: string;
    at: string;
    principal: string;
    category: string;
    tool: string;
    targets?: string[];
  }
  const audited = async (...args: string[]) => (await json<{ entries: Entry[] }>("audit", ...args)).entries;

  it("shows who did what, newest first, and what was erased as erased", async () => {
    const entries = await audited("--limit", "1000");
    expect(entries.map(({ at }) => at)).toEqual(
      entries
        .map(({ at }) => at)
        .sort()
        .reverse(),
    );
    expect(entries.find(({ id }) => id === names.audit)).toMatchObject({ tool: "memory_write", targets: ["kept"] });
    const text = await ok("audit", "--limit", "1000");
    expect(text).not.toContain("\u001b");
    const rows = rowsOf(text);
    const row = rows.find(([, , , , , , id]) => id === names.audit);
    expect(row?.slice(1)).toEqual(["user:owner", "client:notes", "memory_write", "ok", "kept", names.audit]);
    const read = rows.find(
      ([, , through, what, outcome]) => `${through} ${what} ${outcome}` === "client:notes memory_read ok",
    );
    expect(read?.[5]).toBe("erased");
    expect(text).not.toContain("people/gone");
  });

  it("filters, and stops at --limit", async () => {
    const all = await audited("--limit", "1000");
    const middle = all[Math.floor(all.length / 2)]!.at;
    const isErase = ({ category }: Entry) => category === "erase";
    const ids = (entries: Entry[]) => entries.map(({ id }) => id);
    expect(ids(await audited("--category", "erase"))).toEqual(ids(all.filter(isErase)));
    expect(ids(await audited("--until", middle))).toEqual(ids(all.filter(({ at }) => at < middle)));
    const since = await audited("--since", middle, "--limit", "1000");
    expect(ids(since).slice(-1)).toEqual(ids(all.filter(({ at }) => at >= middle)).slice(-1));
    expect(await audited("--limit", "3")).toHaveLength(3);
    expect(await satchel("audit", "--principal", "user:nobody")).toEqual({
      code: 0,
      stdout: "",
      stderr: "Nothing is recorded for that.\n",
    });
  });
});

describe("satchel receipts", () => {
  interface Receipts {
    receipts: { seq: number; envelope: { phase: string; callId: string; operationReceiptId?: string } }[];
  }

  it("shows terminals, and of a call or receipt all its envelopes", async () => {
    const { receipts } = await json<Receipts>("receipts", "--limit", "1000");
    expect(new Set(receipts.map(({ envelope }) => envelope.phase))).toEqual(new Set(["result"]));
    const rows = rowsOf(await ok("receipts", "--limit", "1000"));
    const row = rows.find((each) => each[5] === names.call);
    expect(row?.slice(1)).toEqual(["memory_write", "succeeded", "ok", names.receipt, names.call]);
    const ofCall = await json<Receipts>("receipts", names.call);
    expect(ofCall.receipts.map(({ envelope }) => envelope.phase)).toEqual(["result", "input"]);
    const ofReceipt = await json<Receipts>("receipts", names.receipt);
    expect(ofReceipt.receipts.map(({ envelope }) => envelope.operationReceiptId)).toContain(names.receipt);
    expect(JSON.parse(await ok("receipts", names.call))).toEqual(ofCall);
    expect(await json("receipts", "call_none")).toEqual({ receipts: [] });
    expect((await json<Receipts>("receipts", "--limit", "2")).receipts).toHaveLength(2);
  });
});

describe("what can't be done", () => {
  it.each<[string[], 1 | 2, RegExp]>([
    [["journal", "list", "--limit", "0"], 2, /--limit/],
    [["journal", "list", "--limit", "1001"], 2, /--limit/],
    [["journal", "list", "--limit", "ten"], 2, /--limit/],
    [["audit", "--limit", "-1"], 2, /--limit/],
    [["receipts", "--limit", "1.5"], 2, /--limit/],
    [["audit", "--since", "yesterday"], 1, /invalid_input/],
    [["audit", "--principal", "owner"], 1, /invalid_input/],
    [["journal", "show"], 2, /missing required argument/],
    [["journal", "show", "99999999"], 1, /not_found: .*"99999999"/],
    [["journal", "show", "99999999999999999999999"], 1, /not_found/],
    [["journal", "show", "1e0"], 1, /not_found/],
    [["journal", "show", ""], 1, /not_found/],
    [["journal", "show", "aud_none"], 1, /not_found/],
    [["journal", "prove", "99999999"], 1, /not_found/],
    [["journal", "prove", "call_none"], 1, /not_found/],
    [["journal", "prove", "0", "--out", "/nonexistent/folder/proof.json"], 2, /no such file/],
    [["journal", "verify", "--checkpoint", "/nonexistent"], 2, /no such file/],
    [["journal", "verify", "--key", "abc"], 2, /--key abc/],
    [["journal", "verify", "--context", "none"], 2, /none/],
    [["journal", "forget"], 2, /unknown command/],
  ])("%j", async (args, code, message) => {
    expectFailure(await satchel(...args), code, message);
  });
});

describe("help", () => {
  it.each([
    ["journal", "list"],
    ["journal", "show"],
    ["journal", "verify"],
    ["journal", "prove"],
    ["journal", "verify-proof"],
    ["journal", "checkpoint"],
    ["journal", "unsettled"],
    ["journal", "rotate-key"],
    ["audit"],
    ["receipts"],
  ])("of %s %s has an example", async (...args) => {
    const { code, stdout, stderr } = await run([...args, "--help"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(new RegExp(`^Usage: satchel ${args.join(" ")} `));
    expect(stdout).toMatch(new RegExp(`\nExamples:\n {2}satchel ${args.join(" ")}`));
  });
});

describe("files", () => {
  it("keeps the signing key and the checkpoints from others", () => {
    for (const name of ["journal.key", "checkpoints.log"]) {
      expect(statSync(join(folderOf(data), name)).mode & 0o777, name).toBe(0o600);
    }
  });
});
