import { isPartitionName, parsePrincipal } from "@satchel/pcp";
import { allRights, ownerPrincipal } from "../domain/access.js";
import type { Grant, GroupRecord, PartitionRecord, ReviewRule, Right, UserRecord } from "../domain/records.js";
import { invalidInput, type Refusal } from "../domain/refusal.js";
import type { Context } from "./context.js";

export interface PartitionChange {
  name: string;
  label?: string;
  grant: Grant[];
  revoke: string[];
  review?: ReviewRule;
  fourEyes?: boolean;
}

/** Makes a partition or changes what is said of it; the rest stays. Refuses with invalid_input. */
export async function setPartition(context: Context, change: PartitionChange): Promise<PartitionRecord | Refusal> {
  const violations = verifyPartition(change);
  if (violations.length > 0) return invalidInput(violations);
  return context.store.write(async (transaction) => {
    const known = (await transaction.partitions()).find(({ name }) => name === change.name);
    const before: PartitionRecord = known ?? { name: change.name, grants: [], review: "nobody", fourEyes: false };
    const changed = new Set([...change.grant.map(({ principal }) => principal), ...change.revoke]);
    const granted = change.grant.filter(({ rights }) => rights.length > 0);
    const after: PartitionRecord = {
      ...before,
      ...(change.label !== undefined && { label: change.label }),
      ...(change.review !== undefined && { review: change.review }),
      ...(change.fourEyes !== undefined && { fourEyes: change.fourEyes }),
      grants: [...before.grants.filter(({ principal }) => !changed.has(principal)), ...granted],
    };
    await transaction.putPartition(after);
    return after;
  });
}

const labelMost = 200;

function verifyPartition({ name, label, grant, revoke }: PartitionChange): string[] {
  const violations: string[] = [];
  if (!isPartitionName(name)) violations.push(`"${name.slice(0, 100)}" is no partition name (a-z, 0-9, - and _)`);
  if (label !== undefined && (label.trim() === "" || label.length > labelMost)) {
    violations.push(`label: 1 to ${labelMost} characters`);
  }
  for (const principal of [...grant.map((entry) => entry.principal), ...revoke]) {
    if (!parsePrincipal(principal)) {
      violations.push(`"${principal.slice(0, 100)}" is no principal (user:, group:, client: or service: and a name)`);
    }
  }
  for (const { rights } of grant) {
    const unknown = rights.find((right) => !allRights.includes(right));
    if (unknown !== undefined) violations.push(`"${unknown}" is no right; there is: ${allRights.join(", ")}`);
  }
  return violations;
}

/** `PRINCIPAL=read,propose` as it is typed. Unknown rights are left for `setPartition` to refuse. */
export function parseGrant(text: string): Grant {
  const at = text.lastIndexOf("=");
  const principal = at < 0 ? text : text.slice(0, at);
  const rights = at < 0 ? [] : text.slice(at + 1).split(",");
  return { principal, rights: rights.map((right) => right.trim()).filter(Boolean) as Right[] };
}

export async function listAllPartitions(context: Context): Promise<PartitionRecord[]> {
  return context.store.read((transaction) => transaction.partitions());
}

/** Adds a user, or changes whether it is an owner. Refuses with invalid_input and conflict (the last owner, and the one at this machine). */
export async function addUser(context: Context, user: UserRecord): Promise<UserRecord | Refusal> {
  if (parsePrincipal(user.principal)?.kind !== "user") return invalidInput([`"${user.principal}" is not user:NAME`]);
  return context.store.write(async (transaction) => {
    const owners = (await transaction.users()).filter(({ isOwner }) => isOwner);
    if (!user.isOwner && isLast(owners, user.principal)) return lastOwner();
    if (!user.isOwner && user.principal === ownerPrincipal) return ownerStays();
    await transaction.putUser(user);
    return user;
  });
}

/** Refuses with not_found and conflict: a context has at least one owner (pcp section 1). */
export async function removeUser(context: Context, principal: string): Promise<{ principal: string } | Refusal> {
  return context.store.write(async (transaction) => {
    const users = await transaction.users();
    if (!users.some((user) => user.principal === principal)) {
      return { refused: "not_found", message: `There is no user "${principal}". satchel user list shows them.` };
    }
    if (principal === ownerPrincipal) {
      return ownerStays();
    }
    if (
      isLast(
        users.filter(({ isOwner }) => isOwner),
        principal,
      )
    )
      return lastOwner();
    await transaction.removeUser(principal);
    return { principal };
  });
}

function isLast(owners: UserRecord[], principal: string): boolean {
  return owners.length === 1 && owners[0]?.principal === principal;
}

function ownerStays(): Refusal {
  return { refused: "conflict", message: `${ownerPrincipal} is the person at this machine and stays an owner.` };
}

function lastOwner(): Refusal {
  return { refused: "conflict", message: "A context has at least one owner. Make another user an owner first." };
}

export async function listUsers(context: Context): Promise<UserRecord[]> {
  return context.store.read((transaction) => transaction.users());
}

/** Gives a group exactly these members; none of them ends it. Refuses with invalid_input. */
export async function setGroup(context: Context, group: GroupRecord): Promise<GroupRecord | Refusal> {
  const violations = group.members
    .filter((member) => parsePrincipal(member)?.kind !== "user")
    .map((member) => `"${member.slice(0, 100)}" is not user:NAME; groups are flat`);
  if (parsePrincipal(group.principal)?.kind !== "group") violations.push(`"${group.principal}" is not group:NAME`);
  if (violations.length > 0) return invalidInput(violations);
  return context.store.write(async (transaction) => {
    await transaction.putGroup(group);
    return group;
  });
}

export async function listGroups(context: Context): Promise<GroupRecord[]> {
  return context.store.read((transaction) => transaction.groups());
}
