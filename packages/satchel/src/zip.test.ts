import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeZip } from "../../../test/made-zip.js";
import { readGzip } from "./gzip-file.js";
import { UsageError } from "./usage-error.js";
import { isZip, readZip, zipLimits } from "./zip.js";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "satchel-zip-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function save(bytes: Uint8Array): string {
  const file = join(folder, "export.zip");
  writeFileSync(file, bytes);
  return file;
}

const limited = (limits: Partial<typeof zipLimits>) => ({ ...zipLimits, ...limits });
const three = [
  { name: "b.md", text: "12345" },
  { name: "a/c.json", text: "[1,2]" },
  { name: "d.txt", text: "not read, so it does not count" },
];

describe("a zip", () => {
  it("is told from its first bytes", async () => {
    expect(isZip(await makeZip(three))).toBe(true);
    expect(isZip(await makeZip([]))).toBe(true);
    expect(isZip(Buffer.from("PK, a note"))).toBe(false);
  });

  it("gives the members that a folder's import would read, by name", async () => {
    const { files, refused } = await readZip(save(await makeZip(three)));
    expect(files.map(({ name, bytes }) => [name, bytes.toString()])).toEqual([
      ["a/c.json", "[1,2]"],
      ["b.md", "12345"],
    ]);
    expect(refused).toEqual([]);
  });

  it("has limits that are those of the documentation", () => {
    expect(zipLimits).toEqual({ totalBytes: 2 * 1024 ** 3, memberBytes: 1024 ** 3, members: 1_000_000 });
  });

  it.each([
    ["files in it", { members: 2 }, { members: 3 }, /more than 2 files/],
    ["bytes of one file", { memberBytes: 4 }, { memberBytes: 5 }, /"a\/c\.json" in .+ more than 4 bytes/],
    ["bytes of all files", { totalBytes: 9 }, { totalBytes: 10 }, /unpacks to more than 9 bytes/],
  ])("is refused with more %s than the limit, and taken at it", async (_what, below, at, message) => {
    const file = save(await makeZip(three));
    await expect(readZip(file, limited(below))).rejects.toThrow(message);
    await expect(readZip(file, limited(below))).rejects.toThrow(UsageError);
    expect((await readZip(file, limited(at))).files).toHaveLength(2);
  });

  it("is refused when a member unpacks to more or less than it states", async () => {
    for (const stated of [4, 6]) {
      const bytes = Buffer.from(await makeZip([{ name: "a.md", text: "12345", options: { dataDescriptor: false } }]));
      const central = bytes.lastIndexOf(Buffer.from("PK\u0001\u0002"));
      bytes.writeUInt32LE(stated, central + 24);
      bytes.writeUInt32LE(stated, 22);
      await expect(readZip(save(bytes)), String(stated)).rejects.toThrow(/damaged zip/);
    }
  });

  it("is refused where a member is encrypted, which is named", async () => {
    const file = save(await makeZip([{ name: "a.md", text: "secret", options: { password: "pass" } }]));
    await expect(readZip(file)).rejects.toThrow(/"a\.md" is encrypted/);
  });

  it("is refused with one line when it is damaged anywhere", async () => {
    const whole = Buffer.from(await makeZip(three));
    for (const length of [30, whole.length >> 1, whole.length - 5])
      await expect(readZip(save(whole.subarray(0, length))), String(length)).rejects.toThrow(
        /^.+ is a damaged zip \(.+\)/,
      );
    const changed = Buffer.from(await makeZip([{ name: "a.md", text: "12345", options: { level: 0 } }]));
    changed[changed.indexOf("12345")]! ^= 1;
    await expect(readZip(save(changed))).rejects.toThrow(/damaged zip/);
  });

  it("does not hold two files of one name", async () => {
    const bytes = Buffer.from(
      await makeZip([
        { name: "a.md", text: "1" },
        { name: "b.md", text: "2" },
      ]),
    );
    for (let at = bytes.indexOf("b.md"); at !== -1; at = bytes.indexOf("b.md", at)) bytes.write("a.md", at);
    const { files, refused } = await readZip(save(bytes));
    expect(files).toHaveLength(1);
    expect(refused).toMatchObject([{ file: "a.md", reason: expect.stringMatching(/two files of this name/) }]);
  });
});

describe("a file packed with gzip", () => {
  it("is refused when it unpacks to more than the limit, and when it is damaged", async () => {
    const { gzipSync } = await import("node:zlib");
    const file = join(folder, "memories.jsonl.gz");
    const packed = gzipSync("12345");
    writeFileSync(file, packed);
    expect(await readGzip(file, 5)).toEqual({ name: "memories.jsonl", bytes: Buffer.from("12345") });
    await expect(readGzip(file, 4)).rejects.toThrow(/more than 4 bytes/);
    writeFileSync(file, packed.subarray(0, 12));
    await expect(readGzip(file)).rejects.toThrow(/is damaged/);
  });
});
