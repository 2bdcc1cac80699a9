import type { PcpErrorCode } from "@satchel/pcp";

/** An expected "no" (pcp section 11): returned, not thrown. `message` is public and says what to do next. */
export interface Refusal {
  refused: PcpErrorCode;
  message: string;
  violations?: string[];
  requiredScopes?: string[];
}

export function isRefusal(value: unknown): value is Refusal {
  return typeof value === "object" && value !== null && "refused" in value && typeof value.refused === "string";
}

export function invalidInput(violations: string[]): Refusal {
  return {
    refused: "invalid_input",
    message: `The input breaks ${violations.length === 1 ? "a rule" : `${violations.length} rules`}: ${violations.slice(0, 5).join("; ")}`,
    violations,
  };
}

export function missingScope(requiredScopes: string[]): Refusal {
  const names = requiredScopes.join(" or ");
  return { refused: "forbidden", message: `This needs the scope ${names}. Ask the owner to grant it.`, requiredScopes };
}
