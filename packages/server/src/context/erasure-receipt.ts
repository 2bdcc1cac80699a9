import { createHash } from "node:crypto";
import type { ErasureReceipt } from "@satchel/pcp";
import { canonicalJson } from "@satchel/prp";
import type { ErasureState, ReplayNeeds } from "../domain/records.js";
import type { WriteTransaction } from "../store/store.js";
import type { Described } from "./call-record.js";
import type { Context } from "./context.js";
import type { ErasureSelector } from "./erasure-plan.js";
import { toolResult } from "./tool-result.js";

/** Of an erasure: what the requester checks the receipt's selector digest with, base64. */
export const erasureSaltMetaKey = "dev.satchel/erasure-salt";

/** An erasure whose rows are gone, and what its files were found to hold. */
export interface FinishedErasure {
  state: ErasureState;
  residual: ErasureReceipt["residual"];
  requestedBy: string;
}

/** Writes the signed receipt to the journal and lets the context go. */
export async function finishErasure(
  context: Context,
  transaction: WriteTransaction,
  { state, residual, requestedBy }: FinishedErasure,
): Promise<ErasureReceipt> {
  const { environment, journal } = context;
  const completedAt = await transaction.tick(environment.now());
  const { id, requestedAt = completedAt, selector = unknownSelector, counts = {} } = state;
  const facts = {
    id,
    requested_at: requestedAt,
    completed_at: completedAt,
    requested_by: requestedBy,
    selector,
    counts,
    residual,
    ...(state.journal && { journal: state.journal }),
  };
  const receipt = (journal?.sign(facts) ?? facts) as ErasureReceipt;
  await journal?.append(transaction, [{ at: completedAt, kind: "erasure", bodies: [receipt] }]);
  await transaction.setErasure(undefined, completedAt);
  return receipt;
}

/** Of an erasure that an earlier release began and whose job is lost: the digest is that of nothing. */
const unknownSelector: ErasureReceipt["selector"] = { kind: "ids", digest: "0".repeat(64) };

/** What a requester checks with the salt: SHA-256 over the salt's bytes and the selector in canonical form, in hex. */
export function selectorDigest(selector: ErasureSelector, salt: string): string {
  return createHash("sha256").update(Buffer.from(salt, "base64")).update(canonicalJson(selector)).digest("hex");
}

/** Whoever asked for an erasure has to be able to ask for it today. */
export const erasureReplay: ReplayNeeds = { scopes: ["erase:write"], owner: true };

/** How a real erasure is recorded and answered, whether it is finished by its own process or by another. */
export function describeErasure(receipt: ErasureReceipt): Described {
  const decision = { kind: "decision", id: receipt.id } as const;
  return {
    audit: { category: "erase", action: "erase", targets: [receipt.id] },
    receipt: {
      boundary: "governed_action",
      references: [decision],
      targets: [{ ...decision, immutable: true }],
    },
    result: toolResult({ dry_run: false, receipt }),
    needs: erasureReplay,
  };
}
