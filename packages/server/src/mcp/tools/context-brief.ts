import { type ContextBriefInput, coversScope, validateInput } from "@satchel/pcp";
import { buildBrief } from "../../context/brief.js";
import { invalidInput, missingScope } from "../../domain/refusal.js";
import { defineTool, memoryAudit } from "../tool.js";
import { profileCategory } from "./profile-get.js";

const defaultTokenBudget = 2000;

export const contextBrief = defineTool({
  name: "context_brief",
  permit: (caller) => {
    const readsProfile = [...caller.scopes].some((scope) => scope.startsWith("profile.") && scope.endsWith(":read"));
    const reads = readsProfile || coversScope(caller.scopes, "memory:read");
    return reads ? undefined : missingScope(["profile.core:read", "memory:read"]);
  },
  parse(args) {
    const violations = validateInput("context_brief", args);
    if (violations.length > 0) return invalidInput(violations);
    const { focus, token_budget } = args as ContextBriefInput;
    return { tokenBudget: token_budget ?? defaultTokenBudget, ...(focus !== undefined && { focus }) };
  },
  run: buildBrief,
  withheld: ["focus"],
  refused: { category: "memory", action: "read" },
  audit: ({ memory, profile, profile_type }) => {
    const { targets, ...facts } = memoryAudit("read", memory);
    return { ...facts, targets: [...(profile ? [profileCategory(profile_type)] : []), ...targets] };
  },
  present: (brief) => ({ ...brief }),
});
