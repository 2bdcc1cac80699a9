import { readFileSync } from "node:fs";
import { constants, gunzipSync } from "node:zlib";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { scaled, testSeed } from "../../../../test/scale.js";
import { ArchiveError } from "./archive-error.js";
import { type Identity, parseIdentities } from "./identity.js";
import { readArchive } from "./read-archive.js";
import { parseRecipient } from "./recipient.js";
import {
  buildFiles,
  listing,
  newPath,
  problemsOf,
  sampleFacts,
  store,
  storePacked,
  toRaw,
} from "./sample-archive.contract.js";
import { writeArchive } from "./write-archive.js";

/*
 * However an archive is changed, it is noticed, and the file that is hurt first is named first.
 */

const words = (count: number, seed: number) =>
  Array.from({ length: count }, (_, index) => ((index * 7919 + seed) % 1013).toString(36)).join(" ");

const files = buildFiles(
  Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`memory/p${10 + index}.md`, words(index * 60, index)])),
);

let packed: Buffer;
let encrypted: Buffer;
let identities: Identity[];
/** Where each file's header and content end in the tar, and where the next file's header is. */
const places: { path: string; end: number; next: number }[] = [];

beforeAll(async () => {
  const identity = await generateX25519Identity();
  identities = parseIdentities(identity);
  const write = async (recipients: Parameters<typeof writeArchive>[1]["recipients"]) => {
    const target = newPath();
    await writeArchive(target, { manifest: () => sampleFacts, files: listing(files), recipients });
    return readFileSync(target);
  };
  packed = await write([]);
  encrypted = await write([parseRecipient(await identityToRecipient(identity))]);
  const tar = gunzipSync(packed);
  for (let at = 0; at < tar.length - 1024; ) {
    const path = tar.toString("utf8", at, tar.indexOf(0, at));
    const end = at + 512 + Number.parseInt(tar.toString("latin1", at + 124, at + 135), 8);
    at = Math.ceil(end / 512) * 512;
    places.push({ path, end, next: at });
  }
  expect(places.map(({ path }) => path)).toEqual(["manifest.json", ...files.map(({ path }) => path)]);
});

const check = (runs: number) => ({ numRuns: scaled(runs), seed: testSeed() });

/** What was found: the problems, or the code of the error that says there is no archive. */
async function find(bytes: Buffer): Promise<{ code?: string; paths: (string | undefined)[]; kinds: string[] }> {
  try {
    const { problems } = await readArchive(store(bytes), { identities });
    return { paths: problems.map(({ path }) => path), kinds: problems.map(({ kind }) => kind) };
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    return { code: error.code, paths: [], kinds: [] };
  }
}

/** All that zlib can unpack of it, taking byte by byte. */
function unpackMost(bytes: Buffer): Buffer {
  const unpack = (length: number) => gunzipSync(bytes.subarray(0, length), { finishFlush: constants.Z_SYNC_FLUSH });
  let [sound, broken] = [10, bytes.length + 1];
  while (broken - sound > 1) {
    const middle = Math.floor((sound + broken) / 2);
    try {
      unpack(middle);
      sound = middle;
    } catch {
      broken = middle;
    }
  }
  return unpack(sound);
}

/** The file that the first byte to come out wrong, or not at all, belongs to; none when it belongs to none. */
function firstHurt(changed: Buffer): string | undefined {
  const out = unpackMost(changed);
  const at = gunzipSync(packed).findIndex((byte, index) => out[index] !== byte);
  const file = places.find(({ next }) => at >= 0 && at < next);
  return file && at < file.end ? file.path : undefined;
}

describe("a changed byte", { timeout: 600_000 }, () => {
  it("of the compressed file is noticed, and the file that it hurts first is named first", async () => {
    const flip = fc.record({ at: fc.nat(), bit: fc.nat(7) });
    await fc.assert(
      fc.asyncProperty(flip, async ({ at, bit }) => {
        const changed = Buffer.from(packed);
        const place = at % changed.length;
        changed[place] = (changed[place] ?? 0) ^ (1 << bit);
        const { code, paths, kinds } = await find(changed);
        expect(code).toBe(place < 2 ? "not_an_archive" : undefined);
        if (code !== undefined) return;
        // A few bits at the end of deflate's last byte carry nothing.
        if (kinds.length === 0)
          expect([place >= 10, gunzipSync(changed).equals(gunzipSync(packed))]).toEqual([true, true]);
        const hurt = place < 10 ? undefined : firstHurt(changed);
        // A manifest that says something else may blame a file first.
        if (hurt !== undefined && hurt !== "manifest.json") expect(paths[0]).toBe(hurt);
      }),
      check(1000),
    );
  });

  it("of the encrypted file is noticed, wherever it is", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.integer({ min: 1, max: 255 }), async (at, mask) => {
        const changed = Buffer.from(encrypted);
        const place = at % changed.length;
        changed[place] = (changed[place] ?? 0) ^ mask;
        const { code, kinds } = await find(changed);
        expect(code !== undefined || kinds.includes("unreadable")).toBe(true);
      }),
      check(2000),
    );
  });
});

describe("a cut", { timeout: 600_000 }, () => {
  it.each([
    ["compressed", () => packed],
    ["plain", () => gunzipSync(packed)],
  ])("through the %s file names every file that is missing, the first of them first", async (_name, bytesOf) => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), async (at) => {
        const whole = bytesOf();
        const { code, paths, kinds } = await find(whole.subarray(0, at % whole.length));
        const isShort = at % whole.length < (whole === packed ? 2 : 512);
        expect(code).toBe(isShort ? "not_an_archive" : undefined);
        if (isShort) return;
        expect(kinds).toContain("unreadable");
        const reading = await readArchive(store(whole.subarray(0, at % whole.length)), { identities: [] });
        const lost = files.map(({ path }) => path).filter((path) => !reading.files.has(path));
        if (reading.manifest) expect(paths.filter((path) => path !== undefined)).toEqual(lost);
        else expect(paths).toContain("manifest.json");
      }),
      check(1000),
    );
  });

  it("through the encrypted file is noticed", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), async (at) => {
        const { code, kinds } = await find(encrypted.subarray(0, at % encrypted.length));
        expect(code !== undefined || kinds.includes("unreadable")).toBe(true);
      }),
      check(1000),
    );
  });
});

describe("files that were dropped, added, renamed, doubled or changed", { timeout: 600_000 }, () => {
  const place = fc.nat(files.length - 1);
  const change = fc.oneof(
    fc.record({ kind: fc.constantFrom("drop", "double", "edit"), at: place, name: fc.constant("") }),
    fc.record({ kind: fc.constantFrom("add", "rename"), at: place, name: fc.stringMatching(/^[a-z]{1,20}$/) }),
  );

  it("are all named, and no others", async () => {
    await fc.assert(
      fc.asyncProperty(change, async ({ kind, at, name }) => {
        const entries = toRaw(files);
        const entry = entries[at] as (typeof entries)[0];
        const { name: path } = entry;
        if (kind === "drop") entries.splice(at, 1);
        if (kind === "double") entries.splice(at, 0, entry);
        if (kind === "edit") entries[at] = { name: path, text: `${entry.text}.` };
        if (kind === "add") entries.splice(at, 0, { name, text: "x" });
        if (kind === "rename") entries[at] = { ...entry, name };
        const expected = {
          drop: [`missing ${path}`],
          double: [`twice ${path}`],
          edit: [`changed ${path}`],
          add: [`extra ${name}`],
          rename: [`missing ${path}`, `extra ${name}`],
        }[kind];
        expect(await problemsOf(await storePacked(files, entries))).toEqual(expected);
      }),
      check(1000),
    );
  });
});
