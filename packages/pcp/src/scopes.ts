import { isExtensionNamespace } from "./names.js";

/** The scopes that exist in every context (pcp section 4); extension scopes come on top. */
export const FIXED_SCOPES = [
  "profile.core:read",
  "profile.core:write",
  "profile.team:read",
  "profile.team:write",
  "memory:read",
  "memory:propose",
  "memory:write",
  "memory:review",
  "memory.sensitive:read",
  "audit:read",
  "export:read",
  "erase:write",
] as const;

/** What a new assistant is offered: it reads, and its writes become proposals. */
export const DEFAULT_ASSISTANT_SCOPES = ["profile.core:read", "memory:read", "memory:propose"] as const;

/** "Every extension": granted by the server to a local owner only, never asked for by name. */
export const EXTENSION_WILDCARDS = ["profile.*:read", "profile.*:write"] as const;

export type ScopeOperation = "read" | "write";

const FIXED: ReadonlySet<string> = new Set(FIXED_SCOPES);
const PROFILE_SCOPE = /^profile\.([a-z0-9.-]+):(read|write)$/;
const DOCUMENT_NAMES = new Set(["core", "team"]);

/** The scope of a profile namespace: `core`, `team` or an extension, of which only the prefix `pcp.` is dropped. */
export function profileScope(namespace: string, operation: ScopeOperation): string {
  const name = namespace.startsWith("pcp.") ? namespace.slice("pcp.".length) : namespace;
  return `profile.${name}:${operation}`;
}

/** True for a scope that some allowed extension namespace has; the wildcards are not such scopes. */
function isExtensionScope(scope: string): boolean {
  const name = PROFILE_SCOPE.exec(scope)?.[1];
  if (name === undefined || DOCUMENT_NAMES.has(name) || name.startsWith("pcp.")) return false;
  return isExtensionNamespace(name.includes(".") ? name : `pcp.${name}`);
}

/**
 * Reads a whitespace-separated scope list (RFC 6749 section 3.3, other white space allowed too). Tokens that no
 * context knows, the wildcards among them, land in `unknown` once each and grant nothing.
 */
export function parseScopes(text: string): { scopes: Set<string>; unknown: string[] } {
  const scopes = new Set<string>();
  const unknown = new Set<string>();
  for (const token of text.split(/\s+/)) {
    if (token === "") continue;
    (FIXED.has(token) || isExtensionScope(token) ? scopes : unknown).add(token);
  }
  return { scopes, unknown: [...unknown] };
}

/**
 * Whether a grant covers a scope. `memory:write` implies `memory:propose`; a wildcard covers every extension scope,
 * but neither core nor team. Nothing else is implied: no read by a write, no extension by core.
 */
export function coversScope(granted: ReadonlySet<string>, scope: string): boolean {
  if (granted.has(scope)) return true;
  if (scope === "memory:propose") return granted.has("memory:write");
  if (!isExtensionScope(scope)) return false;
  return granted.has(scope.endsWith(":read") ? "profile.*:read" : "profile.*:write");
}

/** Everything, for the owner in person: the fixed scopes and both extension wildcards. */
export function allScopes(): Set<string> {
  return new Set<string>([...FIXED_SCOPES, ...EXTENSION_WILDCARDS]);
}
