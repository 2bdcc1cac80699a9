import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scaled, testSeed } from "../../../test/scale.js";
import {
  emptyRoot,
  GrowingTree,
  hashLeaf,
  hashNode,
  isTreeState,
  joinHashes,
  type LeafRange,
  listConsistencyRanges,
  listInclusionRanges,
  type Subtree,
  splitRange,
  verifyConsistency,
  verifyInclusion,
} from "./merkle-tree.js";

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

/** RFC 9162 section 2.1.1, word for word. */
function naiveRoot(leaves: readonly Uint8Array[]): Uint8Array {
  if (leaves.length === 0) return emptyRoot;
  if (leaves.length === 1) return leaves[0]!;
  let split = 1;
  while (split * 2 < leaves.length) split *= 2;
  return hashNode(naiveRoot(leaves.slice(0, split)), naiveRoot(leaves.slice(split)));
}

/** RFC 9162 section 2.1.3.1. */
function naivePath(position: number, leaves: readonly Uint8Array[]): Uint8Array[] {
  if (leaves.length <= 1) return [];
  let split = 1;
  while (split * 2 < leaves.length) split *= 2;
  const [left, right] = [leaves.slice(0, split), leaves.slice(split)];
  return position < split
    ? [...naivePath(position, left), naiveRoot(right)]
    : [...naivePath(position - split, right), naiveRoot(left)];
}

/** RFC 9162 section 2.1.4.1. */
function naiveConsistency(from: number, leaves: readonly Uint8Array[], isWhole = true): Uint8Array[] {
  if (from === leaves.length) return isWhole ? [] : [naiveRoot(leaves)];
  let split = 1;
  while (split * 2 < leaves.length) split *= 2;
  const [left, right] = [leaves.slice(0, split), leaves.slice(split)];
  return from <= split
    ? [...naiveConsistency(from, left, isWhole), naiveRoot(right)]
    : [...naiveConsistency(from - split, right, false), naiveRoot(left)];
}

const made = Array.from({ length: 600 }, (_, i) => hashLeaf(`leaf ${i}`));
const rootOfRange = (leaves: readonly Uint8Array[]) => (range: LeafRange) =>
  naiveRoot(leaves.slice(range.from, range.to));

function grow(leaves: readonly Uint8Array[]): GrowingTree {
  const tree = new GrowingTree();
  for (const leaf of leaves) tree.add(leaf);
  return tree;
}

/** The leaves and roots of the certificate-transparency reference data, sizes 0 to 8. */
const referenceLeaves = [
  "",
  "00",
  "10",
  "2021",
  "3031",
  "40414243",
  "5051525354555657",
  "606162636465666768696a6b6c6d6e6f",
];
const referenceRoots = [
  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
  "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
  "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
  "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
  "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
  "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
  "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
  "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];

describe("reference vectors", () => {
  const leaves = referenceLeaves.map((text) => hashLeaf(Buffer.from(text, "hex").toString()));

  it.each(referenceRoots.map((root, size) => ({ size, root })))("root of $size leaves", ({ size, root }) => {
    expect(hex(grow(leaves.slice(0, size)).root())).toBe(root);
  });

  // RFC 6962 section 2.1.3 names the nodes; these are the published paths of the reference implementation.
  it.each([
    {
      seq: 0,
      size: 8,
      path: [
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
      ],
    },
    {
      seq: 5,
      size: 8,
      path: [
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
      ],
    },
    { seq: 2, size: 3, path: ["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"] },
    { seq: 0, size: 1, path: [] },
  ])("inclusion of $seq in $size", ({ seq, size, path }) => {
    const hashes = listInclusionRanges(seq, size).map(rootOfRange(leaves));
    expect(hashes.map(hex)).toEqual(path);
    const root = Buffer.from(referenceRoots[size]!, "hex");
    expect(verifyInclusion({ seq, size, leaf: leaves[seq]!, path: hashes }, root)).toBe(true);
  });

  it.each([
    { from: 1, to: 1, path: [] },
    {
      from: 1,
      to: 8,
      path: [
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
      ],
    },
    {
      from: 6,
      to: 8,
      path: [
        "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
      ],
    },
    {
      from: 2,
      to: 5,
      path: [
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
      ],
    },
  ])("consistency of $from with $to", ({ from, to, path }) => {
    const hashes = listConsistencyRanges(from, to).map(rootOfRange(leaves));
    expect(hashes.map(hex)).toEqual(path);
    const head = (size: number) => ({ size, root: Buffer.from(referenceRoots[size]!, "hex") });
    expect(verifyConsistency(head(from), head(to), hashes)).toBe(true);
  });
});

describe("against the definitions of RFC 9162", () => {
  const flip = (bytes: Uint8Array, bit: number) => {
    const copy = Uint8Array.from(bytes);
    copy[Math.floor(bit / 8) % copy.length]! ^= 1 << (bit % 8);
    return copy;
  };

  it("agrees on roots, paths and consistency, and rejects what is altered", { timeout: 3_600_000 }, () => {
    let rejected = 0;
    const trees = fc.record({
      size: fc.integer({ min: 1, max: made.length }),
      share: fc.nat(10_000),
      bit: fc.nat(255),
    });
    const check = ({ size, share, bit }: { size: number; share: number; bit: number }) => {
      const leaves = made.slice(0, size);
      const root = grow(leaves).root();
      expect(hex(root)).toBe(hex(naiveRoot(leaves)));
      const seq = share % size;
      const path = listInclusionRanges(seq, size).map(rootOfRange(leaves));
      expect(path.map(hex)).toEqual(naivePath(seq, leaves).map(hex));
      const proof = { seq, size, leaf: leaves[seq]!, path };
      expect(verifyInclusion(proof, root)).toBe(true);
      const altered = [
        { ...proof, leaf: flip(proof.leaf, bit) },
        { ...proof, path: [...path, root] },
        { ...proof, seq: size },
        { ...proof, seq: -1 },
        ...(size > 1
          ? [
              { ...proof, path: path.slice(1) },
              { ...proof, path: path.slice(0, -1) },
            ]
          : []),
        ...(size > 1 ? [{ ...proof, seq: (seq + 1) % size }] : []),
        ...path.map((hash, i) => ({ ...proof, path: path.with(i, flip(hash, bit)) })),
      ];
      for (const forged of altered) expect(verifyInclusion(forged, root)).toBe(false);
      expect(verifyInclusion(proof, flip(root, bit))).toBe(false);
      rejected += altered.length + 1;

      const from = { size: seq + 1, root: naiveRoot(leaves.slice(0, seq + 1)) };
      const to = { size, root };
      const steps = listConsistencyRanges(from.size, size).map(rootOfRange(leaves));
      expect(steps.map(hex)).toEqual(naiveConsistency(from.size, leaves).map(hex));
      expect(verifyConsistency(from, to, steps)).toBe(true);
      const wrong = [
        verifyConsistency({ ...from, root: flip(from.root, bit) }, to, steps),
        verifyConsistency(from, { ...to, root: flip(root, bit) }, steps),
        verifyConsistency(from, to, [...steps, root]),
        verifyConsistency({ ...from, size: size + 1 }, to, steps),
        ...(steps.length > 0 ? [verifyConsistency(from, to, steps.slice(0, -1)), verifyConsistency(from, to, [])] : []),
        ...steps.map((hash, i) => verifyConsistency(from, to, steps.with(i, flip(hash, bit)))),
      ];
      expect(wrong.filter(Boolean)).toEqual([]);
      rejected += wrong.length;
    };
    fc.assert(fc.property(trees, check), { numRuns: scaled(10_000), seed: testSeed() });
    console.log(`${rejected} altered tree proofs rejected`);
  });

  it("tells each subtree at a stored level once, when it is complete", () => {
    const seen: Subtree[] = [];
    const tree = new GrowingTree(undefined, (subtree) => seen.push(subtree));
    for (const leaf of made) tree.add(leaf);
    expect(seen.map(({ level, position }) => [level, position])).toEqual([
      [8, 0],
      [8, 1],
    ]);
    expect(seen.map(({ hash }) => hex(hash))).toEqual(
      [0, 256].map((from) => hex(naiveRoot(made.slice(from, from + 256)))),
    );
  });

  it("grows on from any state", () => {
    for (const size of [0, 1, 2, 3, 255, 256, 257]) {
      const tree = new GrowingTree(grow(made.slice(0, size)).state());
      expect(isTreeState(tree.state())).toBe(true);
      for (const leaf of made.slice(size)) tree.add(leaf);
      expect(hex(tree.root())).toBe(hex(naiveRoot(made)));
    }
  });

  it("splits large ranges without losing a leaf", () => {
    const size = 2 ** 52 + 12_345;
    for (const range of listInclusionRanges(2 ** 40 + 7, size)) {
      const widths = splitRange(range).map(({ level }) => 2 ** level);
      expect(widths.reduce((sum, width) => sum + width, 0)).toBe(range.to - range.from);
    }
  });

  it("takes no wrong state for one", () => {
    const { frontier } = grow(made.slice(0, 5)).state();
    const wrong = [
      { size: 4, frontier },
      { size: -1, frontier: [] },
      { size: 1.5, frontier: frontier.slice(1) },
      { size: 1, frontier: [frontier[0]!.slice(1)] },
    ];
    expect(wrong.filter(isTreeState)).toEqual([]);
    expect(hex(joinHashes([]))).toBe(referenceRoots[0]);
  });
});
