import { buildReconciled, type CallIdentity } from "@satchel/prp";
import type { StagedCall } from "../domain/records.js";
import type { WriteTransaction } from "../store/store.js";
import { auditEntry } from "./audit-entry.js";
import { auditRecord, type Ending, terminalOf } from "./call-record.js";
import type { Context } from "./context.js";

/** The terminal of a call whose outcome was learnt after a crash, with its audit entry. */
export async function reconcile(
  context: Context,
  transaction: WriteTransaction,
  { staged, ending }: { staged: StagedCall; ending: Ending },
): Promise<void> {
  const identity = JSON.parse(staged.identity) as CallIdentity;
  const audit = auditRecord(context, { ...staged, caller: staged, identity }, ending);
  const receipt = buildReconciled(identity, terminalOf(ending, audit));
  const entries = await context.journal?.append(transaction, [
    auditEntry(audit),
    { at: audit.at, kind: "prp.reconciled", bodies: [receipt] },
  ]);
  const [audited, terminal] = entries ?? [];
  if (audited) await transaction.indexAudit(audited.seq, audit);
  await settleClaims(transaction, { staged, ending, terminal: terminal?.seq });
  await transaction.endStagedCall(staged.seq);
}

/** A success is answered again to its names. Of a refusal the call id is spent and the key, which is the last, is free. */
async function settleClaims(
  transaction: WriteTransaction,
  { staged, ending, terminal }: { staged: StagedCall; ending: Ending; terminal: number | undefined },
): Promise<void> {
  const { idempotencyKey } = JSON.parse(staged.identity) as CallIdentity;
  const { needs, result } = ending.described;
  const key = idempotencyKey === null ? undefined : staged.claims.at(-1);
  for (const id of staged.claims) {
    const claim = await transaction.claim(id);
    if (!claim || terminal === undefined) continue;
    if (needs)
      await transaction.putClaim({ ...claim, state: "settled", terminal, needs, result: JSON.stringify(result) });
    else if (id === key) await transaction.endClaim(id);
    else await transaction.putClaim({ ...claim, state: "spent", terminal });
  }
}
