export type ArchiveErrorCode =
  /** A text that is no age recipient and no SSH public key that can be encrypted to. */
  | "invalid_recipient"
  /** Recipients that age does not let stand together. */
  | "mixed_recipients"
  /** A text that holds no private key that can be used here. */
  | "invalid_identity"
  /** A private key that needs its passphrase, or another one than was given. */
  | "locked_identity"
  /** Private keys that have to be decrypted elsewhere first: the message says how. */
  | "unsupported_identity"
  /** The facts given for the manifest do not pass its schema. */
  | "invalid_manifest"
  /** A file name that no archive may hold, or one that was given twice. */
  | "invalid_name"
  /** What is written was not the same both times it was read. */
  | "changed"
  /** More than an archive may hold: see `archiveLimits`. */
  | "over_limit"
  /** The caller's signal ended it. */
  | "aborted"
  /** Neither gzip nor tar nor age, or a tar without a manifest. */
  | "not_an_archive"
  /** Encrypted, and none of the identities fits. */
  | "locked_archive"
  /** Bytes were changed or are missing. Never leaves `readArchive`, which makes it a problem. */
  | "damaged";

/**
 * The one error class of archives. Messages hold names and numbers, never a key, a passphrase or content. Errors of the
 * system (`ENOENT`, `EEXIST`, `ENOSPC`) pass as they are.
 */
export class ArchiveError extends Error {
  override readonly name = "ArchiveError";
  readonly code: ArchiveErrorCode;

  constructor(code: ArchiveErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** An error that something else than the bytes read is to blame for: it goes on as it is. */
export function isOwnError(error: unknown): boolean {
  return error instanceof ArchiveError || typeof (error as NodeJS.ErrnoException)?.syscall === "string";
}

/** What a reader of bytes threw, as damage, unless the bytes are not to blame. */
export function asDamage(error: unknown, message: string): unknown {
  return isOwnError(error) ? error : new ArchiveError("damaged", message, { cause: error });
}
