import { existsSync, mkdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { type Context, FileLock } from "@satchel/server";
import { type CommonOptions, withContext } from "../session.js";
import { clearAside, openSyncFolder, ownFolder } from "../sync/folder-write.js";
import { askRemovals } from "../sync/removal-question.js";
import { type Answer, openKind, type Removal } from "../sync/removals.js";
import { settle } from "../sync/settle.js";
import type { SideChanges, SyncReport } from "../sync/sync-report.js";
import { loadState, type SyncSession } from "../sync/sync-session.js";
import { readState } from "../sync/sync-state.js";
import { watchSync } from "../sync/watch.js";
import { chooseDataDir } from "../system.js";
import { createProgress, note, paint, print, printJson, showHidden } from "../terminal.js";
import { CommandError, UsageError } from "../usage-error.js";

export interface SyncOptions extends CommonOptions {
  watch?: boolean;
  delete?: boolean;
  keep?: boolean;
  sensitive?: boolean;
  prefix?: string;
  partition?: string;
  dryRun?: boolean;
}

/** Keeps a folder of Markdown equal to the context. Exit code 1 when something is left open or refused. */
export async function sync(path: string, options: SyncOptions): Promise<void> {
  if (options.delete && options.keep) throw new UsageError("--delete and --keep are opposites: give one of them.");
  if (options.watch && options.dryRun) throw new UsageError("--dry-run looks once: leave --watch out.");
  const root = resolve(path);
  prepareRoot(root, options);
  await withContext(options, async (context) => {
    const session = openSync(context, root, options);
    if (options.dryRun) return finish(await settle(session), options);
    const lock = new FileLock(join(root, ownFolder, "lock"));
    const held = lock.take();
    if (!held) throw new CommandError(`Another sync of ${path} is running.`);
    try {
      clearAside(session.folder);
      if (options.watch) await keepWatching(session, path, options);
      else await settleOnTerminal(session, options);
    } finally {
      held.release();
      lock.close();
    }
  });
}

function prepareRoot(root: string, { dryRun, data }: SyncOptions): void {
  const inside = relative(realPath(resolve(chooseDataDir(data))), realPath(root));
  if (!isAbsolute(inside) && inside.split(sep)[0] !== "..")
    throw new UsageError(
      `${root} lies in the data directory, where an erasure could not clear it. Use another folder.`,
    );
  const stat = statSync(root, { throwIfNoEntry: false });
  if (stat && !stat.isDirectory()) throw new UsageError(`${root} is no folder.`);
  if (!stat && dryRun) throw new UsageError(`There is no folder ${root} yet. Without --dry-run it is made.`);
  if (!stat) mkdirSync(root, { recursive: true, mode: 0o700 });
}

/** Of what is not there yet: that of the folder it will be in. */
function realPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : join(realPath(dirname(path)), basename(path));
}

function openSync(context: Context, root: string, options: SyncOptions): SyncSession {
  const { dryRun = false, sensitive = false } = options;
  const stored = readState(root);
  const prefix = options.prefix?.normalize("NFC") ?? stored?.prefix ?? "";
  const partition = options.partition ?? stored?.partition;
  const scope = { prefix, sensitive, ...(partition !== undefined && { partition }) };
  loadState(root, context, scope);
  const folder = dryRun ? { root, foldsCase: false } : openSyncFolder(root);
  return { context, folder, scope, dryRun, decide: createDecision(options) };
}

/** What is answered to removals; what was left for later is not asked again. */
function createDecision(options: SyncOptions): SyncSession["decide"] {
  if (options.delete || options.keep) return async () => () => (options.delete ? "delete" : "keep");
  const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  if (!isTerminal || options.json || options.dryRun) return async () => () => "later";
  const answers = new Map<string, Answer>();
  return async (removals) => {
    const open = removals.filter((removal) => !answers.has(nameRemoval(removal)));
    if (open.length > 0) {
      const terminal = {
        input: process.stdin,
        output: process.stdout,
        onInterrupt: () => void process.kill(process.pid, "SIGINT"),
      };
      const answer = await askRemovals(open, terminal);
      for (const removal of open) answers.set(nameRemoval(removal), answer);
    }
    return (removal) => answers.get(nameRemoval(removal)) ?? "later";
  };
}

function nameRemoval(removal: Removal): string {
  const what = removal.do === "remove-page" ? removal.page.version : removal.file.digest;
  return JSON.stringify([openKind(removal), removal.path, what]);
}

async function settleOnTerminal(session: SyncSession, options: SyncOptions): Promise<void> {
  const progress = createProgress("Syncing");
  const settled = await settle({ ...session, onProgress: progress.show });
  progress.end();
  finish(settled, options);
}

function finish({ report }: { report: SyncReport }, options: SyncOptions): void {
  if (options.json) printJson(report);
  else printReport(report, options.dryRun === true);
  const isLeft = report.open.length + report.refused.length > 0;
  if (isLeft || (!report.equal && !options.dryRun)) process.exitCode = 1;
}

async function keepWatching(session: SyncSession, path: string, options: SyncOptions): Promise<void> {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  note(`Keeping ${path} equal to "${session.context.handle}". Stop with Ctrl-C.`);
  let said: ReadonlySet<string> = new Set();
  let hindrance = "";
  await watchSync({ ...session, seen: new Map() }, stop.signal, {
    onSettled(report) {
      const fresh = withoutSaid(report, said);
      said = new Set([...report.open, ...report.refused].map((one) => JSON.stringify(one)));
      hindrance = "";
      if (options.json) print(JSON.stringify(fresh));
      else if (hasNews(fresh)) printReport(fresh, false);
    },
    onHindrance(message) {
      if (hindrance !== message) note(`satchel: ${message}`);
      hindrance = message;
    },
  });
}

/** What is left open, and what is refused, is said once for as long as it stays so. */
function withoutSaid(report: SyncReport, said: ReadonlySet<string>): SyncReport {
  const isNew = (one: object) => !said.has(JSON.stringify(one));
  return { ...report, open: report.open.filter(isNew), refused: report.refused.filter(isNew) };
}

function hasNews({ pages, files, ...report }: SyncReport): boolean {
  const { merged, conflicts, revived, open, refused } = report;
  const lists = [...Object.values(pages), ...Object.values(files), merged, conflicts, revived, open, refused];
  return lists.some((list) => list.length > 0);
}

const revivedBy = {
  file: "its page was removed and its file edited: the page is back",
  page: "its file was deleted and its page edited: the file is back",
} as const;

const openBecause = {
  "file deleted": "its file was deleted; the page is still there",
  "page removed": "its page was removed; the file is still there",
  "page erased": "its page was erased; the file still holds its text",
} as const;

function printReport(report: SyncReport, isDry: boolean): void {
  const { conflicts, revived, open, refused, merged, left_out } = report;
  for (const { path, copy } of conflicts) {
    const text = `both sides changed it. The page's text is in "${path}.md", the folder's in "${copy}.md"`;
    note(`${paint("yellow", "conflict")} ${showHidden(`${path}: ${text}`)}`);
  }
  for (const { path, by } of revived) note(`${paint("yellow", "conflict")} ${showHidden(path)}: ${revivedBy[by]}`);
  for (const { path, why } of open) note(`${paint("yellow", "open")} ${showHidden(path)}: ${openBecause[why]}`);
  for (const { file, path, line, reason } of refused) {
    const place = line === undefined ? "" : `:${line}`;
    note(`${paint("red", "refused")} ${showHidden(file ?? path ?? "")}${place}: ${showHidden(reason)}`);
  }
  const sides = `pages: ${countSide(report.pages, merged.length)}; files: ${countSide(report.files, 0)}`;
  print(`${isDry ? "Would be" : "Done"}: ${sides}.`);
  if (left_out.sensitive > 0) note(`${left_out.sensitive} sensitive pages are left out (--sensitive takes them in).`);
  if (open.length > 0) note("Do what is open with --delete, or bring the missing side back with --keep.");
  if (!isDry && !report.equal && open.length + refused.length === 0) note("The sides keep changing. Run it again.");
}

function countSide({ added, changed, removed, renamed }: SideChanges, merged: number): string {
  const counts = [
    [added.length, "added"],
    [changed.length, "changed"],
    [merged, "merged"],
    [renamed.length, "renamed"],
    [removed.length, "removed"],
  ] as const;
  const some = counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  return some.join(", ") || "nothing";
}
