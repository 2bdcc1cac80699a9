import { describe, expect, it } from "vitest";
import {
  type Caller,
  isInPerson,
  isOwner,
  isPersonalClient,
  isReadable,
  partitionRights,
  readableParts,
} from "./access.js";
import type { Part, PartitionRecord } from "./records.js";

const main: PartitionRecord = { name: "main" };
const work: PartitionRecord = { name: "work", label: "Work" };

function caller(scopes: string, { principal = "user:owner", client = "client:notes" } = {}): Caller {
  return { principal, client, scopes: new Set(scopes.split(" ").filter(Boolean)), grant: "g" };
}

const everything = "memory:read memory:propose memory:write memory:review memory.sensitive:read";
const others = ["user:guest", "user:Owner", "user:owner2", "group:owner", "service:owner", "client:owner", "owner", ""];

describe("rights in a partition", () => {
  const owners: [scopes: string, rights: string[]][] = [
    ["", []],
    ["memory:read", ["read"]],
    ["memory:propose", ["propose"]],
    ["memory:write", ["propose", "write"]],
    ["memory:review", ["review"]],
    ["memory.sensitive:read", []],
    ["profile.core:read profile.core:write", []],
    ["profile.*:read profile.*:write", []],
    [everything, ["read", "propose", "write", "review"]],
  ];
  it.each(owners)("an owner with %j has exactly %j", (scopes, rights) => {
    expect(partitionRights(caller(scopes), main)).toEqual(rights);
  });

  it.each(others)("%j has none, whatever the scopes", (principal) => {
    expect(partitionRights(caller(everything, { principal }), main)).toEqual([]);
    expect(readableParts(caller(everything, { principal }), [main, work])).toEqual([]);
    expect(isOwner(caller(everything, { principal }))).toBe(false);
  });
});

describe("readable parts", () => {
  const seen: [scopes: string, parts: string[]][] = [
    ["", []],
    ["memory:write", []],
    ["memory:write memory.sensitive:read", []],
    ["memory.sensitive:read", []],
    ["memory:review memory:propose", []],
    ["memory:read", ["main normal", "work normal"]],
    ["memory:read memory:write", ["main normal", "work normal"]],
    ["memory:read memory.sensitive:read", ["main normal", "main sensitive", "work normal", "work sensitive"]],
  ];
  it.each(seen)("scopes %j: exactly %j", (scopes, parts) => {
    const found = readableParts(caller(scopes), [main, work]);
    expect(found.map(({ partition, sensitivity }) => `${partition} ${sensitivity}`)).toEqual(parts);
  });

  it("no partition, no part", () => {
    expect(readableParts(caller(everything), [])).toEqual([]);
  });

  const page: Part = { partition: "main", sensitivity: "sensitive" };
  const held: [parts: Part[], readable: boolean][] = [
    [[], false],
    [[{ partition: "main", sensitivity: "normal" }], false],
    [[{ partition: "work", sensitivity: "sensitive" }], false],
    [
      [
        { partition: "work", sensitivity: "sensitive" },
        { partition: "main", sensitivity: "normal" },
      ],
      false,
    ],
    [[{ partition: "main", sensitivity: "sensitive" }], true],
  ];
  it.each(held)("a part counts whole, not by its halves: %j", (parts, readable) => {
    expect(isReadable(parts, page)).toBe(readable);
  });
});

describe("in person", () => {
  const callers: [principal: string, client: string, inPerson: boolean][] = [
    ["user:owner", "client:local", true],
    ["user:owner", "client:web", true],
    ["user:guest", "client:local", true],
    ["user:owner", "client:stdio", false],
    ["user:owner", "client:Local", false],
    ["user:owner", "client:local2", false],
    ["user:owner", "local", false],
    ["service:job", "client:local", false],
    ["group:users", "client:web", false],
  ];
  it.each(callers)("%s through %s: %s", (principal, client, inPerson) => {
    expect(isInPerson(caller("", { principal, client }))).toBe(inPerson);
    expect(isPersonalClient(client)).toBe(client === "client:local" || client === "client:web");
  });
});
