import { PcpError } from "./errors.js";

/** page, version, revision, decision, export, audit entry, erasure receipt (pcp section 2). */
export const ID_PREFIXES = ["pg", "ver", "rev", "dec", "exp", "aud", "era"] as const;

export type IdPrefix = (typeof ID_PREFIXES)[number];

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
// 26 digits carry 130 bits, so the first one holds only three of the 128.
const DIGITS = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/**
 * `prefix_` and the UUID's 128 bits in Crockford base32, 26 lower-case characters. The text order of ids with
 * one prefix is the order of their UUIDs, so UUIDv7 ids sort by time. Throws PcpError `internal` for anything
 * that is not a UUID: ids are made by the server, so that is a fault of ours.
 */
export function encodeId(prefix: IdPrefix, uuid: string): string {
  if (!UUID.test(uuid)) throw new PcpError("internal", "An id was built from something that is not a UUID.");
  let digits = "";
  // 26 digits carry 130 bits: two before the first of the UUID.
  let bits = 0;
  let count = 2;
  for (const nibble of uuid.replaceAll("-", "")) {
    bits = ((bits << 4) | Number.parseInt(nibble, 16)) & 0xff;
    count += 4;
    if (count < 5) continue;
    count -= 5;
    digits += ALPHABET.charAt((bits >> count) & 31);
  }
  return `${prefix}_${digits}`;
}

/** True when the text has the exact form `encodeId` gives for this prefix; says nothing about existence. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return text.startsWith(`${prefix}_`) && DIGITS.test(text.slice(prefix.length + 1));
}
