import { describe, expect, it } from "vitest";
import {
  type Access,
  allRights,
  type Caller,
  includesPart,
  isInPerson,
  isPersonalClient,
  listedRights,
  needsReview,
  partitionRights,
  readableParts,
  reviewableParts,
  rightsIn,
} from "./access.js";
import type { Grant, PartitionRecord, ReviewRule, Right } from "./records.js";

const everything = "memory:read memory:propose memory:write memory:review memory.sensitive:read";

function partition(
  name: string,
  grants: Record<string, string> = {},
  more: Partial<PartitionRecord> = {},
): PartitionRecord {
  const list = Object.entries(grants).map(
    ([principal, rights]): Grant => ({ principal, rights: rights.split(" ").filter(Boolean) as Right[] }),
  );
  return { name, grants: list, review: "nobody", fourEyes: false, ...more };
}

interface Who {
  scopes?: string;
  principal?: string;
  client?: string;
  isOwner?: boolean;
  groups?: string[];
}

function access(partitions: PartitionRecord[], who: Who = {}): Access {
  const { scopes = everything, principal = "user:bob", client = "client:notes", isOwner = false, groups = [] } = who;
  const caller: Caller = { principal, client, scopes: new Set(scopes.split(" ").filter(Boolean)), grant: "g" };
  return { caller, partitions, isOwner, groups };
}

const rights = (grants: Record<string, string>, who: Who = {}) => [
  ...listedRights(access([], who), partition("p", grants)),
];
const inOrder = (names: string[]) => allRights.filter((right) => names.includes(right));

describe("who is a person", () => {
  const callers: [principal: string, client: string, inPerson: boolean][] = [
    ["user:owner", "client:local", true],
    ["user:bob", "client:web", true],
    ["user:owner", "client:stdio", false],
    ["user:owner", "client:Local", false],
    ["user:owner", "client:local2", false],
    ["user:owner", "user:local", false],
    ["service:owner", "client:local", false],
    ["group:family", "client:local", false],
  ];
  it.each(callers)("%s through %s: %s", (principal, client, inPerson) => {
    expect(isInPerson({ principal, client, scopes: new Set(), grant: "g" })).toBe(inPerson);
  });

  it("only two clients stand for a person", () => {
    expect(["client:local", "client:web", "client:stdio", "client:", "local", ""].filter(isPersonalClient)).toEqual([
      "client:local",
      "client:web",
    ]);
  });
});

describe("what an access list gives", () => {
  const implied: [given: string, rights: string[]][] = [
    ["", []],
    ["read", ["read"]],
    ["propose", ["propose"]],
    ["write", ["read", "propose", "write"]],
    ["review", ["read", "review"]],
    ["propose review", ["read", "propose", "review"]],
    ["write review", ["read", "propose", "write", "review"]],
  ];
  it.each(implied)("%j gives exactly %j", (given, expected) => {
    expect(inOrder(rights({ "user:bob": given }))).toEqual(expected);
    expect(inOrder(rights({ "group:family": given }, { groups: ["group:family"] }))).toEqual(expected);
    expect(inOrder(rights({ "user:other": given }))).toEqual([]);
    expect(inOrder(rights({ "group:family": given }, { groups: ["group:Family", "group:fam"] }))).toEqual([]);
  });

  const pairs: [name: string, grants: Record<string, string>, who: Who, expected: string[]][] = [
    ["nothing is given to anyone", {}, {}, []],
    ["an owner's assistant has all", {}, { isOwner: true }, [...allRights]],
    [
      "user and groups add up",
      { "user:bob": "propose", "group:a": "read" },
      { groups: ["group:a"] },
      ["read", "propose"],
    ],
    [
      "two groups add up",
      { "group:a": "read", "group:b": "propose" },
      { groups: ["group:a", "group:b"] },
      ["read", "propose"],
    ],
    ["a client entry gives a user nothing", { "client:notes": "write" }, {}, []],
    ["user ∩ client", { "user:bob": "write", "client:notes": "read" }, {}, ["read"]],
    ["what the client's entry implies counts", { "user:bob": "read", "client:notes": "write" }, {}, ["read"]],
    ["disjoint entries leave nothing", { "user:bob": "propose", "client:notes": "read" }, {}, []],
    ["another client is named, so this one has none", { "user:bob": "write", "client:other": "write" }, {}, []],
    ["a client entry limits the owner's assistants too", { "client:notes": "read" }, { isOwner: true }, ["read"]],
    ["the owner's assistant that is not named has none", { "client:other": "read" }, { isOwner: true }, []],
    ["an empty entry of a client is an entry", { "user:bob": "write", "client:notes": "" }, {}, []],
    [
      "nothing limits an owner in person",
      { "client:other": "read" },
      { isOwner: true, client: "client:local" },
      [...allRights],
    ],
    ["another user in person has what the list gives", { "user:bob": "read" }, { client: "client:web" }, ["read"]],
    ["being in person gives no right", {}, { client: "client:local" }, []],
    ["a service has its own entry", { "service:bot": "read" }, { principal: "service:bot" }, ["read"]],
    ["a group of the user's name is not the user", { "group:bob": "write" }, {}, []],
    ["case counts", { "user:Bob": "write" }, {}, []],
  ];
  it.each(pairs)("%s", (_name, grants, who, expected) => {
    expect(inOrder(rights(grants, who))).toEqual(inOrder(expected));
  });
});

describe("scope ∩ access list", () => {
  const scoped: [scopes: string, given: string, expected: Right[]][] = [
    ["", "write review", []],
    ["memory:read", "write review", ["read"]],
    ["memory:propose", "write", ["propose"]],
    ["memory:write", "write", ["propose", "write"]],
    ["memory:write", "propose", ["propose"]],
    ["memory:write", "read", []],
    ["memory:review", "write", []],
    ["memory:review", "review", ["review"]],
    [everything, "", []],
    ["memory.sensitive:read", "write review", []],
    ["profile.core:read audit:read", "write review", []],
  ];
  it.each(scoped)("scopes %j with %j: exactly %j", (scopes, given, expected) => {
    const one = partition("p", { "user:bob": given });
    expect(partitionRights(access([one], { scopes }), one)).toEqual(expected);
    expect(rightsIn(access([one], { scopes }), "p")).toEqual(expected);
    expect(rightsIn(access([one], { scopes }), "q")).toEqual([]);
  });

  const names = (parts: { partition: string; sensitivity: string }[]) =>
    parts.map(({ partition: name, sensitivity }) => `${name} ${sensitivity}`);
  const four = [
    partition("drop", { "user:bob": "propose" }),
    partition("hidden", { "user:other": "write review" }),
    partition("read", { "user:bob": "read" }),
    partition("review", { "user:bob": "review" }),
  ];

  it("only parts with the right to read exist, sensitive ones by a scope of their own", () => {
    expect(names(readableParts(access(four)))).toEqual([
      "read normal",
      "read sensitive",
      "review normal",
      "review sensitive",
    ]);
    expect(names(readableParts(access(four, { scopes: "memory:read memory:review" })))).toEqual([
      "read normal",
      "review normal",
    ]);
    expect(names(readableParts(access(four, { scopes: "memory.sensitive:read memory:review" })))).toEqual([]);
  });

  it("a reviewer needs to read what it reviews", () => {
    expect(names(reviewableParts(access(four)))).toEqual(["review normal", "review sensitive"]);
    expect(names(reviewableParts(access(four, { scopes: "memory:read memory:review" })))).toEqual(["review normal"]);
    for (const scopes of ["memory:review", "memory:read", "memory:review memory.sensitive:read"]) {
      expect(names(reviewableParts(access(four, { scopes })))).toEqual([]);
    }
  });

  it("a part is partition and sensitivity together", () => {
    const parts = readableParts(access(four, { scopes: "memory:read" }));
    expect(includesPart(parts, { partition: "read", sensitivity: "normal" })).toBe(true);
    expect(includesPart(parts, { partition: "read", sensitivity: "sensitive" })).toBe(false);
    expect(includesPart(parts, { partition: "Read", sensitivity: "normal" })).toBe(false);
    expect(includesPart([], { partition: "read", sensitivity: "normal" })).toBe(false);
  });
});

describe("whose direct writes are reviewed", () => {
  const owner = { principal: "user:owner", isOwner: true };
  const rows: [review: ReviewRule, name: string, who: Who, reviewed: boolean][] = [
    ["nobody", "an assistant", {}, false],
    ["nobody", "a user in person", { client: "client:web" }, false],
    ["clients", "an assistant", {}, true],
    ["clients", "the owner's assistant", owner, true],
    ["clients", "a user in person", { client: "client:web" }, false],
    ["clients", "the owner in person", { ...owner, client: "client:local" }, false],
    ["clients", "a service that calls itself local", { principal: "service:x", client: "client:local" }, true],
    ["everyone", "an assistant", {}, true],
    ["everyone", "the owner's assistant", owner, true],
    ["everyone", "a user in person", { client: "client:local" }, true],
    ["everyone", "the owner in person", { ...owner, client: "client:local" }, false],
  ];
  it.each(rows)("%s: %s", (review, _name, who, reviewed) => {
    expect(needsReview(access([], who), partition("p", {}, { review }))).toBe(reviewed);
  });
});
