import type { Decision, Part, Revision, RevisionState } from "../../domain/records.js";
import type { NewRevision, RevisionQuery } from "../store.js";
import type { Connection } from "./connection.js";
import { partNumbers, partOf } from "./parts.js";

export interface RevisionRow extends Part {
  num: number;
  id: string;
  path: string;
  base: string | null;
  head: string;
  body: string;
  keys: string;
  principal: string;
  client: string | null;
  recorded: string;
  note: string | null;
  state: RevisionState;
  decision: string | null;
}

export const revisionColumns = `r.num, r.id, r.path, r.base, r.head, r.body, r.keys, r.principal, r.client, r.recorded, r.note, r.state,
  r.decision, t.partition, t.sensitivity`;
export const revisionTables = "revisions r JOIN parts t ON t.num = r.part";

export function toRevision(row: RevisionRow): Revision {
  const { base, keys, principal, client, recorded, note, decision, ...rest } = row;
  return {
    ...rest,
    keys: JSON.parse(keys),
    generated: { principal, ...(client !== null && { client }), at: recorded },
    ...(base !== null && { base }),
    ...(note !== null && { note }),
    ...(decision !== null && { decision: JSON.parse(decision) as Decision }),
  };
}

export function addRevision(connection: Connection, revision: NewRevision): void {
  connection.run(
    `INSERT INTO revisions (id, path, twin_key, part, base, head, body, keys, principal, client, recorded, note, state)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'proposed')`,
    revision.id,
    revision.path,
    revision.twinKey,
    partOf(connection, revision),
    revision.base ?? null,
    revision.head,
    revision.body,
    JSON.stringify(revision.keys),
    revision.generated.principal,
    revision.generated.client ?? null,
    revision.generated.at,
    revision.note ?? null,
  );
}

export function findRevision(connection: Connection, id: string): Revision | undefined {
  const row = connection.get<RevisionRow>(`SELECT ${revisionColumns} FROM ${revisionTables} WHERE r.id = ?`, id);
  return row && toRevision(row);
}

export function listRevisions(connection: Connection, query: RevisionQuery): Revision[] {
  const numbers = (parts: Part[]) => JSON.stringify(partNumbers(connection, parts));
  const rows = connection.all<RevisionRow>(
    `SELECT ${revisionColumns} FROM ${revisionTables}
     WHERE r.state IN (SELECT value FROM json_each(:states)) AND r.num < :before
       AND (:partition IS NULL OR t.partition = :partition) AND (:twinKey IS NULL OR r.twin_key = :twinKey)
       AND ((r.principal = :principal AND r.client = :client AND t.sensitivity IN (SELECT value FROM json_each(:sensitivities)))
         OR (r.part IN (SELECT value FROM json_each(:reviewable)) AND NOT EXISTS (
           SELECT 1 FROM pages p WHERE p.twin_key = r.twin_key AND p.removed IS NULL
             AND p.part NOT IN (SELECT value FROM json_each(:reviewable)))))
     ORDER BY r.num DESC LIMIT :limit`,
    {
      states: JSON.stringify(query.states),
      before: query.before ?? Number.MAX_SAFE_INTEGER,
      partition: query.partition ?? null,
      twinKey: query.twinKey ?? null,
      principal: query.author.principal,
      client: query.author.client,
      sensitivities: JSON.stringify(query.author.sensitivities),
      reviewable: numbers(query.reviewable),
      limit: query.limit ?? -1,
    },
  );
  return rows.map(toRevision);
}

export function decideRevision(
  connection: Connection,
  resolved: { id: string; state: RevisionState; decision: Decision },
): void {
  const { id, state, decision } = resolved;
  connection.run("UPDATE revisions SET state = ?, decision = ? WHERE id = ?", state, JSON.stringify(decision), id);
}
