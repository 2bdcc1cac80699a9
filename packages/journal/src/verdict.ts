export type VerdictName =
  | "valid"
  /** An entry, a body, a checkpoint or a stored hash is not what was written. `seq` is the first such entry. */
  | "changed"
  /** The log is shorter than it was: its end was cut off, or an old copy put in its place. */
  | "truncated"
  /** The log holds together, but a checkpoint from outside says that it was another one. */
  | "forked"
  /** A checkpoint is by a key that is not trusted, or was not in force. */
  | "unknown_key"
  /** The storage or a checkpoint from outside can't be read, so nothing can be said. */
  | "unreadable";

export interface Verdict {
  verdict: VerdictName;
  /** The first entry that is not as it was written, when it is one entry. */
  seq?: number;
  message: string;
  /** How many entries were read and found good. */
  size: number;
  /** The root over them, base64. */
  root: string;
  /** The size of the largest checkpoint in the log that fits. Entries from there on are covered by no signature. */
  checkpointSize?: number;
  /** How many bodies were erased and are named by redactions. */
  redacted: number;
  /** The key in force at the end, as verifier text. */
  key?: string;
  /** What the storage threw, when it is unreadable. */
  cause?: unknown;
}

/** What is wrong with a log: ends its verification. */
export class Finding extends Error {
  readonly seq?: number;

  constructor(
    readonly verdict: Exclude<VerdictName, "valid">,
    message: string,
    details: { seq?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: details.cause });
    if (details.seq !== undefined) this.seq = details.seq;
  }
}

export function changedEntry(seq: number, message: string): Finding {
  return new Finding("changed", message, { seq });
}
