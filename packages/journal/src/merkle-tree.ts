import { sha256 } from "./sha256.js";

/*
 * The tree of RFC 6962 section 2 and RFC 9162 section 2.1. Hashes have 32 bytes. Sizes and positions are counted in
 * numbers up to 2^53, so no bitwise operators.
 */

/** Complete subtrees at levels that are multiples of this are kept, so that a proof reads few hashes. */
export const storedLevels = 8;

/** The leaves `from` to `to` (exclusive). */
export interface LeafRange {
  from: number;
  to: number;
}

/** A complete subtree: the leaves position * 2^level to (position + 1) * 2^level. */
export interface Subtree {
  level: number;
  position: number;
  hash: Uint8Array;
}

/** All that is needed to grow a tree. */
export interface TreeState {
  size: number;
  /** The roots of the complete subtrees that make up the tree, largest first: one for each 1 in `size`, binary. */
  frontier: Uint8Array[];
}

const nodeTag = Buffer.of(1);

export const emptyRoot: Uint8Array = sha256("");

/** @param text the leaf, which counts as UTF-8 */
export function hashLeaf(text: string): Uint8Array {
  return sha256(`\0${text}`);
}

export function hashNode(left: Uint8Array, right: Uint8Array): Uint8Array {
  return sha256(Buffer.concat([nodeTag, left, right]));
}

export function equalHashes(left: Uint8Array, right: Uint8Array): boolean {
  return Buffer.compare(left, right) === 0;
}

/** The root over neighbouring subtrees, largest first. */
export function joinHashes(hashes: readonly Uint8Array[]): Uint8Array {
  if (hashes.length === 0) return emptyRoot;
  return hashes.reduceRight((right, left) => hashNode(left, right));
}

/** The root over 2^n subtrees of one level. */
export function hashComplete(hashes: readonly Uint8Array[]): Uint8Array {
  let level = hashes;
  while (level.length > 1) {
    const below = level;
    level = Array.from({ length: below.length / 2 }, (_, i) => hashNode(below[2 * i]!, below[2 * i + 1]!));
  }
  return level[0]!;
}

/** A tree that grows leaf by leaf. It tells which subtrees at the stored levels become complete. */
export class GrowingTree {
  size: number;
  private readonly frontier: Uint8Array[];

  constructor(
    state: TreeState = { size: 0, frontier: [] },
    private readonly onSubtree: (subtree: Subtree) => void = () => undefined,
  ) {
    this.size = state.size;
    this.frontier = [...state.frontier];
  }

  add(leaf: Uint8Array): void {
    let node = leaf;
    let level = 0;
    let position = this.size;
    while (position % 2 === 1) {
      node = hashNode(this.frontier.pop()!, node);
      level += 1;
      position = (position - 1) / 2;
      if (level % storedLevels === 0) this.onSubtree({ level, position, hash: node });
    }
    this.frontier.push(node);
    this.size += 1;
  }

  root(): Uint8Array {
    return joinHashes(this.frontier);
  }

  state(): TreeState {
    return { size: this.size, frontier: [...this.frontier] };
  }
}

/** Whether there are as many hashes as the size asks for, and all are whole. */
export function isTreeState({ size, frontier }: TreeState): boolean {
  let ones = 0;
  for (let rest = size; rest > 0; rest = Math.floor(rest / 2)) ones += rest % 2;
  const isWhole = frontier.length === ones && frontier.every(({ length }) => length === 32);
  return Number.isSafeInteger(size) && size >= 0 && isWhole;
}

function largestPowerBelow(size: number): number {
  let power = 1;
  while (power * 2 < size) power *= 2;
  return power;
}

/** The ranges whose roots are the inclusion path of a leaf, from the leaf up (RFC 9162 section 2.1.3.1). */
export function listInclusionRanges(seq: number, size: number): LeafRange[] {
  const ranges: LeafRange[] = [];
  let range: LeafRange = { from: 0, to: size };
  while (range.to - range.from > 1) {
    const middle = range.from + largestPowerBelow(range.to - range.from);
    const isLeft = seq < middle;
    ranges.push(isLeft ? { from: middle, to: range.to } : { from: range.from, to: middle });
    range = isLeft ? { from: range.from, to: middle } : { from: middle, to: range.to };
  }
  return ranges.reverse();
}

/** The ranges whose roots prove that the tree of `to` leaves continues that of `from` (RFC 9162 section 2.1.4.1). */
export function listConsistencyRanges(from: number, to: number): LeafRange[] {
  if (from === 0 || from === to) return [];
  const ranges: LeafRange[] = [];
  let range: LeafRange = { from: 0, to };
  while (range.to > from) {
    const middle = range.from + largestPowerBelow(range.to - range.from);
    const isLeft = from <= middle;
    ranges.push(isLeft ? { from: middle, to: range.to } : { from: range.from, to: middle });
    range = isLeft ? { from: range.from, to: middle } : { from: middle, to: range.to };
  }
  if (range.from > 0) ranges.push(range);
  return ranges.reverse();
}

/** The complete subtrees that make up a range of a proof, largest first. */
export function splitRange({ from, to }: LeafRange): { level: number; position: number }[] {
  const parts: { level: number; position: number }[] = [];
  for (let start = from; start < to; ) {
    let level = 0;
    let width = 1;
    while (start % (width * 2) === 0 && start + width * 2 <= to) {
      level += 1;
      width *= 2;
    }
    parts.push({ level, position: start / width });
    start += width;
  }
  return parts;
}

export interface InclusionProof {
  seq: number;
  size: number;
  leaf: Uint8Array;
  path: readonly Uint8Array[];
}

/** RFC 9162 section 2.1.3.2. */
export function verifyInclusion({ seq, size, leaf, path }: InclusionProof, root: Uint8Array): boolean {
  if (!(seq >= 0 && seq < size)) return false;
  let node = leaf;
  let position = seq;
  let last = size - 1;
  for (const sibling of path) {
    if (last === 0) return false;
    if (position % 2 === 1 || position === last) {
      node = hashNode(sibling, node);
      while (position % 2 === 0 && position !== 0) {
        position /= 2;
        last = Math.floor(last / 2);
      }
    } else {
      node = hashNode(node, sibling);
    }
    position = Math.floor(position / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 && equalHashes(node, root);
}

export interface TreeHead {
  size: number;
  root: Uint8Array;
}

/** RFC 9162 section 2.1.4.2. Every tree continues the empty one. */
export function verifyConsistency(from: TreeHead, to: TreeHead, path: readonly Uint8Array[]): boolean {
  if (from.size > to.size) return false;
  if (from.size === 0) return path.length === 0 && equalHashes(from.root, emptyRoot);
  if (from.size === to.size) return path.length === 0 && equalHashes(from.root, to.root);
  let position = from.size - 1;
  let last = to.size - 1;
  while (position % 2 === 1) {
    position = Math.floor(position / 2);
    last = Math.floor(last / 2);
  }
  // The old tree is a complete subtree of the new one exactly when nothing is left of its position.
  const hashes = position === 0 ? [from.root, ...path] : path;
  const start = hashes[0];
  if (start === undefined) return false;
  let oldNode = start;
  let newNode = start;
  for (const sibling of hashes.slice(1)) {
    if (last === 0) return false;
    if (position % 2 === 1 || position === last) {
      oldNode = hashNode(sibling, oldNode);
      newNode = hashNode(sibling, newNode);
      while (position % 2 === 0 && position !== 0) {
        position /= 2;
        last = Math.floor(last / 2);
      }
    } else {
      newNode = hashNode(newNode, sibling);
    }
    position = Math.floor(position / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 && equalHashes(oldNode, from.root) && equalHashes(newNode, to.root);
}
