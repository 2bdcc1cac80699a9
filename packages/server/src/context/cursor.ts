import { createHash, hkdfSync } from "node:crypto";
import { findProtected } from "@satchel/prp";
import type { Environment } from "./context.js";
import { openBytes, type SealedFor, sealBytes, sealOverheadBytes } from "./sealed-bytes.js";

/** A cursor is good for an hour (pcp section 7). */
export const cursorLifetimeMs = 3_600_000;

/** Where a listing goes on. Kept short: the sealed form must fit in 512 characters. */
export interface CursorPosition {
  /** The recorded time the first page was answered at, milliseconds. */
  snapshotMs: number;
  /** The last item that was returned. */
  id: string;
  /** Of a search: its last score, whether it had fallen back to stale pages, and where its listing goes on. */
  search?: { score: number; fallback: boolean; listing: Uint8Array };
}

export interface CursorSubject {
  tool: string;
  grant: string;
  /** Everything that selects and orders the results, without limit and cursor. */
  query: unknown;
}

export interface CursorSeal {
  seal(subject: CursorSubject, position: CursorPosition): string;
  /** Undefined when tampered with, of another grant or query, or older than an hour. */
  open(subject: CursorSubject, cursor: string): CursorPosition | undefined;
}

/** AES-256-GCM; the subject is authenticated data, so a cursor opens only for the grant and query it was made for. */
export function createCursorSeal(contextKey: Buffer, environment: Environment): CursorSeal {
  const key = Buffer.from(hkdfSync("sha256", contextKey, "", "satchel/cursor/v1", 32));
  return {
    seal(subject, position) {
      const text = encode(environment.now(), position);
      const seal = () =>
        sealBytes({ key, subject: digestOf(subject) }, text, environment.randomBytes).toString("base64url");
      let cursor = seal();
      while (findProtected(cursor).length > 0) cursor = seal(); // By chance; its receipt would be that of an answer with a credential.
      return cursor;
    },
    open(subject, cursor) {
      const text = unseal({ key, subject: digestOf(subject) }, cursor);
      const { issuedMs, position } = text ? decode(text) : {};
      if (issuedMs === undefined || environment.now() - issuedMs > cursorLifetimeMs) return undefined;
      return position;
    },
  };
}

/** JSON in one line, then the listing's bytes. */
function encode(issuedMs: number, { snapshotMs, id, search }: CursorPosition): Buffer {
  const fields = [issuedMs, snapshotMs, id, ...(search ? [search.score, search.fallback ? 1 : 0] : [])];
  return Buffer.concat([Buffer.from(`${JSON.stringify(fields)}\n`), search?.listing ?? Buffer.alloc(0)]);
}

function decode(text: Buffer): { issuedMs: number; position: CursorPosition } {
  const end = text.indexOf("\n");
  const [issuedMs, snapshotMs, id, score, fallback] = JSON.parse(text.subarray(0, end).toString("utf8"));
  const listing = text.subarray(end + 1);
  const search = score === undefined ? {} : { search: { score, fallback: fallback === 1, listing } };
  return { issuedMs, position: { snapshotMs, id, ...search } };
}

function digestOf({ tool, grant, query }: CursorSubject): Buffer {
  return createHash("sha256")
    .update(JSON.stringify([tool, grant, query]))
    .digest();
}

function unseal(sealedFor: SealedFor, cursor: string): Buffer | undefined {
  const sealed = Buffer.from(cursor, "base64url");
  // Decoding is lenient: more than one text gives these bytes, and only ours counts.
  if (sealed.length <= sealOverheadBytes || sealed.toString("base64url") !== cursor) return undefined;
  try {
    return openBytes(sealedFor, sealed);
  } catch {
    return undefined;
  }
}
