import { canonicalJson, digestOf, digestOfCanonical } from "./canonical-json.js";
import type { SafeContent } from "./envelope.js";
import { PrpError } from "./errors.js";
import { isJsonObject } from "./json.js";
import { appendPointer } from "./json-pointer.js";
import { findProtected } from "./protected-data.js";
import type { ReceiptCode } from "./receipt-codes.js";
import { REDACTED, redact } from "./redaction.js";
import { listReferences, type Reference } from "./references.js";

export interface InputContent {
  /** The whole arguments; absent is `{}`. */
  arguments: unknown;
  /** Names of arguments that are never hashed in the clear, such as what was searched for. */
  withheld?: readonly string[];
  references?: readonly Reference[];
  /** The references are vouched for as the visible part of the content. */
  vouched?: boolean;
}

interface Digest {
  digest: string;
  redacted: boolean;
}

/** Digest of a value, over its redacted form when `find` finds something in it. */
function digestSafely(value: unknown, find: (value: unknown) => string[]): Digest {
  const text = writeCanonical(value);
  if (text === undefined) return { digest: digestOf(REDACTED), redacted: true };
  const pointers = find(value);
  if (pointers.length === 0) return { digest: digestOfCanonical(text), redacted: false };
  return { digest: digestOf(redact(value, pointers)), redacted: true };
}

// What has no canonical text was refused before dispatch; its envelopes say only that.
function writeCanonical(value: unknown): string | undefined {
  try {
    return canonicalJson(value);
  } catch (error) {
    if (error instanceof PrpError) return undefined;
    throw error;
  }
}

function omit(value: unknown, name: string): unknown {
  if (!isJsonObject(value) || !Object.hasOwn(value, name)) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => key !== name));
}

/** The digest and form of arguments: without the top-level `idempotencyKey`, which the envelope has beside it. */
export function digestInput({
  arguments: args = {},
  withheld = [],
}: Pick<InputContent, "arguments" | "withheld">): Digest {
  return digestSafely(omit(args, "idempotencyKey"), (value) => {
    const named = isJsonObject(value) ? withheld.filter((name) => Object.hasOwn(value, name)) : [];
    return [...named.map((name) => appendPointer("", name)), ...findProtected(value)];
  });
}

export const SHOWN_OUTCOMES: ReadonlySet<string> = new Set(["succeeded", "duplicate", "failed"]);

/** The digest and form of a tool's result: all of it but `_meta`. */
export function digestResult(result: unknown): Digest {
  return digestSafely(omit(result, "_meta"), findInResult);
}

/** A text block that is the structured content once more is protected exactly when that is, and not searched again. */
function findInResult(result: unknown): string[] {
  if (!isJsonObject(result) || !Array.isArray(result.content) || result.content.length !== 1)
    return findProtected(result);
  const { structuredContent, content } = result;
  if (structuredContent === undefined || content[0]?.text !== JSON.stringify(structuredContent))
    return findProtected(result);
  const found = findProtected({ ...result, content: [] });
  return found.length === 0 ? found : [...found, "/content/0/text"];
}

/** What stands for a call that gave no result away: its code. */
export function digestCode(code: ReceiptCode): Digest {
  return { digest: digestOf({ code }), redacted: code === "protected_data_denied" };
}

interface Visible {
  references?: readonly Reference[];
  vouched?: boolean;
}

export function buildContent({ digest, redacted }: Digest, { references, vouched }: Visible): SafeContent {
  const listed = listReferences(references);
  const open = vouched && listed.length > 0 ? "allowlisted_references" : "digest_only";
  return { digest, redactionDisposition: redacted ? "redacted" : open, references: listed };
}
