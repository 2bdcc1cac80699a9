import { join } from "node:path";
import type { StoredEntry } from "@satchel/journal";
import { createSqliteJournal } from "@satchel/journal/sqlite";
import type { SemanticToolEnvelope } from "@satchel/prp";
import SqliteDatabase from "better-sqlite3";

/*
 * What a context's database holds after crashes, read past the product: the records of the journal, and the effects that
 * they speak of.
 */

export interface AuditHead {
  id: string;
  call_id: string;
  tool: string;
  outcome: string;
}

export interface CallRecords {
  inputs: SemanticToolEnvelope[];
  terminals: SemanticToolEnvelope[];
}

/** A stored row, and the text that tells which call made it. */
export interface Effect {
  id: string;
  text: string;
}

export interface StoredRecords {
  size: number;
  /** By request id. */
  calls: Map<string, CallRecords>;
  /** By call id. */
  named: Map<string, CallRecords>;
  audits: Map<string, AuditHead>;
  /** How many audit entries have the same id as another. */
  repeatedAudits: number;
  indexedAudits: number;
  /** `reviewed`: it came of an approval. */
  versions: (Effect & { reviewed: boolean })[];
  revisions: (Effect & { state: string; decision: string | undefined })[];
  profileChanges: Effect[];
  staged: number;
  /** The largest checkpoint. */
  sealed: number;
}

export async function readRecords(data: string): Promise<StoredRecords> {
  const database = new SqliteDatabase(join(data, "contexts", "me", "context.db"), { readonly: true });
  const all = <Row>(sql: string, ...parameters: unknown[]) => database.prepare(sql).all(...parameters) as Row[];
  const journal = createSqliteJournal({
    run: () => undefined,
    get: (sql, ...given) => all<never>(sql, ...given)[0],
    all,
  });
  try {
    const entries = await journal.entries({ from: 0, limit: 10_000_000 });
    const sealed = (await journal.lastCheckpoint())?.size ?? 0;
    return { ...sortEntries(entries), ...readEffects(all), size: entries.length, sealed };
  } finally {
    database.close();
  }
}

function sortEntries(entries: StoredEntry[]) {
  const calls = new Map<string, CallRecords>();
  const named = new Map<string, CallRecords>();
  const audits = new Map<string, AuditHead>();
  let auditCount = 0;
  for (const { kind, openings } of entries) {
    const body = JSON.parse(openings[0]?.body ?? "null");
    if (kind === "audit") {
      auditCount += 1;
      audits.set(body.id, { ...body, ...JSON.parse(openings[1]?.body ?? "{}") });
    }
    if (!kind.startsWith("prp.")) continue;
    const envelope = body as SemanticToolEnvelope;
    for (const [map, id] of [
      [calls, envelope.correlation.requestId],
      [named, envelope.callId],
    ] as const) {
      if (id === undefined) continue;
      const records = map.get(id) ?? { inputs: [], terminals: [] };
      map.set(id, records);
      (kind === "prp.input" ? records.inputs : records.terminals).push(envelope);
    }
  }
  return { calls, named, audits, repeatedAudits: auditCount - audits.size };
}

function readEffects(all: <Row>(sql: string) => Row[]) {
  const count = (table: string) => all<{ count: number }>(`SELECT count(*) AS count FROM ${table}`)[0]?.count ?? 0;
  const versions = all<{ id: string; text: string; review: string | null }>(
    "SELECT id, body AS text, review FROM versions ORDER BY num",
  );
  const revisions = all<{ id: string; text: string; state: string; decision: string | null }>(
    "SELECT id, body AS text, state, decision FROM revisions ORDER BY num",
  );
  const changes = all<{ num: number; document: string }>("SELECT num, document FROM profile_changes ORDER BY num");
  return {
    versions: versions.map(({ review, ...version }) => ({ ...version, reviewed: review !== null })),
    revisions: revisions.map(({ decision, ...revision }) => ({
      ...revision,
      decision: decision === null ? undefined : (JSON.parse(decision) as { id: string }).id,
    })),
    profileChanges: changes.map(({ num, document }) => ({
      id: String(num),
      text: (JSON.parse(document) as { name: string }).name,
    })),
    staged: count("staged_calls"),
    indexedAudits: count("audit_index"),
  };
}
