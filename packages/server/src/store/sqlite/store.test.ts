import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import SqliteDatabase from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { describeStore, type StoreUnderTest, testContext } from "../store.contract.js";
import type { Store } from "../store.js";
import { schemaVersion } from "./schema.js";
import { createSqliteStore, openSqliteStore } from "./store.js";

async function makeSqliteStore(): Promise<StoreUnderTest> {
  const folder = mkdtempSync(join(tmpdir(), "satchel-store-"));
  const file = join(folder, "context.db");
  createSqliteStore(file, testContext);
  const open = () => openSqliteStore(file);
  const opened: Store[] = [open()];
  return {
    store: opened[0]!,
    open: async () => {
      const store = open();
      opened.push(store);
      return store;
    },
    dispose: async () => {
      for (const store of opened) await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

describeStore("SQLite", makeSqliteStore);

async function withFile(use: (file: string) => unknown): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "satchel-schema-"));
  try {
    await use(join(folder, "context.db"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function userVersion(file: string, set?: number): unknown {
  const database = new SqliteDatabase(file);
  try {
    if (set !== undefined) database.pragma(`user_version = ${set}`);
    return database.pragma("user_version", { simple: true });
  } finally {
    database.close();
  }
}

describe("schema", () => {
  it("is migrated from an empty database, and opening again migrates nothing", () =>
    withFile(async (file) => {
      createSqliteStore(file, testContext);
      expect(userVersion(file)).toBe(schemaVersion);
      for (let round = 0; round < 2; round++) {
        const store = openSqliteStore(file);
        expect(await store.inspect()).toMatchObject({ schemaVersion, problems: [] });
        await store.close();
      }
    }));

  it("refuses a database of a later release as newer and leaves it as it is", () =>
    withFile((file) => {
      createSqliteStore(file, testContext);
      userVersion(file, schemaVersion + 1);
      const refused = expect.objectContaining({ name: "StoreError", code: "newer" });
      expect(() => openSqliteStore(file)).toThrow(refused);
      expect(() => openSqliteStore(file)).toThrow(/Update Satchel/);
      expect(userVersion(file)).toBe(schemaVersion + 1);
    }));

  const damages: [name: string, damage: (file: string) => void][] = [
    ["an empty file", (file) => writeFileSync(file, "")],
    ["a file that is no database", (file) => writeFileSync(file, "# A page\n".repeat(1000))],
    ["a database of something else", (file) => void userVersion(file, 0)],
  ];
  it.each(damages)("refuses %s as damaged", (_name, damage) =>
    withFile((file) => {
      damage(file);
      expect(() => openSqliteStore(file)).toThrow(expect.objectContaining({ name: "StoreError", code: "damaged" }));
    }),
  );

  it("makes no database where there is none", () =>
    withFile((file) => {
      expect(() => openSqliteStore(file)).toThrow();
      expect(statSync(file, { throwIfNoEntry: false })).toBeUndefined();
    }));

  it("refuses to make a context where there is one", () =>
    withFile(async (file) => {
      createSqliteStore(file, testContext);
      expect(() => createSqliteStore(file, { ...testContext, handle: "other" })).toThrow();
      const store = openSqliteStore(file);
      expect(await store.read((transaction) => transaction.context())).toEqual(testContext);
      await store.close();
    }));
});
