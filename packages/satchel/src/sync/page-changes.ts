import { lstatSync } from "node:fs";
import { join } from "node:path";
import { type SyncChange, type SyncOutcome, syncWriteOperation } from "@satchel/server";
import { runLocally } from "../session.js";
import { isConflictOf, nameConflict } from "./conflict-name.js";
import { readFileText } from "./folder-text.js";
import { flushFolders, writeFolderFile } from "./folder-write.js";
import type { Action, RemovePage, WritePage } from "./plan.js";
import { pick, type Round, saveState } from "./sync-session.js";

/** In one transaction go at most so many changes, with about so much text. */
const changesAtOnce = 500;
const charactersAtOnce = 8 * 1024 * 1024;

type PageAction = WritePage | RemovePage;
type Asked = { action: PageAction; change: SyncChange };

/** Writes into the context what was changed in the folder. */
export async function changePages(round: Round, actions: Action[]): Promise<void> {
  const wanted: PageAction[] = [...pick(actions, "remove-page"), ...pick(actions, "write-page")];
  let batch: Asked[] = [];
  let characters = 0;
  for (const [index, action] of wanted.entries()) {
    const change = toChange(round, action);
    if (!change) round.hasMoved = true;
    else {
      batch.push({ action, change });
      characters += change.kind === "write" ? change.text.length : 0;
    }
    const isLast = index === wanted.length - 1;
    if (batch.length > 0 && (isLast || batch.length >= changesAtOnce || characters > charactersAtOnce)) {
      await sendBatch(round, batch);
      round.session.onProgress?.(index + 1, wanted.length);
      [batch, characters] = [[], 0];
    }
  }
}

/** @returns undefined when the file is not as it was planned with */
function toChange({ session }: Round, action: PageAction): SyncChange | undefined {
  const { path } = action;
  const { root } = session.folder;
  if (action.do === "remove-page") {
    const names = [".md", ".markdown"].map((ending) => join(root, `${path}${ending}`));
    const isBack = names.some((name) => lstatSync(name, { throwIfNoEntry: false })?.isFile());
    return isBack ? undefined : { kind: "remove", path, expected: action.page.version };
  }
  const { file, digest, expected, merge, from } = action;
  const read = readFileText(join(root, file));
  if (!read || "reason" in read || read.digest !== digest) return undefined;
  return {
    kind: "write",
    path,
    file,
    text: read.text,
    ...(expected !== undefined && { expected }),
    ...(merge && { merge }),
    ...(from && { from }),
  };
}

async function sendBatch(round: Round, batch: Asked[]): Promise<void> {
  const { context, dryRun, scope } = round.session;
  const { partition } = scope;
  const changes = batch.map(({ change }) => change);
  const operation = syncWriteOperation({ changes, dryRun, ...(partition !== undefined && { partition }) });
  const outcomes = await runLocally(context, operation, {});
  for (const [index, outcome] of outcomes.entries()) await settleOutcome(round, batch[index] as Asked, outcome);
  saveState(round);
}

async function settleOutcome(round: Round, { action, change }: Asked, outcome: SyncOutcome): Promise<void> {
  const { report, survey } = round;
  const { entries } = survey.state;
  const { path } = action;
  switch (outcome.outcome) {
    case "moved":
      round.hasMoved = true;
      return;
    case "refused":
      report.refused.push(...outcome.problems);
      return;
    case "conflict":
      if (change.kind === "write") await keepBoth(round, { path, text: change.text });
      return;
    case "removed":
      entries.delete(path);
      report.pages.removed.push(path);
      break;
    default: {
      const { id, version, digest } = outcome;
      entries.set(path, { id, version, digest });
      if (action.do === "write-page") noteWrite(round, action, outcome.outcome);
    }
  }
  round.hasChanged = true;
}

function noteWrite(
  { report, survey }: Round,
  action: WritePage,
  outcome: "added" | "changed" | "merged" | "same",
): void {
  const { path, from, isRevived } = action;
  if (from) {
    survey.state.entries.delete(from.path);
    report.pages.renamed.push({ from: from.path, to: path });
  } else if (outcome === "merged") report.merged.push(path);
  else if (outcome !== "same") report.pages[outcome].push(path);
  if (isRevived) report.revived.push({ path, by: "file" });
}

/**
 * The folder's text goes into a file of its own; only then may the page's text take its place, which the next round does:
 * the file is unchanged since what is noted here.
 */
async function keepBoth(round: Round, { path, text }: { path: string; text: string }): Promise<void> {
  const { session, survey, report } = round;
  const { files } = survey.sides;
  const file = files.get(path);
  if (!file || "reason" in file) return;
  const same = [...files].find(
    ([one, fact]) => isConflictOf(path, one) && "digest" in fact && fact.digest === file.digest,
  );
  const copy = same?.[0] ?? nameConflict(path, session.context.environment.now(), (name) => isTaken(round, name));
  if (!same && !session.dryRun) {
    const name = `${copy}.md`;
    const outcome = await writeFolderFile(session.folder, { name, text });
    if (outcome === "moved") round.hasMoved = true;
    else if (outcome !== "done") report.refused.push({ file: name, ...outcome });
    if (outcome !== "done") return;
    await flushFolders(session.folder, [name]);
  }
  survey.state.entries.set(path, { id: "", version: "", digest: file.digest });
  report.conflicts.push({ path, copy });
  round.hasChanged = true;
}

function isTaken({ survey }: Round, path: string): boolean {
  const { files, pages, entries } = survey.sides;
  return files.has(path) || pages.has(path) || entries.has(path);
}
