// All the tests with their full counts, where `npm test` runs a twentieth. Arguments go to vitest.
import { spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const seed = process.env.SATCHEL_TEST_SEED ?? String(randomInt(2 ** 31));
const env = { ...process.env, SATCHEL_TEST_SCALE: "1", SATCHEL_TEST_SEED: seed };
const options = { cwd: root, stdio: "inherit", env };

function run(script) {
  const { status, error } = spawnSync(process.execPath, script, options);
  if (error) console.error(error.message);
  return status ?? 1;
}

console.log(`seed ${seed} (SATCHEL_TEST_SEED=${seed} repeats it), Node ${process.version}`);
const startedMs = performance.now();
const built = run(["node_modules/typescript/bin/tsc", "-b", "tsconfig.build.json"]);
const tested = built === 0 ? run(["node_modules/vitest/vitest.mjs", "run", ...process.argv.slice(2)]) : built;
console.log(`${tested === 0 ? "passed" : "FAILED"} in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
process.exitCode = tested;
