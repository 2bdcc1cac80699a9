import { cpSync } from "node:fs";
import { normaliseText } from "@satchel/pcp";
import { expect, it } from "vitest";
import { Choices } from "./choices.js";
import { cleanEnvironment, run, temporaryFolder } from "./harness.js";
import { scaled, testSeed } from "./scale.js";
import { SyncedFolder } from "./sync-folder.js";

const texts = {
  base: "one\ntwo\nthree\n",
  merge: ["ONE\ntwo\nthree\n", "one\ntwo\nTHREE\n", "ONE\ntwo\nTHREE\n"],
  conflict: ["ours\n", "theirs\n"],
};

/** Everything at once that a sync can be asked for. */
async function makeScene(): Promise<SyncedFolder> {
  const synced = await SyncedFolder.make({
    "merge.md": texts.base,
    "conflict.md": "base\n",
    "a/renamed.md": "r\n",
    "b/moves.md": "m\n",
    "file/deleted.md": "fd\n",
    "page/removed.md": "pr\n",
    "file/edited.md": "before\n",
    "page/edited.md": "before\n",
  });
  await synced.sync();
  synced.write("merge.md", texts.merge[0]!);
  await synced.put("merge", texts.merge[1]!);
  synced.write("conflict.md", texts.conflict[0]!);
  await synced.put("conflict", texts.conflict[1]!);
  synced.remove("a/renamed.md");
  synced.write("c/renamed.md", "r\n");
  await synced.put("d/moved", "m\n");
  await synced.removePage("b/moves", "page/removed");
  synced.remove("file/deleted.md");
  synced.write("file/edited.md", "after, by hand\r\n");
  await synced.put("page/edited", "after\n");
  synced.write("file/added.md", "fa\n");
  await synced.put("page/added", "pa\n");
  return synced;
}

const expected = new Map([
  ["c/renamed", "r\n"],
  ["conflict", "theirs\n"],
  ["d/moved", "m\n"],
  ["file/added", "fa\n"],
  ["file/edited", "after, by hand\n"],
  ["page/added", "pa\n"],
  ["page/edited", "after\n"],
]);
const everything = [
  "one\ntwo\nthree\n",
  ...texts.merge.slice(0, 2),
  "base\n",
  ...texts.conflict,
  "r\n",
  "m\n",
  "fd\n",
  "pr\n",
];
const everyText = [...everything, "before\n", "after, by hand\n", "after\n", "fa\n", "pa\n"];

it("a sync that is cut off at any change of a file loses nothing, and the next one ends equal", {
  timeout: 1_800_000,
}, async () => {
  const scene = await makeScene();
  const choices = new Choices(testSeed());
  const victim = new URL("./sync-victim.mjs", import.meta.url).href;
  const replay = async (crashAt: number) => {
    const [data, folder] = [temporaryFolder(), temporaryFolder()];
    cpSync(scene.data, data, { recursive: true });
    cpSync(scene.folder, folder, { recursive: true });
    const env = cleanEnvironment({ SYNC_CRASH_AT: String(crashAt) });
    const args = ["sync", "--data", data, folder, "--delete"];
    return { copy: scene.at(data, folder), ran: await run(args, { env, nodeArguments: ["--import", victim] }) };
  };
  const whole = await replay(0);
  expect(whole.ran.code).toBe(0);
  const steps = Number(/steps (\d+)/.exec(whole.ran.stderr)?.[1]);
  expect(steps).toBeGreaterThan(60);
  for (let count = scaled(steps), tried = 0; tried < count; tried++) {
    const crashAt = count === steps ? tried + 1 : choices.integer(1, steps);
    const { copy, ran } = await replay(crashAt);
    expect(ran.code, `step ${crashAt}: ${ran.stderr}`).toBe(null);
    const report = await copy.sync("--delete");
    expect(report, `step ${crashAt}`).toMatchObject({ code: 0, equal: true });
    const pages = await copy.pages();
    expect(copy.files(), `step ${crashAt}`).toEqual(pages);
    for (const [path, text] of expected) expect(pages.get(path), `step ${crashAt}: ${path}`).toBe(text);
    const conflicts = [...pages].filter(([path]) => path.startsWith("conflict (")).map(([, text]) => text);
    expect(conflicts, `step ${crashAt}`).toEqual(["ours\n"]);
    const history = await copy.history();
    for (const text of everyText) expect(history, `step ${crashAt}`).toContain(normaliseText(text));
    expect(copy.leftovers(), `step ${crashAt}`).toEqual([]);
    await copy.close();
  }
  console.log(`${scaled(steps)} of ${steps} places tried`);
});
