import type { Grant, GroupRecord, Membership, PartitionRecord, ReviewRule, UserRecord } from "../../domain/records.js";
import type { Connection } from "./connection.js";

interface PartitionRow {
  name: string;
  label: string | null;
  review: ReviewRule;
  four_eyes: number;
}

export function listPartitions(connection: Connection): PartitionRecord[] {
  const grants = connection.all<{ partition: string; principal: string; rights: string }>(
    "SELECT partition, principal, rights FROM grants ORDER BY partition, principal",
  );
  return connection
    .all<PartitionRow>("SELECT name, label, review, four_eyes FROM partitions ORDER BY name")
    .map(({ name, label, review, four_eyes }) => ({
      name,
      ...(label !== null && { label }),
      review,
      fourEyes: four_eyes === 1,
      grants: grants
        .filter(({ partition }) => partition === name)
        .map(({ principal, rights }) => ({ principal, rights: JSON.parse(rights) as Grant["rights"] })),
    }));
}

export function putPartition(connection: Connection, partition: PartitionRecord): void {
  const { name, label, review, fourEyes, grants } = partition;
  connection.run(
    `INSERT INTO partitions (name, label, review, four_eyes) VALUES (?, ?, ?, ?) ON CONFLICT (name)
     DO UPDATE SET label = excluded.label, review = excluded.review, four_eyes = excluded.four_eyes`,
    name,
    label ?? null,
    review,
    fourEyes ? 1 : 0,
  );
  connection.run("DELETE FROM grants WHERE partition = ?", name);
  for (const { principal, rights } of grants) {
    const sql = "INSERT INTO grants (partition, principal, rights) VALUES (?, ?, ?)";
    connection.run(sql, name, principal, JSON.stringify(rights));
  }
}

export function findMembership(connection: Connection, principal: string): Membership {
  const user = connection.get<{ owner: number }>("SELECT owner FROM users WHERE principal = ?", principal);
  const groups = connection.all<{ grouped: string }>("SELECT grouped FROM group_members WHERE member = ?", principal);
  return { isOwner: user?.owner === 1, groups: groups.map(({ grouped }) => grouped) };
}

export function listUsers(connection: Connection): UserRecord[] {
  return connection
    .all<{ principal: string; owner: number }>("SELECT principal, owner FROM users ORDER BY principal")
    .map(({ principal, owner }) => ({ principal, isOwner: owner === 1 }));
}

export function putUser(connection: Connection, { principal, isOwner }: UserRecord): void {
  connection.run(
    "INSERT INTO users (principal, owner) VALUES (?, ?) ON CONFLICT (principal) DO UPDATE SET owner = excluded.owner",
    principal,
    isOwner ? 1 : 0,
  );
}

export function removeUser(connection: Connection, principal: string): void {
  connection.run("DELETE FROM users WHERE principal = ?", principal);
  connection.run("DELETE FROM group_members WHERE member = ?", principal);
  connection.run("DELETE FROM grants WHERE principal = ?", principal);
}

export function listGroups(connection: Connection): GroupRecord[] {
  const rows = connection.all<{ grouped: string; members: string }>(
    "SELECT grouped, json_group_array(member) AS members FROM group_members GROUP BY grouped ORDER BY grouped",
  );
  return rows.map(({ grouped, members }) => ({ principal: grouped, members: JSON.parse(members) }));
}

export function putGroup(connection: Connection, { principal, members }: GroupRecord): void {
  connection.run("DELETE FROM group_members WHERE grouped = ?", principal);
  for (const member of new Set(members)) {
    connection.run("INSERT INTO group_members (grouped, member) VALUES (?, ?)", principal, member);
  }
}
