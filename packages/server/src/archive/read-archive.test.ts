import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { gunzipSync, gzipSync } from "node:zlib";
import { armor, generateHybridIdentity, generateX25519Identity, identityToRecipient } from "age-encryption";
import { describe, expect, it } from "vitest";
import { type ArchiveLimits, archiveLimits } from "./archive-limits.js";
import { parseIdentities, passphraseIdentity } from "./identity.js";
import { readArchive } from "./read-archive.js";
import { parseRecipient, passphraseRecipient, type Recipient } from "./recipient.js";
import {
  buildFiles,
  buildManifest,
  buildTar,
  listing,
  newPath,
  pack,
  problemsOf,
  type RawEntry,
  sampleFacts,
  sampleFiles,
  store,
  storePacked,
  temporaryFolder,
  toRaw,
} from "./sample-archive.contract.js";
import { writeArchive } from "./write-archive.js";

async function writeSample(recipients: Recipient[] = []): Promise<string> {
  const target = newPath();
  await writeArchive(target, { manifest: () => sampleFacts, files: listing(sampleFiles), recipients });
  return target;
}

const paths = sampleFiles.map(({ path }) => path);

describe("readArchive knows the form by the bytes", () => {
  it("gzip, a plain tar, and what tar and gzip make themselves", async () => {
    const archive = await writeSample();
    const plain = gunzipSync(readFileSync(archive));
    const folder = temporaryFolder();
    execFileSync("tar", ["xzf", archive, "-C", folder]);
    const names = ["manifest.json", ...readdirSync(folder).filter((name) => name !== "manifest.json")];
    const repacked = execFileSync("tar", ["cf", "-", "-C", folder, ...names]);
    const files = [archive, store(plain), store(repacked), store(execFileSync("gzip", ["-nc"], { input: repacked }))];
    for (const file of files) {
      const reading = await readArchive(file, { identities: [] });
      expect(reading.problems).toEqual([]);
      expect([...reading.files.keys()].sort()).toEqual([...paths].sort());
    }
  });

  it("age and its armor, with either kind of age key", async () => {
    for (const identity of [await generateX25519Identity(), await generateHybridIdentity()]) {
      const archive = await writeSample([parseRecipient(await identityToRecipient(identity))]);
      const armored = store(Buffer.from(`\r\n${armor.encode(readFileSync(archive)).replaceAll("\n", "\r\n")}\n`));
      const identities = parseIdentities(`# made for a test\n\n${identity}\n`);
      expect([await problemsOf(archive, identities), await problemsOf(armored, identities)]).toEqual([[], []]);
    }
  });

  it("a gzip file with a name and a time in its head is read, and said not to be as it was", async () => {
    const packed = Buffer.from(gzipSync(gunzipSync(readFileSync(await writeSample()))));
    packed.writeUInt32LE(1_700_000_000, 4);
    const reading = await readArchive(store(packed), { identities: [] });
    expect(reading.files.size).toBe(sampleFiles.length);
    expect(reading.problems).toEqual([{ kind: "unreadable", message: expect.stringContaining("packed anew") }]);
  });

  it.each([
    ["an empty file", Buffer.alloc(0)],
    ["text", Buffer.from("Just a note.\n")],
    ["a zip", Buffer.from("PK\u0003\u0004".padEnd(600, "x"))],
    ["zeros", Buffer.alloc(10_240)],
    ["compressed text", gzipSync("Just a note.\n")],
    ["a compressed archive, compressed again", gzipSync(gzipSync(Buffer.alloc(2000)))],
  ])("refuses %s", async (_name, bytes) => {
    await expect(readArchive(store(bytes), { identities: [] })).rejects.toMatchObject({ code: "not_an_archive" });
  });

  it("refuses a tar without a manifest, and passes on that there is no file", async () => {
    const tar = await buildTar(toRaw(sampleFiles));
    await expect(readArchive(store(tar), { identities: [] })).rejects.toMatchObject({ code: "not_an_archive" });
    await expect(readArchive(newPath(), { identities: [] })).rejects.toMatchObject({ code: "ENOENT" });
  });
});

describe("a locked archive", () => {
  const expectLocked = async (file: string, identities: Parameters<typeof problemsOf>[1], message: RegExp) => {
    const reading = readArchive(file, { identities: identities ?? [] });
    await expect(reading).rejects.toMatchObject({ code: "locked_archive", message: expect.stringMatching(message) });
  };

  it("says what opens it", async () => {
    const [mine, other] = [await generateX25519Identity(), await generateX25519Identity()];
    const archive = await writeSample([parseRecipient(await identityToRecipient(mine))]);
    await expectLocked(archive, [], /It takes the age identity \(AGE-SECRET-KEY-1…\)/);
    await expectLocked(archive, parseIdentities(other), /None that was given fits: it takes the age identity/);
    await expectLocked(archive, [passphraseIdentity("guess")], /None that was given fits: it takes the age identity/);
  });

  it("with a passphrase says whether one was given", async () => {
    const archive = await writeSample([passphraseRecipient("tea at four")]);
    await expectLocked(archive, [], /It takes its passphrase/);
    await expectLocked(archive, [passphraseIdentity("coffee at four")], /the passphrase does not open it/);
    expect(await problemsOf(archive, [passphraseIdentity("tea at four")])).toEqual([]);
  });
});

const [first, second] = sampleFiles as [(typeof sampleFiles)[0], (typeof sampleFiles)[0]];
const raw = toRaw(sampleFiles);
const without = (path: string) => raw.filter(({ name }) => name !== path);

describe("readArchive finds in a whole tar", () => {
  const cases: [string, RawEntry[], string[]][] = [
    ["nothing wrong", raw, []],
    ["folders, which are no files", [{ name: "audit/", type: "directory" }, ...raw], []],
    ["an archive's own folder", [{ name: "./", type: "directory" }, ...raw], []],
    ["a changed file", raw.with(0, { name: first.path, text: "other" }), [`changed ${first.path}`]],
    ["a missing file", without(first.path), [`missing ${first.path}`]],
    ["an unlisted file", [...raw, { name: "memory/more.md", text: "x" }], ["extra memory/more.md"]],
    ["a renamed file", raw.with(0, { ...raw[0], name: "renamed" }), [`missing ${first.path}`, "extra renamed"]],
    ["a file that is there twice", [...raw, { name: first.path, text: "other" }], [`twice ${first.path}`]],
    ["a second manifest", [...raw, { name: "manifest.json", text: "{}" }], ["twice manifest.json"]],
    ["an absolute name", [...raw, { name: "/etc/cron.d/x", text: "x" }], ["unreadable /etc/cron.d/x"]],
    ["a name that leads out", [...raw, { name: "memory/../../x", text: "x" }], ["unreadable memory/../../x"]],
    ["a folder that leads out", [...raw, { name: "../x/", type: "directory" }], ["unreadable ../x/"]],
    ["a backslash", [...raw, { name: "memory\\x", text: "x" }], ["unreadable memory\\x"]],
    ["a NUL", [...raw, { name: "y", pax: { path: "x\0y" }, text: "x" }], ["unreadable x\0y"]],
    ["another spelling", [...raw, { name: `./${first.path}`, text: "x" }], [`unreadable ./${first.path}`]],
    ["a symbolic link", [...raw, { name: "l", type: "symlink", linkname: "/etc/passwd" }], ["unreadable l"]],
    ["a hard link", [...raw, { name: "l", type: "link", linkname: first.path }], ["unreadable l"]],
    ["a device", [...raw, { name: "d", type: "character-device", devmajor: 1 }], ["unreadable d"]],
    ["a block device", [...raw, { name: "d", type: "block-device" }], ["unreadable d"]],
    ["a pipe", [...raw, { name: "p", type: "fifo" }], ["unreadable p"]],
    [
      "a link in a file's place",
      [...without(first.path), { name: first.path, type: "symlink", linkname: second.path }],
      [`unreadable ${first.path}`],
    ],
  ];

  it.each(cases)("%s", async (_name, entries, problems) => {
    expect(await problemsOf(await storePacked(sampleFiles, entries))).toEqual(problems);
  });

  it("a manifest anywhere", async () => {
    const tar = await buildTar([...raw, { name: "manifest.json", text: buildManifest(sampleFiles) }]);
    expect(await problemsOf(store(tar))).toEqual([]);
  });

  it.each([
    ["no JSON", "{", ["manifest manifest.json"]],
    ["no text", Buffer.from([0xff, 0xfe]), ["manifest manifest.json"]],
    ["no object", "[]", ["manifest manifest.json"]],
    ["another version", buildManifest(sampleFiles, { pcp_version: "0.2" }), ["manifest manifest.json"]],
    [
      "a wrong and a lacking member",
      buildManifest(sampleFiles, { page_count: -1, omitted: undefined }),
      ["manifest manifest.json", "manifest manifest.json"],
    ],
    ["deep nesting", `${"[".repeat(100_000)}${"]".repeat(100_000)}`, ["manifest manifest.json"]],
    ["a file listed twice", buildManifest([...sampleFiles, first]), [`manifest ${first.path}`]],
    [
      "itself in its list",
      buildManifest([...sampleFiles, ...buildFiles({ "manifest.json": "" })]),
      ["manifest manifest.json", "missing manifest.json"],
    ],
    [
      "a listed name that leads out",
      buildManifest([...sampleFiles, ...buildFiles({ "../x": "" })]),
      ["manifest ../x", "missing ../x"],
    ],
  ])("a manifest with %s", async (_name, text, problems) => {
    const file = store(await buildTar([{ name: "manifest.json", text }, ...raw]));
    const reading = await readArchive(file, { identities: [] });
    expect(await problemsOf(file)).toEqual(problems);
    expect(reading.manifestBytes).toEqual(Buffer.from(text));
    expect(reading.files.size).toBe(sampleFiles.length);
  });

  it("puts nothing on the disk", async () => {
    const folder = temporaryFolder();
    const entries = [
      ...raw,
      { name: `${folder}/out`, text: "x" },
      { name: "l", type: "symlink" as const, linkname: folder },
    ];
    await problemsOf(await storePacked(sampleFiles, [...entries, { name: "l/out", text: "x" }]));
    expect([existsSync("memory"), readdirSync(folder)]).toEqual([false, []]);
  });
});

describe("the limits of an archive", () => {
  it("are these", () => {
    expect(archiveLimits).toEqual({
      totalBytes: 2_147_483_648,
      fileBytes: 67_108_864,
      files: 1_000_000,
      nameBytes: 4096,
      manifestBytes: 67_108_864,
      headBytes: 1_048_576,
      armoredBytes: 268_435_456,
    });
  });

  const big = buildFiles({ big: Buffer.alloc(100_000, "x") });
  const long = buildFiles({ [`memory/${"d/".repeat(2100)}x`]: "" });
  const manifestBytes = Buffer.byteLength(buildManifest(sampleFiles));
  const cases: [string, Partial<ArchiveLimits>, Partial<ArchiveLimits>, typeof sampleFiles][] = [
    ["all bytes", { totalBytes: 100_000 }, { totalBytes: 200_000 }, big],
    ["a file", { fileBytes: 99_999 }, { fileBytes: 100_000 }, big],
    ["files", { files: sampleFiles.length }, { files: sampleFiles.length + 1 }, sampleFiles],
    ["a name", {}, { nameBytes: 4300 }, long],
    ["the manifest", { manifestBytes: manifestBytes - 1 }, { manifestBytes }, sampleFiles],
  ];

  it.each(cases)("hold for %s", async (_name, over, enough, files) => {
    const file = await storePacked(files, toRaw(files));
    await expect(readArchive(file, { identities: [], limits: over })).rejects.toMatchObject({ code: "over_limit" });
    expect((await readArchive(file, { identities: [], limits: enough })).problems).toEqual([]);
  });

  it("hold for armor, and for the head of an encrypted file", async () => {
    const identity = await generateX25519Identity();
    const archive = await writeSample([parseRecipient(await identityToRecipient(identity))]);
    const armored = store(Buffer.from(armor.encode(readFileSync(archive))));
    const identities = parseIdentities(identity);
    await expect(readArchive(armored, { identities, limits: { armoredBytes: 500 } })).rejects.toMatchObject({
      code: "over_limit",
    });
    const endless = store(Buffer.from(`age-encryption.org/v1\n-> X25519 ${"a".repeat(2_000_000)}`));
    expect(await problemsOf(endless, identities)).toEqual(["manifest manifest.json", "unreadable manifest.json"]);
  });

  it("end a bomb where it starts to be one", async () => {
    const zeros = await pack(Buffer.alloc(50_000_000));
    const header = (await buildTar([{ name: "memory/bomb.md", text: "x" }])).subarray(0, 512);
    header.write("00777777777 ", 124);
    header.write("        ", 148);
    header.write(
      `${[...header]
        .reduce((sum, byte) => sum + byte, 0)
        .toString(8)
        .padStart(6, "0")}\0 `,
      148,
    );
    expect(zeros.length).toBeLessThan(60_000);
    const bomb = store(await pack(Buffer.concat([header, Buffer.alloc(10_000_000)])));
    await expect(readArchive(bomb, { identities: [] })).rejects.toMatchObject({
      code: "over_limit",
      message: expect.stringContaining('67108864 bytes in "memory/bomb.md"'),
    });
    const tail = store(await pack(Buffer.concat([await buildTar(raw), Buffer.alloc(50_000_000)])));
    await expect(readArchive(tail, { identities: [], limits: { totalBytes: 2 ** 20 } })).rejects.toMatchObject({
      code: "over_limit",
    });
  });
});
