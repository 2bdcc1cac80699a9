import type { Store } from "../store/store.js";
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

/** One open context: the only thing a use case needs beside its caller and input. */
export interface Context {
  handle: string;
  store: Store;
  environment: Environment;
  cursors: CursorSeal;
  documents: DocumentSeal;
  callKeys: CallKeys;
  /** Absent only in measurements of what it costs. */
  journal?: ContextJournal;
  rateLimiter: RateLimiter;
  scanSecrets: SecretScan;
}
