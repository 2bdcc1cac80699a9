import { describe, expect, test } from "vitest";
import { isExtensionNamespace, isHandle, isPartitionName, isPrincipal, parsePrincipal } from "./names.js";

describe("names", () => {
  test.each([
    [
      isPartitionName,
      ["main", "vt-firmware", "0_x", "a".repeat(64)],
      ["", "-a", "_a", "Main", "a b", "a/b", "a".repeat(65), "a\n"],
    ],
    [isHandle, ["me", "a-b", "0", "a".repeat(63)], ["", "-a", "a_b", "Me", "a.b", "a".repeat(64), "me\n"]],
    [
      isPrincipal,
      ["user:owner", "client:c1", "group:a.b@c+d-e_f", "service:X", `user:${"a".repeat(128)}`],
      ["owner", "user:", "user:-a", "User:a", "robot:a", "user:a b", "user:é", `user:${"a".repeat(129)}`, "user:a\n"],
    ],
    [
      isExtensionNamespace,
      ["pcp.health", "acme.travel", "acme.travel.eu", "a.core.b", "pcp-x.core-y"],
      [
        "health",
        "pcp.core",
        "pcp.team",
        "acme.core",
        "a.b.team",
        "pcp.a.b",
        "Pcp.health",
        "a..b",
        ".a",
        "a.",
        "a.1b",
        "a.b\n",
      ],
    ],
  ])("%o", (accepts, good, bad) => {
    for (const text of good) expect([text, accepts(text)]).toEqual([text, true]);
    for (const text of bad) expect([text, accepts(text)]).toEqual([text, false]);
  });

  test("a principal comes apart at its first colon", () => {
    expect(parsePrincipal("client:c-1")).toEqual({ kind: "client", id: "c-1" });
    expect(parsePrincipal("client:a:b")).toBeUndefined();
  });
});
