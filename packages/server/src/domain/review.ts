import { type Access, includesPart, isInPerson, readableSensitivities, reviewableParts } from "./access.js";
import { mergePages } from "./merge.js";
import { verifyMove } from "./page-write.js";
import type { PageContent, PageVersion, Part, Revision } from "./records.js";
import { isRefusal, type Refusal } from "./refusal.js";

/** What the store holds when a revision is resolved. */
export interface ReviewState {
  revision: Revision;
  /** The live page at the revision's path or a twin of it, whoever may read it. */
  current?: PageVersion;
  /** The version the revision was made from; absent when there was none, and when it was erased. */
  base?: PageContent & Part & { id: string; version: string };
}

/** Whether the caller reviews this revision: it must see both what is proposed and what is there. */
export function isReviewer(access: Access, { revision, current }: { revision: Part; current?: Part }): boolean {
  const parts = reviewableParts(access);
  return includesPart(parts, revision) && (!current || includesPart(parts, current));
}

/** Whether the caller made this revision, as the same user through the same client, and may still see what it holds. */
export function isAuthor(access: Access, { generated, sensitivity }: Revision): boolean {
  const { principal, client } = access.caller;
  const isOwn = generated.principal === principal && generated.client === client;
  return isOwn && readableSensitivities(access).includes(sensitivity);
}

export function noSuchRevision(): Refusal {
  return { refused: "not_found", message: "There is no such revision. review_list shows those you may see." };
}

/** Who may resolve (pcp section 5), in the order of what each refusal tells. */
export function verifyReviewer(access: Access, state: ReviewState): Refusal | undefined {
  const { caller, partitions } = access;
  const { revision, current } = state;
  const reviews = isReviewer(access, state);
  if (!reviews && !isAuthor(access, revision)) return noSuchRevision();
  if (revision.state !== "proposed") {
    return {
      refused: "conflict",
      code: "revision_resolved",
      message: `This revision is ${revision.state} already. A resolved revision is final.`,
    };
  }
  if (!isInPerson(caller)) {
    return {
      refused: "forbidden",
      code: "approval_required",
      message: "A person has to decide this. Ask the owner to review it: satchel review list.",
    };
  }
  if (!reviews) {
    return refuseReviewer("This proposal is yours, and it is for others to decide.");
  }
  const involved = new Set([revision.partition, current?.partition]);
  const needsAnother = partitions.some(({ name, fourEyes }) => fourEyes && involved.has(name));
  if (needsAnother && revision.generated.principal === caller.principal) {
    return refuseReviewer("This partition wants another user than the author to decide.");
  }
  return undefined;
}

function refuseReviewer(message: string): Refusal {
  return { refused: "forbidden", code: "reviewer_denied", message };
}

/** The page that an approval makes: the revision itself, or merged with what was written meanwhile (pcp section 5). */
export function decideApproval(access: Access, state: ReviewState): (PageContent & Part) | Refusal {
  const { revision, current } = state;
  if (current && current.path !== revision.path) {
    return movedOn(`"${revision.path}" differs only by case from the existing page "${current.path}".`, current);
  }
  const result = isUnmoved(state) ? { ...contentOf(revision), ...partOf(revision) } : merge(state);
  if (isRefusal(result)) return result;
  return verifyMove(access, current, result) ?? result;
}

/** A base that is named and was not found was erased: what the proposal was made from is not known any more. */
function isUnmoved({ revision, current, base }: ReviewState): boolean {
  if (revision.base === undefined) return current === undefined;
  return base !== undefined && base.version === current?.version;
}

function merge({ revision, current, base }: ReviewState): (PageContent & Part) | Refusal {
  if (!current) return movedOn(`The page "${revision.path}" was removed since.`);
  if (base && base.id !== current.id)
    return movedOn(`The page "${revision.path}" was removed and made anew since.`, current);
  const merged = base && mergePages({ base, theirs: current, proposed: revision });
  const partition = base && mergeValue(base.partition, current.partition, revision.partition);
  const sensitivity = base && mergeValue(base.sensitivity, current.sensitivity, revision.sensitivity);
  if (merged && partition && sensitivity) return { ...merged, partition, sensitivity };
  return movedOn(`"${revision.path}" was changed in the same places since (now at ${current.updated}).`, current);
}

function mergeValue<Value>(base: Value, theirs: Value, proposed: Value): Value | undefined {
  if (theirs === base || theirs === proposed) return proposed;
  return proposed === base ? theirs : undefined;
}

function partOf({ partition, sensitivity }: Part): Part {
  return { partition, sensitivity };
}

function contentOf({ head, body, keys }: PageContent): PageContent {
  return { head, body, keys };
}

function movedOn(what: string, current?: PageVersion): Refusal {
  return {
    refused: "conflict",
    ...(current && { currentRevision: current.version }),
    message: `${what} The proposal stays: reject it, or propose it anew from the present page.`,
  };
}
