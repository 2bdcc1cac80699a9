import { encodeId } from "@satchel/pcp";
import type { Caller } from "../domain/access.js";
import type { AuditRecord } from "../domain/records.js";
import { isRefusal } from "../domain/refusal.js";
import type { Store, WriteTransaction } from "../store/store.js";
import type { Context } from "./context.js";

/** What the audit says of a call, beyond who and when (pcp section 8). */
export interface AuditFacts {
  category: string;
  action: string;
  /** Paths or ids that were returned or touched. */
  targets: string[];
}

export interface RecordedCall {
  operation: string;
  caller: Caller;
  /** What to say of a result that is no refusal. */
  describe(result: unknown): AuditFacts;
  /** What to say of a refusal. */
  refused: Pick<AuditFacts, "category" | "action">;
}

/**
 * Leaves one audit entry for a call. Where the call writes, the entry is part of the same transaction: the first write
 * of `context` commits both or neither, and its result has to be the call's. Otherwise `finish` writes the entry, before
 * the answer is released.
 */
export class Recorder {
  /** The context to run the use case with. */
  readonly context: Context;
  private isRecorded = false;

  constructor(
    private readonly source: Context,
    private readonly call: RecordedCall,
  ) {
    this.context = { ...source, store: this.recordingStore(source.store) };
  }

  async finish(result: unknown): Promise<void> {
    if (this.isRecorded) return;
    await this.source.store.write((transaction) => this.append(transaction, result), { durability: "process" });
    this.isRecorded = true;
  }

  private recordingStore(store: Store): Store {
    return {
      ...store,
      write: async (use, options) => {
        if (this.isRecorded) return store.write(use, options);
        const result = await store.write(async (transaction) => {
          const outcome = await use(transaction);
          await this.append(transaction, outcome);
          return outcome;
        }, options);
        this.isRecorded = true;
        return result;
      },
    };
  }

  private async append(transaction: WriteTransaction, result: unknown): Promise<void> {
    const { operation, caller, describe, refused } = this.call;
    const { environment } = this.source;
    const isRefused = isRefusal(result);
    const facts = isRefused ? { ...refused, targets: [] } : describe(result);
    const entry: AuditRecord = {
      id: encodeId("aud", environment.newUuid()),
      at: new Date(environment.now()).toISOString(),
      principal: caller.principal,
      client: caller.client,
      tool: operation,
      category: facts.category,
      action: isRefused && result.refused === "forbidden" ? "deny" : facts.action,
      outcome: isRefused ? result.refused : "ok",
      targets: facts.targets,
    };
    await transaction.appendAudit(entry);
  }
}
