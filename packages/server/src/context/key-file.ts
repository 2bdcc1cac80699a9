import { existsSync, linkSync, rmSync, writeFileSync } from "node:fs";
import type { Environment } from "./context.js";

/** Writes a file that only its owner reads and that must not be there. */
export function writeSecret(file: string, bytes: Uint8Array | string): void {
  writeFileSync(file, bytes, { mode: 0o600, flag: "wx" });
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
  }
}
