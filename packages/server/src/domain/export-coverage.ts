import { coversScope, profileScope } from "@satchel/pcp";
import { type Caller, isInPerson } from "./access.js";
import type { ProfileType } from "./records.js";

/** What an archive holds of what its caller can read, and what not. */
export interface ExportCoverage {
  /** Sensitive pages and proposals. */
  sensitive: boolean;
  /** Documents of special categories. */
  special: boolean;
  audit: boolean;
  coverage: "full" | "partial";
  omitted: { part: string; reason: string }[];
}

/** Documents of special categories: their scopes' names. */
export const specialCategories = ["profile.health", "profile.residency"] as const;

const needsRecipients = "goes only into an encrypted archive: name recipients";

/**
 * What goes into an archive (pcp section 9). It follows from scopes and the request alone, so that it says nothing of
 * what exists. Without recipients, sensitive content is for an owner in person at the terminal.
 */
export function decideCoverage(
  caller: Caller,
  request: { profileType: ProfileType; isOwner: boolean; isEncrypted: boolean; includeAudit: boolean },
): ExportCoverage {
  const { profileType, isOwner, isEncrypted, includeAudit } = request;
  const isSafe = isEncrypted || (isOwner && isInPerson(caller) && caller.client === "client:local");
  const omitted: ExportCoverage["omitted"] = [];
  const lacks = (part: string, scope: string) => {
    if (coversScope(caller.scopes, scope)) return false;
    omitted.push({ part, reason: `needs the scope ${scope}` });
    return true;
  };
  if (profileType !== "none") lacks(`profile.${profileType}`, profileScope(profileType, "read"));
  if (!caller.scopes.has("profile.*:read"))
    omitted.push({ part: "profile.*", reason: "needs the scopes of extensions" });
  const special = specialCategories.filter((name) => coversScope(caller.scopes, `${name}:read`));
  if (!isSafe) omitted.push(...special.map((part) => ({ part, reason: needsRecipients })));
  lacks("memory", "memory:read");
  const isSensitiveLacking = lacks("memory.sensitive", "memory.sensitive:read");
  if (!isSensitiveLacking && !isSafe) omitted.push({ part: "memory.sensitive", reason: needsRecipients });
  lacks("review", "memory:review");
  const isAuditLacking = lacks("audit", "audit:read");
  if (!isAuditLacking && !includeAudit) omitted.push({ part: "audit", reason: "not asked for" });
  return {
    sensitive: !isSensitiveLacking && isSafe,
    special: isSafe,
    audit: !isAuditLacking && includeAudit,
    coverage: omitted.length === 0 ? "full" : "partial",
    omitted,
  };
}

/** The caller as far as an archive goes: what it leaves out is not named in what it holds, as a link or in the audit. */
export function archivedFor(caller: Caller, { sensitive }: Pick<ExportCoverage, "sensitive">): Caller {
  if (sensitive) return caller;
  return { ...caller, scopes: new Set([...caller.scopes].filter((scope) => scope !== "memory.sensitive:read")) };
}
