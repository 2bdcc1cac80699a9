import type { Access, Caller } from "../domain/access.js";
import type { ReadTransaction } from "../store/store.js";

/** What access is decided by, as of this transaction. */
export async function loadAccess(transaction: ReadTransaction, caller: Caller): Promise<Access> {
  const membership = await transaction.membership(caller.principal);
  return { caller, partitions: await transaction.partitions(), ...membership };
}
