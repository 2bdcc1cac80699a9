import { describe, expect, test } from "vitest";
import { allScopes, coversScope, DEFAULT_ASSISTANT_SCOPES, FIXED_SCOPES, parseScopes, profileScope } from "./scopes.js";

describe("scopes", () => {
  test("a list is read, the unknown named, wildcards refused", () => {
    const { scopes, unknown } = parseScopes(
      " memory:read\tprofile.health:write\nprofile.acme.travel:read memory:read profile.*:read memory:delete profile.core:admin profile.pcp.health:read profile.a.core:read",
    );
    expect([...scopes]).toEqual(["memory:read", "profile.health:write", "profile.acme.travel:read"]);
    expect(unknown).toEqual([
      "profile.*:read",
      "memory:delete",
      "profile.core:admin",
      "profile.pcp.health:read",
      "profile.a.core:read",
    ]);
    expect(parseScopes("").scopes.size).toBe(0);
  });

  test("only the prefix pcp. is dropped", () => {
    expect(profileScope("pcp.health", "read")).toBe("profile.health:read");
    expect(profileScope("acme.pcp.x", "write")).toBe("profile.acme.pcp.x:write");
    expect(profileScope("core", "read")).toBe("profile.core:read");
  });

  test.each([
    ["memory:write", ["memory:write", "memory:propose"]],
    ["memory:propose", ["memory:propose"]],
    ["memory:read", ["memory:read"]],
    ["memory:review", ["memory:review"]],
    ["profile.core:write", ["profile.core:write"]],
    ["profile.*:read", ["profile.health:read", "profile.acme.travel:read"]],
    ["profile.*:write", ["profile.health:write", "profile.acme.travel:write"]],
  ])("%s covers %j and nothing else", (granted, covered) => {
    const all = [
      ...FIXED_SCOPES,
      "profile.health:read",
      "profile.health:write",
      "profile.acme.travel:read",
      "profile.acme.travel:write",
    ];
    expect(all.filter((scope) => coversScope(new Set([granted]), scope)).sort()).toEqual([...covered].sort());
  });

  test("the owner has everything, a new assistant neither writes nor sees what is sensitive", () => {
    for (const scope of [...FIXED_SCOPES, "profile.x:read", "profile.x.y:write"])
      expect(coversScope(allScopes(), scope)).toBe(true);
    const assistant = new Set<string>(DEFAULT_ASSISTANT_SCOPES);
    for (const scope of [
      "memory:write",
      "memory.sensitive:read",
      "profile.health:read",
      "memory:review",
      "erase:write",
    ])
      expect(coversScope(assistant, scope)).toBe(false);
  });
});
