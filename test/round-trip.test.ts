import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type ArchiveReading,
  exportOperation,
  extensionAddOperation,
  importOperation,
  readArchive,
} from "@satchel/server";
import { afterAll, describe, expect, it } from "vitest";
import { Choices } from "./choices.js";
import { generatePages } from "./corpus.js";
import { onEnd, run, runOk, temporaryFolder } from "./harness.js";
import { scaled, testSeed } from "./scale.js";
import { type Call, World } from "./world.js";
import { owner, play, randomHistory } from "./world-history.js";

/*
 * A context goes into an archive, out of it into a fresh context, and into an archive again: the two are the same but for
 * the manifest's time and the audit (pcp section 9).
 */

const folder = mkdtempSync(join(tmpdir(), "satchel-round-trip-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** After everything that can happen in a history. */
const exportAt = 100;

/** Writes as a client or a person would send them that generators of page views don't make. */
function oddWrites(chance: Choices): Call[] {
  const texts = [
    "\uFEFF---\r\ntitle: CRLF\r\nodd: [1, 'two', {three: 3}]\r\n---\r\nfirst\r\nsecond\r",
    "---\n{title: flow, other: {a: [1, 2]}}\n---\nbody\n",
    "---\n# only a comment\n---\n",
    "---\n---\n---\nnot: a block\n---\n",
    "---\nid: mine\nupdated: yesterday\ngenerated: [x]\ntitle: server keys\n---\n",
    "---\ntitle: &t anchored\nagain: *t\nid: &i x\nmore: *i\n---\nno end",
    "---\ntitle: 2024-01-02\ntags: [1.0, true]\nvalid_from: 2024-01-02\nnull_key: ~\nlong: >-\n  folded\n  text\n---\n\n\n",
    "no block\n\n---\na rule\n",
    "",
  ];
  const written = texts.map(
    (body, at): Call => ({ caller: owner, tool: "memory_write", args: { path: `odd/${at}`, body } }),
  );
  const pages = generatePages(chance.integer(0, 2 ** 30), 14);
  const scripts = pages.map(({ path, body, frontmatter = {} }, at): Call => {
    const keys = {
      ...frontmatter,
      "x-unknown": { deep: [1, null, "é"] },
      ...(at % 3 === 0 && { sensitivity: "sensitive" }),
    };
    return { caller: owner, tool: "memory_write", args: { path, body, frontmatter: keys } };
  });
  const profiles: Call[] = [
    { caller: owner, tool: "profile_update", args: { patch: { timezone: "Europe/Oslo", name: "Someone" } } },
    { caller: owner, tool: "profile_update", args: { namespace: "pcp.health", patch: { allergies: ["pollen"] } } },
    {
      caller: owner,
      operation: extensionAddOperation,
      args: { namespace: "org.example.diet", schema: { type: "object" } },
    },
    { caller: owner, tool: "profile_update", args: { namespace: "org.example.diet", patch: { likes: ["tea"] } } },
  ];
  return [...written, ...scripts, ...profiles];
}

async function exported(world: World, at: number): Promise<ArchiveReading> {
  const out = join(folder, `${Math.random()}.tar.gz`);
  const answer = await world.call(at, at, { caller: owner, operation: exportOperation({ out }), args: {} });
  expect(answer).not.toHaveProperty("error");
  const reading = await readArchive(out, { identities: [] });
  rmSync(out);
  expect(reading.problems).toEqual([]);
  return reading;
}

/** What has to come back: every file but the audit, as text, and the manifest without its time and what speaks of the audit. */
function comparable({ manifest, files }: ArchiveReading): { manifest: unknown; files: [string, string][] } {
  const { created: _, files: listed, ...facts } = manifest!;
  const isContent = (path: string) => !path.startsWith("audit/");
  return {
    manifest: { ...facts, files: listed.filter(({ path }) => isContent(path)) },
    files: [...files].filter(([path]) => isContent(path)).map(([path, bytes]) => [path, bytes.toString()]),
  };
}

async function importInto(world: World, archive: ArchiveReading, at: number): Promise<Record<string, unknown>> {
  const operation = importOperation(archive, { dryRun: false, skipRefused: false });
  const { output, ...refused } = await world.call(at, at, { caller: owner, operation, args: {} });
  expect(refused).toEqual({});
  return output as Record<string, unknown>;
}

describe("export, import into a fresh context, export", () => {
  it("gives the same archive, whatever the history", { timeout: 3_600_000 }, async () => {
    const choices = new Choices(testSeed());
    for (let count = 0; count < scaled(200); count++) {
      const seed = choices.integer(0, 2 ** 31);
      const chance = new Choices(seed);
      const [from, to] = [new World(), new World()];
      try {
        await play(from, randomHistory(chance));
        let number = 500;
        for (const call of oddWrites(chance)) expect(await from.call(++number, 90, call)).not.toHaveProperty("error");
        const first = await exported(from, exportAt);
        const imported = await importInto(to, first, exportAt);
        expect(imported, `world ${seed}`).toMatchObject({ applied: true, changed: [], same: 0, refused: [] });
        expect((imported.notes as string[]).filter((note) => !note.includes("access list"))).toEqual([]);
        const second = await exported(to, exportAt + 1);
        expect(comparable(second), `world ${seed}`).toEqual(comparable(first));
        const again = await importInto(to, first, exportAt + 2);
        expect(again, `world ${seed}`).toMatchObject({
          applied: true,
          added: [],
          changed: [],
          proposed: [],
          profiles: [],
          refused: [],
        });
        expect([...from.faults, ...to.faults]).toEqual([]);
      } finally {
        await from.close();
        await to.close();
      }
    }
  });

  it("by the command, over 2,000 pages, encrypted to a key of age", { timeout: 600_000 }, async () => {
    const [data, fresh, notes] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
    onEnd(() => rmSync(notes, { recursive: true, force: true }));
    const key = join(folder, "key.txt");
    execFileSync("age-keygen", ["-o", key], { stdio: "ignore" });
    const recipient = execFileSync("age-keygen", ["-y", key], { encoding: "utf8" }).trim();
    for (const each of [data, fresh]) await runOk(["init", "--data", each]);
    const { writeFileSync, mkdirSync } = await import("node:fs");
    mkdirSync(join(notes, "generated"));
    for (const { path, body, title } of generatePages(testSeed(), scaled(2000)))
      writeFileSync(join(notes, `${path}.md`), `---\ntitle: ${JSON.stringify(title)}\n---\n${body}`);
    await runOk(["import", "--data", data, notes]);
    const [first, second] = [join(notes, "a.age"), join(notes, "b.age")];
    await runOk(["export", "--data", data, "--out", first, "--encrypt-to", recipient]);
    expect((await run(["verify", first])).code).toBe(2);
    await runOk(["verify", first, "--identity", key]);
    await runOk(["import", "--data", fresh, first, "--identity", key]);
    await runOk(["export", "--data", fresh, "--out", second, "--encrypt-to", recipient]);
    const plain = (archive: string) => {
      const out = join(notes, "plain.tar.gz");
      execFileSync("age", ["-d", "-i", key, "-o", out, archive]);
      return readArchive(out, { identities: [] });
    };
    expect(comparable(await plain(second))).toEqual(comparable(await plain(first)));
  });
});
