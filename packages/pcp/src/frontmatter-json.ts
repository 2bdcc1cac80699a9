import { childPointer, isJsonObject, isWellFormed } from "./json.js";
import { MAX_DEPTH, type PageProblem } from "./page-problem.js";

interface Visit {
  value: unknown;
  pointer: string;
  depth: number;
}

/**
 * What every JSON value in a frontmatter has to be, known key or not: made of JSON types, finite numbers and
 * well-formed text, nested at most MAX_DEPTH deep. Walks with a stack of its own, so depth can't exhaust ours.
 */
export function verifyJson(root: Record<string, unknown>): PageProblem[] {
  const problems: PageProblem[] = [];
  const open: Visit[] = [{ value: root, pointer: "", depth: 1 }];
  for (let visit = open.pop(); visit !== undefined; visit = open.pop()) {
    const fault = faultOf(visit);
    if (fault !== undefined) problems.push({ code: "invalid_input", message: fault, pointer: visit.pointer });
    else open.push(...childrenOf(visit).reverse());
  }
  return problems;
}

function faultOf({ value, depth }: Visit): string | undefined {
  if (value === null || typeof value === "boolean") return undefined;
  if (typeof value === "string") return isWellFormed(value) ? undefined : "The text is not well-formed Unicode.";
  if (typeof value === "number") return Number.isFinite(value) ? undefined : "The number is not finite.";
  if (!Array.isArray(value) && !isJsonObject(value)) return "The value is not a JSON value.";
  if (depth > MAX_DEPTH) return `The frontmatter is nested deeper than ${MAX_DEPTH}.`;
  if (!Array.isArray(value) && !Object.keys(value).every(isWellFormed)) return "A key is not well-formed Unicode.";
  return undefined;
}

function childrenOf({ value, pointer, depth }: Visit): Visit[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).map(([key, child]) => ({
    value: child,
    pointer: childPointer(pointer, key),
    depth: depth + 1,
  }));
}
