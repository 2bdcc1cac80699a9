import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { ErasureRequest } from "./erasure-plan.js";

/**
 * What an erasure needs to go on after a crash. It holds what is to go, so it is a file of its own that ends with the
 * erasure, overwritten; the residual scan leaves it out.
 */
export interface ErasureJob extends ErasureRequest {
  /** `era_`. */
  id: string;
  requestedAt: string;
  /** Base64; only the requester gets it. */
  salt: string;
  /** What the files are searched for; there before anything is deleted. */
  erased?: { texts: string[]; words: string[] };
}

export const erasureJobFile = "erasure.job";

export function writeErasureJob(folder: string, job: ErasureJob): void {
  const file = join(folder, erasureJobFile);
  const making = `${file}.new`;
  writeDurably(making, Buffer.from(JSON.stringify(job)));
  if (existsSync(file)) overwrite(file);
  renameSync(making, file);
  syncFolder(dirname(file));
}

export function readErasureJob(folder: string): ErasureJob | undefined {
  const file = join(folder, erasureJobFile);
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
}

export function endErasureJob(folder: string): void {
  for (const name of [erasureJobFile, `${erasureJobFile}.new`]) {
    const file = join(folder, name);
    if (!existsSync(file)) continue;
    overwrite(file);
    rmSync(file);
  }
  syncFolder(folder);
}

function overwrite(file: string): void {
  writeDurably(file, Buffer.alloc(statSync(file).size));
}

function writeDurably(file: string, bytes: Buffer): void {
  const descriptor = openSync(file, existsSync(file) ? "r+" : "w", 0o600);
  try {
    writeSync(descriptor, bytes);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** So that a rename or removal survives the loss of power; not every platform opens folders. */
function syncFolder(folder: string): void {
  if (process.platform === "win32") return;
  const descriptor = openSync(folder, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
