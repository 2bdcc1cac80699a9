import { describe, expect, it } from "vitest";
import { invalidInput, isRefusal, missingScope } from "./refusal.js";

describe("refusals", () => {
  it("invalid_input names at most five violations in the message and all of them beside it", () => {
    const one = invalidInput(["/path: is empty"]);
    expect(one).toEqual({
      refused: "invalid_input",
      message: "The input breaks a rule: /path: is empty",
      violations: ["/path: is empty"],
    });
    const many = invalidInput(["v1", "v2", "v3", "v4", "v5", "v6"]);
    expect(many.message).toBe("The input breaks 6 rules: v1; v2; v3; v4; v5");
    expect(many.violations).toHaveLength(6);
  });

  it("a missing scope is forbidden and says which would do", () => {
    expect(missingScope(["memory:write", "memory:propose"])).toEqual({
      refused: "forbidden",
      code: "required_claim_missing",
      message: "This needs the scope memory:write or memory:propose. Ask the owner to grant it.",
      requiredScopes: ["memory:write", "memory:propose"],
    });
  });

  it.each([undefined, null, "refused", 1, {}, [], { path: "refused" }])("%j is no refusal", (value) => {
    expect(isRefusal(value)).toBe(false);
  });
});
