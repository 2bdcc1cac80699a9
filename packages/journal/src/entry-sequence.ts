import { commit, countSlots, hashEntry, isErasable, type StoredEntry } from "./entry.js";
import { JournalError } from "./errors.js";
import { verifyKeyEntry } from "./key-rotation.js";
import { equalHashes } from "./merkle-tree.js";
import { parseRedaction } from "./redaction.js";
import type { VerifierKey } from "./signing-key.js";
import { changedEntry } from "./verdict.js";

/** Entries one after the other, each checked by itself and against those before it. */
export class EntrySequence {
  size = 0;
  /** How many bodies were erased and are named by redactions. */
  redacted = 0;
  /** The key in force after the last entry. */
  key: VerifierKey | undefined;
  private lastTime = "";
  /** The slots of absent bodies that no redaction has named so far, as bits by seq. */
  private readonly absent = new Map<number, number>();

  /** @param trusted grows by the keys that trusted ones hand the log over to */
  constructor(private readonly trusted: VerifierKey[]) {}

  /** @throws Finding `changed` */
  add(entry: StoredEntry): void {
    const seq = this.size;
    if (entry.seq > seq) throw changedEntry(seq, `Entry ${seq} is missing.`);
    if (entry.seq < seq) throw changedEntry(entry.seq, `Entry ${entry.seq} is where no entry belongs.`);
    if (entry.at < this.lastTime) throw changedEntry(seq, `Entry ${seq} is older than the one before it.`);
    if (!equalHashes(hashEntry(entry), entry.leaf)) throw changedEntry(seq, `Entry ${seq} does not fit its hash.`);
    this.checkOpenings(entry);
    if (entry.kind === "key" || seq === 0) this.changeKey(entry);
    if (entry.kind === "redaction") this.settleRedaction(entry);
    this.lastTime = entry.at;
    this.size += 1;
  }

  isTrusted(key: VerifierKey): boolean {
    return this.trusted.some(({ text }) => text === key.text);
  }

  /** The first entry without a body that no redaction names. */
  firstAbsent(): number | undefined {
    const [seq] = this.absent.keys(); // A map keeps the order in which its keys came.
    return seq;
  }

  private checkOpenings({ seq, kind, commitments, openings }: StoredEntry): void {
    if (openings.length !== countSlots(kind) || commitments.length !== openings.length) {
      throw changedEntry(seq, `Entry ${seq} has a wrong number of bodies.`);
    }
    for (const [slot, opening] of openings.entries()) {
      if (opening) {
        if (commit(opening) !== commitments[slot]) throw changedEntry(seq, `A body of entry ${seq} was changed.`);
      } else if (isErasable(kind)) {
        this.absent.set(seq, (this.absent.get(seq) ?? 0) | (1 << slot));
      } else {
        throw changedEntry(seq, `The body of entry ${seq} is gone, and its kind is never erased.`);
      }
    }
  }

  private changeKey(entry: StoredEntry): void {
    const { seq } = entry;
    if (entry.kind !== "key") throw changedEntry(seq, "The first entry names no key.");
    const key = asFinding(seq, () => verifyKeyEntry(entry, this.key));
    if (this.key && this.isTrusted(this.key)) this.trusted.push(key);
    this.key = key;
  }

  /** A redaction names exactly what is gone: each body once, and none that is still there. */
  private settleRedaction(entry: StoredEntry): void {
    const { entries } = asFinding(entry.seq, () => parseRedaction(entry));
    for (const [from, count, mask] of entries) {
      for (let seq = from; seq < from + count; seq++) {
        const absent = this.absent.get(seq) ?? 0;
        if ((absent & mask) !== mask) throw changedEntry(seq, `Entry ${seq} has a body that was erased.`);
        if (absent === mask) this.absent.delete(seq);
        else this.absent.set(seq, absent & ~mask);
        this.redacted += mask === 3 ? 2 : 1;
      }
    }
  }
}

function asFinding<T>(seq: number, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (error instanceof JournalError) throw changedEntry(seq, error.message);
    throw error;
  }
}
