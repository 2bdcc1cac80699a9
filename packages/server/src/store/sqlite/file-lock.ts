import { Connection, isBusy } from "./connection.js";

/** A lock between processes that the system lets go when its holder ends, however it ends. The file stays, empty. */
export class FileLock {
  private connection: Connection | undefined;

  constructor(private readonly file: string) {}

  /** Never waits. @returns undefined while it is held, here or elsewhere */
  take(): { release(): void } | undefined {
    this.connection ??= Connection.bare(this.file);
    const { connection } = this;
    if (connection.database.inTransaction) return undefined;
    try {
      connection.run("BEGIN EXCLUSIVE");
    } catch (error) {
      if (isBusy(error)) return undefined;
      throw error;
    }
    return { release: () => connection.database.open && void connection.run("ROLLBACK") };
  }

  close(): void {
    this.connection?.close();
  }
}
