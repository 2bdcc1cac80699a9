import { describe, expect, it } from "vitest";
import type { PartitionRecord } from "../../domain/records.js";
import type { TokenRecord } from "../store.js";
import { type MakeStore, partitionNamed, startMs, testContext } from "./fixture.contract.js";
import { withStore } from "./with-store.contract.js";

/** Everything beside pages: the context itself, partitions, settings, profiles, tokens. */
export function describeRecords(makeStore: MakeStore): void {
  describe("records", () => {
    describeContext(makeStore);
    describeProfiles(makeStore);
    describeTokens(makeStore);
  });
}

function describeContext(makeStore: MakeStore): void {
  it("a new store holds its context, the partition main, and nothing else", async () => {
    await withStore(makeStore, async ({ store }) => {
      const found = await store.read(async (transaction) => ({
        context: await transaction.context(),
        recorded: await transaction.recordedTime(),
        partitions: await transaction.partitions(),
        profiles: await transaction.profiles(),
        tokens: await transaction.tokens(),
        setting: await transaction.setting("secrets"),
      }));
      expect(found).toEqual({
        context: testContext,
        recorded: testContext.created,
        partitions: [partitionNamed("main")],
        profiles: [],
        tokens: [],
        setting: undefined,
      });
      expect(await store.inspect()).toMatchObject({ pages: 0, versions: 0, problems: [] });
    });
  });

  it("keeps partitions by name, with their access lists and rules, each name once", async () => {
    await withStore(makeStore, async ({ store }) => {
      const work: PartitionRecord = {
        name: "work",
        label: "Work & play",
        grants: [
          { principal: "group:team", rights: ["read"] },
          { principal: "user:guest", rights: ["read", "write"] },
        ],
        review: "clients",
        fourEyes: true,
      };
      await store.write(async (transaction) => {
        await transaction.putPartition(partitionNamed("work"));
        await transaction.putPartition(partitionNamed("archive"));
        await transaction.putPartition(work);
      });
      const known = () => store.read((transaction) => transaction.partitions());
      expect(await known()).toEqual([partitionNamed("archive"), partitionNamed("main"), work]);
      await store.write((transaction) => transaction.removeUser("user:guest"));
      expect((await known())[2]?.grants).toEqual([work.grants[0]]);
    });
  });

  it("keeps users, owners and flat groups; a new context has its owner", async () => {
    await withStore(makeStore, async ({ store }) => {
      const ask = () =>
        store.read(async (t) => ({
          users: await t.users(),
          groups: await t.groups(),
          guest: await t.membership("user:guest"),
          owner: await t.membership("user:owner"),
        }));
      const owner = { principal: "user:owner", isOwner: true };
      expect(await ask()).toEqual({
        users: [owner],
        groups: [],
        guest: { isOwner: false, groups: [] },
        owner: { isOwner: true, groups: [] },
      });
      await store.write(async (t) => {
        await t.putUser({ principal: "user:guest", isOwner: false });
        await t.putGroup({ principal: "group:team", members: ["user:guest", "user:guest", "user:other"] });
        await t.putGroup({ principal: "group:none", members: [] });
      });
      expect(await ask()).toMatchObject({
        users: [{ principal: "user:guest", isOwner: false }, owner],
        groups: [{ principal: "group:team", members: ["user:guest", "user:other"] }],
        guest: { isOwner: false, groups: ["group:team"] },
      });
      await store.write((t) => t.removeUser("user:guest"));
      expect(await ask()).toMatchObject({ users: [owner], guest: { isOwner: false, groups: [] } });
    });
  });

  it("keeps the last value of a setting", async () => {
    await withStore(makeStore, async ({ store, open }) => {
      for (const value of ["warn", "off", ""]) await store.write((t) => t.setSetting("secrets", value));
      const other = await open();
      expect(await other.read((transaction) => transaction.setting("secrets"))).toBe("");
      expect(await other.read((transaction) => transaction.setting("Secrets"))).toBeUndefined();
    });
  });
}

function describeProfiles(makeStore: MakeStore): void {
  it("keeps each profile document and every change of it, oldest first", async () => {
    await withStore(makeStore, async ({ store, open }) => {
      const documents = [
        { name: "One" },
        { name: "Two", note: "\0\u2028\u{1F9F3}" },
        JSON.parse('{"__proto__":{"a":1}}'),
      ];
      const times: string[] = [];
      for (const [i, document] of documents.entries()) {
        await store.write(async (transaction) => {
          const at = await transaction.tick(startMs + i);
          times.push(at);
          const actor = { principal: "user:owner", ...(i > 0 && { client: "client:test" }), at };
          await transaction.putProfile({ namespace: "core", document, changed: ["/name", "/a~1b"], ...actor });
        });
      }
      await store.write(async (transaction) => {
        const actor = { principal: "user:owner", at: await transaction.tick(startMs) };
        await transaction.putProfile({ namespace: "pcp.health", document: {}, changed: [], ...actor });
      });
      const other = await open();
      const found = await other.read(async (transaction) => ({
        core: await transaction.profile("core"),
        absent: await transaction.profile("team"),
        names: (await transaction.profiles()).map(({ namespace }) => namespace),
        changes: await transaction.profileChanges("core"),
      }));
      expect(JSON.stringify(found.core)).toBe(
        JSON.stringify({ namespace: "core", document: documents[2], updated: times[2] }),
      );
      expect(found.absent).toBeUndefined();
      expect(found.names).toEqual(["core", "pcp.health"]);
      expect(found.changes.map(({ at }) => at)).toEqual(times);
      expect(JSON.stringify(found.changes.map(({ document }) => document))).toBe(JSON.stringify(documents));
      expect(found.changes[0]).toEqual({
        namespace: "core",
        principal: "user:owner",
        at: times[0],
        changed: ["/name", "/a~1b"],
        document: documents[0],
      });
      expect(found.changes[1]).toMatchObject({ client: "client:test" });
    });
  });
}

const token: TokenRecord = {
  id: "tok_1",
  digest: "a".repeat(64),
  user: "user:owner",
  client: "client:notes",
  scopes: "memory:read memory:write",
  created: "2026-01-01T00:00:00.000Z",
};

function describeTokens(makeStore: MakeStore): void {
  it("finds a token by its exact digest, with or without an end", async () => {
    await withStore(makeStore, async ({ store, open }) => {
      const ending = { ...token, id: "tok_2", digest: "b".repeat(64), expires: "2026-02-01T00:00:00.000Z" };
      await store.write((transaction) => transaction.addToken(token));
      await store.write((transaction) => transaction.addToken(ending));
      const other = await open();
      expect(await other.read((transaction) => transaction.tokens())).toEqual([token, ending]);
      const byDigest = (digest: string) => other.read((transaction) => transaction.tokenByDigest(digest));
      expect(await byDigest(token.digest)).toEqual(token);
      expect(await byDigest(ending.digest)).toEqual(ending);
      for (const wrong of ["", "A".repeat(64), "a".repeat(63), "%"]) expect(await byDigest(wrong)).toBeUndefined();
    });
  });

  it("refuses a second token with the same id or digest", async () => {
    await withStore(makeStore, async ({ store }) => {
      await store.write((transaction) => transaction.addToken(token));
      for (const twin of [
        { ...token, digest: "c" },
        { ...token, id: "tok_3" },
      ]) {
        await expect(store.write((transaction) => transaction.addToken(twin))).rejects.toThrow();
      }
      expect(await store.read((transaction) => transaction.tokens())).toEqual([token]);
    });
  });

  it("revokes once, and only what is there", async () => {
    await withStore(makeStore, async ({ store }) => {
      await store.write((transaction) => transaction.addToken(token));
      const revoke = (id: string, at: string) => store.write((transaction) => transaction.revokeToken(id, at));
      expect(await revoke("tok_9", "2026-01-02T00:00:00.000Z")).toBe(false);
      expect(await revoke("tok_1", "2026-01-02T00:00:00.000Z")).toBe(true);
      expect(await revoke("tok_1", "2026-01-03T00:00:00.000Z")).toBe(false);
      expect(await store.read((transaction) => transaction.tokenByDigest(token.digest))).toEqual({
        ...token,
        revoked: "2026-01-02T00:00:00.000Z",
      });
    });
  });
}
