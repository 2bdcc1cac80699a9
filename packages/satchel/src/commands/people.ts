import {
  groupSetOperation,
  groupsOperation,
  type PartitionChange,
  parseGrant,
  partitionSetOperation,
  partitionsOperation,
  userAddOperation,
  userRemoveOperation,
  usersOperation,
} from "@satchel/server";
import { type CommonOptions, runLocally, withContext } from "../session.js";
import { print, printJson, printTable, showHidden } from "../terminal.js";
import { UsageError } from "../usage-error.js";

export interface PartitionOptions extends CommonOptions {
  label?: string;
  grant: string[];
  revoke: string[];
  review?: string;
  fourEyes?: string;
}

const reviewRules = ["nobody", "clients", "everyone"] as const;

/** Makes a partition, or changes what is said of it. */
export async function partitionSet(name: string, options: PartitionOptions): Promise<void> {
  const change: PartitionChange = {
    name,
    grant: options.grant.map(parseGrant),
    revoke: options.revoke,
    ...(options.label !== undefined && { label: options.label }),
    ...(options.review !== undefined && { review: parseReview(options.review) }),
    ...(options.fourEyes !== undefined && { fourEyes: parseSwitch(options.fourEyes) }),
  };
  const partition = await withContext(options, (context) => runLocally(context, partitionSetOperation, change));
  if (options.json) printJson(partition);
  else print(`${partition.name}: ${describeGrants(partition.grants)}; review ${describeReview(partition)}`);
}

function parseReview(text: string): (typeof reviewRules)[number] {
  const rule = reviewRules.find((known) => known === text);
  if (!rule) throw new UsageError(`--review is one of ${reviewRules.join(", ")}.`);
  return rule;
}

function parseSwitch(text: string): boolean {
  if (text !== "on" && text !== "off") throw new UsageError("--four-eyes is on or off.");
  return text === "on";
}

function describeGrants(grants: PartitionChange["grant"]): string {
  const entries = grants.map(({ principal, rights }) => `${principal}=${rights.join(",")}`);
  return entries.length === 0 ? "owners only" : entries.join(" ");
}

function describeReview({ review, fourEyes }: { review: string; fourEyes: boolean }): string {
  return fourEyes ? `${review}, four eyes` : review;
}

export async function partitionList(options: CommonOptions): Promise<void> {
  const partitions = await withContext(options, (context) => runLocally(context, partitionsOperation, {}));
  if (options.json) {
    printJson({ partitions });
    return;
  }
  const rows = partitions.map((partition) => [
    partition.name,
    showHidden(partition.label ?? ""),
    describeReview(partition),
    describeGrants(partition.grants),
  ]);
  printTable(["PARTITION", "LABEL", "REVIEW", "ACCESS"], rows);
}

export async function userAdd(name: string, options: CommonOptions & { owner?: boolean }): Promise<void> {
  const user = { principal: withKind("user", name), isOwner: options.owner === true };
  const added = await withContext(options, (context) => runLocally(context, userAddOperation, user));
  if (options.json) printJson(added);
  else print(`${added.principal} is ${added.isOwner ? "an owner" : "a user"}.`);
}

/** `bob` stands for `user:bob`. */
function withKind(kind: string, name: string): string {
  return name.includes(":") ? name : `${kind}:${name}`;
}

export async function userRemove(name: string, options: CommonOptions): Promise<void> {
  const args = { principal: withKind("user", name) };
  const removed = await withContext(options, (context) => runLocally(context, userRemoveOperation, args));
  if (options.json) printJson(removed);
  else print(`Removed ${removed.principal} from users, groups and access lists.`);
}

export async function userList(options: CommonOptions): Promise<void> {
  const users = await withContext(options, (context) => runLocally(context, usersOperation, {}));
  if (options.json) {
    printJson({ users });
    return;
  }
  printTable(
    ["USER", "ROLE"],
    users.map(({ principal, isOwner }) => [principal, isOwner ? "owner" : "user"]),
  );
}

export async function groupSet(name: string, options: CommonOptions & { member: string[] }): Promise<void> {
  const args = { principal: withKind("group", name), members: options.member };
  const group = await withContext(options, (context) => runLocally(context, groupSetOperation, args));
  if (options.json) printJson(group);
  else print(`${group.principal}: ${group.members.join(", ") || "nobody"}`);
}

export async function groupList(options: CommonOptions): Promise<void> {
  const groups = await withContext(options, (context) => runLocally(context, groupsOperation, {}));
  if (options.json) {
    printJson({ groups });
    return;
  }
  printTable(
    ["GROUP", "MEMBERS"],
    groups.map(({ principal, members }) => [principal, members.join(", ")]),
  );
}
