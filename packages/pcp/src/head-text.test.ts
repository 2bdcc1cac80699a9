import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseFrontmatter } from "./frontmatter.js";
import { buildHead } from "./head-text.js";
import { parseHead } from "./page-text.js";

const TRICKY = [
  "Constraints (REQ): read spec",
  "a # b",
  "- x",
  "yes",
  "null",
  "~",
  "@a",
  "a\tb",
  "\t",
  "",
  " ",
  " x ",
  "a\u2028b\u2029c\u0085d",
  "\u0000\u0007\u001b\u007f\u009f\uFEFF\uFFFF",
  "__proto__",
  "line\nline\n\n  line\n",
  "---",
  "---\n",
  "a\n---\nb",
  "...",
  "*a",
  "&a",
  "!a",
  "|",
  "> x",
  "%YAML",
  "`x`",
  "'",
  '"a "b" c"',
  "{",
  "[a]",
  "1.0",
  "0x1F",
  "2024-01-02",
  "12:30",
  ".nan",
  "-",
  "?",
  ": ",
  "\\u0041",
  "日本 語",
  "👩‍🚀",
  `${"long ".repeat(300)}end`,
];

function roundTrip(frontmatter: Record<string, unknown>): unknown {
  const head = buildHead(frontmatter);
  const parsed = parseHead(head);
  if (!parsed.ok) throw new Error(`${JSON.stringify(parsed.problems)} for ${head}`);
  return parsed.frontmatter;
}

describe("buildHead", () => {
  test.each(TRICKY)("%j comes back as title, tag, value and key", (text) => {
    const value: Record<string, unknown> = { x: text, list: [text, [text]], map: Object.fromEntries([[text, text]]) };
    if (text.trim() !== "") value.title = text.slice(0, 500);
    if (text.trim() !== "" && text.length <= 64) value.tags = [text];
    if (!["title", "tags"].includes(text)) Object.defineProperty(value, text, { value: text, enumerable: true });
    expect(roundTrip(value)).toEqual(value);
  });

  test("any JSON object comes back as it is", () => {
    const seed = Date.now();
    console.log(`head seed ${seed}`);
    const text = fc.oneof(
      fc.constantFrom(...TRICKY),
      fc.string(),
      fc.string({ unit: "grapheme" }),
      fc.string({ unit: "binary" }),
    );
    const number = fc.oneof(
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constantFrom(2 ** 53, 1e21, -1e300, 5e-324, 2 ** 63),
    );
    const { json } = fc.letrec((tie) => ({
      json: fc.oneof(
        { maxDepth: 5 },
        text,
        number,
        fc.boolean(),
        fc.constant(null),
        fc.array(tie("json"), { maxLength: 4 }),
        fc.dictionary(text, tie("json"), { maxKeys: 4 }),
      ),
    }));
    const free = fc.dictionary(
      text.map((key) => `x${key}`),
      json,
      { maxKeys: 5 },
    );
    const known = fc.record(
      {
        title: text.filter((title) => title.trim() !== "" && [...title].length <= 500),
        tags: fc.array(text.filter((tag) => tag.trim() !== "" && !tag.startsWith("#") && [...tag].length <= 64)),
        confidence: fc.double({ min: 0, max: 1, noNaN: true }),
        valid_from: fc.constantFrom("2024-01-02", "2024-01-02T03:04:05Z"),
        type: fc.constantFrom("episodic", "semantic"),
        derived_from: fc.array(fc.constantFrom("a/b", "京都", "1.0", "null")),
        source: fc.record(
          { origin: fc.constantFrom("chat", "user"), session: fc.constantFrom("1.0", "true", "~") },
          { requiredKeys: ["origin"] },
        ),
      },
      { requiredKeys: [] },
    );
    const negativeZeroLess = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
    fc.assert(
      fc.property(known, free, (a, b) => {
        const value = { ...a, ...(negativeZeroLess(b) as object) };
        expect(roundTrip(value)).toEqual(value);
        const parsed = parseFrontmatter(value);
        expect(parsed.ok ? parsed.frontmatter : parsed.problems).toEqual(value);
      }),
      { seed, numRuns: 1500 },
    );
  });

  test("server keys never get in, and every scalar has one line", () => {
    const head = buildHead({
      title: "x",
      id: "pg_1",
      updated: "now",
      review: {},
      generated: {},
      created: "x",
      note: `a\n${"word ".repeat(100)}`,
    });
    expect(head.split("\n")).toHaveLength(5);
    expect(head).not.toMatch(/id:|updated|review|generated|created/);
    expect(buildHead({ id: "x" })).toBe("---\n---\n");
  });

  test("it reads well", () => {
    expect(
      buildHead({
        title: "Plain words",
        tags: ["a", "b c"],
        source: { origin: "chat" },
        when: "2024-01-02",
        empty: [],
      }),
    ).toBe(
      '---\ntitle: Plain words\ntags:\n  - a\n  - b c\nsource:\n  origin: chat\nwhen: "2024-01-02"\nempty: []\n---\n',
    );
  });

  test("64 levels come back", () => {
    let value: unknown = "x";
    for (let i = 0; i < 63; i++) value = i % 2 ? [value] : { a: value };
    expect(roundTrip({ a: value })).toEqual({ a: value });
  });
});
