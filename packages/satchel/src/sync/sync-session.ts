import { type Context, type SyncComparison, type SyncScope, syncCompareOperation } from "@satchel/server";
import { runLocally } from "../session.js";
import { UsageError } from "../usage-error.js";
import { type FolderScan, type SeenFiles, scanFolder } from "./folder-scan.js";
import { openSyncFolder, type SyncFolder } from "./folder-write.js";
import type { Action, Sides } from "./plan.js";
import type { Answer, Removal } from "./removals.js";
import type { SyncReport } from "./sync-report.js";
import { readState, type SyncState, writeState } from "./sync-state.js";

/** What a sync works with as long as it runs. */
export interface SyncSession {
  context: Context;
  folder: SyncFolder;
  scope: SyncScope;
  dryRun: boolean;
  /** What a person, or an option, says to removals. */
  decide(removals: Removal[]): Promise<(removal: Removal) => Answer>;
  onProgress?(done: number, total: number): void;
  seen?: SeenFiles;
}

/** Both sides and what they were last equal with, as they are at the beginning of a round. */
export interface Survey {
  scan: FolderScan;
  state: SyncState;
  comparison: SyncComparison;
  sides: Sides;
}

export interface Round {
  session: SyncSession;
  survey: Survey;
  report: SyncReport;
  /** Something was changed, on either side. */
  hasChanged: boolean;
  /** Something moved while it was looked at: another round is needed. */
  hasMoved: boolean;
}

/** @throws UsageError when the folder belongs to something else */
export function loadState(root: string, context: Context, scope: Pick<SyncScope, "prefix" | "partition">): SyncState {
  const { prefix, partition } = scope;
  const state = readState(root);
  const fresh = { context: context.store.contextId, handle: context.handle, prefix, entries: new Map() };
  if (!state) return { ...fresh, ...(partition !== undefined && { partition }) };
  if (state.context !== fresh.context) {
    throw new UsageError(
      `${root} is synced with another context, "${state.handle}" (${state.context}). Use another folder.`,
    );
  }
  if (state.prefix !== prefix || state.partition !== partition) {
    throw new UsageError(`${root} is synced with ${describeScope(state)}. Give the same, or use another folder.`);
  }
  return state;
}

function describeScope({ prefix, partition }: SyncState): string {
  const named = [prefix && `--prefix ${prefix}`, partition && `--partition ${partition}`].filter(Boolean);
  return named.join(" ") || "neither --prefix nor --partition";
}

export async function surveySides(session: SyncSession): Promise<Survey> {
  const { context, folder, scope, seen } = session;
  if (!session.dryRun) openSyncFolder(folder.root);
  const state = loadState(folder.root, context, scope);
  const { entries } = state;
  const known = new Set(entries.keys());
  const scan = scanFolder(folder.root, { prefix: scope.prefix, known, ...(seen && { seen }) });
  const present = new Set(scan.files.keys());
  const comparison = await runLocally(context, syncCompareOperation({ scope, known: entries, present }), {});
  const { changed, gone, outside } = comparison;
  const pages = new Map(
    changed.map(({ path, sensitivity, ...page }) => [path, { ...page, isSensitive: sensitivity === "sensitive" }]),
  );
  const sides: Sides = {
    entries,
    files: scan.files,
    pages,
    gone: new Map(gone.map(({ path, isErased }) => [path, isErased ? "erased" : "removed"])),
    outside: new Map(outside.map(({ path, why }) => [path, why])),
    sensitive: scope.sensitive,
  };
  return { scan, state, comparison, sides };
}

export function saveState({ session, survey }: Round): void {
  if (!session.dryRun) writeState(session.folder.root, survey.state);
}

/** The actions of one kind. */
export function pick<Kind extends Action["do"]>(actions: Action[], kind: Kind): Extract<Action, { do: Kind }>[] {
  return actions.filter((action): action is Extract<Action, { do: Kind }> => action.do === kind);
}
