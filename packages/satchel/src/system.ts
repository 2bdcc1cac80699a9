import { randomFillSync } from "node:crypto";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Environment } from "@satchel/server";
import { uuidv7 } from "uuidv7";
import { UsageError } from "./usage-error.js";

/*
 * The process as the commands see it: the only file that reads the environment.
 */

/** Real clock, ids and randomness; `now` fixes the clock. */
export function createEnvironment(now?: string): Environment {
  const fixedMs = now === undefined ? undefined : Date.parse(now);
  if (Number.isNaN(fixedMs))
    throw new UsageError(`--now takes a UTC date-time such as 2026-01-31T12:00:00Z, not "${now}".`);
  return { now: () => fixedMs ?? Date.now(), newUuid: uuidv7, randomBytes: createRandom() };
}

/** Random bytes drawn in large pieces; each is given out once. */
function createRandom(): (count: number) => Buffer {
  const drawn = Buffer.alloc(4096);
  let given = drawn.length;
  return (count) => {
    if (count > drawn.length) return randomFillSync(Buffer.alloc(count));
    if (given + count > drawn.length) {
      randomFillSync(drawn);
      given = 0;
    }
    const bytes = Buffer.from(drawn.subarray(given, given + count));
    drawn.fill(0, given, given + count);
    given += count;
    return bytes;
  };
}

/** `--data`, else SATCHEL_HOME, else the platform's data folder. */
export function chooseDataDir(option: string | undefined): string {
  return option ?? (process.env.SATCHEL_HOME || defaultDataDir());
}

function defaultDataDir(): string {
  const { LOCALAPPDATA, XDG_DATA_HOME } = process.env;
  if (process.platform === "win32") return join(LOCALAPPDATA || join(homedir(), "AppData", "Local"), "Satchel");
  if (process.platform === "darwin") return join(homedir(), "Library", "Application Support", "Satchel");
  return join(XDG_DATA_HOME || join(homedir(), ".local", "share"), "satchel");
}

/** Where assistants keep their configuration. */
export function configurationPlace() {
  const { APPDATA, XDG_CONFIG_HOME, CODEX_HOME } = process.env;
  return { home: homedir(), appData: APPDATA, xdgConfigHome: XDG_CONFIG_HOME, codexHome: CODEX_HOME };
}

export function wantsColour(): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env;
  if (FORCE_COLOR) return FORCE_COLOR !== "0";
  return !NO_COLOR && TERM !== "dumb" && process.stdout.isTTY === true;
}
