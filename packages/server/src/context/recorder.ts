import { buildResult } from "@satchel/prp";
import type { Refusal } from "../domain/refusal.js";
import type { Store, WriteTransaction } from "../store/store.js";
import { auditEntry } from "./audit-entry.js";
import {
  auditRecord,
  inputEnvelope,
  type Recorded,
  type RecordedCall,
  spentClaims,
  terminalOf,
} from "./call-record.js";
import { judgeClaims, RepeatedCall } from "./claims.js";
import type { Context } from "./context.js";

/**
 * Leaves the records of one call in the journal: its input envelope, its audit entry, its terminal envelope. Where the
 * call writes, they are part of the same transaction: the first write of `context` commits all or nothing, and its result
 * has to be the call's. Otherwise `finish` writes them, before the answer is released.
 */
export class Recorder {
  /** The context to run the use case with. */
  readonly context: Context;
  private recorded: Recorded | undefined;

  constructor(
    private readonly source: Context,
    private readonly call: RecordedCall,
  ) {
    this.context = { ...source, store: this.recordingStore(source.store) };
  }

  async finish(outcome: unknown): Promise<Recorded> {
    if (this.recorded) return this.recorded;
    const { journal, store } = this.source;
    if (!journal) return { result: this.call.describe(outcome).result };
    const recorded = await store.write((transaction) => this.append(transaction, outcome), { durability: "process" });
    await journal.publish();
    this.recorded = recorded;
    return recorded;
  }

  /** Records a fault of ours, unless the call was recorded before it happened. */
  async refuse(refusal: Refusal): Promise<Recorded | undefined> {
    return this.recorded ? undefined : this.finish(refusal);
  }

  private recordingStore(store: Store): Store {
    return {
      ...store,
      write: async (use, options) => {
        const { journal } = this.source;
        if (this.recorded || !journal) return store.write(use, options);
        let recorded: Recorded | undefined;
        const result = await store.write(async (transaction) => {
          const judged = await judgeClaims(transaction, this.call.identified);
          if (judged) throw new RepeatedCall(judged);
          const outcome = await use(transaction);
          recorded = await this.append(transaction, outcome);
          return outcome;
        }, options);
        this.recorded = recorded;
        await journal.publish();
        return result;
      },
    };
  }

  private async append(transaction: WriteTransaction, outcome: unknown): Promise<Recorded> {
    const { call, source } = this;
    const described = call.describe(outcome);
    const { identity } = call.identified;
    const audit = auditRecord(source, { ...call, identity }, { described, outcome });
    const receipt = buildResult(identity, terminalOf({ described, outcome }, audit));
    const { at } = audit;
    const entries = await source.journal?.append(transaction, [
      { at, kind: "prp.input", bodies: [inputEnvelope(call)] },
      auditEntry(audit),
      { at, kind: "prp.result", bodies: [receipt] },
    ]);
    const [, audited, terminal] = entries ?? [];
    if (audited) await transaction.indexAudit(audited.seq, audit);
    for (const claim of spentClaims(call, { described, outcome }, audit.receipt)) {
      await transaction.putClaim({ ...claim, ...(terminal && { terminal: terminal.seq }) });
    }
    return { result: described.result, receipt };
  }
}
