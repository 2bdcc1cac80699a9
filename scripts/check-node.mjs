// The tests on another Node, in a folder of its own: node scripts/check-node.mjs 22|24
// Node comes as the npm package `node`, with the headers that native modules are compiled against.
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const supported = ["22", "24"];

function run(command, { cwd, env = process.env, quiet = false }) {
  const [program, ...args] = command;
  const shell = process.platform === "win32" && program === "npm";
  const stdio = quiet ? ["ignore", "pipe", "inherit"] : "inherit";
  if (!quiet) console.log(`$ ${command.join(" ")}`);
  const result = spawnSync(program, args, { cwd, env, shell, stdio, encoding: "utf8", maxBuffer: 2 ** 28 });
  if (result.error) throw result.error;
  if (result.status !== 0) throw new Error(`${command.join(" ")} ended with ${result.status ?? result.signal}`);
  return result.stdout ?? "";
}

/** The folder that holds `include/node`: beside the binary's package or inside it, depending on npm's layout. */
function findHeaders(folder) {
  const parents = [join(folder, "node_modules"), join(folder, "node_modules", "node", "node_modules")];
  const candidates = parents
    .filter((parent) => existsSync(parent))
    .flatMap((parent) => readdirSync(parent).map((name) => join(parent, name)));
  const found = candidates.find((candidate) => existsSync(join(candidate, "include", "node", "node_version.h")));
  if (!found) throw new Error(`no Node headers under ${folder}`);
  return found;
}

function installNode(folder, major) {
  mkdirSync(folder, { recursive: true });
  run(["npm", "install", "--prefix", folder, "--no-save", "--no-package-lock", `node@${major}`], { cwd: folder });
  const bin = join(folder, "node_modules", ".bin");
  const node = realpathSync(
    join(folder, "node_modules", "node", "bin", process.platform === "win32" ? "node.exe" : "node"),
  );
  const version = run([node, "--version"], { cwd: folder, quiet: true }).trim();
  if (!version.startsWith(`v${major}.`)) throw new Error(`asked for Node ${major}, got ${version}`);
  return { bin, node, version, headers: findHeaders(folder) };
}

/** Copies what git tracks, as it stands in the working tree; node_modules and dist never come along. */
function copyTree(tree) {
  rmSync(tree, { recursive: true, force: true });
  const listed = run(["git", "ls-files", "-z"], { cwd: root, quiet: true });
  const files = listed.split("\0").filter((path) => path !== "" && existsSync(join(root, path)));
  for (const path of files) {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    copyFileSync(join(root, path), join(tree, path));
  }
  const untracked = run(["git", "ls-files", "-z", "--others", "--exclude-standard"], { cwd: root, quiet: true });
  const left = untracked.split("\0").filter(Boolean).length;
  console.log(`copied ${files.length} tracked files${left > 0 ? `; ${left} untracked files are left out` : ""}`);
}

// First on PATH, so that npm, build scripts and what the tests start run on this Node too.
function withNode(bin) {
  return { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH ?? ""}` };
}

// Older and newer node-gyp read different names; without headers at hand it would fetch them over the net.
function withHeaders(env, headers) {
  const nodedir = { npm_config_nodedir: headers, npm_package_config_node_gyp_nodedir: headers };
  return { ...env, ...nodedir, npm_config_build_from_source: "true" };
}

function checkNode(major) {
  const folder = join(root, ".cache", `node${major}`);
  const tree = join(folder, "tree");
  const installed = installNode(folder, major);
  copyTree(tree);
  const options = { cwd: tree, env: withNode(installed.bin) };
  run(["npm", "ci", "--ignore-scripts"], options);
  run(["npm", "rebuild", "better-sqlite3"], { cwd: tree, env: withHeaders(options.env, installed.headers) });
  const report = 'const D=require("better-sqlite3");const d=new D(":memory:");'.concat(
    'console.log("Node",process.version,"ABI",process.versions.modules,"SQLite",',
    'd.prepare("select sqlite_version() v").get().v)',
  );
  run([installed.node, "-e", report], options);
  run(["npm", "run", "build"], options);
  run([installed.node, join("node_modules", "vitest", "vitest.mjs"), "run"], options);
  console.log(`passed on Node ${installed.version}`);
}

const major = process.argv[2] ?? "";
if (supported.includes(major)) {
  try {
    checkNode(major);
  } catch (error) {
    console.error(`FAILED on Node ${major}: ${error.message}`);
    process.exitCode = 1;
  }
} else {
  console.error(`usage: node scripts/check-node.mjs ${supported.join("|")}`);
  process.exitCode = 2;
}
