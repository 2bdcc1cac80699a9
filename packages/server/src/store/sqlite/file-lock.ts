import { Connection, isBusy } from "./connection.js";

/** A lock between processes that the system lets go when its holder ends, however it ends. The file stays, empty. */
export function lockFile(file: string): { release(): void } | undefined {
  const connection = new Connection(file, { create: true });
  try {
    connection.useShortWaits();
    connection.run("BEGIN EXCLUSIVE");
    return { release: () => connection.close() };
  } catch (error) {
    connection.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
}
