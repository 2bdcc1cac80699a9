import { PcpError } from "@satchel/pcp";
import { buildProgram } from "./program.js";
import { CommandError, UsageError } from "./usage-error.js";

/*
 * Exit codes: 0 done, 1 refused or failed, 2 used wrongly.
 */

try {
  await buildProgram()
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
    .parseAsync(process.argv);
} catch (error) {
  process.exitCode = report(error);
}

function report(error: unknown): number {
  if (error instanceof UsageError) return say(error.message, 2);
  if (error instanceof CommandError) return say(error.message, 1);
  if (error instanceof PcpError) return say(error.message, 1);
  const code = (error as NodeJS.ErrnoException)?.code;
  if (code === "EPIPE") return 0;
  if (typeof code === "string" && /^E[A-Z]+$/.test(code)) return say((error as Error).message, 1);
  return say(`Something went wrong: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`, 1);
}

function say(message: string, exitCode: number): number {
  process.stderr.write(`satchel: ${message}\n`);
  return exitCode;
}
