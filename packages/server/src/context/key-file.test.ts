import { randomBytes, randomUUID } from "node:crypto";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Environment } from "./context.js";
import { createContext, openContext } from "./context-directory.js";
import { rotateJournalKey } from "./rotate-journal-key.js";

/** What reached the disk, in order: `file NAME` and `folder NAME` when synced, `unsynced NAME`, `moved NAME`. */
const events = vi.hoisted(() => [] as string[]);

vi.mock("node:fs", async (original) => {
  const real = await original<typeof fs>();
  const opened = new Map<number, string>();
  return {
    ...real,
    openSync: (path: string, ...rest: [fs.OpenMode]) => {
      const descriptor = real.openSync(path, ...rest);
      opened.set(descriptor, path);
      return descriptor;
    },
    fsyncSync: (descriptor: number) => {
      real.fsyncSync(descriptor);
      events.push(`folder ${opened.get(descriptor)?.split("/").at(-1)}`);
    },
    writeFileSync: (path: string, data: string, options?: fs.WriteFileOptions & { flush?: boolean }) => {
      real.writeFileSync(path, data, options);
      events.push(`${options?.flush ? "file" : "unsynced"} ${path.split("/").at(-1)}`);
    },
    renameSync: (from: string, to: string) => {
      real.renameSync(from, to);
      events.push(`moved ${to.split("/").at(-1)}`);
    },
  };
});

const environment: Environment = {
  now: () => Date.UTC(2026, 0, 1),
  newUuid: () => randomUUID(),
  randomBytes: (count) => randomBytes(count),
};

let data = "";
beforeEach(() => {
  data = fs.mkdtempSync(join(tmpdir(), "satchel-keys-"));
  createContext(data, { handle: "me", kind: "personal" }, environment);
});
afterEach(() => fs.rmSync(data, { recursive: true, force: true }));
const take = () => events.splice(0);

describe("a key is on the disk before anything speaks of it", () => {
  it("those of a new context before it has its name", () => {
    const [made, ...rest] = take().reverse();
    expect(made).toBe("folder contexts");
    expect(rest.slice(0, 2)).toEqual(["moved me", expect.stringMatching(/^folder \.new-/)]);
    expect(rest.slice(2).sort()).toEqual(
      ["documents.key", "journal.key", "journal.pub", "key"].map((name) => `file ${name}`),
    );
  });

  it("one that was lost and is made anew before it is used", async () => {
    fs.rmSync(join(data, "contexts", "me", "documents.key"));
    take();
    await openContext(data, "me", environment).store.close();
    expect(take().slice(0, 2)).toEqual([expect.stringMatching(/^file documents\.key\./), "folder me"]);
  });

  it("the one a journal is handed over to before the entry that puts it in force is committed", async () => {
    const context = openContext(data, "me", environment);
    const { write } = context.store;
    await context.store.read(async () => undefined); // Starts the journal.
    context.store.write = (use, ...rest) =>
      write(
        async (transaction) => {
          const value = await use(transaction);
          events.push(`entries ${(await transaction.journal.state()).size}`);
          return value;
        },
        ...rest,
      );
    take();
    await rotateJournalKey(context);
    const seen = take();
    await context.store.close();
    const waiting = seen.indexOf("file journal.key.next");
    expect(seen.slice(waiting, waiting + 3)).toEqual(["file journal.key.next", "folder me", "entries 2"]);
  });
});
