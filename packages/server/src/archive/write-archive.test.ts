import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { validateManifest } from "@satchel/pcp";
import { describe, expect, it } from "vitest";
import { archiveLimits } from "./archive-limits.js";
import { readArchive } from "./read-archive.js";
import { parseRecipient, passphraseRecipient } from "./recipient.js";
import { buildFiles, listing, newPath, sampleFacts, sampleFiles } from "./sample-archive.contract.js";
import type { ArchiveFile } from "./tar.js";
import { type ArchiveSpec, writeArchive } from "./write-archive.js";

const recipient = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p";
const spec = (more: Partial<ArchiveSpec> = {}): ArchiveSpec => ({
  manifest: () => sampleFacts,
  files: listing(sampleFiles),
  recipients: [],
  ...more,
});

describe("writeArchive", () => {
  it("writes a file of its own, whole, that only its owner may read", async () => {
    const target = newPath();
    const written = await writeArchive(target, spec());
    const bytes = readFileSync(target);
    expect(written).toEqual({ sha256: createHash("sha256").update(bytes).digest("hex"), bytes: bytes.length });
    expect(statSync(target).mode & 0o777).toBe(0o600);
    const { problems, files, manifest } = await readArchive(target, { identities: [] });
    expect(problems).toEqual([]);
    expect([...files]).toEqual(sampleFiles.map(({ path, bytes: content }) => [path, content]));
    expect(manifest).toMatchObject(sampleFacts);
  });

  it("makes the same bytes of the same files, and tar lists them with their times", async () => {
    const [first, second] = [newPath(), newPath()];
    expect(await writeArchive(first, spec())).toEqual(await writeArchive(second, spec()));
    const lines = execFileSync("tar", ["tvzf", first, "--full-time", "--utc"], { encoding: "utf8" }).trim().split("\n");
    expect(lines).toHaveLength(sampleFiles.length + 1);
    for (const line of lines) expect(line).toMatch(/^-rw------- 0\/0 /);
    expect(lines[0]).toMatch(/ 2026-01-31 12:00:00 manifest\.json$/);
    expect(lines[1]).toMatch(/ 2026-01-01 00:00:00 audit\/log\.jsonl$/);
  });

  it("lists the files by name in a manifest that passes its schema, whatever order they come in", async () => {
    const target = newPath();
    await writeArchive(target, spec({ files: listing([...sampleFiles].reverse()) }));
    const { manifest, files, problems } = await readArchive(target, { identities: [] });
    const names = manifest?.files.map(({ path }) => path) ?? [];
    expect(names).toEqual([...names].sort((a, b) => (a < b ? -1 : 1)));
    expect([...files.keys()]).toEqual(sampleFiles.map(({ path }) => path).reverse());
    expect([validateManifest(manifest), problems]).toEqual([[], []]);
  });

  it.each([
    ["no file at all", []],
    ["a name of 4,096 bytes", buildFiles({ [`${"d/".repeat(2047)}ab`]: "x" })],
    ["letters of every script", buildFiles({ "memory/Ünïcode–日本 'é' & more.md": "x", "memory/😀.md": "y" })],
    [
      "times far from now",
      buildFiles({ a: "1", b: "2" }).map((file, at) => ({ ...file, mtimeMs: [-1, 4e12][at] ?? 0 })),
    ],
    ["a file of 64 MiB", buildFiles({ big: Buffer.alloc(archiveLimits.fileBytes) })],
  ])("brings back %s", async (_name, files: ArchiveFile[]) => {
    const target = newPath();
    await writeArchive(target, spec({ files: listing(files) }));
    const reading = await readArchive(target, { identities: [] });
    expect(reading.problems).toEqual([]);
    expect([...reading.files.keys()]).toEqual(files.map(({ path }) => path));
    expect(execFileSync("tar", ["tzf", target], { encoding: "utf8" }).trim().split("\n")).toHaveLength(
      files.length + 1,
    );
  });
});

/** A source that gives other files the second time. */
function changing(second: ArchiveFile[]): () => AsyncGenerator<ArchiveFile> {
  let calls = 0;
  return async function* () {
    calls += 1;
    yield* calls === 1 ? sampleFiles : second;
  };
}

const other = { ...sampleFiles[2], bytes: Buffer.from("Coffee at four.\n") } as ArchiveFile;
const aborted = new AbortController();
aborted.abort(new Error("enough"));

describe("writeArchive that can't", () => {
  const cases: [string, string, Partial<ArchiveSpec>][] = [
    ["a file that changed", "changed", { files: changing(sampleFiles.with(2, other)) }],
    ["a file that went", "changed", { files: changing(sampleFiles.slice(0, -1)) }],
    ["a file that came", "changed", { files: changing([...sampleFiles, { ...other, path: "new" }]) }],
    ["a file that comes twice later", "changed", { files: changing([...sampleFiles, sampleFiles[0] as ArchiveFile]) }],
    ["a file given twice", "invalid_name", { files: listing([...sampleFiles, sampleFiles[0] as ArchiveFile]) }],
    ["a name that leads out", "invalid_name", { files: listing(buildFiles({ "../a": "" })) }],
    ["a second manifest", "invalid_name", { files: listing(buildFiles({ "manifest.json": "{}" })) }],
    ["a long name", "over_limit", { files: listing(buildFiles({ ["x".repeat(4097)]: "" })) }],
    ["a long file", "over_limit", { files: listing(buildFiles({ x: Buffer.alloc(archiveLimits.fileBytes + 1) })) }],
    ["wrong facts", "invalid_manifest", { manifest: () => ({ ...sampleFacts, page_count: -1 }) }],
    ["a signal", "aborted", { signal: aborted.signal }],
    ["two passphrases", "mixed_recipients", { recipients: [passphraseRecipient("a"), passphraseRecipient("b")] }],
    [
      "a passphrase and a key",
      "mixed_recipients",
      { recipients: [passphraseRecipient("a"), parseRecipient(recipient)] },
    ],
  ];

  it.each(cases)("ends with an error and no file: %s", async (_name, code, more) => {
    const target = newPath();
    await expect(writeArchive(target, spec(more))).rejects.toMatchObject({ name: "ArchiveError", code });
    expect(existsSync(target)).toBe(false);
  });

  it("leaves a file alone that is there already", async () => {
    const target = newPath();
    writeFileSync(target, "kept");
    await expect(writeArchive(target, spec())).rejects.toMatchObject({ code: "EEXIST" });
    expect(readFileSync(target, "utf8")).toBe("kept");
    await expect(writeArchive(`${target}/none`, spec())).rejects.toMatchObject({ code: "ENOTDIR" });
  });

  it.each([[[]], [[parseRecipient(recipient)]]])(
    "closes the files when it is ended midway (%#)",
    async (recipients) => {
      const controller = new AbortController();
      let [calls, closed] = [0, 0];
      const files = async function* () {
        calls += 1;
        try {
          for (let index = 0; index < 400; index += 1) {
            if (calls === 2 && index === 200) controller.abort();
            yield { path: `memory/${index}`, bytes: createHash("sha512").update(`${index}`).digest(), mtimeMs: 0 };
          }
        } finally {
          closed += 1;
        }
      };
      const target = newPath();
      const writing = writeArchive(target, spec({ files, recipients, signal: controller.signal }));
      await expect(writing).rejects.toMatchObject({ code: "aborted" });
      expect([calls, closed, existsSync(target)]).toEqual([2, 2, false]);
    },
  );

  it("passes on what fails the files", async () => {
    const target = newPath();
    let calls = 0;
    const files = async function* () {
      calls += 1;
      yield* sampleFiles;
      if (calls === 2) throw new RangeError("the store is gone");
    };
    await expect(writeArchive(target, spec({ files }))).rejects.toThrow("the store is gone");
    expect(existsSync(target)).toBe(false);
  });
});
