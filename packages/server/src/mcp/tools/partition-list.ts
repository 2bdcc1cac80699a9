import { validateInput } from "@satchel/pcp";
import { listPartitions } from "../../context/list-partitions.js";
import { invalidInput } from "../../domain/refusal.js";
import { defineTool, memoryAudit, needsAnyScope } from "../tool.js";

export const partitionList = defineTool({
  name: "partition_list",
  permit: needsAnyScope("memory:read", "memory:propose", "memory:write", "memory:review"),
  parse(args) {
    const violations = validateInput("partition_list", args);
    return violations.length > 0 ? invalidInput(violations) : args;
  },
  run: listPartitions,
  refused: { category: "memory", action: "read" },
  audit: () => memoryAudit("read", []),
  present: (partitions) => ({ partitions }),
});
