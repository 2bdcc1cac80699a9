import type { Refusal } from "../domain/refusal.js";
import type { Store, WriteTransaction } from "../store/store.js";
import type { CallKeys } from "./call-keys.js";
import type { CursorSeal } from "./cursor.js";
import type { DocumentSeal } from "./document-seal.js";
import type { ContextJournal } from "./journal.js";
import type { RateLimiter } from "./rate-limit.js";
import type { SecretScan } from "./secret-scan.js";

/** What the process lends to the use cases; tests and `--now` pass their own. */
export interface Environment {
  /** Milliseconds since the epoch. */
  now(): number;
  /** A UUIDv7 as text. */
  newUuid(): string;
  randomBytes(count: number): Buffer;
}

/** How an operation that is done in stages records its call (journal section 4). */
export interface Staging {
  /** The store without records: for the stages between. */
  store: Store;
  /**
   * Commits the input of the call, with what `use` writes. From then on the call is unsettled until its last write.
   * `job` names the lock that this process holds meanwhile.
   */
  begin(use: (transaction: WriteTransaction) => Promise<void>, job?: string): Promise<void>;
  /** How a call that failed and changed nothing is refused; a fault of ours is logged. */
  toRefusal(error: unknown): Refusal;
}

export type OnProgress = (done: number, total: number) => void;

/** One open context: the only thing a use case needs beside its caller and input. */
export interface Context {
  handle: string;
  /** Where its files are. */
  folder: string;
  store: Store;
  environment: Environment;
  cursors: CursorSeal;
  documents: DocumentSeal;
  callKeys: CallKeys;
  /** Absent only in measurements of what it costs. */
  journal?: ContextJournal;
  /** Of the call under way. */
  staging?: Staging;
  /** Of the call under way: tells its caller how far it is. */
  onProgress?: OnProgress;
  /** Of the call under way: where this context is reached over HTTP; absent over stdio and at the terminal. */
  baseUrl?: string;
  /** How long an erasure waits for other programs to let the write-ahead log go; default 60 s. */
  logWaitMs?: number;
  rateLimiter: RateLimiter;
  scanSecrets: SecretScan;
}
