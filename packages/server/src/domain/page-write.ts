import { coversScope, titleFromBody } from "@satchel/pcp";
import { type Access, includesPart, isInPerson, needsReview, readableParts, rightsIn } from "./access.js";
import type { PageContent, PageKeys, PageRecord, PageVersion, Part, Relation, Sensitivity } from "./records.js";
import { missingScope, type Refusal } from "./refusal.js";

/** What a client asks to be written at a path. */
export interface WriteRequest {
  path: string;
  head: string;
  body: string;
  /** Absent: the client said nothing about the keys, so an existing page keeps its own. */
  keys?: Partial<PageKeys>;
  expectedUpdated?: string;
}

/** What the store holds when the write is decided. */
export interface WriteState {
  /** The live page at this path or at a twin of it, if the caller may read it. */
  existing?: PageVersion;
  /** There is one that the caller may not read. */
  isTakenUnseen: boolean;
  /** Of the existing page's links, the paths this caller is not shown: a write of its keeps them. */
  hiddenLinks: ReadonlySet<string>;
}

export interface DecidedWrite extends PageContent, Part {
  /** Whether the page itself changes, or a revision is stored for review. */
  outcome: "apply" | "propose";
}

const defaultPartition = "main";

/**
 * Decides a write (pcp sections 2-5): twins, optimistic concurrency, partition, sensitivity, rights, review, and what an
 * assistant may not claim. Pure. What the caller may not read takes part only in the one exception the design names: a
 * write to a path taken by an unseen page becomes a proposal.
 */
export function decideWrite(access: Access, request: WriteRequest, state: WriteState): DecidedWrite | Refusal {
  const { existing } = state;
  if (existing && existing.path !== request.path) return twinConflict(request.path, existing.path);
  const moved = verifyExpectedUpdated(request, existing);
  if (moved) return moved;
  const part = choosePart(request, existing);
  const outcome = chooseOutcome(access, part, state);
  if (typeof outcome !== "string") return outcome;
  const content = existing && !request.keys ? keepKeys(existing, request) : setKeys(request, state);
  const mayClaim = outcome === "propose" || isInPerson(access.caller);
  return { ...content, keys: mayClaim ? content.keys : withoutClaims(content.keys), ...part, outcome };
}

/** Decides a proposal: the same page, never applied. Its base was chosen before, so nothing can have moved. */
export function decideProposal(access: Access, request: WriteRequest, state: WriteState): DecidedWrite | Refusal {
  const { existing } = state;
  if (existing && existing.path !== request.path) return twinConflict(request.path, existing.path);
  const part = choosePart(request, existing);
  const refused = verifyProposal(access, part, state);
  if (refused) return refused;
  const content = existing && !request.keys ? keepKeys(existing, request) : setKeys(request, state);
  return { ...content, ...part, outcome: "propose" };
}

function twinConflict(path: string, existingPath: string): Refusal {
  return {
    refused: "conflict",
    code: "path_conflict",
    message: `"${path}" differs only by case from the existing page "${existingPath}". Write to that path or choose another name.`,
  };
}

export function verifyExpectedUpdated(
  request: { path: string; expectedUpdated?: string },
  existing: { updated: string; version: string } | undefined,
): Refusal | undefined {
  const { path, expectedUpdated } = request;
  if (expectedUpdated === undefined || expectedUpdated === existing?.updated) return undefined;
  const message = existing
    ? `"${path}" was updated at ${existing.updated}, not ${expectedUpdated}. Read it again and repeat the write with that value.`
    : `There is no page at "${path}". Leave expected_updated out to create it.`;
  return { refused: "conflict", message, ...(existing && { currentRevision: existing.version }) };
}

function choosePart({ path, keys }: WriteRequest, existing: PageRecord | undefined): Part {
  const usual: Sensitivity = path.startsWith("style/") ? "sensitive" : "normal";
  return {
    partition: keys?.partition ?? existing?.partition ?? defaultPartition,
    sensitivity: keys?.sensitivity ?? existing?.sensitivity ?? usual,
  };
}

function chooseOutcome(access: Access, part: Part, state: WriteState): "apply" | "propose" | Refusal {
  const { existing, isTakenUnseen } = state;
  const involved = existing ? [part.partition, existing.partition] : [part.partition];
  const writesAll = involved.every((name) => rightsIn(access, name).includes("write"));
  const reviewed = access.partitions.some((known) => involved.includes(known.name) && needsReview(access, known));
  if (writesAll && !reviewed && !isTakenUnseen) return "apply";
  return verifyProposal(access, part, state) ?? "propose";
}

function verifyProposal(access: Access, part: Part, { existing }: WriteState): Refusal | undefined {
  if (!coversScope(access.caller.scopes, "memory:propose")) return missingScope(["memory:write", "memory:propose"]);
  const rights = rightsIn(access, part.partition);
  if (rights.includes("propose")) return undefined;
  const isKnown = readableParts(access).some(({ partition }) => partition === part.partition);
  if (!isKnown) {
    const message = `There is no partition "${part.partition}". partition_list shows those you can write to.`;
    return { refused: "not_found", message };
  }
  const what = existing ? `The page "${existing.path}"` : `The partition "${part.partition}"`;
  return {
    refused: "forbidden",
    message: `${what} is not yours to change. Ask an owner for the right to propose or write.`,
  };
}

function keepKeys(existing: PageContent, { head, body }: WriteRequest): PageContent {
  const kept = head || existing.head;
  return { head: kept === "" || kept.endsWith("\n") ? kept : `${kept}\n`, body, keys: existing.keys };
}

function setKeys({ path, head, body, keys = {} }: WriteRequest, { existing, hiddenLinks }: WriteState): PageContent {
  const set: PageKeys = { ...keys, title: keys.title ?? titleFromBody(body, path) };
  const isGiven = ({ rel, target }: Relation) => set.relations?.some((own) => own.rel === rel && own.target === target);
  const hiddenRelations = existing?.keys.relations?.filter((one) => hiddenLinks.has(one.target) && !isGiven(one)) ?? [];
  const hiddenSources =
    existing?.keys.derived_from?.filter((from) => hiddenLinks.has(from) && !set.derived_from?.includes(from)) ?? [];
  if (hiddenRelations.length > 0) set.relations = [...(set.relations ?? []), ...hiddenRelations];
  if (hiddenSources.length > 0) set.derived_from = [...(set.derived_from ?? []), ...hiddenSources];
  return { head, body, keys: set };
}

/** `source.origin: user` and `lifecycle: validated` hold only from a user in person or through an approval (pcp section 3). */
function withoutClaims(keys: PageKeys): PageKeys {
  const checked = { ...keys };
  if (checked.lifecycle === "validated") checked.lifecycle = "active";
  if (checked.source?.origin === "user") checked.source = { ...checked.source, origin: "chat" };
  return checked;
}

/** Whether a page that lies at `from` may come to lie at `to` (pcp section 3): both ends written, and no lowering unseen. */
export function verifyMove(access: Access, from: Part | undefined, to: Part): Refusal | undefined {
  if (!from) return undefined;
  const changes = from.partition !== to.partition || (from.sensitivity === "sensitive" && to.sensitivity === "normal");
  if (!changes) return undefined;
  const writesBoth = [from.partition, to.partition].every((name) => rightsIn(access, name).includes("write"));
  if (writesBoth && includesPart(readableParts(access), from)) return undefined;
  return {
    refused: "forbidden",
    message: "Approving this would move the page or lower its sensitivity, and that needs write in both partitions.",
  };
}

/** Whether the caller may end a page, or bring a version of it back into `to`: neither has a form that can be reviewed. */
export function verifyDirectChange(access: Access, from: Part, to: Part = from): Refusal | undefined {
  const isOpen = [from.partition, to.partition].every((name) => {
    const partition = access.partitions.find((known) => known.name === name);
    return partition && rightsIn(access, name).includes("write") && !needsReview(access, partition);
  });
  if (isOpen) return undefined;
  return { refused: "forbidden", message: "This page is not yours to change. Ask an owner, or propose a change." };
}
