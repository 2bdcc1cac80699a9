import { expect, test } from "vitest";
import { errorBody, PcpError } from "./errors.js";

test("the wire form has what is public and nothing else", () => {
  const cause = new Error("private");
  expect(errorBody(new PcpError("internal", "Ask again.", { cause }))).toEqual({
    error: { code: "internal", message: "Ask again." },
  });
  const error = new PcpError("forbidden", "Grant it.", { requiredScopes: ["memory:read"], violations: ["/path: bad"] });
  expect(errorBody(error)).toEqual({
    error: { code: "forbidden", message: "Grant it.", required_scopes: ["memory:read"], violations: ["/path: bad"] },
  });
  expect(JSON.stringify(errorBody(new PcpError("locked", "Wait.", { cause })))).not.toContain("private");
  expect(new PcpError("locked", "Wait.", { cause }).cause).toBe(cause);
});
