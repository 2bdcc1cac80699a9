import type { Action, Sides, WriteFile, WritePage } from "./plan.js";

/** The text of an erased page does not come back under another name either, unless it is on the other side already. */
export function holdErased({ entries, gone }: Sides, actions: Action[]): Action[] {
  const erased = new Map<string, string>();
  for (const [path, { digest }] of entries) if (gone.get(path) === "erased") erased.set(digest, path);
  const held = new Set<string>();
  const kept = actions.map((action): Action => {
    if (action.do !== "write-page" || action.expected !== undefined || action.isRevived) return action;
    const from = erased.get(action.digest);
    if (from === undefined) return action;
    held.add(from);
    const { path, file: name, digest } = action;
    return { do: "remove-file", path, file: { name, digest }, asks: true, isErased: true };
  });
  return kept.filter((action) => action.do !== "forget" || !held.has(action.path));
}

/** A removal whose whole text appears at a new path of the same side is a rename: nothing goes, and nothing is asked. */
export function joinRenames(actions: Action[]): Action[] {
  const newPages = byDigest(actions.filter((one) => one.do === "write-page" && isNewPage(one)) as WritePage[]);
  const newFiles = byDigest(
    (actions.filter((one) => one.do === "write-file" && !one.over && !one.isRevived) as WriteFile[]).map((one) => ({
      ...one,
      digest: one.page.digest,
    })),
  );
  const renamed = new Map<string, WritePage>();
  const joined = actions.flatMap((action): Action[] => {
    if (action.do === "remove-page") {
      const to = newPages.get(action.page.digest)?.shift();
      if (!to) return [action];
      renamed.set(to.path, { ...to, from: { path: action.path, expected: action.page.version } });
      return [];
    }
    const to = action.do === "remove-file" && !action.isErased ? newFiles.get(action.file.digest)?.shift() : undefined;
    return [to && action.do === "remove-file" ? { ...action, asks: false, after: to.path } : action];
  });
  return joined.map((action) => renamed.get(action.path) ?? action);
}

function isNewPage({ expected, isRevived, merge }: WritePage): boolean {
  return expected === undefined && !isRevived && !merge;
}

function byDigest<One extends { digest: string }>(ones: One[]): Map<string, One[]> {
  const found = new Map<string, One[]>();
  for (const one of ones) found.set(one.digest, [...(found.get(one.digest) ?? []), one]);
  return found;
}
