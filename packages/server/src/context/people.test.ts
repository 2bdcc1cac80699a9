import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Right } from "../domain/records.js";
import { isRefusal } from "../domain/refusal.js";
import type { Context } from "./context.js";
import { createContext, openContext } from "./context-directory.js";
import * as people from "./people.js";

let folder: string;
const opened: Context[] = [];
let count = 0;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "satchel-people-"));
});
afterAll(async () => {
  for (const { store } of opened) await store.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

function open(): Context {
  const environment = { now: () => Date.UTC(2026, 2, 1), newUuid: () => crypto.randomUUID(), randomBytes };
  const handle = `c${count++}`;
  createContext(folder, { handle, kind: "personal" }, environment);
  const context = openContext(folder, handle, environment);
  opened.push(context);
  return context;
}

const grants = (list: Record<string, string>) =>
  Object.entries(list).map(([principal, rights]) => ({
    principal,
    rights: rights.split(" ").filter(Boolean) as Right[],
  }));
const set = (context: Context, change: Partial<people.PartitionChange> = {}) =>
  people.setPartition(context, { name: "work", grant: [], revoke: [], ...change });

describe("partitions", () => {
  it("a new one is the owners' and unreviewed", async () => {
    expect(await set(open())).toEqual({ name: "work", grants: [], review: "nobody", fourEyes: false });
  });

  it("a change leaves what it does not name", async () => {
    const context = open();
    await set(context, {
      label: "Work",
      review: "clients",
      fourEyes: true,
      grant: grants({ "user:bob": "read", "user:ann": "write" }),
    });
    await set(context, { grant: grants({ "user:bob": "review" }) });
    const after = { name: "work", label: "Work", review: "clients", fourEyes: true };
    const entries = (partition: unknown) => (partition as { grants: unknown[] }).grants;
    const [, work] = await people.listAllPartitions(context);
    expect(work).toMatchObject(after);
    expect(entries(work)).toHaveLength(2);
    expect(entries(work)).toEqual(expect.arrayContaining(grants({ "user:bob": "review", "user:ann": "write" })));
    expect(await set(context, { revoke: ["user:bob", "user:nobody"], fourEyes: false })).toEqual({
      ...after,
      fourEyes: false,
      grants: grants({ "user:ann": "write" }),
    });
    expect(entries(await set(context, { grant: grants({ "user:ann": "" }) })), "no rights: no entry").toEqual([]);
  });

  const refused: [name: string, change: Partial<people.PartitionChange>][] = [
    ["a bad name", { name: "Work" }],
    ["no name", { name: "" }],
    ["a bad principal", { grant: grants({ bob: "read" }) }],
    ["an unknown kind", { grant: grants({ "team:a": "read" }) }],
    ["an unknown right", { grant: grants({ "user:bob": "read delete" }) }],
    ["a bad principal to revoke", { revoke: ["user:"] }],
    ["an empty label", { label: " " }],
    ["a long label", { label: "x".repeat(201) }],
  ];
  it.each(refused)("refuses %s and changes nothing", async (_name, change) => {
    const context = open();
    await set(context, { grant: grants({ "user:bob": "read" }) });
    const before = await people.listAllPartitions(context);
    expect(await set(context, change)).toMatchObject({ refused: "invalid_input" });
    expect(await people.listAllPartitions(context)).toEqual(before);
  });

  const typed: [text: string, principal: string, rights: string[]][] = [
    ["user:bob=read", "user:bob", ["read"]],
    ["user:bob=read, write,", "user:bob", ["read", "write"]],
    ["user:a=b=read", "user:a=b", ["read"]],
    ["user:bob=", "user:bob", []],
    ["user:bob", "user:bob", []],
    ["user:bob=Read", "user:bob", ["Read"]],
    ["", "", []],
  ];
  it.each(typed)("a typed grant: %j", (text, principal, rights) => {
    expect(people.parseGrant(text)).toEqual({ principal, rights });
  });
});

describe("users", () => {
  const names = async (context: Context) =>
    (await people.listUsers(context)).map(({ principal, isOwner }) => `${principal}${isOwner ? "*" : ""}`);
  const add = (context: Context, name: string, isOwner = false) =>
    people.addUser(context, { principal: `user:${name}`, isOwner });

  it("are added, become owners and cease to be", async () => {
    const context = open();
    for (const isOwner of [false, true, false]) await add(context, "bob", isOwner);
    expect(await names(context)).toEqual(["user:bob", "user:owner*"]);
    expect(await people.removeUser(context, "user:bob")).toEqual({ principal: "user:bob" });
    expect(await names(context)).toEqual(["user:owner*"]);
  });

  it.each(["service:bot", "client:notes", "group:all", "bob", "user:", "user:a b", ""])(
    "only users are users, and no owner is a %j",
    async (principal) => {
      const context = open();
      expect(await people.addUser(context, { principal, isOwner: true })).toMatchObject({ refused: "invalid_input" });
      expect(await names(context)).toEqual(["user:owner*"]);
    },
  );

  it("the last owner stays, and so does the person at this machine", async () => {
    const context = open();
    const refusedAs = async (result: Promise<unknown>) => {
      const refusal = await result;
      return isRefusal(refusal) ? refusal.refused : "ok";
    };
    expect(await refusedAs(add(context, "owner", false))).toBe("conflict");
    expect(await refusedAs(people.removeUser(context, "user:owner"))).toBe("conflict");
    await add(context, "bob", true);
    expect(await refusedAs(people.removeUser(context, "user:owner"))).toBe("conflict");
    expect(await refusedAs(add(context, "owner", false))).toBe("conflict");
    expect(await refusedAs(people.removeUser(context, "user:nobody"))).toBe("not_found");
    expect(await refusedAs(people.removeUser(context, "user:bob"))).toBe("ok");
    expect(await names(context)).toEqual(["user:owner*"]);
  });
});

describe("groups", () => {
  it("have exactly the members that were given last, and without any there is none", async () => {
    const context = open();
    await people.setGroup(context, { principal: "group:a", members: ["user:bob", "user:ann"] });
    await people.setGroup(context, { principal: "group:a", members: ["user:eve"] });
    expect(await people.listGroups(context)).toEqual([{ principal: "group:a", members: ["user:eve"] }]);
    await people.setGroup(context, { principal: "group:a", members: [] });
    expect(await people.listGroups(context)).toEqual([]);
  });

  it.each([
    ["group:a", ["group:b"]],
    ["group:a", ["user:bob", "client:notes"]],
    ["group:a", ["bob"]],
    ["user:a", ["user:bob"]],
    ["a", []],
  ])("are flat and hold users only: %s of %j is refused", async (principal, members) => {
    const context = open();
    expect(await people.setGroup(context, { principal, members })).toMatchObject({ refused: "invalid_input" });
    expect(await people.listGroups(context)).toEqual([]);
  });
});
