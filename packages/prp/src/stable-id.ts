import { createHash } from "node:crypto";
import { PrpError } from "./errors.js";
import { isSecretText } from "./protected-text.js";

const STABLE_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]*$/;
const MAX_SCHEMA_LENGTH = 240;
const MAX_LENGTH = 160;
const MAPPED = /^mapped:[0-9a-f]{64}$/;

/** A stableId of the envelope schema: 1 to 240 characters, letters, digits and ". _ : -", a letter or digit first. */
export function isStableId(id: string): boolean {
  return id.length <= MAX_SCHEMA_LENGTH && STABLE_ID.test(id);
}

// As JSON, so that 1 and "1" differ, and halves of surrogate pairs are escaped instead of becoming one character.
function mapId(id: string | number): string {
  return `mapped:${createHash("sha256").update(JSON.stringify(id)).digest("hex")}`;
}

/**
 * A stableId of at most 160 characters for any id: a fitting text is its own, everything else (a number, a text of any
 * other form, one that looks mapped already) becomes `mapped:` and a SHA-256. Different ids stay different, and the same
 * id always gives the same. Throws PrpError `bad_identity` for a number that is not finite or what is neither.
 */
export function toStableId(id: string | number): string {
  if (typeof id === "number" ? !Number.isFinite(id) : typeof id !== "string")
    throw new PrpError("bad_identity", "An id is neither a text nor a finite number.");
  const fits = typeof id === "string" && id.length <= MAX_LENGTH && STABLE_ID.test(id) && !MAPPED.test(id);
  return fits ? id : mapId(id);
}

/** Like `toStableId`, and a text with the form of a credential is mapped as well. */
export function toSafeId(id: string | number): string {
  return typeof id === "string" && isSecretText(id) ? mapId(id) : toStableId(id);
}
