import { coversScope } from "@satchel/pcp";
import type { Membership, Part, PartitionRecord, Right, Sensitivity } from "./records.js";

/** Who makes a call: a user through a client, with what was granted to that pair (pcp sections 1 and 4). */
export interface Caller {
  /** `user:<id>`, or `service:<id>` for a token without a user. */
  principal: string;
  /** `client:<id>`. */
  client: string;
  scopes: ReadonlySet<string>;
  /** Names the grant: cursors are bound to it. */
  grant: string;
}

/** A caller with what the context says of it: all that access is decided by. */
export interface Access extends Membership {
  caller: Caller;
  partitions: PartitionRecord[];
}

/** Clients that are the user in person: the terminal and the web pages. Every other client is an assistant. */
const personalClients: ReadonlySet<string> = new Set(["client:local", "client:web"]);

export const ownerPrincipal = "user:owner";

export function isInPerson(caller: Caller): boolean {
  return caller.principal.startsWith("user:") && isPersonalClient(caller.client);
}

export function isPersonalClient(client: string): boolean {
  return personalClients.has(client);
}

export const allRights: readonly Right[] = ["read", "propose", "write", "review"];

const impliedRights: Record<Right, readonly Right[]> = {
  read: ["read"],
  propose: ["propose"],
  write: ["write", "propose", "read"],
  review: ["review", "read"],
};

/** What the access list gives: rights(user and its groups) ∩ rights(client), without the scopes. */
export function listedRights(access: Access, partition: PartitionRecord): ReadonlySet<Right> {
  const { caller, isOwner, groups } = access;
  if (isOwner && isInPerson(caller)) return new Set(allRights);
  const own = isOwner ? new Set(allRights) : granted(partition, [caller.principal, ...groups]);
  const namesClients = partition.grants.some(({ principal }) => principal.startsWith("client:"));
  if (!namesClients) return own;
  const throughClient = granted(partition, [caller.client]);
  return new Set([...own].filter((right) => throughClient.has(right)));
}

function granted(partition: PartitionRecord, principals: string[]): Set<Right> {
  const entries = partition.grants.filter(({ principal }) => principals.includes(principal));
  return new Set(entries.flatMap(({ rights }) => rights.flatMap((right) => impliedRights[right])));
}

/** What the caller may do in a partition: scope ∩ access list. */
export function partitionRights(access: Access, partition: PartitionRecord): Right[] {
  const listed = listedRights(access, partition);
  return allRights.filter((right) => listed.has(right) && coversScope(access.caller.scopes, `memory:${right}`));
}

export function rightsIn(access: Access, name: string): Right[] {
  const partition = access.partitions.find((known) => known.name === name);
  return partition ? partitionRights(access, partition) : [];
}

/** Whether a direct write of this caller becomes a proposal. */
export function needsReview(access: Access, partition: PartitionRecord): boolean {
  const inPerson = isInPerson(access.caller);
  if (partition.review === "everyone") return !(access.isOwner && inPerson);
  return partition.review === "clients" && !inPerson;
}

export function readableSensitivities({ caller }: Access): Sensitivity[] {
  return coversScope(caller.scopes, "memory.sensitive:read") ? ["normal", "sensitive"] : ["normal"];
}

function partsWith(access: Access, right: Right): Part[] {
  const sensitivities = readableSensitivities(access);
  return access.partitions
    .filter((partition) => partitionRights(access, partition).includes(right))
    .flatMap(({ name }) => sensitivities.map((sensitivity) => ({ partition: name, sensitivity })));
}

/** The parts whose pages exist for this caller. Everything else is as if it were not there. */
export function readableParts(access: Access): Part[] {
  return partsWith(access, "read");
}

/** The parts whose revisions this caller reviews: with the right to review, and to read what is reviewed. */
export function reviewableParts(access: Access): Part[] {
  const readable = readableParts(access);
  return partsWith(access, "review").filter((part) => includesPart(readable, part));
}

/** No page of any partition is hidden from this caller. */
export function seesEverything(access: Access): boolean {
  return access.isOwner && readableParts(access).length === access.partitions.length * 2;
}

export function includesPart(parts: Part[], page: Part): boolean {
  return parts.some((part) => part.partition === page.partition && part.sensitivity === page.sensitivity);
}
