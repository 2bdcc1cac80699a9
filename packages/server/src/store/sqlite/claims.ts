import type { Claim, StagedCall } from "../../domain/records.js";
import type { Connection } from "./connection.js";

interface ClaimRow {
  input: Uint8Array;
  state: Claim["state"];
  terminal: number | null;
  receipt: string;
  revision: string | null;
  needs: string | null;
  result: string | null;
}

export function findClaim(connection: Connection, id: Uint8Array): Claim | undefined {
  const row = connection.get<ClaimRow>(
    "SELECT input, state, terminal, receipt, revision, needs, result FROM claims WHERE id = ?",
    id,
  );
  if (!row) return undefined;
  const { input, state, terminal, receipt, revision, needs, result } = row;
  return {
    id,
    input,
    state,
    receiptId: receipt,
    ...(terminal !== null && { terminal }),
    ...(revision !== null && { currentRevision: revision }),
    ...(needs !== null && { needs: JSON.parse(needs) }),
    ...(result !== null && { result }),
  };
}

export function putClaim(connection: Connection, claim: Claim): void {
  connection.run(
    `INSERT INTO claims (id, input, state, terminal, receipt, revision, needs, result) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET state = excluded.state, terminal = excluded.terminal, revision = excluded.revision,
       needs = excluded.needs, result = excluded.result`,
    claim.id,
    claim.input,
    claim.state,
    claim.terminal ?? null,
    claim.receiptId,
    claim.currentRevision ?? null,
    claim.needs === undefined ? null : JSON.stringify(claim.needs),
    claim.result ?? null,
  );
}

export function endClaim(connection: Connection, id: Uint8Array): void {
  connection.run("DELETE FROM claims WHERE id = ?", id);
}

export function listStagedCalls(connection: Connection): StagedCall[] {
  const rows = connection.all<Omit<StagedCall, "claims" | "job"> & { claims: string; job: string | null }>(
    "SELECT seq, operation, identity, principal, client, claims, job FROM staged_calls ORDER BY seq",
  );
  return rows.map(({ claims, job, ...row }) => ({
    ...row,
    ...(job !== null && { job }),
    claims: (JSON.parse(claims) as string[]).map((id) => Buffer.from(id, "hex")),
  }));
}

export function putStagedCall(connection: Connection, call: StagedCall): void {
  connection.run(
    "INSERT INTO staged_calls (seq, operation, identity, principal, client, claims, job) VALUES (?, ?, ?, ?, ?, ?, ?)",
    call.seq,
    call.operation,
    call.identity,
    call.principal,
    call.client,
    JSON.stringify(call.claims.map((id) => Buffer.from(id).toString("hex"))),
    call.job ?? null,
  );
}

export function endStagedCall(connection: Connection, seq: number): void {
  connection.run("DELETE FROM staged_calls WHERE seq = ?", seq);
}
