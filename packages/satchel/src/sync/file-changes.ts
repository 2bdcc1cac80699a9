import { type SyncText, syncReadOperation } from "@satchel/server";
import { runLocally } from "../session.js";
import { flushFolders, removeFolderFile, writeFolderFile } from "./folder-write.js";
import type { Action, RemoveFile, WriteFile } from "./plan.js";
import { pick, type Round, saveState } from "./sync-session.js";

const textsAtOnce = 200;
const filesAtOnce = 16;

/** Writes into the folder what was changed in the context; then removes what was renamed or is to go. */
export async function changeFiles(round: Round, actions: Action[]): Promise<void> {
  const writes = pick(actions, "write-file");
  const done = new Set<string>();
  for (let start = 0; start < writes.length; start += textsAtOnce) {
    await writeBatch(round, writes.slice(start, start + textsAtOnce), done);
    round.session.onProgress?.(Math.min(writes.length, start + textsAtOnce), writes.length);
  }
  const removals = pick(actions, "remove-file");
  for (const removal of removals) {
    if (removal.after === undefined || done.has(removal.after)) removeOne(round, removal);
  }
  if (removals.length > 0) saveState(round);
}

async function writeBatch(round: Round, batch: WriteFile[], done: Set<string>): Promise<void> {
  const { context, folder, dryRun } = round.session;
  if (dryRun) {
    for (const write of batch) noteWrite(round, write, done);
    return;
  }
  const pages = batch.map(({ path, page }) => ({ path, version: page.version }));
  const texts = new Map((await runLocally(context, syncReadOperation(pages), {})).map((text) => [text.path, text]));
  const written: string[] = [];
  for (let start = 0; start < batch.length; start += filesAtOnce) {
    const some = batch.slice(start, start + filesAtOnce);
    const names = await Promise.all(some.map((write) => writeOne(round, write, texts.get(write.path))));
    for (const [index, name] of names.entries()) {
      if (name === undefined) continue;
      written.push(name);
      noteWrite(round, some[index] as WriteFile, done);
    }
  }
  await flushFolders(folder, written);
  saveState(round);
}

/** @returns its name, once it is in place */
async function writeOne(round: Round, write: WriteFile, text: SyncText | undefined): Promise<string | undefined> {
  const { path, page, over } = write;
  const name = over?.name ?? `${path}.md`;
  const outcome = text
    ? await writeFolderFile(round.session.folder, { name, text: text.text, ...(over && { over: over.digest }) })
    : "moved";
  if (outcome === "done") {
    round.survey.state.entries.set(path, page);
    return name;
  }
  if (outcome === "moved") round.hasMoved = true;
  else round.report.refused.push({ path, ...outcome });
  return undefined;
}

function noteWrite(round: Round, { path, over, isRevived }: WriteFile, done: Set<string>): void {
  const { report } = round;
  done.add(path);
  report.files[over ? "changed" : "added"].push(path);
  if (isRevived) report.revived.push({ path, by: "page" });
  round.hasChanged = true;
}

function removeOne(round: Round, { path, file, after }: RemoveFile): void {
  const { session, report, survey } = round;
  const outcome = session.dryRun ? "done" : removeFolderFile(session.folder, file);
  if (outcome === "moved") round.hasMoved = true;
  else if (outcome !== "done") report.refused.push({ path, ...outcome });
  if (outcome !== "done") return;
  survey.state.entries.delete(path);
  round.hasChanged = true;
  if (after === undefined) report.files.removed.push(path);
  else {
    report.files.added = report.files.added.filter((added) => added !== after);
    report.files.renamed.push({ from: path, to: after });
  }
}
