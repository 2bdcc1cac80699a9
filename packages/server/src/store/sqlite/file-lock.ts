import { existsSync, readdirSync, rmSync } from "node:fs";
import { basename, dirname } from "node:path";
import { Connection, isBusy } from "./connection.js";

/** A lock between processes that the system lets go when its holder ends, however it ends. Its file is empty. */
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

  /** What follows `beginning` in the names of the locks that have a file. */
  static list(beginning: string): string[] {
    const name = basename(beginning);
    const names = readdirSync(dirname(beginning)).filter((one) => one.startsWith(name));
    return [...new Set(names.map((one) => one.slice(name.length).replace(/-journal$/, "")))];
  }

  /** The same for a lock of this one use: letting it go ends it, and its file. */
  takeOnce(): { release(): void } | undefined {
    const taken = this.take();
    if (!taken || !existsSync(this.file)) {
      this.close(); // Without its file it is a lock that its holder has ended, and nobody else sees it.
      return undefined;
    }
    return {
      release: () => {
        rmSync(this.file, { force: true });
        this.close();
      },
    };
  }

  close(): void {
    this.connection?.close();
  }
}
