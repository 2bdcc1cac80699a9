// Every direct dependency is pinned exactly and has its row in docs/dependencies.md.
// Usage: node scripts/check-dependencies.mjs [root]
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { listPackages, readRoot, report } from "./source-tree.mjs";

const table = "docs/dependencies.md";
const sections = ["dependencies", "devDependencies", "optionalDependencies"];
const exactVersion = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/;

function readManifests(root) {
  const paths = ["package.json", ...listPackages(root).map((folder) => `packages/${folder}/package.json`)];
  return paths.map((path) => {
    const text = readFileSync(join(root, path), "utf8");
    return { path, text, manifest: JSON.parse(text) };
  });
}

function lineOfDependency(text, name) {
  const before = text.slice(0, Math.max(0, text.lastIndexOf(`"${name}":`)));
  return before.split("\n").length;
}

function listDependencies(manifests) {
  return manifests.flatMap(({ path, text, manifest }) =>
    sections.flatMap((section) =>
      Object.entries(manifest[section] ?? {}).map(([name, version]) => ({
        file: path,
        line: lineOfDependency(text, name),
        name,
        version,
      })),
    ),
  );
}

/** Rows `| name | version | licence | reason |`, by name; header and rule rows have no version and are left out. */
function readTable(root) {
  const rows = new Map();
  const lines = readFileSync(join(root, table), "utf8").split("\n");
  for (const [index, text] of lines.entries()) {
    if (!text.startsWith("|")) continue;
    const [name = "", version = "", licence = "", reason = ""] = text
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.replaceAll("`", "").trim());
    if (/^\d/.test(version)) rows.set(name, { line: index + 1, version, licence, reason });
  }
  return rows;
}

function checkDependency({ name, version }, rows, versions) {
  if (!exactVersion.test(version)) return `${name} is not pinned exactly: ${version}`;
  if (versions.has(name)) {
    return versions.get(name) === version ? undefined : `${name} is ${versions.get(name)} in this workspace`;
  }
  const row = rows.get(name);
  if (!row) return `${name} has no row in ${table}`;
  if (row.version !== version) return `${name} is ${row.version} in ${table}, but ${version} here`;
  return row.licence && row.reason ? undefined : `${name} has no licence or no reason in ${table}`;
}

function listStaleRows(rows, dependencies) {
  const used = new Set(dependencies.map((dependency) => dependency.name));
  return [...rows]
    .filter(([name]) => !used.has(name))
    .map(([name, row]) => ({ file: table, line: row.line, rule: `${name} is no dependency any more` }));
}

function checkDependencies(root) {
  const manifests = readManifests(root);
  const versions = new Map(manifests.map(({ manifest }) => [manifest.name, manifest.version]));
  const dependencies = listDependencies(manifests);
  const rows = readTable(root);
  const failures = dependencies.flatMap((dependency) => {
    const rule = checkDependency(dependency, rows, versions);
    return rule ? [{ file: dependency.file, line: dependency.line, rule }] : [];
  });
  return [...failures, ...listStaleRows(rows, dependencies)];
}

report("dependencies", checkDependencies(readRoot()));
