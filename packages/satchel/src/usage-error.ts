/** The command can't be carried out as it was typed: one line for the person, exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The command was understood and refused: the lines for the person, exit code 1. */
export class CommandError extends Error {
  override readonly name = "CommandError";
}
