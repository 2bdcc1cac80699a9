import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { ArchiveError } from "./archive-error.js";
import { gunzip, gzip, hasPlainHead, InflateFault, isGzip } from "./gzip.js";
import { pack } from "./sample-archive.contract.js";

/** What comes out, and the error that ended it. */
async function unpack(bytes: Uint8Array, fineFrom?: number): Promise<{ out: Buffer; error?: ArchiveError }> {
  const out: Buffer[] = [];
  try {
    for await (const chunk of gunzip(Readable.from([bytes]), fineFrom)) out.push(chunk);
  } catch (error) {
    return { out: Buffer.concat(out), error: error as ArchiveError };
  }
  return { out: Buffer.concat(out) };
}

const text = Buffer.from(Array.from({ length: 40_000 }, (_, index) => `${index * 7919}\n`).join(""));

describe("gzip and gunzip", () => {
  it.each([
    ["nothing", Buffer.alloc(0)],
    ["text", text],
    ["noise", randomBytes(300_000)],
    ["zeros", Buffer.alloc(5_000_000)],
  ])("bring %s back, as zlib does", async (_name, bytes) => {
    const packed = await pack(bytes);
    expect(hasPlainHead(packed)).toBe(true);
    expect(gunzipSync(packed).equals(bytes)).toBe(true);
    const { out, error } = await unpack(packed);
    expect([out.equals(bytes), error]).toEqual([true, undefined]);
  });

  it("write the head that `gzip -n` writes", () => {
    expect(hasPlainHead(execFileSync("gzip", ["-nc"], { input: text }))).toBe(true);
    const named = Buffer.from(gzipSync(text));
    named.writeUInt32LE(1, 4);
    expect([isGzip(named), hasPlainHead(named)]).toEqual([true, false]);
    expect(isGzip(Buffer.from("PK"))).toBe(false);
  });

  it("pass on what fails the source, and close it", async () => {
    let isClosed = false;
    const source = async function* () {
      try {
        yield Buffer.alloc(10);
        throw new RangeError("the source");
      } finally {
        isClosed = true;
      }
    };
    const read = async () => {
      for await (const _chunk of gzip(source()));
    };
    await expect(read()).rejects.toThrow("the source");
    expect(isClosed).toBe(true);
  });
});

describe("gunzip of damaged bytes", () => {
  it("yields everything that comes before a place where the bytes end", async () => {
    const packed = await pack(text);
    const { out, error } = await unpack(packed.subarray(0, packed.length / 2));
    expect(error).toMatchObject({ code: "damaged" });
    expect(out.length).toBeGreaterThan(text.length / 3);
    expect(text.subarray(0, out.length).equals(out)).toBe(true);
  });

  it("taken one by one, yields what a damaged place would hide", async () => {
    const [sound, broken] = [await pack(text), await pack(text)];
    const at = Math.floor(broken.length / 2);
    broken.fill(0xff, at, at + 40);
    const first = await unpack(broken);
    expect(first.error).toBeInstanceOf(InflateFault);
    const { soundBytes } = first.error as InflateFault;
    expect(soundBytes).toBeLessThanOrEqual(at + 40);
    const fine = await unpack(broken, soundBytes);
    const before = await unpack(sound.subarray(0, at - 8));
    expect(fine.out.length).toBeGreaterThanOrEqual(before.out.length);
    expect(fine.out.subarray(0, before.out.length).equals(before.out)).toBe(true);
  });

  it.each([
    ["zeros", (packed: Buffer) => Buffer.concat([packed, Buffer.alloc(3)])],
    ["words", (packed: Buffer) => Buffer.concat([packed, Buffer.from("more")])],
    ["much", (packed: Buffer) => Buffer.concat([packed, Buffer.alloc(100_000)])],
  ])("refuses %s after the end", async (_name, change) => {
    const { out, error } = await unpack(change(await pack(text)), 0);
    expect(out.equals(text)).toBe(true);
    expect(error).toMatchObject({ code: "damaged" });
  });

  it("refuses a wrong checksum and a wrong length", async () => {
    for (const fromEnd of [8, 4]) {
      const packed = await pack(text);
      packed[packed.length - fromEnd] = (packed.at(-fromEnd) ?? 0) ^ 1;
      expect((await unpack(packed)).error).toMatchObject({ code: "damaged" });
    }
  });
});
