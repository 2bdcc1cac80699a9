import { describe, expect, it } from "vitest";
import type { PartitionRecord } from "../../domain/records.js";
import type { Store } from "../store.js";
import type { MakeStore } from "./fixture.contract.js";
import { withStore } from "./with-store.contract.js";

/** A partition that is the owners' alone, without review. */
export function partition(name: string, more: Partial<PartitionRecord> = {}): PartitionRecord {
  return { name, grants: [], review: "nobody", fourEyes: false, ...more };
}

const put = (store: Store, ...records: PartitionRecord[]) =>
  store.write(async (transaction) => {
    for (const record of records) await transaction.putPartition(record);
  });

/** Partitions with their access lists, users and groups. */
export function describePeople(makeStore: MakeStore): void {
  describe("people", () => {
    describePartitions(makeStore);
    describeUsers(makeStore);
  });
}

function describePartitions(makeStore: MakeStore): void {
  it("keeps partitions by name, each whole, with its access list by principal", async () => {
    await withStore(makeStore, async ({ store, open }) => {
      const work = partition("work", {
        label: "Work & play",
        grants: [
          { principal: "client:notes", rights: [] },
          { principal: "user:bob", rights: ["read", "propose"] },
        ],
        review: "clients",
        fourEyes: true,
      });
      await put(store, work, partition("archive", { review: "everyone" }));
      const partitions = await (await open()).read((transaction) => transaction.partitions());
      expect(partitions).toEqual([partition("archive", { review: "everyone" }), partition("main"), work]);
    });
  });

  it("replaces a partition: nothing of before is left", async () => {
    await withStore(makeStore, async ({ store }) => {
      await put(
        store,
        partition("work", { label: "Work", grants: [{ principal: "user:bob", rights: ["write"] }], fourEyes: true }),
      );
      const after = partition("work", { grants: [{ principal: "user:ann", rights: ["read"] }] });
      await put(store, after);
      const partitions = await store.read((transaction) => transaction.partitions());
      expect(partitions).toEqual([partition("main"), after]);
      expect(partitions[1]).not.toHaveProperty("label");
    });
  });
}

function describeUsers(makeStore: MakeStore): void {
  it("begins with one owner and no group", async () => {
    await withStore(makeStore, async ({ store }) => {
      const found = await store.read(async (t) => [
        await t.users(),
        await t.groups(),
        await t.membership("user:owner"),
      ]);
      expect(found).toEqual([[{ principal: "user:owner", isOwner: true }], [], { isOwner: true, groups: [] }]);
    });
  });

  it("knows owners and members by their exact name", async () => {
    await withStore(makeStore, async ({ store }) => {
      await store.write(async (transaction) => {
        await transaction.putUser({ principal: "user:bob", isOwner: true });
        await transaction.putUser({ principal: "user:ann", isOwner: true });
        await transaction.putUser({ principal: "user:ann", isOwner: false });
        await transaction.putGroup({ principal: "group:a", members: ["user:bob", "user:bob", "user:nobody"] });
        await transaction.putGroup({ principal: "group:b", members: ["user:bob"] });
        await transaction.putGroup({ principal: "group:b", members: ["user:ann"] });
      });
      const membership = (principal: string) => store.read((transaction) => transaction.membership(principal));
      expect(await membership("user:bob")).toEqual({ isOwner: true, groups: ["group:a"] });
      expect(await membership("user:ann")).toEqual({ isOwner: false, groups: ["group:b"] });
      expect(await membership("user:nobody")).toEqual({ isOwner: false, groups: ["group:a"] });
      for (const other of ["user:Bob", "user:bo", "user:bob2", "bob", "", "group:a"]) {
        expect(await membership(other), other).toEqual({ isOwner: false, groups: [] });
      }
      expect(await store.read((transaction) => transaction.groups())).toEqual([
        { principal: "group:a", members: ["user:bob", "user:nobody"] },
        { principal: "group:b", members: ["user:ann"] },
      ]);
    });
  });

  it("a group of nobody is none", async () => {
    await withStore(makeStore, async ({ store }) => {
      await store.write((transaction) => transaction.putGroup({ principal: "group:a", members: ["user:bob"] }));
      await store.write((transaction) => transaction.putGroup({ principal: "group:a", members: [] }));
      expect(await store.read((transaction) => transaction.groups())).toEqual([]);
    });
  });

  it("a removed user is gone from users, groups and every access list, and nobody else is", async () => {
    await withStore(makeStore, async ({ store }) => {
      const grants = (principals: string[]) =>
        principals.map((principal) => ({ principal, rights: ["read" as const] }));
      await put(
        store,
        partition("main", { grants: grants(["user:bob", "user:bob2"]) }),
        partition("work", { grants: grants(["user:bob"]) }),
      );
      await store.write(async (transaction) => {
        for (const name of ["bob", "bob2"]) await transaction.putUser({ principal: `user:${name}`, isOwner: false });
        await transaction.putGroup({ principal: "group:a", members: ["user:bob", "user:bob2"] });
        await transaction.removeUser("user:bob");
      });
      const found = await store.read(async (t) => ({
        users: await t.users(),
        groups: await t.groups(),
        partitions: await t.partitions(),
      }));
      expect(found.users.map(({ principal }) => principal)).toEqual(["user:bob2", "user:owner"]);
      expect(found.groups).toEqual([{ principal: "group:a", members: ["user:bob2"] }]);
      expect(found.partitions).toEqual([partition("main", { grants: grants(["user:bob2"]) }), partition("work")]);
    });
  });

  it("keeps extension schemas by namespace, the last one of each", async () => {
    await withStore(makeStore, async ({ store }) => {
      const put = (namespace: string, schema: Record<string, unknown>) =>
        store.write((transaction) => transaction.putExtensionSchema(namespace, schema));
      await put("org.example.b", { type: "object" });
      await put("org.example.a", { type: "object" });
      await put("org.example.b", JSON.parse('{"properties":{"__proto__":{"type":"string"}}}'));
      const found = await store.read(async (t) => [
        await t.extensionNamespaces(),
        JSON.stringify(await t.extensionSchema("org.example.b")),
        await t.extensionSchema("org.example"),
      ]);
      expect(found).toEqual([
        ["org.example.a", "org.example.b"],
        '{"properties":{"__proto__":{"type":"string"}}}',
        undefined,
      ]);
    });
  });
}
