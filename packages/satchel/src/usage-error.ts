/** The command can't be carried out as it was typed or as things are: one line for the person, exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The command was understood and refused, one line for the person, exit code 1. */
export class CommandError extends Error {
  override readonly name = "CommandError";
}
