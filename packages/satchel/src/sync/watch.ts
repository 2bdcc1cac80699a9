import { createHash } from "node:crypto";
import { type FSWatcher, watch } from "node:fs";
import { join } from "node:path";
import { readRecordedTime } from "@satchel/server";
import { CommandError } from "../usage-error.js";
import { type FolderScan, scanFolder } from "./folder-scan.js";
import { settle } from "./settle.js";
import type { SyncReport } from "./sync-report.js";
import { loadState, type SyncSession } from "./sync-session.js";

/** How often the context is asked whether it changed, and how often the folder is looked through without an event. */
const pollMs = 500;
const scanMs = 2000;
/** A burst is over when nothing happened for so long; it is taken up after `burstMs` all the same. */
const quietMs = 100;
const burstMs = 1000;

export interface WatchEvents {
  onSettled(report: SyncReport): void;
  /** Something is in the way that may go by itself; it is tried again. */
  onHindrance(message: string): void;
}

/** Keeps both sides equal until `stop` is aborted. @throws when the folder can't be read any more */
export async function watchSync(session: SyncSession, stop: AbortSignal, events: WatchEvents): Promise<void> {
  const alarm = new FolderAlarm(session.folder.root, stop);
  let settled: string | undefined;
  try {
    while (!stop.aborted) {
      const facts = await lookAround(session, alarm).catch((error: unknown) => hinder(error, events));
      if (facts !== undefined && facts !== settled) settled = await settleOnce(session, events);
      await alarm.wait(settled);
    }
  } finally {
    alarm.close();
  }
}

async function settleOnce(session: SyncSession, events: WatchEvents): Promise<string | undefined> {
  try {
    const { report, survey } = await settle(session);
    events.onSettled(report);
    const left = report.open.length + report.refused.length;
    return report.equal || left > 0
      ? describeFacts(survey.scan, survey.comparison.recorded, survey.state.entries.size > 0)
      : undefined;
  } catch (error) {
    return hinder(error, events);
  }
}

function hinder(error: unknown, events: WatchEvents): undefined {
  const isLocked = (error as { code?: unknown } | null)?.code === "locked";
  if (!(error instanceof CommandError) && !isLocked) throw error;
  events.onHindrance((error as Error).message);
}

/** The sides as one text: another one means that something changed. */
async function lookAround(session: SyncSession, alarm: FolderAlarm): Promise<string> {
  const { context, folder, scope, seen } = session;
  const recorded = await readRecordedTime(context);
  if (!alarm.isDue(recorded)) return alarm.facts;
  alarm.startLook();
  const { entries } = loadState(folder.root, context, scope);
  const options = { prefix: scope.prefix, known: new Set(entries.keys()), ...(seen && { seen }) };
  const scan = scanFolder(folder.root, options);
  alarm.listen(scan.folders);
  return alarm.endLook(recorded, describeFacts(scan, recorded, entries.size > 0));
}

function describeFacts({ files, unnamed }: FolderScan, recorded: string, hasEntries: boolean): string {
  const hash = createHash("sha256").update(JSON.stringify([recorded, unnamed, hasEntries]));
  for (const [path, fact] of files) hash.update(JSON.stringify([path, fact]));
  return hash.digest("hex");
}

/** Says when to look again: after an event of the file system and the quiet that follows it, or when it is time to. */
class FolderAlarm {
  facts = "";
  private readonly watchers = new Map<string, FSWatcher>();
  private recorded = "";
  private lookedMs = Number.NEGATIVE_INFINITY;
  private eventMs: number | undefined;
  private firstEventMs: number | undefined;
  private wake: () => void = () => undefined;

  constructor(
    private readonly root: string,
    private readonly stop: AbortSignal,
  ) {
    stop.addEventListener("abort", () => this.wake(), { once: true });
  }

  isDue(recorded: string): boolean {
    const isTime = performance.now() - this.lookedMs >= scanMs;
    return this.eventMs !== undefined || recorded !== this.recorded || isTime;
  }

  startLook(): void {
    this.lookedMs = performance.now();
    this.eventMs = undefined;
    this.firstEventMs = undefined;
  }

  endLook(recorded: string, facts: string): string {
    this.recorded = recorded;
    this.facts = facts;
    return facts;
  }

  /** One watcher a folder: that works alike on every system. Where there are too many, the poll goes on alone. */
  listen(folders: string[]): void {
    const wanted = new Set(folders);
    for (const [folder, watcher] of this.watchers) {
      if (wanted.has(folder)) continue;
      watcher.close();
      this.watchers.delete(folder);
    }
    for (const folder of wanted) {
      if (this.watchers.has(folder)) continue;
      try {
        const watcher = watch(join(this.root, folder), () => this.note());
        watcher.on("error", () => watcher.close());
        this.watchers.set(folder, watcher);
        if (this.facts !== "") this.note(); // What came into it before it was watched made no event.
      } catch {
        return;
      }
    }
  }

  private note(): void {
    this.eventMs = performance.now();
    this.firstEventMs ??= this.eventMs;
    this.wake();
  }

  async wait(settled: string | undefined): Promise<void> {
    if (settled === undefined || this.eventMs === undefined) await this.pause(pollMs);
    while (this.eventMs !== undefined && this.firstEventMs !== undefined && !this.stop.aborted) {
      const now = performance.now();
      const rest = Math.min(this.eventMs + quietMs, this.firstEventMs + burstMs) - now;
      if (rest <= 0) return;
      await this.pause(rest);
    }
  }

  private pause(ms: number): Promise<void> {
    if (this.stop.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  close(): void {
    for (const watcher of this.watchers.values()) watcher.close();
  }
}
