import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { normaliseText } from "@satchel/pcp";
import { type Context, openContext } from "@satchel/server";
import { environmentOf } from "./environment.js";
import { makeData, onEnd, type ProcessOptions, run, runOk, temporaryFolder } from "./harness.js";

interface SideChanges {
  added: string[];
  changed: string[];
  removed: string[];
  renamed: { from: string; to: string }[];
}

/** What `satchel sync --json` prints. */
export interface SyncReport {
  equal: boolean;
  pages: SideChanges;
  files: SideChanges;
  merged: string[];
  conflicts: { path: string; copy: string }[];
  revived: { path: string; by: string }[];
  open: { path: string; why: string }[];
  refused: { file?: string; path?: string; line?: number; reason: string }[];
  left_out: { sensitive: number };
}

/** A context and a folder, and both of them as a person sees them. */
export class SyncedFolder {
  private constructor(
    readonly data: string,
    readonly folder: string,
    readonly context: Context,
  ) {}

  static async make(files: Record<string, string | Buffer> = {}): Promise<SyncedFolder> {
    const data = await makeData("me");
    const context = openContext(data, "me", environmentOf({ ms: Date.now() }));
    onEnd(() => context.store.close());
    const made = new SyncedFolder(data, temporaryFolder("satchel-sync-"), context);
    for (const [name, text] of Object.entries(files)) made.write(name, text);
    return made;
  }

  /** A copy of it at another place. */
  at(data: string, folder: string): SyncedFolder {
    return new SyncedFolder(data, folder, openContext(data, "me", environmentOf({ ms: Date.now() })));
  }

  close(): Promise<void> {
    return this.context.store.close();
  }

  /** What a run that was cut off left, and the next one did not clear. */
  leftovers(): string[] {
    return readdirSync(this.file(".satchel")).filter((name) => name !== "sync.json" && name !== "lock");
  }

  file(name: string): string {
    return join(this.folder, name);
  }

  write(name: string, text: string | Buffer): void {
    mkdirSync(dirname(this.file(name)), { recursive: true });
    writeFileSync(this.file(name), text);
  }

  remove(name: string): void {
    rmSync(this.file(name));
  }

  has(name: string): boolean {
    return existsSync(this.file(name));
  }

  read(name: string): string {
    return readFileSync(this.file(name), "utf8");
  }

  /** Every Markdown file by the path of its page, in its stored form. */
  files(): Map<string, string> {
    const names = readdirSync(this.folder, { recursive: true, encoding: "utf8" });
    const notes = names.filter((name) => !name.startsWith(".satchel") && name.endsWith(".md")).sort();
    return new Map(notes.map((name) => [name.replace(/\.md$/, "").normalize("NFC"), normaliseText(this.read(name))]));
  }

  put(path: string, text: string): Promise<unknown> {
    return runOk(["page", "put", "--data", this.data, path], { input: text });
  }

  removePage(...paths: string[]): Promise<unknown> {
    return runOk(["page", "rm", "--data", this.data, ...paths]);
  }

  /** Every live page's text by path. */
  async pages(): Promise<Map<string, string>> {
    return this.context.store.read(async (transaction) => {
      const parts = (await transaction.partitions()).flatMap(({ name }) =>
        (["normal", "sensitive"] as const).map((sensitivity) => ({ partition: name, sensitivity })),
      );
      const pages = await transaction.list({ parts, includeArchived: true, limit: 1e6 });
      const texts = new Map<string, string>();
      for (const page of pages) {
        const { head, body } = await transaction.currentVersion(page);
        texts.set(page.path, head + body);
      }
      return texts;
    });
  }

  /** The text of every version of every page, live or removed. */
  async history(): Promise<Set<string>> {
    return this.context.store.read(async (transaction) => {
      const texts = new Set<string>();
      for (const { id } of await transaction.storedPages({ after: 0, limit: 1e6 })) {
        for (const { head, body, removed } of await transaction.versions(id)) if (!removed) texts.add(head + body);
      }
      return texts;
    });
  }

  arguments(...more: string[]): string[] {
    return ["sync", "--data", this.data, this.folder, ...more];
  }

  async sync(...more: string[]): Promise<SyncReport & { code: number | null }> {
    const { code, stdout, stderr } = await run(this.arguments("--json", ...more));
    if (stdout === "") throw new Error(`sync exited with ${code}: ${stderr}`);
    return { ...(JSON.parse(stdout) as SyncReport), code };
  }

  /** As a person sees it. */
  say(more: string[] = [], options: ProcessOptions = {}) {
    return run(this.arguments(...more), options);
  }
}
