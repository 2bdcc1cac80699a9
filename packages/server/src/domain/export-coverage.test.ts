import { allScopes } from "@satchel/pcp";
import { describe, expect, it } from "vitest";
import type { Caller } from "./access.js";
import { archivedFor, decideCoverage } from "./export-coverage.js";

const caller = (scopes: Iterable<string>, client = "client:notes", principal = "user:owner"): Caller => ({
  principal,
  client,
  scopes: new Set(scopes),
  grant: "test",
});
const terminal = caller(allScopes(), "client:local");
const request = { profileType: "core", isOwner: true, isEncrypted: false, includeAudit: true } as const;
const without = (...names: string[]) => [...allScopes()].filter((scope) => !names.includes(scope));

interface Row {
  caller?: Caller;
  request?: Partial<Parameters<typeof decideCoverage>[1]>;
  omitted: string[];
  sensitive?: boolean;
  special?: boolean;
  audit?: boolean;
}

const unsafe = ["profile.health", "profile.residency", "memory.sensitive"];
const everything = { sensitive: true, special: true, audit: true };

describe("what goes into an archive", () => {
  it.each<[string, Row]>([
    ["of the owner at the terminal: everything", { caller: terminal, omitted: [], ...everything }],
    [
      "of the owner at the terminal, encrypted: everything",
      { caller: terminal, request: { isEncrypted: true }, omitted: [], ...everything },
    ],
    [
      "of the owner on the web: nothing sensitive",
      { caller: caller(allScopes(), "client:web"), omitted: unsafe, audit: true },
    ],
    ["of an assistant with every scope: nothing sensitive", { omitted: unsafe, audit: true }],
    [
      "of an assistant with every scope, encrypted: everything",
      { request: { isEncrypted: true }, omitted: [], ...everything },
    ],
    [
      "of a user in person who is no owner: nothing sensitive",
      {
        caller: caller(allScopes(), "client:local", "user:bob"),
        request: { isOwner: false },
        omitted: unsafe,
        audit: true,
      },
    ],
    [
      "of a service that calls itself the terminal: nothing sensitive",
      { caller: caller(allScopes(), "client:local", "service:bot"), omitted: unsafe, audit: true },
    ],
    [
      "no audit when it isn't asked for",
      { caller: terminal, request: { includeAudit: false }, omitted: ["audit"], sensitive: true, special: true },
    ],
    [
      "no audit without its scope",
      {
        caller: caller(without("audit:read")),
        request: { isEncrypted: true },
        omitted: ["audit"],
        sensitive: true,
        special: true,
      },
    ],
    [
      "nothing sensitive without its scope, encrypted or not",
      {
        caller: caller(without("memory.sensitive:read")),
        request: { isEncrypted: true },
        omitted: ["memory.sensitive"],
        special: true,
        audit: true,
      },
    ],
    [
      "with a scope for export alone: nothing",
      {
        caller: caller(["export:read"]),
        request: { isEncrypted: true },
        omitted: ["profile.core", "profile.*", "memory", "memory.sensitive", "review", "audit"],
        special: true,
      },
    ],
    [
      "one special category is named when its scope is there alone",
      {
        caller: caller(["export:read", "profile.health:read"]),
        omitted: ["profile.core", "profile.*", "profile.health", "memory", "memory.sensitive", "review", "audit"],
      },
    ],
    [
      "of a context without a profile: none is missed",
      {
        caller: caller(without("profile.core:read")),
        request: { profileType: "none", isEncrypted: true },
        omitted: [],
        ...everything,
      },
    ],
    [
      "of a team: its own profile is missed",
      {
        caller: caller(without("profile.team:read")),
        request: { profileType: "team", isEncrypted: true },
        omitted: ["profile.team"],
        ...everything,
      },
    ],
  ])("%s", (_, row) => {
    const decided = decideCoverage(row.caller ?? caller(allScopes()), { ...request, ...row.request });
    const { sensitive = false, special = false, audit = false } = row;
    expect(decided.omitted.map(({ part }) => part)).toEqual(row.omitted);
    expect(decided).toMatchObject({
      sensitive,
      special,
      audit,
      coverage: row.omitted.length === 0 ? "full" : "partial",
    });
    for (const { reason } of decided.omitted) expect(reason).not.toBe("");
  });
});

describe("the caller as far as an archive goes", () => {
  it("reads nothing sensitive where none goes in, and is the same caller otherwise", () => {
    expect(archivedFor(terminal, { sensitive: true })).toBe(terminal);
    const { scopes, ...rest } = archivedFor(terminal, { sensitive: false });
    expect(scopes).toEqual(new Set(without("memory.sensitive:read")));
    expect(rest).toEqual({ principal: "user:owner", client: "client:local", grant: "test" });
  });
});
