import { rmSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { runOk } from "./harness.js";
import { SyncedFolder } from "./sync-folder.js";

/*
 * Faults that were reported of comparable software, tried on a folder that is synced. Each test names its row.
 */

describe("sync", () => {
  it("C12: two histories that went apart meet without a terminal: nothing is overwritten, and the exit code tells", async () => {
    const synced = await SyncedFolder.make();
    for (let i = 0; i < 20; i++)
      synced.write(`notes/${i}.md`, `# ${i}\n\nSee [[notes/${i + 1}#^block-${i}]] ^block-${i}\n`);
    await synced.sync();
    const other = await SyncedFolder.make();
    for (const [path, text] of synced.files()) other.write(`${path}.md`, text.replace("See", "Look at"));
    const folder = other.folder;
    rmSync(synced.folder, { recursive: true });
    const { stdout } = await runOk(["sync", "--data", synced.data, folder, "--json"]);
    const report = JSON.parse(stdout) as { conflicts: { path: string; copy: string }[]; equal: boolean };
    expect(report.conflicts).toHaveLength(20);
    expect(report.equal).toBe(true);
    for (const { path, copy } of report.conflicts) {
      expect(other.read(`${path}.md`)).toMatch(/See \[\[notes\/\d+#\^block-\d+\]\] \^block/);
      expect(other.read(`${copy}.md`)).toMatch(/Look at \[\[/);
    }
    expect((await synced.pages()).size).toBe(40);
    other.remove("notes/0.md");
    expect(await other.at(synced.data, folder).sync()).toMatchObject({ code: 1, open: [{ path: "notes/0" }] });
    expect((await synced.pages()).size).toBe(40);
  });

  it("F1: a file's own block stays the only one, on both sides and after edits on both", async () => {
    const text = "---\ntitle: Paper\ntype: semantic\ncitekey: doe2024\n---\nOne.\n\nTwo.\n";
    const synced = await SyncedFolder.make({ "paper.md": text });
    await synced.sync();
    expect(synced.read("paper.md")).toBe(text);
    synced.write("paper.md", text.replace("One.", "1."));
    await synced.put("paper", text.replace("Two.", "2."));
    await synced.sync();
    expect(synced.read("paper.md")).toBe(text.replace("One.", "1.").replace("Two.", "2."));
    expect(await synced.sync("--json")).toMatchObject({ code: 0, equal: true });
  });

  it("F3, F6: one bad file holds up no other, again and again", async () => {
    const synced = await SyncedFolder.make({
      "null.md": "---\ntype: null\n---\nx\n",
      "bad.md": "---\n- x: [\n---\n",
      "rule.md": "---\n\nA rule, and no block.\n",
      "tick.md": "`C:\\x` in ticks\n",
      "star.md": "---\ntitle: *Italic*\n---\n",
      "link.md": "- [[link]]suffix\n",
    });
    const first = await synced.sync();
    expect(first.pages.added.sort()).toEqual(["link", "null", "rule", "tick"]);
    const named = [...new Set(first.refused.map(({ file }) => file))].sort();
    expect(named).toEqual(["bad.md", "star.md"]);
    synced.write("later.md", "Later.\n");
    expect(await synced.sync()).toMatchObject({ code: 1, pages: { added: ["later"] } });
    synced.write("bad.md", "Mended.\n");
    synced.write("star.md", "---\ntitle: Italic\n---\n");
    expect(await synced.sync()).toMatchObject({ code: 0, equal: true, pages: { added: ["bad", "star"] } });
  });
});
