import { journalTables } from "@satchel/journal/sqlite";
import { StoreError } from "../store.js";
import type { Connection } from "./connection.js";

/**
 * Migrations, oldest first. A released migration is never edited; a new one is appended.
 * `user_version` is the number of those that were applied.
 */
const migrations: readonly string[] = [
  `
CREATE TABLE context (
  id TEXT PRIMARY KEY, handle TEXT NOT NULL, kind TEXT NOT NULL, profile_type TEXT NOT NULL, created TEXT NOT NULL,
  clock INTEGER NOT NULL -- milliseconds of the last recorded time
) STRICT;
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE partitions (name TEXT PRIMARY KEY, label TEXT) STRICT, WITHOUT ROWID;

-- One word index (words_<num>) per row.
CREATE TABLE parts (
  num INTEGER PRIMARY KEY, partition TEXT NOT NULL, sensitivity TEXT NOT NULL, state TEXT NOT NULL,
  documents INTEGER NOT NULL DEFAULT 0, tokens INTEGER NOT NULL DEFAULT 0,
  UNIQUE (partition, sensitivity, state)
) STRICT;

CREATE TABLE pages (
  num INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, path TEXT NOT NULL, twin_key TEXT NOT NULL,
  part INTEGER NOT NULL REFERENCES parts (num), version INTEGER NOT NULL,
  title TEXT NOT NULL, type TEXT, lifecycle TEXT NOT NULL, valid_from TEXT, valid_until TEXT,
  created TEXT NOT NULL, updated TEXT NOT NULL, removed TEXT
) STRICT;
CREATE UNIQUE INDEX pages_twin ON pages (twin_key) WHERE removed IS NULL;
CREATE INDEX pages_path ON pages (path) WHERE removed IS NULL;
CREATE INDEX pages_updated ON pages (updated) WHERE removed IS NULL;

CREATE TABLE versions (
  num INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, page INTEGER NOT NULL REFERENCES pages (num),
  part INTEGER NOT NULL REFERENCES parts (num), recorded TEXT NOT NULL,
  head TEXT NOT NULL, body TEXT NOT NULL, keys TEXT NOT NULL,
  principal TEXT NOT NULL, client TEXT, removed INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX versions_page ON versions (page, recorded);

CREATE TABLE page_tags (page INTEGER NOT NULL REFERENCES pages (num), tag TEXT NOT NULL, PRIMARY KEY (page, tag)) STRICT, WITHOUT ROWID;
CREATE TABLE page_relations (
  page INTEGER NOT NULL REFERENCES pages (num), rel TEXT NOT NULL, target TEXT NOT NULL, PRIMARY KEY (page, rel, target)
) STRICT, WITHOUT ROWID;
CREATE INDEX page_relations_target ON page_relations (target, rel);

CREATE TABLE profiles (namespace TEXT PRIMARY KEY, document TEXT NOT NULL, updated TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE profile_changes (
  num INTEGER PRIMARY KEY, namespace TEXT NOT NULL, recorded TEXT NOT NULL, principal TEXT NOT NULL, client TEXT,
  changed TEXT NOT NULL, document TEXT NOT NULL
) STRICT;
CREATE INDEX profile_changes_namespace ON profile_changes (namespace, num);

CREATE TABLE tokens (
  id TEXT PRIMARY KEY, digest TEXT NOT NULL UNIQUE, user TEXT NOT NULL, client TEXT NOT NULL, scopes TEXT NOT NULL,
  created TEXT NOT NULL, expires TEXT, revoked TEXT
) STRICT, WITHOUT ROWID;
`,
  `
ALTER TABLE partitions ADD COLUMN review TEXT NOT NULL DEFAULT 'nobody';
ALTER TABLE partitions ADD COLUMN four_eyes INTEGER NOT NULL DEFAULT 0;
CREATE TABLE grants (
  partition TEXT NOT NULL REFERENCES partitions (name), principal TEXT NOT NULL, rights TEXT NOT NULL,
  PRIMARY KEY (partition, principal)
) STRICT, WITHOUT ROWID;
CREATE TABLE users (principal TEXT PRIMARY KEY, owner INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO users (principal, owner) VALUES ('user:owner', 1);
CREATE TABLE group_members (
  grouped TEXT NOT NULL, member TEXT NOT NULL, PRIMARY KEY (grouped, member)
) STRICT, WITHOUT ROWID;
CREATE INDEX group_members_member ON group_members (member);
CREATE TABLE extensions (namespace TEXT PRIMARY KEY, schema TEXT NOT NULL) STRICT, WITHOUT ROWID;

ALTER TABLE versions ADD COLUMN review TEXT; -- the decision that approved it, JSON
CREATE TABLE revisions (
  num INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, path TEXT NOT NULL, twin_key TEXT NOT NULL,
  part INTEGER NOT NULL REFERENCES parts (num), base TEXT, head TEXT NOT NULL, body TEXT NOT NULL, keys TEXT NOT NULL,
  principal TEXT NOT NULL, client TEXT, recorded TEXT NOT NULL, note TEXT,
  state TEXT NOT NULL, decision TEXT -- JSON
) STRICT;
CREATE INDEX revisions_state ON revisions (state, num);
CREATE INDEX revisions_twin ON revisions (twin_key, state);

CREATE TABLE audit (
  num INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, at TEXT NOT NULL, principal TEXT NOT NULL, client TEXT NOT NULL,
  tool TEXT NOT NULL, category TEXT NOT NULL, action TEXT NOT NULL, outcome TEXT NOT NULL, targets TEXT NOT NULL
) STRICT;
CREATE INDEX audit_at ON audit (at);
CREATE INDEX audit_principal ON audit (principal, num);
`,
  `
${journalTables}
ALTER TABLE audit RENAME TO earlier_audit; -- until the journal takes it in
DROP INDEX audit_at;
DROP INDEX audit_principal;
CREATE TABLE audit_index (
  seq INTEGER PRIMARY KEY, -- of the entry in the journal
  at INTEGER NOT NULL, principal TEXT NOT NULL, category TEXT NOT NULL
) STRICT;

CREATE TABLE claims (
  id BLOB PRIMARY KEY, input BLOB NOT NULL, state TEXT NOT NULL, terminal INTEGER, receipt TEXT NOT NULL, revision TEXT,
  needs TEXT, result TEXT
) STRICT;
CREATE TABLE staged_calls (
  seq INTEGER PRIMARY KEY, operation TEXT NOT NULL, identity TEXT NOT NULL, principal TEXT NOT NULL, client TEXT NOT NULL,
  claims TEXT NOT NULL -- JSON, hex
) STRICT;
ALTER TABLE context ADD COLUMN erased TEXT; -- when the latest erasure ended
ALTER TABLE context ADD COLUMN erasing TEXT; -- the erasure that holds the context locked
`,
  `
CREATE TABLE exports (
  id TEXT PRIMARY KEY, created TEXT NOT NULL, file TEXT, secret TEXT, expires TEXT, grantee TEXT NOT NULL,
  made TEXT, -- JSON
  coverage TEXT NOT NULL, audit_size INTEGER NOT NULL, items TEXT NOT NULL DEFAULT '[]' -- JSON
) STRICT;
CREATE TABLE attachments (path TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT;
ALTER TABLE staged_calls ADD COLUMN job TEXT;
`,
];

export const schemaVersion = migrations.length;

/** Brings the schema up to date. Safe when several processes do it at once. @throws StoreError `newer` */
export function migrate(connection: Connection): void {
  if (appliedVersion(connection) === schemaVersion) return;
  connection.exclusively(() => {
    const from = appliedVersion(connection);
    if (from > schemaVersion) {
      throw new StoreError(
        "newer",
        `This context was written by a later release (schema ${from}, this release knows ${schemaVersion}). Update Satchel.`,
      );
    }
    for (const migration of migrations.slice(from)) connection.database.exec(migration);
    connection.pragma(`user_version = ${schemaVersion}`);
  });
}

/**
 * A context's database is migrated before it gets its name, so one at version 0 is a lost or foreign file: it must not
 * be migrated into an empty context. @throws StoreError `damaged`
 */
export function verifyMigrated(connection: Connection): void {
  if (appliedVersion(connection) === 0) throw new StoreError("damaged", "This database holds no context.");
}

function appliedVersion(connection: Connection): number {
  return connection.pragma("user_version") as number;
}
