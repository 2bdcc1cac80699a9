import { isJsonObject } from "./json.js";
import { pointerSteps } from "./json-pointer.js";

export const REDACTED = "[REDACTED]";

/** The steps to what is replaced: each leads on, or ends here. */
type Branches = Map<string, Branches | "end">;

function plant(root: Branches, pointer: string): void {
  const steps = pointerSteps(pointer);
  const last = steps.pop() ?? "";
  let branch = root;
  for (const step of steps) {
    const next: Branches | "end" = branch.get(step) ?? new Map();
    // Something around it is replaced already.
    if (next === "end") return;
    branch.set(step, next);
    branch = next;
  }
  branch.set(last, "end");
}

function prune(value: unknown, branches: Branches): unknown {
  const pruned = (key: string, member: unknown) => {
    const below = branches.get(key);
    if (below === "end") return REDACTED;
    return below ? prune(member, below) : member;
  };
  if (Array.isArray(value)) return value.map((element, index) => pruned(String(index), element));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, pruned(name, member)]));
}

/**
 * The value with "[REDACTED]" where the pointers lead; parts that none leads into are shared, not copied. A pointer that
 * leads nowhere changes nothing; of two of which one is inside the other, both are redacted by the outer.
 */
export function redact(value: unknown, pointers: readonly string[]): unknown {
  if (pointers.includes("")) return REDACTED;
  if (pointers.length === 0) return value;
  const branches: Branches = new Map();
  for (const pointer of pointers) plant(branches, pointer);
  return prune(value, branches);
}
