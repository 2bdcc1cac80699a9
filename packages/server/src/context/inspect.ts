import type { ContextRecord } from "../domain/records.js";
import type { StoreReport } from "../store/store.js";
import type { Context } from "./context.js";

export interface ContextReport extends StoreReport {
  context: ContextRecord;
  partitions: string[];
  liveTokens: number;
}

/** For `satchel doctor`: what this context is and whether its store is sound. */
export async function inspectContext(context: Context): Promise<ContextReport> {
  const now = new Date(context.environment.now()).toISOString();
  const facts = await context.store.read(async (transaction) => ({
    context: await transaction.context(),
    partitions: (await transaction.partitions()).map(({ name }) => name),
    liveTokens: (await transaction.tokens()).filter(({ revoked, expires }) => !revoked && !(expires && expires <= now))
      .length,
  }));
  return { ...facts, ...(await context.store.inspect()) };
}
