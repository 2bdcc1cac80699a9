import { existsSync, readFileSync } from "node:fs";
import SqliteDatabase from "better-sqlite3";
import { StoreError } from "../store.js";

/** How long a writer waits for another process, all tries together. */
const lockWaitMs = 10_000;
/** One try inside SQLite blocks the event loop, so it is short and the waiting happens between tries. */
const busyTimeoutMs = 20;

/**
 * Every connection of this process, with its statements. From Node 24.19 on better-sqlite3 12 aborts the process when one
 * of its objects is garbage-collected at the wrong moment, so none ever is. (Version 13 is free of it and needs Node 22.)
 * For the same reason the command ends with `process.exit`, which collects nothing.
 */
const retained: Connection[] = [];

/** One SQLite connection: pragmas, cached statements, and transactions that take turns. */
export class Connection {
  readonly database: SqliteDatabase.Database;
  private readonly statements = new Map<string, SqliteDatabase.Statement>();
  private turn: Promise<unknown> = Promise.resolve();
  private taken = 0;
  private durability: "power" | "process" = "power";

  constructor(source: string | Buffer, options: { create?: boolean; readonly?: boolean; isBare?: boolean } = {}) {
    const { create = false, readonly = false, isBare = false } = options;
    const fileMustExist = typeof source === "string" && !create;
    this.database = new SqliteDatabase(source, { timeout: isBare ? 0 : lockWaitMs, fileMustExist, readonly });
    retained.push(this);
    if (isBare) return;
    this.pragma("foreign_keys = ON");
    this.pragma("secure_delete = ON");
    this.pragma("synchronous = FULL");
    this.pragma("cache_size = -32000");
  }

  /** For its locks only: it never waits, and opening it reads nothing, so it can be opened while another one holds it. */
  static bare(file: string): Connection {
    return new Connection(file, { create: true, isBare: true });
  }

  /** To be read only. A file without a write-ahead log is read into memory, so that nothing is written beside it. */
  static snapshot(file: string): Connection {
    if (existsSync(`${file}-wal`)) return new Connection(file, { readonly: true });
    const bytes = readFileSync(file);
    if (bytes.length >= 20) bytes.fill(1, 18, 20); // Says that there is no log: one in memory has none.
    return new Connection(bytes);
  }

  /** @returns the first column of the answer, if the pragma has one */
  pragma(text: string): unknown {
    const statement = this.statement(`PRAGMA ${text}`);
    if (statement.reader) return Object.values(statement.get() ?? {})[0];
    statement.run();
    return undefined;
  }

  /** From here on SQLite itself waits only briefly; see `transact`. */
  useShortWaits(): void {
    this.pragma(`busy_timeout = ${busyTimeoutMs}`);
  }

  statement(sql: string): SqliteDatabase.Statement {
    let statement = this.statements.get(sql);
    if (!statement) {
      statement = this.database.prepare(sql);
      this.statements.set(sql, statement);
    }
    return statement;
  }

  all<Row>(sql: string, ...parameters: unknown[]): Row[] {
    return this.statement(sql).all(...parameters) as Row[];
  }

  get<Row>(sql: string, ...parameters: unknown[]): Row | undefined {
    return this.statement(sql).get(...parameters) as Row | undefined;
  }

  run(sql: string, ...parameters: unknown[]): SqliteDatabase.RunResult {
    return this.statement(sql).run(...parameters);
  }

  /** A synchronous write transaction, for opening and migrating. */
  exclusively(work: () => void): void {
    this.database.transaction(work).immediate();
  }

  /**
   * Runs `work` in one transaction; transactions on a connection take turns.
   * Invariant: a transaction ends in the turn of the event loop it began in, so none is held across real waiting, and
   * from then on `isOpen` is false.
   * @throws StoreError `locked` after 10 s of waiting for another process, `misused` when `work` waits for something else
   */
  transact<T>(
    begin: "BEGIN" | "BEGIN IMMEDIATE",
    work: (isOpen: () => boolean) => Promise<T>,
    durability: "power" | "process" = "power",
  ): Promise<T> {
    const giveUp = performance.now() + lockWaitMs;
    return this.inTurn(async () => {
      if (begin === "BEGIN IMMEDIATE") this.chooseDurability(durability);
      await this.untilFree(() => this.run(begin), giveUp);
      return this.settle(work);
    });
  }

  /** Nothing runs or waits on it. */
  get isIdle(): boolean {
    return this.taken === 0;
  }

  private inTurn<T>(use: () => Promise<T>): Promise<T> {
    this.taken++;
    const mine = this.turn.then(use).finally(() => this.taken--);
    this.turn = mine.catch(() => undefined);
    return mine;
  }

  /**
   * Runs `work` outside any transaction, in its turn.
   * @throws StoreError `locked` after 10 s of waiting for another process
   */
  outside<T>(work: () => T): Promise<T> {
    const giveUp = performance.now() + lockWaitMs;
    return this.inTurn(() => this.untilFree(work, giveUp));
  }

  private chooseDurability(durability: "power" | "process"): void {
    if (durability === this.durability) return;
    this.pragma(`synchronous = ${durability === "power" ? "FULL" : "NORMAL"}`);
    this.durability = durability;
  }

  /** The wait counts from the call: those that queue behind a waiting one give up with it instead of one by one. */
  private async untilFree<T>(work: () => T, giveUp: number): Promise<T> {
    for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, 16)) {
      try {
        return work();
      } catch (cause) {
        if (this.database.open && !isBusy(cause)) throw cause;
        if (!this.database.open || performance.now() > giveUp) throw lockedError(cause);
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs * (0.5 + Math.random())));
    }
  }

  private async settle<T>(work: (isOpen: () => boolean) => Promise<T>): Promise<T> {
    let open = true;
    let alarm: NodeJS.Immediate | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      alarm = setImmediate(() => reject(misusedError("A transaction waited for something outside the store.")));
    });
    try {
      const result = await Promise.race([work(() => open), late]);
      this.run("COMMIT");
      return result;
    } catch (error) {
      if (this.database.inTransaction) this.run("ROLLBACK");
      throw isBusy(error) ? lockedError(error) : error;
    } finally {
      open = false;
      clearImmediate(alarm);
    }
  }

  close(): void {
    this.database.close();
  }
}

function lockedError(cause: unknown): StoreError {
  return new StoreError("locked", "Another process holds this context. Try again in a few seconds.", { cause });
}

export function misusedError(message: string): StoreError {
  return new StoreError("misused", message);
}

export function isBusy(error: unknown): boolean {
  return error instanceof SqliteDatabase.SqliteError && error.code.startsWith("SQLITE_BUSY");
}

/** SQLite found that the file is no database, or one with broken pages. */
export function isDamage(error: unknown): boolean {
  return error instanceof SqliteDatabase.SqliteError && /^SQLITE_(NOTADB|CORRUPT)/.test(error.code);
}
