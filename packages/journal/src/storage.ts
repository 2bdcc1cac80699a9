import type { StoredEntry } from "./entry.js";
import type { Subtree, TreeState } from "./merkle-tree.js";

export interface StoredCheckpoint {
  size: number;
  /** The signed note. */
  note: string;
}

/**
 * The storage port, for reading. All calls of one function of this package happen inside one transaction of the caller
 * and see one state. What is stored is not trusted: a reader throws JournalError `damaged`, with `seq` where it is one
 * entry, for what it can't read, and never guesses.
 */
export interface JournalReader {
  state(): Promise<TreeState>;
  /** `at` of the newest entry. */
  lastTime(): Promise<string | undefined>;
  /** The first `limit` entries whose seq is at least `from`, in order. */
  entries(range: { from: number; limit: number }): Promise<StoredEntry[]>;
  /** The newest entry of kind `key`. */
  newestKeyEntry(): Promise<StoredEntry | undefined>;
  /**
   * The hashes of complete subtrees of 2^level leaves, from position `from` on, at most `limit`.
   * Level 0, the leaves, and every multiple of `storedLevels` are there.
   */
  subtrees(range: { level: number; from: number; limit: number }): Promise<Uint8Array[]>;
  /** The notes of checkpoints larger than `after`, in order of size. */
  checkpoints(range: { after: number; limit?: number }): Promise<string[]>;
  lastCheckpoint(): Promise<StoredCheckpoint | undefined>;
}

export interface Addition {
  entries: readonly StoredEntry[];
  /** The tree with the entries. */
  state: TreeState;
  /** Those at the stored levels above 0 that the entries completed. */
  subtrees: readonly Subtree[];
}

export interface Slot {
  seq: number;
  /** 0, or 1 for the detail of an audit entry. */
  slot: number;
}

/** The storage port, for writing. The caller's transaction is exclusive, so that a log has one writer at a time. */
export interface JournalStorage extends JournalReader {
  append(addition: Addition): Promise<void>;
  /** Deletes salts and bodies so that no byte of them is left. */
  eraseOpenings(slots: readonly Slot[]): Promise<void>;
  addCheckpoint(checkpoint: StoredCheckpoint): Promise<void>;
}
