import type { OpenKind } from "./plan.js";

export interface SideChanges {
  added: string[];
  changed: string[];
  removed: string[];
  renamed: { from: string; to: string }[];
}

/** What a sync did, and what it left. Paths are those of pages. */
export interface SyncReport {
  /** Everything that is synced is the same on both sides. */
  equal: boolean;
  /** In the context, by edits in the folder. */
  pages: SideChanges;
  /** In the folder, by changes in the context. */
  files: SideChanges;
  /** Changed on both sides, in different places. */
  merged: string[];
  /** Changed on both sides in the same place: the page's text stays at its path, the folder's is now at `copy`. */
  conflicts: { path: string; copy: string }[];
  /** Removed on one side and edited on the other: the edit counts. */
  revived: { path: string; by: "file" | "page" }[];
  /** Waits for --delete or --keep. */
  open: { path: string; why: OpenKind }[];
  refused: { file?: string; path?: string; line?: number; reason: string }[];
  /** Pages that are not synced. */
  left_out: { sensitive: number };
}

const noChanges = (): SideChanges => ({ added: [], changed: [], removed: [], renamed: [] });

export function emptyReport(): SyncReport {
  return {
    equal: false,
    pages: noChanges(),
    files: noChanges(),
    merged: [],
    conflicts: [],
    revived: [],
    open: [],
    refused: [],
    left_out: { sensitive: 0 },
  };
}
