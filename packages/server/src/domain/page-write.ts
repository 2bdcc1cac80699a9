import { coversScope, titleFromBody } from "@satchel/pcp";
import { type Caller, isInPerson, isReadable, partitionRights, readableParts } from "./access.js";
import type { PageContent, PageKeys, PageRecord, Part, PartitionRecord, Sensitivity } from "./records.js";
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
  /** The live page at this path or at a twin of it. */
  existing?: PageRecord & PageContent;
  partitions: PartitionRecord[];
  /** Of the existing page's links, the paths this caller may not see. */
  hiddenLinks: ReadonlySet<string>;
}

export interface DecidedWrite extends PageContent, Part {}

const defaultPartition = "main";

/**
 * Decides a direct write (pcp sections 2-4): twins, optimistic concurrency, partition, sensitivity, rights, and what an
 * assistant may not claim. Pure; the order of the checks is what keeps a hidden page from showing in the answer.
 */
export function decideWrite(caller: Caller, request: WriteRequest, state: WriteState): DecidedWrite | Refusal {
  const { existing, partitions } = state;
  if (existing && !isReadable(readableParts(caller, partitions), existing)) {
    return verifyUnseen(caller, request, partitions) ?? proposalNeeded();
  }
  if (existing && existing.path !== request.path) return twinConflict(request.path, existing.path);
  const moved = verifyExpectedUpdated(request, existing);
  if (moved) return moved;
  const part = choosePart(request, existing);
  const denied = verifyRights(caller, { part, existing, partitions });
  if (denied) return denied;
  const content = existing && !request.keys ? keepKeys(existing, request) : setKeys(request, state);
  return { ...content, keys: isInPerson(caller) ? content.keys : withoutClaims(content.keys), ...part };
}

/** What a write to a page this caller can't see is refused for: exactly what a write to a free path is refused for. */
function verifyUnseen(caller: Caller, request: WriteRequest, partitions: PartitionRecord[]): Refusal | undefined {
  const part = choosePart(request, undefined);
  return verifyExpectedUpdated(request, undefined) ?? verifyRights(caller, { part, partitions });
}

/** Until proposals are stored, what would become one is refused. */
function proposalNeeded(): Refusal {
  return {
    refused: "unsupported",
    message: "This write would become a proposal, and proposals are not available yet. Ask for memory:write.",
  };
}

function twinConflict(path: string, existingPath: string): Refusal {
  return {
    refused: "conflict",
    message: `"${path}" differs only by case from the existing page "${existingPath}". Write to that path or choose another name.`,
  };
}

export function verifyExpectedUpdated(
  request: { path: string; expectedUpdated?: string },
  existing: PageRecord | undefined,
): Refusal | undefined {
  const { path, expectedUpdated } = request;
  if (expectedUpdated === undefined || expectedUpdated === existing?.updated) return undefined;
  const message = existing
    ? `"${path}" was updated at ${existing.updated}, not ${expectedUpdated}. Read it again and repeat the write with that value.`
    : `There is no page at "${path}". Leave expected_updated out to create it.`;
  return { refused: "conflict", message };
}

function choosePart({ path, keys }: WriteRequest, existing: PageRecord | undefined): Part {
  const usual: Sensitivity = path.startsWith("style/") ? "sensitive" : "normal";
  return {
    partition: keys?.partition ?? existing?.partition ?? defaultPartition,
    sensitivity: keys?.sensitivity ?? existing?.sensitivity ?? usual,
  };
}

function verifyRights(
  caller: Caller,
  write: { part: Part; existing?: PageRecord; partitions: PartitionRecord[] },
): Refusal | undefined {
  const target = write.partitions.find((partition) => partition.name === write.part.partition);
  const rights = target ? partitionRights(caller, target) : [];
  if (!coversScope(caller.scopes, "memory:propose")) return missingScope(["memory:write", "memory:propose"]);
  if (!coversScope(caller.scopes, "memory:write")) return proposalNeeded();
  if (!target || !rights.includes("write")) {
    const message = `There is no partition "${write.part.partition}". partition_list shows those you can write to.`;
    return { refused: "not_found", message };
  }
  const lowers = write.existing?.sensitivity === "sensitive" && write.part.sensitivity === "normal";
  return lowers && !coversScope(caller.scopes, "memory.sensitive:read")
    ? missingScope(["memory.sensitive:read"])
    : undefined;
}

function keepKeys(existing: PageContent, { head, body }: WriteRequest): PageContent {
  const kept = head || existing.head;
  return { head: kept === "" || kept.endsWith("\n") ? kept : `${kept}\n`, body, keys: existing.keys };
}

function setKeys({ path, head, body, keys = {} }: WriteRequest, { existing, hiddenLinks }: WriteState): PageContent {
  const set: PageKeys = { ...keys, title: keys.title ?? titleFromBody(body, path) };
  const named = new Set([...(set.relations ?? []).map(({ target }) => target), ...(set.derived_from ?? [])]);
  const isKept = (path: string) => hiddenLinks.has(path) && !named.has(path);
  const hiddenRelations = existing?.keys.relations?.filter(({ target }) => isKept(target)) ?? [];
  const hiddenSources = existing?.keys.derived_from?.filter(isKept) ?? [];
  if (hiddenRelations.length > 0) set.relations = [...(set.relations ?? []), ...hiddenRelations];
  if (hiddenSources.length > 0) set.derived_from = [...(set.derived_from ?? []), ...hiddenSources];
  return { head, body, keys: set };
}

/** `source.origin: user` and `lifecycle: validated` hold only from a user in person (pcp section 3). */
function withoutClaims(keys: PageKeys): PageKeys {
  const checked = { ...keys };
  if (checked.lifecycle === "validated") checked.lifecycle = "active";
  if (checked.source?.origin === "user") checked.source = { ...checked.source, origin: "chat" };
  return checked;
}
