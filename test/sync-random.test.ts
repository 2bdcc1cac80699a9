import { renameSync } from "node:fs";
import { normaliseText } from "@satchel/pcp";
import { expect, it } from "vitest";
import { Choices } from "./choices.js";
import { connectStdio, run, startCommand, type TestClient } from "./harness.js";
import { scaled, testSeed } from "./scale.js";
import { SyncedFolder } from "./sync-folder.js";

const names = ["a", "b", "Notes/one", "Notes/two", "Notes/deep/three", "日記/京都", "Müller", "x y/z"];

/** Edits both sides at random, and remembers every text that a sync has to keep. */
class Editors {
  /** Written into the context: kept whatever happens. */
  private readonly written = new Set<string>();
  /** What files held when a sync began, until a hand replaced it before the sync had it. */
  private readonly seen = new Set<string>();
  private count = 0;
  private readonly calls: Record<string, number> = {};

  constructor(
    private readonly synced: SyncedFolder,
    private readonly assistant: TestClient,
    private readonly choices: Choices,
  ) {}

  remember(): void {
    for (const text of this.synced.files().values()) this.seen.add(text);
  }

  /** @param avoid files that a running sync has not settled yet */
  async edit(avoid: Set<string> = new Set()): Promise<void> {
    const { choices } = this;
    const kind = choices.pick([
      "file",
      "file",
      "file",
      "page",
      "page",
      "page",
      "rename",
      "delete",
      "remove",
      "both",
    ] as const);
    this.calls[kind] = (this.calls[kind] ?? 0) + 1;
    if (kind === "file" || kind === "both") await this.editFile(avoid);
    if (kind === "page" || kind === "both") await this.editPage();
    if (kind === "rename") await this.rename(avoid);
    if (kind === "delete") await this.deleteFile(avoid);
    if (kind === "remove") await this.removePage();
  }

  private change(text: string | undefined): string {
    const { choices } = this;
    const mark = `line ${this.count++} ${choices.integer(0, 1e9)}`;
    if (text === undefined || choices.is(0.15)) {
      const head = choices.is(0.4) ? `---\ntitle: "T${this.count}"\ntags: [t${this.count}]\n---\n` : "";
      return `${head}# ${mark}\n${choices.many(8, (index) => `${mark} ${index}\n`).join("")}`;
    }
    const lines = text.split("\n");
    const body = lines[0] === "---" ? lines.indexOf("---", 1) + 1 : 0;
    lines.splice(choices.integer(body, Math.max(body, lines.length - 2)), choices.integer(0, 1), mark);
    return lines.join("\n");
  }

  /** What no sync had taken yet when a hand replaced it is not for a sync to keep. */
  private async replaced(name: string): Promise<void> {
    if (!this.synced.has(name)) return;
    const text = normaliseText(this.synced.read(name));
    if (!(await this.synced.history()).has(text)) this.seen.delete(text);
  }

  private async editFile(avoid: Set<string>): Promise<void> {
    const { choices, synced } = this;
    const known = [...synced.files().keys()];
    const path = choices.is(0.7) && known.length > 0 ? choices.pick(known) : choices.pick(names);
    const name = `${path}.md`;
    if (avoid.has(name)) return;
    avoid.add(name);
    const text = this.change(synced.files().get(path));
    await this.replaced(name);
    synced.write(name, choices.is(0.2) ? text.replaceAll("\n", "\r\n") : text);
  }

  private async rename(avoid: Set<string>): Promise<void> {
    const { choices, synced } = this;
    const [from, to] = [choices.pick([...synced.files().keys(), "a"]), choices.pick(names)].map((path) => `${path}.md`);
    if (!from || !to || !synced.has(from) || synced.has(to) || avoid.has(from) || avoid.has(to)) return;
    avoid.add(from).add(to);
    await this.replaced(from);
    synced.write(to, "");
    renameSync(synced.file(from), synced.file(to));
  }

  private async deleteFile(avoid: Set<string>): Promise<void> {
    const { choices, synced } = this;
    const name = `${choices.pick([...synced.files().keys(), "a"])}.md`;
    if (!synced.has(name) || avoid.has(name)) return;
    avoid.add(name);
    await this.replaced(name);
    synced.remove(name);
  }

  private async editPage(): Promise<void> {
    const { choices, synced } = this;
    const pages = await synced.pages();
    const path = choices.is(0.7) && pages.size > 0 ? choices.pick([...pages.keys()]) : choices.pick(names);
    const body = this.change(pages.get(path));
    // Without a block, a page that has one would keep it: the text would not be the one written.
    const isSplit = !body.startsWith("---") && pages.get(path)?.startsWith("---");
    if (isSplit) return;
    const { isError } = await this.assistant.callTool("memory_write", { path, body });
    if (!isError) this.written.add(body);
  }

  private async removePage(): Promise<void> {
    const pages = [...(await this.synced.pages()).keys()];
    if (pages.length > 0) await run(["page", "rm", "--data", this.synced.data, this.choices.pick(pages)]);
  }

  async verify(): Promise<void> {
    const kept = new Set([...(await this.synced.history()), ...this.synced.files().values()]);
    for (const text of [...this.written, ...this.seen]) expect(kept).toContain(text);
  }

  said(): string {
    return `${JSON.stringify(this.calls)}, ${this.written.size} texts by the context, ${this.seen.size} by hand`;
  }
}

const timeout = 1_800_000;

it("random edits on both sides, with syncs cut off in between: no text is lost, both sides end equal", {
  timeout,
}, async () => {
  const choices = new Choices(testSeed());
  const synced = await SyncedFolder.make();
  const assistant = await connectStdio("v2 auto", ["--data", synced.data]);
  const editors = new Editors(synced, assistant, choices);
  let [done, killed, conflicts, merged] = [0, 0, 0, 0];
  for (const edits = scaled(1000); done < edits; ) {
    for (let left = choices.integer(1, 6); left > 0; left--, done++) await editors.edit();
    editors.remember();
    const answer = choices.pick([["--delete"], ["--delete"], ["--keep"], []]);
    if (choices.is(0.3)) {
      const running = startCommand(synced.arguments(...answer));
      const alarm = setTimeout(() => running.child.kill("SIGKILL"), choices.integer(150, 800));
      const busy = new Set<string>();
      for (let left = choices.integer(0, 3); left > 0; left--, done++) {
        await new Promise((resolve) => setTimeout(resolve, choices.integer(0, 150)));
        await editors.edit(busy);
      }
      const { signal } = await running.exit;
      clearTimeout(alarm);
      if (signal === "SIGKILL") killed++;
    } else {
      const report = await synced.sync(...answer);
      expect(report.refused).toEqual([]);
      conflicts += report.conflicts.length;
      merged += report.merged.length;
    }
    if (choices.is(0.2)) await editors.verify();
  }
  editors.remember();
  expect(await synced.sync("--delete")).toMatchObject({ code: 0, equal: true });
  await editors.verify();
  expect(synced.files()).toEqual(await synced.pages());
  expect(await synced.sync()).toMatchObject({ code: 0, open: [], pages: { added: [] }, files: { added: [] } });
  console.log(`${done} edits, ${killed} syncs cut off, ${conflicts} conflicts, ${merged} merges; ${editors.said()}`);
  await assistant.close();
});
