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
import { join } from "node:path";
import type { ErasureRequest } from "./erasure-plan.js";
import { syncFolder } from "./key-file.js";

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

/** Where the job is until it is complete on the disk. */
const making = `${erasureJobFile}.new`;

/** At any instant one of the two files is the whole job, the earlier one or this. */
export function writeErasureJob(folder: string, job: ErasureJob): void {
  const file = join(folder, erasureJobFile);
  if (existsSync(file)) eraseFile(join(folder, making));
  writeDurably(join(folder, making), Buffer.from(JSON.stringify(job)));
  syncFolder(folder);
  if (existsSync(file)) overwrite(file);
  renameSync(join(folder, making), file);
  syncFolder(folder);
}

/** Whether there is anything of a job, also of one that was never whole. */
export function hasErasureJob(folder: string): boolean {
  return jobFiles(folder).some((file) => existsSync(file));
}

export function readErasureJob(folder: string): ErasureJob | undefined {
  for (const file of jobFiles(folder).filter((name) => existsSync(name))) {
    try {
      return JSON.parse(readFileSync(file, "utf8")) as ErasureJob;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error; // It is overwritten, or was never whole.
    }
  }
  return undefined;
}

export function endErasureJob(folder: string): void {
  for (const file of jobFiles(folder)) eraseFile(file);
  syncFolder(folder);
}

function jobFiles(folder: string): string[] {
  return [join(folder, erasureJobFile), join(folder, making)];
}

function eraseFile(file: string): void {
  if (!existsSync(file)) return;
  overwrite(file);
  rmSync(file);
}

function overwrite(file: string): void {
  writeDurably(file, Buffer.alloc(statSync(file).size), "r+");
}

function writeDurably(file: string, bytes: Buffer, flag: "w" | "r+" = "w"): void {
  const descriptor = openSync(file, flag, 0o600);
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
