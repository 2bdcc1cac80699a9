import { statSync } from "node:fs";
import { ArchiveError, type ArchiveProblem, type ArchiveReading, type Identity, readArchive } from "@satchel/server";
import { type IdentityOptions, lockedArchive, readIdentities } from "../identities.js";
import { paint, print, printJson, showHidden } from "../terminal.js";
import { UsageError } from "../usage-error.js";

export interface VerifyOptions extends IdentityOptions {
  json?: boolean;
}

/** Checks an archive against its own list, without any context. Exit codes: 0 valid, 1 not valid, 2 can't check. */
export async function verify(file: string, options: VerifyOptions): Promise<void> {
  if (statSync(file).isDirectory()) throw new UsageError(`${file} is a folder, not an archive.`);
  const verdict = await judge(file, await readIdentities(options));
  if (options.json) printJson(verdict);
  else printVerdict(verdict);
  if (!verdict.valid) process.exitCode = 1;
}

interface Verdict {
  valid: boolean;
  files: number;
  /** What the manifest says of the archive, when it can be read. */
  pages?: number;
  coverage?: string;
  context?: string;
  created?: string;
  omitted?: { part: string; reason: string }[];
  problems: ArchiveProblem[];
}

async function judge(file: string, identities: Identity[]): Promise<Verdict> {
  try {
    return describe(await readArchive(file, { identities }));
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    if (error.code === "locked_archive") throw lockedArchive(error);
    return { valid: false, files: 0, problems: [{ kind: "unreadable", message: error.message }] };
  }
}

function describe({ manifest, files, problems }: ArchiveReading): Verdict {
  const valid = problems.length === 0;
  if (!manifest) return { valid, files: files.size, problems };
  const { page_count: pages, coverage, context, created, omitted } = manifest;
  return { valid, files: files.size, pages, coverage, context: context.handle, created, omitted, problems };
}

function printVerdict({ valid, files, pages, coverage, context, created, problems }: Verdict): void {
  if (valid) {
    const counts = `${count(files, "file")}, ${count(pages ?? 0, "page")}, ${coverage} coverage`;
    print(`${paint("green", "valid")}: ${showHidden(`${counts}, of the context ${context}, made ${created}`)}`);
    return;
  }
  print(`${paint("red", "not valid")}: ${count(problems.length, "problem")}, ${count(files, "file")} could be read`);
  for (const { kind, path, message } of problems) {
    print(`${kind}${path === undefined ? "" : ` ${inOneLine(path)}`}: ${inOneLine(message)}`);
  }
}

const inOneLine = (text: string) => showHidden(text).replace(/[\t\n]/g, " ");

const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? "" : "s"}`;
