import { createHmac, hkdfSync } from "node:crypto";

/** What the context's key says of calls, so that neither a guess of an input nor a client's name can be checked without it. */
export interface CallKeys {
  /** 32 bytes: an idempotency key or call id in the run of a grant. Two callers never share one. */
  claimId(subject: { grant: string; runId: string; kind: "key" | "call"; operation: string; key: string }): Buffer;
  /** 32 bytes: equal for equal inputs (RFC 8785 text). */
  inputMac(canonicalArguments: string): Buffer;
  /** A stable name for a grant or connection that tells nothing of it: `run_` or `ses_` and 32 hex digits. */
  nameOf(kind: "run" | "ses", of: string): string;
}

/** Grants and connections call again and again. */
const namesMost = 1000;

export function createCallKeys(contextKey: Buffer): CallKeys {
  const key = Buffer.from(hkdfSync("sha256", contextKey, "", "satchel/calls/v1", 32));
  const names = new Map<string, string>();
  const mac = (...parts: string[]) => createHmac("sha256", key).update(JSON.stringify(parts)).digest();
  return {
    claimId: ({ grant, runId, kind, operation, key: claimed }) => mac("claim", grant, runId, kind, operation, claimed),
    inputMac: (canonicalArguments) => mac("input", canonicalArguments),
    nameOf(kind, of) {
      const known = names.get(kind + of);
      if (known !== undefined) return known;
      const name = `${kind}_${mac(kind, of).toString("hex").slice(0, 32)}`;
      if (names.size >= namesMost) names.clear();
      names.set(kind + of, name);
      return name;
    },
  };
}
