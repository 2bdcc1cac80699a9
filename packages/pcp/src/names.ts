const PARTITION_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const HANDLE = /^[a-z0-9][a-z0-9-]{0,62}$/;
const PRINCIPAL = /^(user|group|client|service):([A-Za-z0-9][A-Za-z0-9._@+-]{0,127})$/;
const NAMESPACE = /^[a-z][a-z0-9-]*(\.[a-z][a-z0-9-]*)+$/;

export type PrincipalKind = "user" | "group" | "client" | "service";

/** pcp section 2. */
export function isPartitionName(text: string): boolean {
  return PARTITION_NAME.test(text);
}

/** The handle of a context (pcp section 1). */
export function isHandle(text: string): boolean {
  return HANDLE.test(text);
}

/** `<kind>:<id>` taken apart, or undefined when the text is no principal (pcp section 2). */
export function parsePrincipal(text: string): { kind: PrincipalKind; id: string } | undefined {
  const match = PRINCIPAL.exec(text);
  return match ? { kind: match[1] as PrincipalKind, id: match[2]! } : undefined;
}

export function isPrincipal(text: string): boolean {
  return PRINCIPAL.test(text);
}

/**
 * True for a namespace that an extension profile document may have (pcp section 4). `*.core` and `*.team` are
 * reserved, and so is `pcp.a.b`: its scope `profile.a.b` would be the one of the namespace `a.b`.
 */
export function isExtensionNamespace(text: string): boolean {
  if (!NAMESPACE.test(text)) return false;
  const segments = text.split(".");
  const last = segments.at(-1);
  if (last === "core" || last === "team") return false;
  return !(segments[0] === "pcp" && segments.length > 2);
}
