import type { StoredEntry } from "@satchel/journal";
import { holdsPhrase, textsIn } from "../domain/subject.js";
import type { StoredAnswer } from "../store/store.js";

/*
 * The texts in the records of calls that came from content or from callers. Our own names of tools, members, outcomes
 * and kinds are no text of anybody; who called and through what is not content (pcp section 10).
 */

/** Of ids that we make. */
const madeId =
  /^(?:[a-z]{2,3}_[0-9a-hjkmnp-tv-z]{26}|(?:call|turn|item)_[0-9a-f-]{36}|(?:run|ses)_[0-9a-f]{32}|mapped:[0-9a-f]{64}|semantic_receipt:[0-9a-f]{32})$/;
/** Of calls whose targets are pages and proposals; elsewhere they are users, partitions, settings and the like. */
const contentCategory = /^(?:memory|memory\.sensitive|review|erase|export)$/;
const ownTarget = /^profile\.(?:core|team)$|(?:^|\/)_index$/;

interface Envelope {
  callId?: string;
  correlation?: Record<string, string>;
  idempotencyKey?: string | null;
  currentRevision?: unknown;
  content?: { references?: unknown };
  artifactRefs?: unknown;
  targets?: unknown;
  causalRefs?: unknown;
}

/** Of an envelope or an audit entry; none of other entries. */
export function callTexts({ kind, openings }: StoredEntry): string[] {
  const [first, second] = openings;
  const head = first ? JSON.parse(first.body) : {};
  const detail = second ? JSON.parse(second.body) : {};
  if (kind === "audit") {
    const targets: string[] = contentCategory.test(head.category ?? "") ? (detail.targets ?? []) : [];
    return [...targets.map((target) => target.replace(ownTarget, "")), detail.call_id ?? ""].filter(isForeign);
  }
  return kind.startsWith("prp.") ? envelopeTexts(head).filter(isForeign) : [];
}

function envelopeTexts(envelope: Envelope): string[] {
  const { callId, correlation, idempotencyKey, currentRevision, content, artifactRefs, targets, causalRefs } = envelope;
  const references = [content?.references, artifactRefs, targets, causalRefs].flat() as (
    | { id?: unknown }
    | undefined
  )[];
  const ids = references.map((reference) => reference?.id);
  return [callId, ...Object.values(correlation ?? {}), idempotencyKey, currentRevision, ...ids].filter(
    (id) => typeof id === "string",
  );
}

function isForeign(text: string): boolean {
  return text !== "" && !madeId.test(text);
}

/**
 * Of an answer that is kept for its key: the page it needs or names, or the members it changed. Only its page may hold
 * these; the rest of it is in our own words.
 */
export function answerTexts({ needs, result = "" }: Pick<StoredAnswer, "needs" | "result">): string[] {
  const { structuredContent } = result === "" ? {} : JSON.parse(result);
  return [needs?.page?.path ?? "", ...textsIn([structuredContent?.path, structuredContent?.changed])];
}

export function holdsPhraseInAny(texts: string[], phrase: string): boolean {
  return texts.some((text) => holdsPhrase(text, phrase));
}
