import { encodeId, twinKey } from "@satchel/pcp";
import { type Access, type Caller, includesPart, readableParts, rightsIn } from "../domain/access.js";
import { headFor } from "../domain/merge.js";
import type { Decision, PageKeys, PageVersion, Part, RevisionState } from "../domain/records.js";
import { isRefusal, type Refusal } from "../domain/refusal.js";
import { decideApproval, noSuchRevision, type ReviewState, verifyReviewer } from "../domain/review.js";
import type { WriteTransaction } from "../store/store.js";
import { loadAccess } from "./access.js";
import type { Context } from "./context.js";
import { applyWrite, checkSecrets } from "./write-page.js";

export const reviewVerbs = ["approve", "reject", "satchel:approve_archive", "satchel:defer"] as const;
export type ReviewVerb = (typeof reviewVerbs)[number];

export interface ResolveInput {
  path: string;
  revision: string;
  verb: ReviewVerb;
  note?: string;
}

export interface ResolvedRevision extends Part {
  path: string;
  revision: string;
  state: RevisionState;
  decision: string;
  updated?: string;
  /** The page's version after the call, where there is a page. */
  version?: string;
}

/** `review_resolve` (pcp section 5): one decision, final unless it defers. Refuses with not_found, forbidden, conflict, invalid_input (a credential in the note). */
export async function resolveRevision(
  context: Context,
  caller: Caller,
  input: ResolveInput,
): Promise<ResolvedRevision | Refusal> {
  const secrets = await checkSecrets(context, input.note ?? "");
  if (isRefusal(secrets)) return secrets;
  return context.store.write(async (transaction) => {
    const access = await loadAccess(transaction, caller);
    const state = await loadReviewState(transaction, input);
    if (!state) return noSuchRevision();
    const refused = verifyReviewer(access, state);
    if (refused) return refused;
    const decision = await newDecision(context, transaction, { caller, input });
    const { revision: id, path } = input;
    const { partition, sensitivity } = state.revision;
    const resolved = { path, revision: id, decision: decision.id, partition, sensitivity };
    const version = state.current?.version;
    if (input.verb === "reject" || input.verb === "satchel:defer") {
      const outcome = input.verb === "reject" ? "rejected" : "proposed";
      await transaction.decideRevision(id, outcome, decision);
      return { ...resolved, state: outcome, ...(version !== undefined && { version }) };
    }
    const approved = await approve(context, transaction, { access, state, decision, verb: input.verb });
    if (isRefusal(approved)) return approved;
    await transaction.decideRevision(id, "approved", decision);
    return { ...resolved, state: "approved", ...approved };
  });
}

async function loadReviewState(
  transaction: WriteTransaction,
  { path, revision: id }: ResolveInput,
): Promise<ReviewState | undefined> {
  const revision = await transaction.revision(id);
  if (!revision || revision.path !== path) return undefined;
  const page = await transaction.page({ twinKey: twinKey(path) });
  const base = revision.base === undefined ? undefined : await transaction.version(revision.base);
  return { revision, ...(page && { current: await transaction.currentVersion(page) }), ...(base && { base }) };
}

async function newDecision(
  context: Context,
  transaction: WriteTransaction,
  { caller, input }: { caller: Caller; input: ResolveInput },
): Promise<Decision> {
  const at = await transaction.tick(context.environment.now());
  return {
    id: encodeId("dec", context.environment.newUuid()),
    by: { principal: caller.principal, client: caller.client, at },
    ...(input.note !== undefined && { note: input.note }),
  };
}

/** @returns the new `updated` and version of the page */
async function approve(
  context: Context,
  transaction: WriteTransaction,
  approval: { access: Access; state: ReviewState; decision: Decision; verb: ReviewVerb },
): Promise<{ updated: string; version: string } | Refusal> {
  const { access, state, decision, verb } = approval;
  const content = decideApproval(access, state);
  if (isRefusal(content)) return content;
  const { revision, current } = state;
  const { caller } = access;
  const superseded =
    verb === "approve" ? [] : await findSuperseded(transaction, access, { ...content, path: state.revision.path });
  if (isRefusal(superseded)) return superseded;
  const { updated, version } = await applyWrite(context, transaction, {
    caller,
    path: revision.path,
    decided: content,
    approved: { author: revision.generated, review: decision },
    ...(current && { existing: current }),
  });
  for (const page of superseded) {
    const keys = { ...page.keys, lifecycle: "archived" as const };
    const decided = { ...page, keys, head: headFor(keys, page) };
    await applyWrite(context, transaction, { caller, path: page.path, existing: page, decided });
  }
  return { updated, version };
}

/** The other pages that the approved one supersedes, each once; each has to be the reviewer's to write. */
async function findSuperseded(
  transaction: WriteTransaction,
  access: Access,
  approved: { path: string; keys: PageKeys },
): Promise<PageVersion[] | Refusal> {
  const found: PageVersion[] = [];
  const named = (approved.keys.relations ?? []).filter(({ rel }) => rel === "supersedes");
  for (const target of new Set(named.map((relation) => relation.target))) {
    const page = target === approved.path ? undefined : await transaction.page({ path: target });
    if (!page || !includesPart(readableParts(access), page)) continue;
    if (!rightsIn(access, page.partition).includes("write")) {
      return {
        refused: "forbidden",
        message: `"${target}" is superseded, and archiving it needs write in its partition.`,
      };
    }
    found.push(await transaction.currentVersion(page));
  }
  return found;
}
