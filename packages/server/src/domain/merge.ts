import { buildHead, parseHead } from "@satchel/pcp";
import { diff3Merge } from "node-diff3";
import { isSame } from "./merge-patch.js";
import type { PageContent, PageKeys } from "./records.js";

/**
 * Three-way merge of a page (pcp section 5): the body by lines, the keys one by one. Undefined when both sides changed
 * the same place differently.
 */
export function mergePages(versions: {
  base: PageContent;
  theirs: PageContent;
  proposed: PageContent;
}): PageContent | undefined {
  const { base, theirs, proposed } = versions;
  const body = mergeLines([theirs.body, base.body, proposed.body]);
  const keys = mergeKeys(base.keys, theirs.keys, proposed.keys);
  if (body === undefined || !keys) return undefined;
  return { head: headFor(keys, theirs, proposed), body, keys };
}

/** The library keeps lines as members of an object: without a mark, a line such as "constructor" is one already. */
const lineMark = "=";

function markLines(text: string): string[] {
  return text.split("\n").map((line) => lineMark + line);
}

function mergeLines([theirs, base, proposed]: [string, string, string]): string | undefined {
  const regions = diff3Merge(markLines(theirs), markLines(base), markLines(proposed), { excludeFalseConflicts: true });
  if (regions.some((region) => region.conflict)) return undefined;
  const lines = regions.flatMap((region) => region.ok ?? []);
  return lines.map((line) => line.slice(lineMark.length)).join("\n");
}

function mergeKeys(base: PageKeys, theirs: PageKeys, proposed: PageKeys): PageKeys | undefined {
  const merged: [string, unknown][] = [];
  for (const key of new Set([...Object.keys(theirs), ...Object.keys(proposed)])) {
    const [before, their, ours] = [base, theirs, proposed].map((keys) =>
      Object.hasOwn(keys, key) ? keys[key] : undefined,
    );
    const isOurs = isSame(before, their) || isSame(their, ours);
    if (!isOurs && !isSame(before, ours)) return undefined;
    const value = isOurs ? ours : their;
    if (value !== undefined) merged.push([key, value]);
  }
  return Object.fromEntries(merged) as PageKeys;
}

/** A text that says exactly these keys: one of those there are, else our own. */
export function headFor(keys: PageKeys, ...texts: PageContent[]): string {
  const fitting = texts.find((text) => isSame(text.keys, keys));
  if (fitting) return fitting.head;
  const written = buildHead(keys);
  return parseHead(written).ok ? written : (texts[0]?.head ?? "");
}
