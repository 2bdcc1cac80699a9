// A context into an archive, the archive into a fresh context, that one into an archive again.
import { statSync } from "node:fs";
import { join } from "node:path";
import { readArchive } from "@satchel/server";
import { timeMs } from "./figures.mjs";
import { runSatchel } from "./workspace.mjs";

/** Exports and checks what is in `dataDir`. */
export async function exportAndVerify(dataDir, out) {
  const exportMs = await timeMs(() => runSatchel(["export", "--data", dataDir, "--out", out]));
  const verifyMs = await timeMs(() => runSatchel(["verify", out]));
  return { exportMs, verifyMs, bytes: statSync(out).size };
}

/** Imports `folder` into a new context and sends it round. `different` is empty when nothing was lost or changed. */
export async function measureRoundTrip(workFolder, folder) {
  const [first, second] = ["first", "second"].map((name) => join(workFolder, name));
  const [sent, returned] = [`${first}.tar.gz`, `${second}.tar.gz`];
  for (const dataDir of [first, second]) await runSatchel(["init", "--data", dataDir]);
  let summary;
  const importMs = await timeMs(async () => {
    summary = JSON.parse(await runSatchel(["import", "--data", first, "--json", folder]));
  });
  const exported = await exportAndVerify(first, sent);
  const restoreMs = await timeMs(() => runSatchel(["import", "--data", second, sent]));
  await exportAndVerify(second, returned);
  const different = await compareArchives(sent, returned);
  return { pages: summary.added.length, importMs, ...exported, restoreMs, different };
}

/** What differs but for the audit, which is each context's own, and the manifest's own time, list of files and context. */
async function compareArchives(one, other) {
  const [left, right] = await Promise.all([one, other].map((file) => readArchive(file, { identities: [] })));
  const names = new Set([...left.files.keys(), ...right.files.keys()].filter((name) => !name.startsWith("audit/")));
  const files = [...names].filter((name) => {
    const [before, after] = [left.files.get(name), right.files.get(name)];
    return !before || !after || !before.equals(after);
  });
  const [before, after] = [left, right].map(({ manifest }) => factsOf(manifest));
  const facts = Object.keys({ ...before, ...after }).filter(
    (key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]),
  );
  return [...files, ...facts.map((key) => `manifest: ${key}`)];
}

function factsOf({ created: _, files, ...manifest }) {
  return { ...manifest, files: files.filter(({ path }) => !path.startsWith("audit/")) };
}
