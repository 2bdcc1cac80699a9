import { writePage } from "../../context/write-page.js";
import { defineTool, memoryAudit, needsAnyScope, proposalReceipt, replayOfPage, versionReceipt } from "../tool.js";
import { parseWriteArguments } from "../write-arguments.js";

export const memoryWrite = defineTool({
  name: "memory_write",
  permit: needsAnyScope("memory:write", "memory:propose"),
  parse: (args) => parseWriteArguments("memory_write", args),
  run: writePage,
  refused: { category: "memory", action: "write" },
  audit: (written) => memoryAudit(written.revision === undefined ? "write" : "propose", [written]),
  receipt: ({ version, revision, isChecked }) =>
    revision === undefined
      ? { ...versionReceipt(version), boundary: isChecked ? "revision" : "active_task" }
      : proposalReceipt({ revision, ...(version !== undefined && { version }) }),
  replay: (written) => replayOfPage(written, written.revision === undefined ? "write" : "propose"),
  present: ({ path, id, updated, revision, warnings }) => ({
    path,
    ...(revision === undefined
      ? { id, applied: true, updated }
      : { applied: false, review_state: "proposed", revision }),
    ...(warnings.length > 0 && { warnings }),
  }),
});
