import { type AuditListInput, validateInput } from "@satchel/pcp";
import { listAudit } from "../../context/list-audit.js";
import { invalidInput, isRefusal } from "../../domain/refusal.js";
import { parseTimeArgument } from "../arguments.js";
import { defineTool, needsAnyScope } from "../tool.js";

export const auditList = defineTool({
  name: "audit_list",
  permit: needsAnyScope("audit:read"),
  parse(args) {
    const violations = validateInput("audit_list", args);
    if (violations.length > 0) return invalidInput(violations);
    const { principal, category, limit = 50, cursor, ...span } = args as AuditListInput;
    const since = parseTimeArgument("since", span.since);
    if (isRefusal(since)) return since;
    const until = parseTimeArgument("until", span.until);
    if (isRefusal(until)) return until;
    return {
      limit,
      ...(since !== undefined && { since }),
      ...(until !== undefined && { until }),
      ...(principal && { principal }),
      ...(category && { category }),
      ...(cursor !== undefined && { cursor }),
    };
  },
  run: listAudit,
  refused: { category: "audit", action: "read" },
  audit: ({ entries }) => ({ category: "audit", action: "read", targets: entries.map(({ id }) => id) }),
  present: ({ entries, nextCursor }) => ({
    entries: entries.map((entry) => ({ ...entry })),
    ...(nextCursor !== undefined && { next_cursor: nextCursor }),
  }),
});
