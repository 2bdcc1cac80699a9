// What the checks share: which files are sources, how one is parsed, and how a failure is printed.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const skippedFolders = new Set(["node_modules", "dist", "coverage", ".cache"]);

/** The tree to check: the first argument that is no option, else this repository. */
export function readRoot() {
  const given = process.argv.slice(2).find((argument) => !argument.startsWith("-"));
  return given ?? fileURLToPath(new URL("..", import.meta.url));
}

/** Paths below `root/folder`, relative to root, with "/" on every platform, in name order. */
export function listFiles(root, folder) {
  if (!existsSync(join(root, folder))) return [];
  const entries = readdirSync(join(root, folder), { withFileTypes: true });
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  return entries.flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return skippedFolders.has(entry.name) ? [] : listFiles(root, path);
    return entry.isFile() ? [path] : [];
  });
}

/** The folders under `packages/`, in name order. */
export function listPackages(root) {
  if (!existsSync(join(root, "packages"))) return [];
  const entries = readdirSync(join(root, "packages"), { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory() && existsSync(join(root, "packages", entry.name, "package.json")))
    .map((entry) => entry.name)
    .sort();
}

export const isSource = (path) => /\.(ts|tsx|mts|mjs|js)$/.test(path);
export const isGenerated = (path) => path.includes("/generated/");
export const isTest = (path) => path.startsWith("test/") || /\.(test|contract)\.tsx?$/.test(path);

/** A syntax tree with parent links, of TypeScript and JavaScript alike. */
export function parseSource(root, path) {
  const text = readFileSync(join(root, path), "utf8");
  return ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
}

/** 1-based, as editors count. */
export function lineAt(source, position) {
  return source.getLineAndCharacterOfPosition(position).line + 1;
}

/** Prints every failure as file:line and rule; the process then ends with 1 if there was any. */
export function report(check, failures) {
  for (const { file, line, rule } of failures) console.error(`${file}:${line}: ${rule}`);
  console.log(failures.length === 0 ? `${check}: clean` : `${check}: ${failures.length} failure(s)`);
  process.exitCode = failures.length === 0 ? 0 : 1;
}
