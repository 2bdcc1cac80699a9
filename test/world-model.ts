import { twinKey } from "@satchel/pcp";
import type { Caller } from "@satchel/server";
import type { Effect } from "./world.js";

/*
 * Who may read what, said anew from the design (pcp sections 4-6 and 8) and with none of the product's own rules: the
 * leak suite compares the product with this.
 */

interface Place {
  partition: string;
  sensitivity: string;
}

type Grants = { principal: string; rights: string[] }[];

/** What there is at the end of a history, and what of it one caller may read. */
export interface Sight {
  caller: Caller;
  isOwner: boolean;
  groups: string[];
  grants: Map<string, Grants>;
  /** Ids of the pages whose current or last place the caller may read. */
  pages: Set<string>;
  /** Paths of live pages that it may not. */
  hiddenPaths: Set<string>;
  revisions: Set<string>;
}

export function sightOf(effects: Effect[], caller: Caller): Sight {
  const sight: Sight = {
    caller,
    isOwner: caller.principal === "user:owner",
    groups: [],
    grants: new Map([["main", []]]),
    pages: new Set(),
    hiddenPaths: new Set(),
    revisions: new Set(),
  };
  for (const { method, args } of effects) {
    if (method === "putPartition") sight.grants.set(args[0].name, args[0].grants);
    if (method === "putUser" && args[0].principal === caller.principal) sight.isOwner = args[0].isOwner;
    if (method === "putGroup") putGroup(sight, args[0]);
  }
  const pages = pagesAtEnd(effects);
  for (const [id, page] of pages) {
    if (mayReadPart(sight, page)) sight.pages.add(id);
    else if (page.isLive) sight.hiddenPaths.add(page.path);
  }
  seeRevisions(sight, effects, [...pages.values()]);
  return sight;
}

function putGroup(sight: Sight, group: { principal: string; members: string[] }): void {
  sight.groups = sight.groups.filter((name) => name !== group.principal);
  if (group.members.includes(sight.caller.principal)) sight.groups.push(group.principal);
}

interface LastPage extends Place {
  path: string;
  isLive: boolean;
}

function pagesAtEnd(effects: Effect[]): Map<string, LastPage> {
  const pages = new Map<string, LastPage>();
  for (const { method, args } of effects) {
    if (method !== "createPage" && method !== "addVersion" && method !== "removePage") continue;
    const id = typeof args[0] === "string" ? args[0] : args[0].id;
    const before = pages.get(id);
    if (method === "removePage") {
      if (before) pages.set(id, { ...before, isLive: false });
      continue;
    }
    const { partition, sensitivity, path } = args[1];
    pages.set(id, { partition, sensitivity, path, isLive: true });
  }
  return pages;
}

/** Its author sees a revision, and a reviewer who may see both what is proposed and what is there. */
function seeRevisions(sight: Sight, effects: Effect[], pages: LastPage[]): void {
  const { principal, client } = sight.caller;
  for (const { method, args } of effects) {
    if (method !== "addRevision") continue;
    const [revision] = args;
    const there = pages.find((page) => page.isLive && twinKey(page.path) === twinKey(revision.path));
    const isAuthor = revision.generated.principal === principal && revision.generated.client === client;
    const isReviewer =
      may(sight, revision.partition, "review") && mayReadPart(sight, revision) && (!there || mayReadPart(sight, there));
    if ((isAuthor && coversSensitivity(sight, revision)) || isReviewer) sight.revisions.add(revision.id);
  }
}

const impliedBy: Record<string, string[]> = {
  read: ["read", "write", "review"],
  propose: ["propose", "write"],
  write: ["write"],
  review: ["review"],
};

function may(sight: Sight, partition: string, right: string): boolean {
  const { caller, isOwner, groups } = sight;
  const grants = sight.grants.get(partition);
  if (!grants || !coversRight(caller.scopes, right)) return false;
  const gives = (names: string[]) =>
    grants.some(
      ({ principal, rights }) =>
        names.includes(principal) && impliedBy[right]?.some((sufficient) => rights.includes(sufficient)),
    );
  if (isOwner && ["client:local", "client:web"].includes(caller.client)) return true;
  const limitsClients = grants.some(({ principal }) => principal.startsWith("client:"));
  return (isOwner || gives([caller.principal, ...groups])) && (!limitsClients || gives([caller.client]));
}

function coversRight(scopes: ReadonlySet<string>, right: string): boolean {
  return scopes.has(`memory:${right}`) || (right === "propose" && scopes.has("memory:write"));
}

function coversSensitivity({ caller }: Sight, { sensitivity }: Place): boolean {
  return sensitivity !== "sensitive" || caller.scopes.has("memory.sensitive:read");
}

export function mayReadPart(sight: Sight, place: Place): boolean {
  return may(sight, place.partition, "read") && coversSensitivity(sight, place);
}

/** Whether the partition is there at all for the caller. */
export function mayUse(sight: Sight, partition: string): boolean {
  return Object.keys(impliedBy).some((right) => may(sight, partition, right));
}

/** Whether an audit entry may name this to the caller. An owner in person sees all. */
export function mayReadTarget(sight: Sight, target: string): boolean {
  if (sight.isOwner && ["client:local", "client:web"].includes(sight.caller.client)) return true;
  if (target.startsWith("rev_")) return sight.revisions.has(target);
  return sight.grants.has(target) ? mayUse(sight, target) : !sight.hiddenPaths.has(target);
}

/** Whether a page out of the caller's sight holds the path or a twin of it. */
export function isHeldUnseen(sight: Sight, path: string): boolean {
  return [...sight.hiddenPaths].some((held) => twinKey(held) === twinKey(path));
}
