// Loaded before the command: ends the process, as kill -9 does, before or after one of its changes to the file system.
import fs from "node:fs";
import { createRequire, syncBuiltinESMExports } from "node:module";

const promises = createRequire(import.meta.url)("node:fs/promises");
const crashAt = Number(process.env.SYNC_CRASH_AT);
let count = 0;

function step() {
  count++;
  if (count === crashAt) process.kill(process.pid, "SIGKILL");
}

for (const name of ["writeFileSync", "renameSync", "linkSync", "unlinkSync", "mkdirSync", "rmSync", "rmdirSync"]) {
  const original = fs[name];
  fs[name] = (...args) => {
    step();
    try {
      return original(...args);
    } finally {
      step();
    }
  };
}
const { open } = promises;
promises.open = (...args) => {
  step();
  return open(...args);
};
syncBuiltinESMExports();
process.once("exit", () => fs.writeSync(2, `steps ${count}\n`));
