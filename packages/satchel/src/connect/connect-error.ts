/**
 * Why a client could not be connected:
 * - `invalid_option`: a path is not absolute, or a platform or client is not known;
 * - `configuration_unparsable`: the client's file is not what its format says; `position` tells where;
 * - `configuration_conflict`: the file parses, but has no room for our entry without touching something else;
 * - `configuration_changed`: the file was written by somebody else in the meantime;
 * - `configuration_io`: the file could not be read or written; `cause` is the system's error.
 *
 * In every case the client's file is as it was.
 */
export type ConnectErrorCode =
  | "invalid_option"
  | "configuration_unparsable"
  | "configuration_conflict"
  | "configuration_changed"
  | "configuration_io";

/** 1-based, as editors count. */
export interface Position {
  line: number;
  column: number;
}

export interface ConnectErrorDetails {
  file?: string;
  position?: Position;
  cause?: unknown;
}

function describePlace({ file, position }: ConnectErrorDetails): string {
  if (!position) return file ? `${file}: ` : "";
  return file ? `${file}:${position.line}:${position.column}: ` : `line ${position.line}, column ${position.column}: `;
}

export class ConnectError extends Error {
  readonly code: ConnectErrorCode;
  readonly file: string | undefined;
  readonly position: Position | undefined;
  /** The message without its place. */
  readonly reason: string;

  constructor(code: ConnectErrorCode, reason: string, details: ConnectErrorDetails = {}) {
    super(describePlace(details) + reason, "cause" in details ? { cause: details.cause } : undefined);
    this.name = "ConnectError";
    this.code = code;
    this.reason = reason;
    this.file = details.file;
    this.position = details.position;
  }

  /** The same error, naming the file. */
  in(file: string): ConnectError {
    return new ConnectError(this.code, this.reason, { file, position: this.position, cause: this });
  }
}
