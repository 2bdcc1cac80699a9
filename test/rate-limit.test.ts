import { type Caller, pageTextOperation, settingOperation } from "@satchel/server";
import { describe, expect, it } from "vitest";
import { assistant, owner, person, Shared } from "./shared-context.js";

interface Calls {
  caller?: Caller;
  tool?: "memory_list" | "partition_list";
}

describe("the rate limit", () => {
  async function limitedTo(perMinute: number): Promise<Shared> {
    const shared = Shared.open();
    await shared.setting("calls_per_minute", String(perMinute));
    return shared;
  }

  /** How many of so many calls pass. */
  const outcomes = async (
    shared: Shared,
    count: number,
    { caller = assistant(), tool = "memory_list" }: Calls = {},
  ) => {
    const codes: string[] = [];
    for (let call = 0; call < count; call++) codes.push(await shared.outcome(tool, {}, caller));
    return codes.filter((code) => code === "ok").length;
  };

  it("refuses what is over it, and says how many seconds to wait", async () => {
    const shared = await limitedTo(3);
    expect(await outcomes(shared, 3)).toBe(3);
    const error = await shared.refused("memory_list", {}, assistant());
    expect(error).toMatchObject({ code: "rate_limited", message: expect.stringMatching(/Wait 20 seconds/) });
  });

  it("refills by the clock", async () => {
    const shared = await limitedTo(3);
    await outcomes(shared, 5);
    shared.clock.ms += 19_000;
    expect(await outcomes(shared, 1)).toBe(0);
    shared.clock.ms += 1000;
    expect(await outcomes(shared, 2)).toBe(1);
    shared.clock.ms += 3_600_000;
    expect(await outcomes(shared, 10)).toBe(3);
  });

  it("counts each user, client and tool by itself", async () => {
    const shared = await limitedTo(2);
    expect(await outcomes(shared, 5)).toBe(2);
    expect(await outcomes(shared, 5, { caller: assistant(undefined, { client: "other" }) })).toBe(2);
    expect(await outcomes(shared, 5, { caller: assistant(undefined, { user: "bob" }) })).toBe(2);
    expect(await outcomes(shared, 5, { tool: "partition_list" })).toBe(2);
    expect(await outcomes(shared, 5, { caller: assistant("memory:read") }), "another grant of the same pair").toBe(0);
  });

  it("leaves a person alone, at the terminal too", async () => {
    const shared = await limitedTo(1);
    await shared.write("p", "x\n");
    expect(await outcomes(shared, 20, { caller: owner })).toBe(20);
    expect(await outcomes(shared, 20, { caller: person("bob") })).toBe(20);
    for (let call = 0; call < 20; call++) await shared.done(pageTextOperation, { path: "p" });
    expect(
      await outcomes(shared, 5, { caller: { ...owner, principal: "service:owner" } }),
      "a service is no person",
    ).toBe(1);
  });

  it("a refused call does nothing, and is audited", async () => {
    const shared = await limitedTo(1);
    await shared.as(assistant()).write("a", "x\n");
    expect(await shared.outcome("memory_write", { path: "b", body: "x" }, assistant())).toBe("rate_limited");
    expect(await shared.outcome("memory_read", { path: "b" })).toBe("not_found");
    const { entries } = await shared.ok<{ entries: { outcome: string; tool: string; action: string }[] }>(
      "audit_list",
      {},
    );
    expect(entries).toContainEqual(
      expect.objectContaining({ outcome: "rate_limited", tool: "memory_write", action: "write" }),
    );
  });

  it("refused calls count too: a caller without the scope can't ask for ever", async () => {
    const shared = await limitedTo(2);
    const codes = [];
    for (let call = 0; call < 4; call++)
      codes.push(await shared.outcome("memory_list", {}, assistant("profile.core:read")));
    expect(codes).toEqual(["forbidden", "forbidden", "rate_limited", "rate_limited"]);
  });

  it.each(["0", "-1", "1.5", "many", "", "99999999999", "1e3"])("is no %j", async (value) => {
    const shared = Shared.open();
    const result = await shared.run(settingOperation, { name: "calls_per_minute", value });
    expect(result).toMatchObject({ ok: false, refusal: { refused: "invalid_input" } });
    expect(await outcomes(shared, 50)).toBe(50);
  });
});
