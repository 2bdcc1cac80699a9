import { execFileSync } from "node:child_process";
import { Readable } from "node:stream";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { scaled, testSeed } from "../../../../test/scale.js";
import { ArchiveError } from "./archive-error.js";
import { collectBytes } from "./byte-stream.js";
import { readArchive } from "./read-archive.js";
import { buildFiles, buildManifest, buildTar, sampleFiles, store, toRaw } from "./sample-archive.contract.js";
import { packTar, readTar } from "./tar.js";

let tar: Buffer;
beforeAll(async () => {
  tar = await buildTar([{ name: "manifest.json", text: buildManifest(sampleFiles) }, ...toRaw(sampleFiles)]);
});

/** Writes the checksum that a header block of these bytes has. */
function seal(header: Buffer): void {
  header.write("        ", 148);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
}

describe("readTar", () => {
  it("takes the bytes however they are cut", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 3000 }), { minLength: 1 }), async (lengths) => {
        const chunks: Buffer[] = [];
        for (let at = 0, index = 0; at < tar.length; index += 1) {
          const length = lengths[index % lengths.length] ?? 1;
          chunks.push(tar.subarray(at, at + length));
          at += length;
        }
        const taken: [string, Buffer | undefined][] = [];
        await readTar(Readable.from(chunks), async ({ header, content }) => {
          taken.push([header.name, await collectBytes(content, 2 ** 20)]);
        });
        expect(taken.slice(1)).toEqual(sampleFiles.map(({ path, bytes }) => [path, bytes]));
      }),
      { numRuns: scaled(500), seed: testSeed() },
    );
  });

  it("passes over content that nobody reads", async () => {
    const names: string[] = [];
    await readTar(Readable.from([tar]), async ({ header }) => {
      names.push(header.name);
    });
    expect(names).toEqual(["manifest.json", ...sampleFiles.map(({ path }) => path)]);
  });

  it("ends at what fails the taker, and closes the source", async () => {
    let isClosed = false;
    const source = async function* () {
      try {
        for (let at = 0; at < tar.length; at += 100) yield tar.subarray(at, at + 100);
      } finally {
        isClosed = true;
      }
    };
    const reading = readTar(source(), async () => {
      throw new ArchiveError("over_limit", "enough");
    });
    await expect(reading).rejects.toMatchObject({ code: "over_limit" });
    expect(isClosed).toBe(true);
  });
});

describe("a tar made to harm", () => {
  const header = fc.record({ block: fc.nat(), at: fc.nat(511), byte: fc.nat(255), sealed: fc.boolean() });

  it("ends in a reading or in an error of ours, whatever its headers say", { timeout: 600_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(header, { minLength: 1, maxLength: 6 }), async (changes) => {
        const bytes = Buffer.from(tar);
        for (const { block, at, byte, sealed } of changes) {
          const start = (block % (bytes.length / 512)) * 512;
          bytes[start + at] = byte;
          if (sealed) seal(bytes.subarray(start, start + 512));
        }
        const code = await readArchive(store(bytes), { identities: [] }).then(
          ({ problems }) => (Array.isArray(problems) ? "read" : undefined),
          (error) => (error instanceof ArchiveError ? error.code : error),
        );
        expect(["read", "not_an_archive", "over_limit"]).toContain(code);
      }),
      { numRuns: scaled(4000), seed: testSeed() },
    );
  });

  it.each([
    ["a size below zero", Buffer.from([0xff, ...Array(10).fill(0xff), 0])],
    ["a size beyond all", Buffer.from([0x80, 0xff, ...Array(10).fill(0xff)])],
    ["a size that some kinds may not have", Buffer.from("00000000005 ")],
    ["a size in no known form", Buffer.from([0xcb, ...Array(11).fill(0x30)])],
    ["a size that is no number", Buffer.from("zzzzzzzzzzz ")],
  ])("with %s ends", async (_name, size) => {
    for (const type of ["0", "1", "2", "3", "5", "6", "7", "9", "x", "g", "K", "L"]) {
      const bytes = Buffer.from(await buildTar(toRaw(buildFiles({ a: "x", b: "y" }))));
      bytes.write(type, 156);
      size.copy(bytes, 124);
      seal(bytes.subarray(0, 512));
      const code = await readArchive(store(bytes), { identities: [] }).then(
        () => "read",
        (error) => (error as ArchiveError).code,
      );
      expect(["read", "not_an_archive", "over_limit"]).toContain(code);
    }
  });
});

describe("packTar", () => {
  it("writes a time beyond 2038 so that tar reads it", async () => {
    const mtimeMs = Date.UTC(2100, 0, 1);
    const bytes = await collectBytes(
      packTar(Readable.from([{ path: "late", bytes: Buffer.from("x"), mtimeMs }])),
      2 ** 20,
    );
    const listed = execFileSync("tar", ["tvf", "-", "--utc"], { input: bytes, encoding: "utf8" });
    expect(listed).toMatch(/ 2100-01-01 00:00 late\n$/);
  });
});
