import type { ProfileChange, ProfileRecord } from "../store.js";
import type { Connection } from "./connection.js";

interface ProfileRow {
  namespace: string;
  document: string;
  updated: string;
}

export function findProfile(connection: Connection, namespace: string): ProfileRecord | undefined {
  const row = connection.get<ProfileRow>(
    "SELECT namespace, document, updated FROM profiles WHERE namespace = ?",
    namespace,
  );
  return row && { ...row, document: JSON.parse(row.document) };
}

export function listProfiles(connection: Connection): ProfileRecord[] {
  const rows = connection.all<ProfileRow>("SELECT namespace, document, updated FROM profiles ORDER BY namespace");
  return rows.map((row) => ({ ...row, document: JSON.parse(row.document) }));
}

export function listProfileChanges(connection: Connection, namespace: string): ProfileChange[] {
  const rows = connection.all<{
    recorded: string;
    principal: string;
    client: string | null;
    changed: string;
    document: string;
  }>(
    "SELECT recorded, principal, client, changed, document FROM profile_changes WHERE namespace = ? ORDER BY num",
    namespace,
  );
  return rows.map(({ recorded, principal, client, changed, document }) => ({
    namespace,
    principal,
    ...(client ? { client } : {}),
    at: recorded,
    changed: JSON.parse(changed),
    document: JSON.parse(document),
  }));
}

export function putProfile(connection: Connection, change: ProfileChange): void {
  const document = JSON.stringify(change.document);
  connection.run(
    `INSERT INTO profiles (namespace, document, updated) VALUES (?, ?, ?)
     ON CONFLICT (namespace) DO UPDATE SET document = excluded.document, updated = excluded.updated`,
    change.namespace,
    document,
    change.at,
  );
  connection.run(
    `INSERT INTO profile_changes (namespace, recorded, principal, client, changed, document) VALUES (?, ?, ?, ?, ?, ?)`,
    change.namespace,
    change.at,
    change.principal,
    change.client ?? null,
    JSON.stringify(change.changed),
    document,
  );
}

export function findExtensionSchema(connection: Connection, namespace: string): Record<string, unknown> | undefined {
  const row = connection.get<{ schema: string }>("SELECT schema FROM extensions WHERE namespace = ?", namespace);
  return row && JSON.parse(row.schema);
}

export function listExtensionNamespaces(connection: Connection): string[] {
  return connection
    .all<{ namespace: string }>("SELECT namespace FROM extensions ORDER BY namespace")
    .map(({ namespace }) => namespace);
}

export function putExtensionSchema(connection: Connection, namespace: string, schema: Record<string, unknown>): void {
  connection.run(
    `INSERT INTO extensions (namespace, schema) VALUES (?, ?)
     ON CONFLICT (namespace) DO UPDATE SET schema = excluded.schema`,
    namespace,
    JSON.stringify(schema),
  );
}
