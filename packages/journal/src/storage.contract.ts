import { beforeEach, describe, expect, it } from "vitest";
import { signCheckpoint } from "./checkpoint.js";
import { commit, type EntryKind, hashEntry, type StoredEntry } from "./entry.js";
import { GrowingTree, type Subtree } from "./merkle-tree.js";
import type { JournalStorage } from "./storage.js";
import { makeKey, seededBytes } from "./test-log.contract.js";

const randomBytes = seededBytes("contract");

function makeEntry(seq: number, kind: EntryKind, ...bodies: string[]): StoredEntry {
  const openings = bodies.map((body) => ({ salt: randomBytes(32), body }));
  const at = new Date(Date.UTC(2026, 4, 4) + seq).toISOString();
  const entry = { seq, at, kind, commitments: openings.map(commit) };
  return { ...entry, leaf: hashEntry(entry), openings };
}

/** What every storage of a journal does. */
export function describeStorage(name: string, open: () => JournalStorage): void {
  describe(name, () => {
    let storage: JournalStorage;
    let tree: GrowingTree;
    let subtrees: Subtree[] = [];
    beforeEach(() => {
      storage = open();
      subtrees = [];
      tree = new GrowingTree(undefined, (subtree) => subtrees.push(subtree));
    });

    const append = async (...entries: StoredEntry[]) => {
      subtrees.length = 0;
      for (const { leaf } of entries) tree.add(leaf);
      await storage.append({ entries, state: tree.state(), subtrees });
    };
    const plain = (entries: StoredEntry[]) =>
      entries.map(({ leaf, openings, ...entry }) => ({
        ...entry,
        leaf: Buffer.from(leaf).toString("hex"),
        openings: openings.map((opening) => opening && [Buffer.from(opening.salt).toString("hex"), opening.body]),
      }));

    it("begins empty", async () => {
      expect(await storage.state()).toEqual({ size: 0, frontier: [] });
      expect(await storage.lastTime()).toBeUndefined();
      expect(await storage.newestKeyEntry()).toBeUndefined();
      expect(await storage.lastCheckpoint()).toBeUndefined();
      expect(await storage.checkpoints({ after: 0 })).toEqual([]);
      expect(await storage.entries({ from: 0, limit: 9 })).toEqual([]);
      expect(await storage.subtrees({ level: 0, from: 0, limit: 9 })).toEqual([]);
    });

    it("gives back every kind of entry and body as it was", async () => {
      const entries = [
        makeEntry(0, "key", '{"key":"text"}'),
        makeEntry(1, "prp.input", '""'),
        makeEntry(2, "prp.result", "1e+21"),
        makeEntry(3, "prp.reconciled", JSON.stringify("é\u2028😀\ufeff\ufffd\\u0000")),
        makeEntry(4, "audit", `{"text":"${"long and like itself ".repeat(5000)}"}`, "[]"),
        makeEntry(5, "erasure", JSON.stringify(Buffer.from(randomBytes(9000)).toString("base64"))),
        makeEntry(6, "redaction", "null"),
      ];
      await append(...entries);
      expect(plain(await storage.entries({ from: 0, limit: 99 }))).toEqual(plain(entries));
      expect(plain(await storage.entries({ from: 3, limit: 2 }))).toEqual(plain(entries.slice(3, 5)));
      expect(await storage.entries({ from: 7, limit: 2 })).toEqual([]);
      expect(await storage.lastTime()).toBe(entries[6]!.at);
      expect(plain([(await storage.newestKeyEntry())!])).toEqual(plain(entries.slice(0, 1)));
      await append(makeEntry(7, "key", "1"), makeEntry(8, "audit", "1", "2"));
      expect((await storage.newestKeyEntry())!.seq).toBe(7);
    });

    it("keeps the tree and its subtrees", async () => {
      const entries = Array.from({ length: 520 }, (_, seq) => makeEntry(seq, "prp.input", `${seq}`));
      await append(...entries.slice(0, 255));
      expect(await storage.subtrees({ level: 8, from: 0, limit: 9 })).toEqual([]);
      await append(...entries.slice(255, 256));
      await append(...entries.slice(256));
      const { size, frontier } = await storage.state();
      expect(size).toBe(520);
      expect(frontier.map((hash) => Buffer.from(hash))).toEqual(tree.state().frontier.map((hash) => Buffer.from(hash)));
      const leaves = await storage.subtrees({ level: 0, from: 510, limit: 3 });
      expect(leaves.map((leaf) => Buffer.from(leaf))).toEqual(entries.slice(510, 513).map(({ leaf }) => leaf));
      const stored = await storage.subtrees({ level: 8, from: 0, limit: 9 });
      expect(Buffer.from(stored[0]!)).toEqual(rootOf(entries.slice(0, 256)));
      expect(stored).toHaveLength(2);
      expect(await storage.subtrees({ level: 8, from: 1, limit: 9 })).toHaveLength(1);
      expect(await storage.subtrees({ level: 16, from: 0, limit: 9 })).toEqual([]);
    });

    it("erases the openings that are named and nothing else", async () => {
      await append(makeEntry(0, "audit", "1", "2"), makeEntry(1, "audit", "3", "4"), makeEntry(2, "prp.input", "5"));
      const before = plain(await storage.entries({ from: 0, limit: 9 }));
      await storage.eraseOpenings([]);
      await storage.eraseOpenings([
        { seq: 0, slot: 1 },
        { seq: 1, slot: 0 },
        { seq: 2, slot: 0 },
      ]);
      const [first, second, third] = before;
      expect(plain(await storage.entries({ from: 0, limit: 9 }))).toEqual([
        { ...first, openings: [first!.openings[0], undefined] },
        { ...second, openings: [undefined, second!.openings[1]] },
        { ...third, openings: [undefined] },
      ]);
    });

    it("lists checkpoints by size", async () => {
      const key = makeKey("contract");
      const notes = [1, 2, 300, 70_000].map((size) => ({
        size,
        note: signCheckpoint({ size, root: randomBytes(32) }, key),
      }));
      for (const checkpoint of notes) await storage.addCheckpoint(checkpoint);
      const texts = notes.map(({ note }) => note);
      expect(await storage.checkpoints({ after: Number.MIN_SAFE_INTEGER })).toEqual(texts);
      expect(await storage.checkpoints({ after: 1, limit: 2 })).toEqual(texts.slice(1, 3));
      expect(await storage.checkpoints({ after: 70_000 })).toEqual([]);
      expect(await storage.lastCheckpoint()).toEqual(notes[3]);
    });
  });
}

function rootOf(entries: readonly StoredEntry[]): Buffer {
  const tree = new GrowingTree();
  for (const { leaf } of entries) tree.add(leaf);
  return Buffer.from(tree.root());
}
