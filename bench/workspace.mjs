// What every measurement stands on: the built command, temporary folders that go away, and words to the terminal.
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export const root = fileURLToPath(new URL("..", import.meta.url));
export const satchelScript = join(root, "packages", "satchel", "bin", "satchel.js");

const run = promisify(execFile);
const outputLimitBytes = 64 * 1024 * 1024;

/** Runs the built command and gives its standard output. Throws with its standard error when it fails. */
export async function runSatchel(args) {
  const { stdout } = await run(process.execPath, [satchelScript, ...args], { maxBuffer: outputLimitBytes });
  return stdout;
}

/** A new context in `dataDir` with everything of `folder` in it. @returns the summary of the import */
export async function importFolder(dataDir, folder) {
  await runSatchel(["init", "--data", dataDir]);
  return JSON.parse(await runSatchel(["import", "--data", dataDir, "--json", folder]));
}

/** Gives `use` an empty folder and removes it afterwards, whatever happens. */
export async function withFolder(use) {
  const folder = mkdtempSync(join(tmpdir(), "satchel-bench-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once("exit", remove);
  try {
    return await use(folder);
  } finally {
    remove();
    process.off("exit", remove);
  }
}

/** The folder of one corpus; one line and exit code 2 when it is not there: it is never part of the project. */
export function findCorpus(option, name) {
  const corpora = option ?? (process.env.SATCHEL_CORPORA || join(root, "..", "shared", "corpora"));
  const folder = join(corpora, name);
  if (existsSync(folder)) return folder;
  console.error(
    `The corpus "${name}" is not at hand: name the folder that holds it with --corpora or SATCHEL_CORPORA.`,
  );
  process.exit(2);
}

/** Progress goes to standard error, so that standard output holds the figures alone. */
export function note(text) {
  process.stderr.write(`${text}\n`);
}

// An interrupted measurement ends by way of `exit`, which removes the folders; its servers end when their input closes.
for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
]) {
  process.once(signal, () => process.exit(code));
}
