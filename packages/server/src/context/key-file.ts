import { closeSync, existsSync, fsyncSync, linkSync, openSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Environment } from "./context.js";

/** Writes a file that only its owner reads and that must not be there. */
export function writeSecret(file: string, bytes: Uint8Array | string): void {
  writeFileSync(file, bytes, { mode: 0o600, flag: "wx", flush: true });
}

/** Makes a secret file unless another process made it first. */
export function makeOnce(
  file: string,
  { bytes, environment }: { bytes: Uint8Array | string; environment: Environment },
): void {
  const making = `${file}.${environment.newUuid()}`;
  writeSecret(making, bytes);
  try {
    linkSync(making, file); // Of processes that do this at once, one wins.
  } catch (error) {
    if (!existsSync(file)) throw error;
  } finally {
    rmSync(making, { force: true });
    syncFolder(dirname(file));
  }
}

/** So that a file made, renamed or removed stays so after the loss of power; not every platform opens folders. */
export function syncFolder(folder: string): void {
  if (process.platform === "win32") return;
  const descriptor = openSync(folder, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
