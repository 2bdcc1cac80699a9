import { encodeBase64 } from "./base64.js";
import { type Checkpoint, parseCheckpoint } from "./checkpoint.js";
import type { StoredEntry } from "./entry.js";
import { EntrySequence } from "./entry-sequence.js";
import { JournalError } from "./errors.js";
import { emptyRoot, equalHashes, GrowingTree, storedLevels, type TreeState } from "./merkle-tree.js";
import { verifyNote } from "./signed-note.js";
import type { VerifierKey } from "./signing-key.js";
import type { JournalReader } from "./storage.js";
import { changedEntry, Finding, type Verdict } from "./verdict.js";

export interface VerifyLogOptions {
  /** From outside the log. A rotation signed by a trusted key makes the next key trusted, never one before. */
  trusted: readonly VerifierKey[];
  /** `satchel/<context id>`. */
  origin: string;
  /** Signed notes that were kept outside the log. */
  checkpoints?: readonly string[];
  /** After each batch. */
  onProgress?(progress: { checked: number; size: number }): void;
  /** For each entry that is good by itself, in order. */
  onEntry?(entry: StoredEntry): void;
}

/**
 * Reads a whole log and says whether it is what was signed: every entry, body, hash, rotation, redaction and checkpoint.
 * It can't say whether what was written was true, nor anything sure about entries after the last checkpoint.
 */
export async function verifyLog(storage: JournalReader, options: VerifyLogOptions): Promise<Verdict> {
  const verification = new Verification(storage, options);
  try {
    await verification.run();
    return { verdict: "valid", message: "The log is what was signed.", ...verification.facts() };
  } catch (error) {
    if (!(error instanceof Finding)) throw error;
    const { verdict, message, seq, cause } = error;
    const details = { ...(seq !== undefined && { seq }), ...(cause !== undefined && { cause }) };
    return { verdict, message, ...details, ...verification.facts() };
  }
}

// Few enough that a batch is gone before the garbage collector has to move it: a larger one is slower.
const entriesPerBatch = 128;
const checkpointsPerBatch = 64;
const hashesPerBatch = 4096;

interface SignedCheckpoint extends Checkpoint {
  note: string;
}

class Verification {
  /** Of the storage at the start. */
  private state: TreeState = { size: 0, frontier: [] };
  private readonly entries: EntrySequence;
  private readonly tree = new GrowingTree(undefined, ({ level, hash }) => {
    const hashes = this.subtrees.get(level);
    if (hashes) hashes.push(hash);
    else this.subtrees.set(level, [hash]);
  });
  private readonly subtrees = new Map<number, Uint8Array[]>([[storedLevels, []]]);
  private readonly trusted: VerifierKey[];
  /** Checkpoints from outside, and the roots at their sizes. */
  private outside: SignedCheckpoint[] = [];
  private readonly trustedNotes = new Map<string, boolean>();
  private readonly roots = new Map<number, Uint8Array | undefined>([[0, emptyRoot]]);
  /** Stored checkpoints that the scan has not reached, next one first. */
  private ahead: SignedCheckpoint[] = [];
  private checkpointSize: number | undefined;
  private unknownKey: Finding | undefined;

  constructor(
    private readonly storage: JournalReader,
    private readonly options: VerifyLogOptions,
  ) {
    this.trusted = options.trusted.filter(({ name }) => name === options.origin);
    this.entries = new EntrySequence(this.trusted);
  }

  /** The order of the conclusions matters: each holds only when those before it do not. @throws Finding */
  async run(): Promise<void> {
    this.outside = (this.options.checkpoints ?? []).map((note) => this.parseOutside(note));
    for (const { size } of this.outside) this.roots.set(size, this.roots.get(size));
    this.state = await read(() => this.storage.state());
    await this.readCheckpoints(Number.MIN_SAFE_INTEGER);
    await this.readEntries();
    this.concludeLength();
    this.concludeBodies();
    this.concludeOutside();
    await this.concludeHashes();
    this.concludeKeys();
  }

  facts(): Omit<Verdict, "verdict" | "message"> {
    const { checkpointSize, tree } = this;
    const { redacted, key } = this.entries;
    return {
      size: tree.size,
      root: encodeBase64(tree.root()),
      redacted,
      ...(checkpointSize !== undefined && { checkpointSize }),
      ...(key && { key: key.text }),
    };
  }

  private parseOutside(note: string): SignedCheckpoint {
    const { origin } = this.options;
    const checkpoint = asFinding("unreadable", () => parseCheckpoint(note));
    if (checkpoint.origin === origin) return { ...checkpoint, note };
    throw new Finding("unreadable", `The given checkpoint is of ${checkpoint.origin}, not of ${origin}.`);
  }

  private async readEntries(): Promise<void> {
    // An entry before 0 has to be seen too.
    for (let from = Number.MIN_SAFE_INTEGER; ; from = this.tree.size) {
      const batch = await this.readBatch(from);
      if (batch.length === 0) return;
      for (const entry of batch) {
        this.entries.add(entry);
        this.tree.add(entry.leaf);
        if (this.roots.has(this.tree.size)) this.roots.set(this.tree.size, this.tree.root());
        if (this.ahead[0]?.size === this.tree.size) await this.passCheckpoint();
        this.options.onEntry?.(entry);
      }
      this.options.onProgress?.({ checked: this.tree.size, size: this.state.size });
    }
  }

  /** When an entry can't be read, those before it are read first, so that the first fault is the one reported. */
  private async readBatch(from: number): Promise<StoredEntry[]> {
    try {
      return await read(() => this.storage.entries({ from, limit: entriesPerBatch }));
    } catch (error) {
      const limit = error instanceof Finding && error.seq !== undefined ? error.seq - this.tree.size : 0;
      if (limit <= 0) throw error;
      return read(() => this.storage.entries({ from, limit }));
    }
  }

  private async readCheckpoints(after: number): Promise<void> {
    const notes = await read(() => this.storage.checkpoints({ after, limit: checkpointsPerBatch }));
    this.ahead = asFinding("changed", () => notes.map((note) => ({ ...parseCheckpoint(note), note })));
    const isOrdered = this.ahead.every(({ size }, i) => size > (this.ahead[i - 1]?.size ?? Math.max(after, 0)));
    if (!isOrdered) throw new Finding("changed", "The stored checkpoints are out of order.");
  }

  private async passCheckpoint(): Promise<void> {
    const checkpoint = this.ahead.shift()!;
    const { size, root } = checkpoint;
    if (this.isBySigner(checkpoint)) {
      if (!equalHashes(root, this.tree.root())) {
        const seq = this.checkpointSize ?? 0;
        throw changedEntry(
          seq,
          `The checkpoint of ${size} entries is of others: entry ${seq} or a later one was changed.`,
        );
      }
      this.checkpointSize = size;
    }
    if (this.ahead.length === 0) await this.readCheckpoints(size);
  }

  /** Whether the key in force signed it, trusted or not. */
  private isBySigner({ origin, size, note }: SignedCheckpoint): boolean {
    if (origin !== this.options.origin) {
      throw new Finding("changed", `The stored checkpoint of ${size} entries is of ${origin}.`);
    }
    const { key } = this.entries;
    const isSigned = asFinding("changed", () => isSignedBy(note, key ? [key] : []));
    if (!isSigned || !key || !this.entries.isTrusted(key)) {
      const message = `The checkpoint of ${size} entries is not signed by a trusted key that was in force.`;
      this.unknownKey ??= new Finding("unknown_key", message);
    }
    return isSigned;
  }

  private concludeLength(): void {
    const { size } = this.tree;
    const signed = [...this.ahead, ...this.outside.filter((checkpoint) => this.isTrustedNote(checkpoint))];
    const known = Math.max(this.state.size, ...signed.map((checkpoint) => checkpoint.size));
    if (size === 0) throw new Finding("truncated", "The log is empty: even its first entry is missing.");
    if (known > size) throw new Finding("truncated", `The log has ${size} entries, and had at least ${known}.`);
    if (this.state.size < size) {
      throw changedEntry(this.state.size, `Entry ${this.state.size} was added past the end of the log.`);
    }
  }

  private concludeBodies(): void {
    const seq = this.entries.firstAbsent();
    if (seq !== undefined) throw changedEntry(seq, `A body of entry ${seq} is gone, and no redaction names it.`);
  }

  private concludeOutside(): void {
    for (const checkpoint of this.outside.filter((each) => this.isTrustedNote(each))) {
      const { size, root } = checkpoint;
      if (!equalHashes(root, this.roots.get(size) ?? emptyRoot)) {
        throw new Finding("forked", `The given checkpoint of ${size} entries is of another log than this one.`);
      }
    }
  }

  private isTrustedNote({ size, note }: SignedCheckpoint): boolean {
    const known = this.trustedNotes.get(note);
    const isTrusted = known ?? asFinding("unreadable", () => isSignedBy(note, this.trusted));
    this.trustedNotes.set(note, isTrusted);
    if (isTrusted) return true;
    this.unknownKey ??= new Finding("unknown_key", `The given checkpoint of ${size} entries is by no trusted key.`);
    return false;
  }

  /** What is stored only to be quick: it is never trusted here, but proofs and new entries are made from it. */
  private async concludeHashes(): Promise<void> {
    const { frontier } = this.tree.state();
    const isSame = frontier.every((hash, i) => equalHashes(hash, this.state.frontier[i] ?? emptyRoot));
    if (!isSame) throw new Finding("changed", "The stored state of the tree does not fit the entries.");
    for (const [level, hashes] of this.subtrees) await this.compareSubtrees(level, hashes);
  }

  private async compareSubtrees(level: number, hashes: readonly Uint8Array[]): Promise<void> {
    for (let from = 0; ; from += hashesPerBatch) {
      const stored = await read(() => this.storage.subtrees({ level, from, limit: hashesPerBatch }));
      const expected = hashes.slice(from, from + hashesPerBatch);
      const isSame = stored.length === expected.length && stored.every((hash, i) => equalHashes(hash, expected[i]!));
      if (!isSame)
        throw new Finding("changed", `The stored hashes of the tree at level ${level} do not fit the entries.`);
      if (stored.length < hashesPerBatch) return;
    }
  }

  private concludeKeys(): void {
    if (this.unknownKey) throw this.unknownKey;
    const { key } = this.entries;
    if (!key || !this.entries.isTrusted(key)) {
      throw new Finding("unknown_key", `The log is signed by ${key?.name}+${key?.id}, which is not trusted.`);
    }
  }
}

/** @throws JournalError `bad_signature`, `bad_note` */
function isSignedBy(note: string, keys: readonly VerifierKey[]): boolean {
  try {
    return verifyNote(note, keys).signers.length > 0;
  } catch (error) {
    if (error instanceof JournalError && error.code === "unknown_key") return false;
    throw error;
  }
}

/** A failure of the storage is a finding: what it says of itself is a change, anything else makes it unreadable. */
async function read<T>(use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } catch (cause) {
    if (!(cause instanceof JournalError)) throw new Finding("unreadable", "The log can't be read.", { cause });
    throw new Finding("changed", cause.message, { cause, ...(cause.seq !== undefined && { seq: cause.seq }) });
  }
}

function asFinding<T>(verdict: "changed" | "unreadable", check: () => T): T {
  try {
    return check();
  } catch (cause) {
    if (cause instanceof JournalError) throw new Finding(verdict, cause.message, { cause });
    throw cause;
  }
}
