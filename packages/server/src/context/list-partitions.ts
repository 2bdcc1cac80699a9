import { type Caller, partitionRights, type Right } from "../domain/access.js";
import type { ReadTransaction } from "../store/store.js";
import type { Context } from "./context.js";

export interface ListedPartition {
  name: string;
  label?: string;
  access: Right[];
  review_required: boolean;
}

/** `partition_list`: the partitions in which the caller has a right, with scope ∩ access list (pcp section 4). */
export async function listPartitions(context: Context, caller: Caller): Promise<ListedPartition[]> {
  return context.store.read((transaction) => listedPartitions(transaction, caller));
}

export async function listedPartitions(transaction: ReadTransaction, caller: Caller): Promise<ListedPartition[]> {
  const partitions = await transaction.partitions();
  return partitions
    .map((partition) => ({ ...partition, access: partitionRights(caller, partition) }))
    .filter(({ access }) => access.length > 0)
    .map((partition) => ({ ...partition, review_required: !partition.access.includes("write") }));
}
