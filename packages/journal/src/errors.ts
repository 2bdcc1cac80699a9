export type JournalErrorCode =
  /** A key text that is no key, or a key that may not be used here. */
  | "bad_key"
  /** A text that is no signed note or no checkpoint. */
  | "bad_note"
  /** A signature by a known key that does not fit. */
  | "bad_signature"
  /** A note that none of the given keys signed. */
  | "unknown_key"
  /** An entry, a body or a request that can't be written. */
  | "bad_entry"
  | "no_such_entry"
  /** No checkpoint covers the entry yet. */
  | "no_checkpoint"
  /** The log has no entry 0. */
  | "not_started"
  | "already_started"
  /** What is stored contradicts itself. `seq` names the entry, when it is one. */
  | "damaged";

/** The one error class of this package. Messages hold ids and numbers, never bodies. */
export class JournalError extends Error {
  readonly code: JournalErrorCode;
  readonly seq?: number;

  constructor(code: JournalErrorCode, message: string, details: { seq?: number; cause?: unknown } = {}) {
    super(message, "cause" in details ? { cause: details.cause } : undefined);
    this.name = "JournalError";
    this.code = code;
    if (details.seq !== undefined) this.seq = details.seq;
  }
}
