// First: standard output is claimed before any dependency is loaded.
import "./standard-output.js";

import { PcpError } from "@satchel/pcp";
import { buildProgram } from "./program.js";
import { flushOutput } from "./standard-output.js";
import { CommandError, UsageError } from "./usage-error.js";

/*
 * Exit codes: 0 done, 1 refused or found wrong, 2 could not.
 */

// The reader of a pipe may have seen enough (`| head`).
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));

try {
  await buildProgram().parseAsync(process.argv);
} catch (error) {
  process.exitCode = report(error);
}
await flushOutput();
process.exit();

function report(error: unknown): number {
  if (error instanceof CommandError) return say(error.message, 1);
  if (error instanceof UsageError || error instanceof PcpError || isArchiveError(error)) return say(error.message, 2);
  const { code, path } = (error ?? {}) as NodeJS.ErrnoException;
  if (code === "ENOENT" && path !== undefined) return say(`There is no such file or folder: ${path}`, 2);
  if (typeof code === "string" && /^E[A-Z]+$/.test(code)) return say((error as Error).message, 2);
  return say(`Something went wrong: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`, 2);
}

function say(message: string, exitCode: number): number {
  process.stderr.write(`satchel: ${message}\n`);
  return exitCode;
}

/** By name, since the class would bring the whole server along. */
function isArchiveError(error: unknown): error is Error {
  return error instanceof Error && error.name === "ArchiveError";
}
