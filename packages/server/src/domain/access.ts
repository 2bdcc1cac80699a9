import { coversScope } from "@satchel/pcp";
import type { Part, PartitionRecord, Sensitivity } from "./records.js";

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

/** Clients that are the user in person: the terminal and the web pages. Every other client is an assistant. */
const personalClients: ReadonlySet<string> = new Set(["client:local", "client:web"]);

export const ownerPrincipal = "user:owner";

export function isInPerson(caller: Caller): boolean {
  return caller.principal.startsWith("user:") && personalClients.has(caller.client);
}

export function isPersonalClient(client: string): boolean {
  return personalClients.has(client);
}

export function isOwner(caller: Caller): boolean {
  return caller.principal === ownerPrincipal;
}

export type Right = "read" | "propose" | "write" | "review";

const rightScopes: Record<Right, string> = {
  read: "memory:read",
  propose: "memory:propose",
  write: "memory:write",
  review: "memory:review",
};

/**
 * What the caller may do in a partition: scope ∩ access list. Owners have every right of the list; nobody else has one
 * until access lists name them.
 */
export function partitionRights(caller: Caller, _partition: PartitionRecord): Right[] {
  if (!isOwner(caller)) return [];
  return (Object.keys(rightScopes) as Right[]).filter((right) => coversScope(caller.scopes, rightScopes[right]));
}

function readableSensitivities(caller: Caller): Sensitivity[] {
  return coversScope(caller.scopes, "memory.sensitive:read") ? ["normal", "sensitive"] : ["normal"];
}

/** The parts whose pages exist for this caller. Everything else is as if it were not there. */
export function readableParts(caller: Caller, partitions: PartitionRecord[]): Part[] {
  const sensitivities = readableSensitivities(caller);
  return partitions
    .filter((partition) => partitionRights(caller, partition).includes("read"))
    .flatMap(({ name }) => sensitivities.map((sensitivity) => ({ partition: name, sensitivity })));
}

/** No page of any partition is hidden from this caller. */
export function seesEverything(caller: Caller, partitions: PartitionRecord[]): boolean {
  return isOwner(caller) && readableParts(caller, partitions).length === partitions.length * 2;
}

export function isReadable(parts: Part[], page: Part): boolean {
  return parts.some((part) => part.partition === page.partition && part.sensitivity === page.sensitivity);
}
