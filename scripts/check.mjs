// Everything a change must pass, in order, up to the first step that fails. --no-tests leaves the tests out.
import { spawnSync } from "node:child_process";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const biome = "node_modules/@biomejs/biome/bin/biome";
const tsc = "node_modules/typescript/bin/tsc";

const steps = [
  { name: "generated files are fresh", script: ["scripts/generate.mjs", "--check"] },
  { name: "format and lint", script: [biome, "ci", "."] },
  { name: "types", script: [tsc, "-p", "tsconfig.json", "--noEmit"] },
  { name: "import direction", script: ["scripts/check-imports.mjs"] },
  { name: "style limits", script: ["scripts/check-style.mjs"] },
  { name: "dependencies", script: ["scripts/check-dependencies.mjs"] },
  { name: "tests", npm: ["test"] },
];

function runStep({ script, npm }) {
  const options = { cwd: root, stdio: "inherit" };
  if (script) return spawnSync(process.execPath, script, options);
  return spawnSync("npm", npm, { ...options, shell: process.platform === "win32" });
}

function checkAll(chosen) {
  for (const [index, step] of chosen.entries()) {
    console.log(`[${index + 1}/${chosen.length}] ${step.name}`);
    const startedMs = performance.now();
    const { status, error } = runStep(step);
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
    if (status !== 0) {
      console.error(`FAILED: ${step.name} (${seconds} s)${error ? `: ${error.message}` : ""}`);
      return 1;
    }
    console.log(`passed: ${step.name} (${seconds} s)`);
  }
  return 0;
}

process.exitCode = checkAll(process.argv.includes("--no-tests") ? steps.filter((step) => step.script) : steps);
