import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scaled, testSeed } from "../../../test/scale.js";
import schema from "../schemas/proof.schema.json" with { type: "json" };
import golden from "../vectors/proof.json" with { type: "json" };
import { signCheckpoint } from "./checkpoint.js";
import { hashEntry, type StoredEntry } from "./entry.js";
import {
  type JournalReader,
  makeCheckpoint,
  type Proof,
  parseCheckpoint,
  parseVerifierKey,
  proveConsistency,
  proveEntry,
  redactEntries,
  type VerifierKey,
  verifyConsistency,
  verifyProof,
} from "./index.js";
import { hashNode, storedLevels } from "./merkle-tree.js";
import { at, makeKey, startTestLog } from "./test-log.contract.js";

const verifier = fileURLToPath(new URL("../bin/verify-proof", import.meta.url));
const isSchemaValid = new Ajv2020().compile(schema);
const asText = (proof: unknown) => JSON.stringify(proof);
const copy = <T>(value: T): T => JSON.parse(asText(value)) as T;

interface Answer {
  file: string;
  valid?: boolean;
  reason?: string;
  error?: string;
  bodies?: unknown[];
}

let folder = "";
let made: Awaited<ReturnType<typeof makeProofs>>;
beforeAll(async () => {
  made = await makeProofs();
  folder = await mkdtemp(join(tmpdir(), "proofs-"));
});
afterAll(() => rm(folder, { recursive: true }));

function runVerifier(...given: string[]): Promise<{ status: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [verifier, ...given], { cwd: folder, maxBuffer: 2 ** 28 }, (error, stdout, stderr) => {
      resolve({ status: error ? Number(error.code) : 0, stdout, stderr });
    });
  });
}

/** What the separate program says of each proof, given as JSON. */
async function verifyApart(texts: readonly string[], keys: readonly VerifierKey[]): Promise<Answer[]> {
  const files = texts.map((_, i) => `${i}.json`);
  await Promise.all(texts.map((text, i) => writeFile(join(folder, files[i]!), text)));
  const { stdout } = await runVerifier(...files, "--json", ...keys.flatMap(({ text }) => ["--key", text]));
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Answer);
}

async function makeProofs() {
  const log = await startTestLog("proofs");
  await log.append(100);
  const entries = [
    { seq: 40, slots: [0] },
    { seq: 41, slots: [1] },
    { seq: 44, slots: [0, 1] },
  ];
  await redactEntries(log.storage, { receipt: "era_1", at, entries }, log.tools);
  await makeCheckpoint(log.storage, log.key);
  const proofs: Proof[] = [];
  for (let seq = 0; seq < 302; seq++) proofs.push(await proveEntry(log.storage, seq));
  return { ...log, proofs };
}

describe("proveEntry", () => {
  it("proves every entry, for both verifiers and the schema", async () => {
    const { proofs, trusted, storage } = made;
    const apart = await verifyApart(proofs.map(asText), trusted);
    for (const [seq, proof] of proofs.entries()) {
      const verdict = verifyProof(copy(proof), trusted);
      const [entry] = await storage.entries({ from: seq, limit: 1 });
      const bodies = entry!.openings.map((opening) => opening && JSON.parse(opening.body));
      expect(verdict).toMatchObject({ valid: true, entry: { seq }, bodies });
      expect(apart[seq]).toMatchObject({ valid: true, bodies: bodies.map((body) => body ?? null) });
      expect(isSchemaValid(proof)).toBe(true);
    }
  });

  it("needs an entry, a checkpoint that covers it, and a log that was not changed", async () => {
    const { database, storage, key, append } = await startTestLog();
    await append(1);
    await expect(proveEntry(storage, 1)).rejects.toMatchObject({ code: "no_checkpoint" });
    await makeCheckpoint(storage, key);
    await append(1);
    await expect(proveEntry(storage, 4)).rejects.toMatchObject({ code: "no_checkpoint" });
    for (const seq of [7, -1, 0.5, Number.NaN]) {
      await expect(proveEntry(storage, seq)).rejects.toMatchObject({ code: "no_such_entry" });
    }
    expect((await proveEntry(storage, 3)).entry.seq).toBe(3);
    database.run("UPDATE journal_entries SET leaf = zeroblob(32) WHERE seq = 2");
    await expect(proveEntry(storage, 3)).rejects.toMatchObject({ code: "damaged", seq: 3 });
    database.run("DELETE FROM journal_entries WHERE seq = 2");
    await expect(proveEntry(storage, 3)).rejects.toMatchObject({ code: "damaged" });
  });

  it("stays below 4 KB and reads few hashes in a log of ten million entries", async () => {
    const { storage } = await startTestLog();
    const size = 10_000_000;
    const opening = { salt: Buffer.alloc(32, 5), body: JSON.stringify({ text: "x".repeat(800) }) };
    const leaves = [Buffer.alloc(32, 9) as Uint8Array];
    for (let level = 0; level < 24; level++) leaves.push(hashNode(leaves[level]!, leaves[level]!));
    let read = 0;
    for (const seq of [0, 1, 5_000_000, 8_388_607, 8_388_608, 9_999_998]) {
      const entry = { seq, at, kind: "prp.result" as const, commitments: ["0".repeat(64)] };
      const stored: StoredEntry = { ...entry, leaf: hashEntry(entry), openings: [opening] };
      const rootOf = (from: number, to: number): Uint8Array => {
        if (to - from === 1) return from === seq ? stored.leaf : leaves[0]!;
        const level = Math.ceil(Math.log2(to - from));
        if ((seq < from || seq >= to) && 2 ** level === to - from) return leaves[level]!;
        return hashNode(rootOf(from, from + 2 ** (level - 1)), rootOf(from + 2 ** (level - 1), to));
      };
      const note = signCheckpoint({ size, root: rootOf(0, size) }, makeKey("large"));
      const reader: JournalReader = {
        ...storage,
        entries: async () => [stored],
        lastCheckpoint: async () => ({ size, note }),
        subtrees: async ({ level, limit }) => {
          read += limit;
          return Array.from({ length: limit }, () => leaves[level]!);
        },
      };
      const proof = await proveEntry(reader, seq);
      expect(JSON.stringify(proof).length).toBeLessThan(4096);
      if (seq === 0) console.log(`a proof in a log of ${size} entries has ${JSON.stringify(proof).length} bytes`);
    }
    expect(read / 6).toBeLessThan(2 ** storedLevels * 4);
  });
});

describe("proveConsistency", () => {
  it("shows for any two sizes that one continues the other", async () => {
    const { storage, key, append } = await startTestLog("steps");
    const heads = new Map<number, Uint8Array>();
    for (let i = 0; i < 300; i++) {
      const { note, size } = await makeCheckpoint(storage, key);
      heads.set(size, parseCheckpoint(note).root);
      await append(1);
    }
    const sizes = [...heads.keys()];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...sizes), fc.constantFrom(...sizes), async (one, other) => {
        const [from, to] = [Math.min(one, other), Math.max(one, other)];
        const path = await proveConsistency(storage, { from, to });
        const head = (size: number) => ({ size, root: heads.get(size)! });
        expect(verifyConsistency(head(from), head(to), path)).toBe(true);
        const wrong = { size: from, root: heads.get(sizes.find((size) => size !== from)!)! };
        expect(verifyConsistency(wrong, head(to), path)).toBe(false);
      }),
      { numRuns: scaled(1000), seed: testSeed() },
    );
    await expect(proveConsistency(storage, { from: 5, to: 4 })).rejects.toMatchObject({ code: "no_such_entry" });
    await expect(proveConsistency(storage, { from: 5, to: 9999 })).rejects.toMatchObject({ code: "no_such_entry" });
  });
});

describe("verifyProof and verify-proof", () => {
  it("agree on proofs that were altered anywhere, and take none of them", { timeout: 3_600_000 }, async () => {
    const { proofs, trusted } = made;
    const random = fc.sample(fc.record({ proof: fc.constantFrom(...proofs), pick: fc.nat(), change: fc.nat() }), {
      numRuns: scaled(20_000),
      seed: testSeed(),
    });
    const forged = random.map(({ proof, pick, change }) => alter(copy(proof), pick, change));
    const apart: Answer[] = [];
    for (let from = 0; from < forged.length; from += 1000) {
      apart.push(...(await verifyApart(forged.slice(from, from + 1000).map(asText), trusted)));
    }
    const reasons = new Map<string, number>();
    for (const [i, proof] of forged.entries()) {
      const verdict = verifyProof(proof, trusted);
      if (verdict.valid) throw new Error(`An altered proof is taken: ${JSON.stringify(proof)}`);
      expect({ proof, ...apart[i] }).toMatchObject({ valid: false, reason: verdict.reason });
      if (!isSchemaValid(proof)) expect(verdict.reason).toBe("bad_form");
      reasons.set(verdict.reason, (reasons.get(verdict.reason) ?? 0) + 1);
    }
    console.log(`${forged.length} altered proofs rejected: ${JSON.stringify(Object.fromEntries(reasons))}`);
  });

  it("agree on the published vectors", async () => {
    const keys = golden.keys.map(parseVerifierKey);
    const apart = await verifyApart(
      golden.cases.map(({ proof }) => asText(proof)),
      keys,
    );
    for (const [i, { proof, verdict }] of golden.cases.entries()) {
      expect(verifyProof(proof, keys)).toMatchObject(verdict);
      expect(apart[i]).toMatchObject(verdict);
    }
  });

  const withBody = (body: string) => (proof: Proof) =>
    asText({ ...proof, openings: [{ ...proof.openings[0], body: "BODY" }] }).replace('"BODY"', body);

  it.each([
    ["another log's key", asText, [makeKey("other").verifier], "unknown_key"],
    ["a body that nests too deeply", withBody("[".repeat(1e5) + "]".repeat(1e5)), undefined, "bad_form"],
    ["a number that is none", withBody("1e999"), undefined, "bad_form"],
    ["a lone surrogate", withBody('"\\ud800"'), undefined, "bad_form"],
    ["a lone surrogate as a name", withBody('{"\\ud800":1}'), undefined, "bad_form"],
    ["another body", withBody('{"__proto__":{"toJSON":1}}'), undefined, "bad_opening"],
    ["nothing", () => "null", undefined, "bad_form"],
    ["a list", () => "[]", undefined, "bad_form"],
    ["an additional member", (proof: Proof) => asText({ ...proof, note: "" }), undefined, "bad_form"],
  ])("refuse %s", async (_, change, given, reason) => {
    const { proofs, trusted } = made;
    const keys = given ?? trusted;
    const text = change(proofs[1]!);
    expect(verifyProof(JSON.parse(text), keys)).toEqual({ valid: false, reason });
    expect(await verifyApart([text], keys)).toMatchObject([{ valid: false, reason }]);
  });

  it("trust no key without being given one", async () => {
    const { proofs } = made;
    expect(verifyProof(proofs[1], [])).toEqual({ valid: false, reason: "unknown_key" });
  });
});

describe("the program verify-proof", () => {
  it("says what it found, to people and programs, and exits with it", async () => {
    const { proofs, trusted } = made;
    const key = ["--key", trusted[0]!.text];
    await writeFile(join(folder, "good.json"), JSON.stringify(proofs[7]));
    await writeFile(join(folder, "erased.json"), JSON.stringify(proofs[41]));
    await writeFile(join(folder, "bad.json"), JSON.stringify({ ...proofs[7], path: proofs[8]!.path }));
    await writeFile(join(folder, "text.json"), "no JSON");
    const good = await runVerifier("good.json", ...key);
    expect(good).toMatchObject({ status: 0, stderr: "" });
    expect(good.stdout).toMatch(
      /^good\.json: VALID: entry 7 \(prp\.input, .*\) is in the log, with its content\.\nSigned by/,
    );
    expect((await runVerifier("erased.json", ...key)).stdout).toContain("1 of 2 contents erased");
    const bad = await runVerifier("bad.json", ...key);
    expect(bad).toMatchObject({
      status: 1,
      stdout: "bad.json: NOT VALID: the entry is not in the signed log (bad_path)\n",
    });
    expect((await runVerifier("good.json", "bad.json", ...key)).status).toBe(1);
    expect((await runVerifier("text.json", "bad.json", ...key)).status).toBe(2);
    const gone = await runVerifier("gone.json", ...key, "--json");
    expect(gone.status).toBe(2);
    expect(JSON.parse(gone.stdout)).toMatchObject({ file: "gone.json", error: expect.stringContaining("ENOENT") });
  });

  it.each([
    ["no file", ["--key", makeKey("x").verifier.text]],
    ["no key", ["good.json"]],
    ["a wrong key", ["good.json", "--key", "satchel/x+00000000+AAAA"]],
    ["a secret key", ["good.json", "--key", makeKey("x").secretText()]],
    ["an unknown option", ["good.json", "--keys", "x"]],
  ])("can't check with %s", async (_, given) => {
    const { status, stdout, stderr } = await runVerifier(...given);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toContain("verify-proof: ");
    expect(stderr).not.toContain(makeKey("x").secretText());
  });

  it("explains itself", async () => {
    const { status, stdout } = await runVerifier("--help");
    expect(status).toBe(0);
    expect(stdout).toContain("verify-proof proof.json --key");
  });
});

/** Changes one thing: a character, a number, an item, a member. Never to the same value. */
function alter(proof: Proof, pick: number, change: number): unknown {
  const places: { at: Record<string, unknown>; name: string }[] = [];
  const visit = (value: unknown) => {
    if (typeof value !== "object" || value === null) return;
    for (const name of Object.keys(value)) {
      places.push({ at: value as Record<string, unknown>, name });
      visit((value as Record<string, unknown>)[name]);
    }
  };
  visit(proof);
  const { at: parent, name } = places[pick % places.length]!;
  const old = parent[name];
  if (change % 4 === 0) {
    parent[name] = [null, 0, "", [], {}, "x", 1e21][(change >> 2) % 7];
    // An opening that is null says nothing, so it is not wrong: it is what an erased body looks like.
    const isSame =
      JSON.stringify(parent[name]) === JSON.stringify(old) ||
      (parent[name] === null && Array.isArray(proof.openings) && proof.openings.includes(null));
    if (isSame) parent[name] = true;
  } else if (change % 4 === 1) {
    if (Array.isArray(parent)) parent.splice(Number(name), 1);
    else delete parent[name];
  } else if (typeof old === "string" && old.length > 0) {
    const index = (change >> 2) % old.length;
    parent[name] =
      old.slice(0, index) + String.fromCharCode(old.charCodeAt(index) ^ (1 << (change % 5))) + old.slice(index + 1);
  } else if (typeof old === "number") {
    parent[name] = old + 1 + (change % 3);
  } else if (typeof old === "boolean") {
    parent[name] = !old;
  } else {
    parent[name] = Array.isArray(old)
      ? [...old, ...(old.length > 0 ? [old[0]] : [1])]
      : { ...(old as object), more: 1 };
  }
  return proof;
}
