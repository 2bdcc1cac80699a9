import { createCipheriv, createDecipheriv, createHash, hkdfSync } from "node:crypto";
import type { Environment } from "./context.js";

/** A cursor is good for an hour (pcp section 7). */
export const cursorLifetimeMs = 3_600_000;

/** Where a listing goes on. Kept short: the sealed form must fit in 512 characters. */
export interface CursorPosition {
  /** The recorded time the first page was answered at, milliseconds. */
  snapshotMs: number;
  /** The last page that was returned. */
  id: string;
  score?: number;
  /** The listing had fallen back to stale pages. */
  fallback?: boolean;
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

const ivBytes = 12;
const tagBytes = 16;

/** AES-256-GCM; the subject is authenticated data, so a cursor opens only for the grant and query it was made for. */
export function createCursorSeal(contextKey: Buffer, environment: Environment): CursorSeal {
  const key = Buffer.from(hkdfSync("sha256", contextKey, "", "satchel/cursor/v1", 32));
  return {
    seal(subject, position) {
      const iv = environment.randomBytes(ivBytes);
      const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(digestOf(subject));
      const text = JSON.stringify([environment.now(), position]);
      return Buffer.concat([iv, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]).toString(
        "base64url",
      );
    },
    open(subject, cursor) {
      const [issuedMs, position] = unseal(key, digestOf(subject), cursor) ?? [];
      if (issuedMs === undefined || environment.now() - issuedMs > cursorLifetimeMs) return undefined;
      return position;
    },
  };
}

function digestOf({ tool, grant, query }: CursorSubject): Buffer {
  return createHash("sha256")
    .update(JSON.stringify([tool, grant, query]))
    .digest();
}

function unseal(key: Buffer, subject: Buffer, cursor: string): [number, CursorPosition] | undefined {
  const sealed = Buffer.from(cursor, "base64url");
  // Decoding is lenient: more than one text gives these bytes, and only ours counts.
  if (sealed.length <= ivBytes + tagBytes || sealed.toString("base64url") !== cursor) return undefined;
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, ivBytes), { authTagLength: tagBytes });
    decipher.setAAD(subject).setAuthTag(sealed.subarray(-tagBytes));
    const text = Buffer.concat([decipher.update(sealed.subarray(ivBytes, -tagBytes)), decipher.final()]);
    return JSON.parse(text.toString("utf8"));
  } catch {
    return undefined;
  }
}
