import { proposePage } from "../../context/propose-page.js";
import { defineTool, memoryAudit, needsAnyScope, proposalReceipt, replayOfPage } from "../tool.js";
import { parseWriteArguments } from "../write-arguments.js";

export const memoryPropose = defineTool({
  name: "memory_propose",
  permit: needsAnyScope("memory:propose"),
  parse: (args) => parseWriteArguments("memory_propose", args),
  run: proposePage,
  refused: { category: "memory", action: "propose" },
  audit: (proposed) => {
    const { category } = memoryAudit("propose", [proposed]);
    return { category, action: "propose", targets: [proposed.revision, proposed.path] };
  },
  receipt: (proposed) => proposalReceipt(proposed),
  replay: (proposed) => replayOfPage(proposed, "propose"),
  present: ({ path, revision, targetExists }) => ({
    path,
    revision,
    review_state: "proposed",
    target_exists: targetExists,
  }),
});
