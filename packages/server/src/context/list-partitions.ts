import { type Access, type Caller, needsReview, partitionRights } from "../domain/access.js";
import type { Right } from "../domain/records.js";
import { loadAccess } from "./access.js";
import type { Context } from "./context.js";

export interface ListedPartition {
  name: string;
  label?: string;
  access: Right[];
  review_required: boolean;
}

/** `partition_list`: the partitions in which the caller has a right, with scope ∩ access list (pcp section 4). */
export async function listPartitions(context: Context, caller: Caller): Promise<ListedPartition[]> {
  return context.store.read(async (transaction) => listedPartitions(await loadAccess(transaction, caller)));
}

export function listedPartitions(access: Access): ListedPartition[] {
  return access.partitions
    .map((partition) => ({ partition, rights: partitionRights(access, partition) }))
    .filter(({ rights }) => rights.length > 0)
    .map(({ partition, rights }) => ({
      name: partition.name,
      ...(partition.label !== undefined && { label: partition.label }),
      access: rights,
      review_required: !rights.includes("write") || needsReview(access, partition),
    }));
}
