import { randomBytes, randomUUID } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Environment } from "./context.js";
import { createContext, listContexts, openContext } from "./context-directory.js";

const startMs = Date.parse("2026-01-01T00:00:00.000Z");
const environment: Environment = {
  now: () => startMs,
  newUuid: () => randomUUID(),
  randomBytes: (count) => randomBytes(count),
};

async function withFolder(use: (folder: string) => unknown): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "satchel-directory-"));
  try {
    await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const make = (folder: string, handle = "me", kind: "personal" | "work" | "team" = "personal") =>
  createContext(folder, { handle, kind }, environment);

describe("making a context", () => {
  it("makes it whole, private, and once", () =>
    withFolder(async (folder) => {
      const data = join(folder, "new", "data");
      expect(make(data)).toBe(true);
      const place = join(data, "contexts", "me");
      const before = ["key", "context.db"].map((name) => readFileSync(join(place, name)));
      expect(make(data, "me", "team")).toBe(false);
      expect(["key", "context.db"].map((name) => readFileSync(join(place, name)))).toEqual(before);
      expect(readdirSync(place).sort()).toEqual(["context.db", "documents.key", "journal.key", "journal.pub", "key"]);
      expect(readdirSync(join(data, "contexts"))).toEqual(["me"]);
      expect(before[0]).toHaveLength(32);
      if (process.platform !== "win32") {
        const modes = [place, join(place, "key"), join(place, "context.db")].map((path) => statSync(path).mode & 0o777);
        expect(modes).toEqual([0o700, 0o600, 0o600]);
      }
    }));

  it.each([
    ["personal", "core"],
    ["work", "core"],
    ["team", "team"],
  ] as const)("a %s context has the profile type %s", (kind, profileType) =>
    withFolder(async (folder) => {
      make(folder, "studio", kind);
      const context = openContext(folder, "studio", environment);
      const record = await context.store.read((transaction) => transaction.context());
      await context.store.close();
      expect(record).toMatchObject({ handle: "studio", kind, profileType, created: "2026-01-01T00:00:00.000Z" });
    }),
  );

  it("each context has a key of its own", () =>
    withFolder((folder) => {
      make(folder, "a");
      make(folder, "b");
      const key = (handle: string) => readFileSync(join(folder, "contexts", handle, "key"), "hex");
      expect(key("a")).not.toBe(key("b"));
      expect(listContexts(folder)).toEqual(["a", "b"]);
    }));

  it("an empty folder of that name is taken, one that holds something else is not written over", () =>
    withFolder((folder) => {
      mkdirSync(join(folder, "contexts", "empty"), { recursive: true });
      expect(make(folder, "empty")).toBe(true);
      mkdirSync(join(folder, "contexts", "full"));
      writeFileSync(join(folder, "contexts", "full", "notes.txt"), "mine");
      expect(() => make(folder, "full")).toThrow();
      expect(readdirSync(join(folder, "contexts", "full"))).toEqual(["notes.txt"]);
      expect(readdirSync(join(folder, "contexts")).sort()).toEqual(["empty", "full"]);
    }));

  it("what an interrupted start left is no context, and goes after an hour, not before", () =>
    withFolder((folder) => {
      const contexts = join(folder, "contexts");
      for (const [name, ageMs] of [
        ["old", 3_600_001],
        ["young", 3_599_000],
      ] as const) {
        const left = join(contexts, `.new-${name}`);
        mkdirSync(left, { recursive: true });
        writeFileSync(join(left, "context.db"), "half");
        utimesSync(left, (startMs - ageMs) / 1000, (startMs - ageMs) / 1000);
      }
      expect(listContexts(folder)).toEqual([]);
      make(folder);
      expect(readdirSync(contexts).sort()).toEqual([".new-young", "me"]);
      expect(listContexts(folder)).toEqual(["me"]);
    }));
});

describe("listing", () => {
  it("is empty where there is nothing, and counts only complete contexts with a handle for a name", () =>
    withFolder((folder) => {
      expect(listContexts(join(folder, "absent"))).toEqual([]);
      expect(existsSync(join(folder, "absent"))).toBe(false);
      make(folder, "me");
      for (const name of ["UPPER", "-dash", ".hidden", "no-database"]) mkdirSync(join(folder, "contexts", name));
      for (const name of ["UPPER", "-dash", ".hidden"]) writeFileSync(join(folder, "contexts", name, "context.db"), "");
      writeFileSync(join(folder, "contexts", "file"), "");
      expect(listContexts(folder)).toEqual(["me"]);
    }));
});

describe("opening", () => {
  it.each(["other", "", "..", "../contexts/me", "me/", "ME", "/me", "me\0"])("there is no context %j", (handle) =>
    withFolder((folder) => {
      make(folder);
      expect(() => openContext(folder, handle, environment)).toThrow(expect.objectContaining({ code: "not_found" }));
      expect(listContexts(folder)).toEqual(["me"]);
    }),
  );

  const faults: [name: string, damage: (place: string) => void][] = [
    ["a short key", (place) => writeFileSync(join(place, "key"), Buffer.alloc(31))],
    ["a long key", (place) => writeFileSync(join(place, "key"), Buffer.alloc(33))],
    ["no database but text", (place) => writeFileSync(join(place, "context.db"), "text ".repeat(2000))],
    ["an empty database", (place) => writeFileSync(join(place, "context.db"), "")],
  ];
  it.each(faults)("%s is refused with a sentence, and nothing is repaired in secret", (_name, damage) =>
    withFolder((folder) => {
      make(folder);
      const place = join(folder, "contexts", "me");
      damage(place);
      const before = ["key", "context.db"].map((name) => readFileSync(join(place, name)));
      expect(() => openContext(folder, "me", environment)).toThrow(expect.objectContaining({ code: "internal" }));
      expect(["key", "context.db"].map((name) => readFileSync(join(place, name)))).toEqual(before);
    }),
  );

  it("a cursor outlives the process, but not the key", () =>
    withFolder(async (folder) => {
      make(folder);
      const subject = { tool: "memory_list", grant: "g", query: {} };
      const first = openContext(folder, "me", environment);
      const cursor = first.cursors.seal(subject, { snapshotMs: startMs, id: "pg_1" });
      await first.store.close();
      const second = openContext(folder, "me", environment);
      expect(second.cursors.open(subject, cursor)).toEqual({ snapshotMs: startMs, id: "pg_1" });
      await second.store.close();
      writeFileSync(join(folder, "contexts", "me", "key"), Buffer.alloc(32, 7));
      const third = openContext(folder, "me", environment);
      expect(third.cursors.open(subject, cursor)).toBeUndefined();
      await third.store.close();
    }));
});
