import { createHash } from "node:crypto";
import { parsePath } from "@satchel/pcp";

const SLUG_CHARACTERS = 48;
const PLAIN_ID = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** Lower-case letters and digits of any script, joined by single dashes; "" when there are none. */
export function slugOf(text: string): string {
  const words = text
    .slice(0, 400)
    .toWellFormed()
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, "-");
  const short = [...words.replace(/^-/, "")].slice(0, SLUG_CHARACTERS).join("");
  return short.replace(/-$/, "").normalize("NFC");
}

/** Twelve hexadecimal digits of SHA-256: the same for the same parts, whatever lies between them. */
export function digestOf(...parts: readonly (string | undefined)[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 12);
}

/** An id as a path may hold it: itself where it is plain, else its digest. */
export function idPart(id: string): string {
  return PLAIN_ID.test(id) && parsePath(id).ok ? id : `${slugOf(id).slice(0, 24) || "id"}-${digestOf(id)}`;
}

/** `<date>-<slug>-<digest>`: readable, and the same each time for the same entry. */
export function datedPart({ at, text, key }: { at?: string | undefined; text: string; key?: string }): string {
  const slug = slugOf(text);
  return [at?.slice(0, 10) ?? "undated", ...(slug === "" ? [] : [slug]), digestOf(at, key ?? text)].join("-");
}

/** A file's name as a page path that `parsePath` takes; a name that has to change gets a digest, so that none meet. */
export function pathOfName(name: string): string {
  const plain = name.replace(/\.(md|markdown)$/i, "");
  if (parsePath(`${plain}.md`).ok && [...plain].length <= 200) return plain;
  const parts = plain.split("/").map((part) => slugOf(part) || "_");
  return `${[...parts.join("/")].slice(0, 150).join("").replace(/\/$/, "")}-${digestOf(name)}`;
}
