import type { NewEntry } from "@satchel/journal";
import { buildResult } from "@satchel/prp";
import { isRefusal, type Refusal } from "../domain/refusal.js";
import type { Store, WriteTransaction } from "../store/store.js";
import { auditEntry } from "./audit-entry.js";
import { withFreshCallId } from "./call-identity.js";
import {
  auditRecord,
  inputEnvelope,
  type Recorded,
  type RecordedCall,
  receiptIdOf,
  spentClaims,
  terminalOf,
} from "./call-record.js";
import { judgeClaims, RepeatedCall } from "./claims.js";
import type { Context, Staging } from "./context.js";

/** `begun`: its input is, and whoever settles it writes how it ended. */
export type Progress = "none" | "begun" | "recorded";

/**
 * Leaves the records of one call in the journal: its input envelope, its audit entry, its terminal envelope. Where the
 * call writes, they are part of the same transaction: the first write of `context` commits all or nothing, and its result
 * has to be the call's. Otherwise `finish` writes them, before the answer is released.
 */
export class Recorder {
  /** The context to run the use case with. */
  readonly context: Context;
  private recorded: Recorded | undefined;
  /** Where the input is in the journal, of a call in stages. */
  private begun: number | undefined;

  constructor(
    private readonly source: Context,
    private readonly call: RecordedCall,
    /** How a failure of the call is refused while it has changed nothing. */
    toRefusal: Staging["toRefusal"],
  ) {
    const { store } = source;
    this.context = {
      ...source,
      store: this.recordingStore(store),
      staging: { store, begin: (use, job) => this.begin(use, job), toRefusal },
    };
  }

  private async begin(use: (transaction: WriteTransaction) => Promise<void>, job?: string): Promise<void> {
    const { call, source } = this;
    const { caller, identified, operation } = call;
    this.begun = await source.store.write(async (transaction) => {
      const judged = await judgeClaims(transaction, identified);
      if (judged) throw new RepeatedCall(judged);
      await use(transaction);
      const at = new Date(source.environment.now()).toISOString();
      const entries = await source.journal?.append(transaction, [
        { at, kind: "prp.input", bodies: [inputEnvelope(call)] },
      ]);
      const seq = entries?.[0]?.seq ?? 0;
      const { principal, client } = caller;
      const identity = JSON.stringify(identified.identity);
      const claims = identified.claims.map(({ id }) => id);
      const named = { ...(job !== undefined && { job }) };
      await transaction.putStagedCall({ seq, operation, identity, principal, client, claims, ...named });
      const receiptId = receiptIdOf(identified.identity);
      for (const { id, input } of identified.claims)
        await transaction.putClaim({ id, input, receiptId, state: "running" });
      return seq;
    });
  }

  /** How much of the call is in the journal already. */
  get progress(): Progress {
    if (this.recorded) return "recorded";
    return this.begun === undefined ? "none" : "begun";
  }

  async finish(outcome: unknown): Promise<Recorded> {
    if (this.recorded) return this.recorded;
    const { journal, store } = this.source;
    if (!journal) {
      const { result, meta } = this.call.describe(outcome);
      return { result, ...(meta && { meta }) };
    }
    const record = async (transaction: WriteTransaction) =>
      this.append(transaction, outcome, await this.verifyUnused(transaction, outcome));
    const recorded = await store.write(record, { durability: "process" });
    await journal.publish();
    this.recorded = recorded;
    return recorded;
  }

  /**
   * A call at once with this one may have taken its call id or key meanwhile. A refusal is recorded all the same: it was
   * refused before its names were looked at, and takes none that is used. @throws RepeatedCall
   */
  private async verifyUnused(transaction: WriteTransaction, outcome: unknown): Promise<RecordedCall> {
    const { call, source } = this;
    const judged = await judgeClaims(transaction, call.identified);
    if (!judged) return call;
    if (!isRefusal(outcome)) throw new RepeatedCall(judged);
    return judged.by === "key" ? call : { ...call, identified: withFreshCallId(source, call.identified) };
  }

  /** Records a fault of ours, unless the call was recorded before it happened or is left to be finished later. */
  async refuse(refusal: Refusal): Promise<Recorded | undefined> {
    return this.recorded || this.begun !== undefined ? undefined : this.finish(refusal);
  }

  private recordingStore(store: Store): Store {
    return {
      ...store,
      write: async (use, options) => {
        const { journal } = this.source;
        if (this.recorded || !journal) return store.write(use, options);
        let recorded: Recorded | undefined;
        const result = await store.write(async (transaction) => {
          const judged = this.begun === undefined ? await judgeClaims(transaction, this.call.identified) : undefined;
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

  private async append(transaction: WriteTransaction, outcome: unknown, call = this.call): Promise<Recorded> {
    const { source } = this;
    const described = call.describe(outcome);
    const { identity } = call.identified;
    const audit = auditRecord(source, { ...call, identity }, { described, outcome });
    const receipt = buildResult(identity, terminalOf({ described, outcome }, audit));
    const { at } = audit;
    const input: NewEntry = { at, kind: "prp.input", bodies: [inputEnvelope(call)] };
    const ending: NewEntry[] = [auditEntry(audit), { at, kind: "prp.result", bodies: [receipt] }];
    const entries = this.begun === undefined ? [input, ...ending] : ending;
    const [audited, terminal] = (await source.journal?.append(transaction, entries))?.slice(-2) ?? [];
    if (this.begun !== undefined) await transaction.endStagedCall(this.begun);
    if (audited) await transaction.indexAudit(audited.seq, audit);
    // What `begin` claimed is claimed anew by how the call ended: a refused one leaves its key free.
    if (this.begun !== undefined) for (const { id } of call.identified.claims) await transaction.endClaim(id);
    for (const claim of spentClaims(call, { described, outcome }, audit.receipt)) {
      await transaction.putClaim({ ...claim, ...(terminal && { terminal: terminal.seq }) });
    }
    const { result, meta } = described;
    return { result, receipt, ...(meta && { meta }) };
  }
}
