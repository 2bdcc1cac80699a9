import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { testContext } from "../store.contract.js";
import { createSqliteStore, openSqliteStore } from "./store.js";

const require = createRequire(import.meta.url);

/** Calls `seen` with the SQL of each statement that the garbage collector takes. */
function watchStatements(seen: (sql: string) => void): void {
  const Database = require("better-sqlite3") as new (file: string) => Record<symbol, object>;
  const { cppdb } = require("better-sqlite3/lib/util.js") as { cppdb: symbol };
  const registry = new FinalizationRegistry(seen);
  const native = Object.getPrototypeOf(new Database(":memory:")[cppdb]) as { prepare(sql: string): object };
  const { prepare } = native;
  native.prepare = function (sql: string, ...rest: []) {
    const statement = prepare.call(this, sql, ...rest);
    registry.register(statement, sql);
    return statement;
  };
}

/** Node 24 aborts when a statement is collected at the wrong moment; see `connection.ts`. */
it("no statement is ever garbage, whatever a store was used for and also once it is closed", async () => {
  const collected: string[] = [];
  watchStatements((sql) => collected.push(sql));
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const folder = mkdtempSync(join(tmpdir(), "satchel-retained-"));
  const file = join(folder, "context.db");
  createSqliteStore(file, testContext);
  for (let round = 0; round < 3; round++) {
    const store = openSqliteStore(file);
    for (const durability of ["power", "process", "power", "process"] as const) {
      await store.write((transaction) => transaction.tick(Date.now()), { durability });
      await store.read((transaction) => transaction.partitions());
    }
    await store.inspect();
    await store.close();
  }
  for (let round = 0; round < 5; round++) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  rmSync(folder, { recursive: true });
  expect(collected).toEqual([]);
});
