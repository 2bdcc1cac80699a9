import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { scaled, testSeed } from "../../../test/scale.js";
import { parseForeignHead, rehomeForeignKeys } from "./foreign-keys.js";
import { CLIENT_KEYS } from "./frontmatter.js";
import { parsePageText } from "./page-text.js";

const page = (yaml: string, body = "Body.\n"): string => `---\n${yaml}---\n${body}`;

describe("rehomeForeignKeys keeps every byte of", () => {
  test.each([
    ["text alone", "Just text.\n"],
    ["a rule and prose", "---\nNo frontmatter.\n---\nmore\n"],
    ["no closing fence", "---\ntype: note\n"],
    ["good keys", page("title: A\ntype: semantic\ntags: a, b\nconfidence: 0.5\n")],
    ["absent values", page("type: null\ntags:\nlifecycle: ~\n")],
    ["scalars that YAML would turn", page("title: 2025-10-24\ntags: [1.0, true, 2025-10-24]\n")],
    ["keys of nobody's", page('date: 2026-03-16\nwho: - "[[A-B]]"\n'.replace("who: - ", "who:\n  - "))],
    ["keys of the server", page("id: 7\ncreated: yesterday\nreview: fine\n")],
    ["YAML that can't be read", page('title: "a "b" c"\ntype: note\n')],
    ["a key that is there twice", page("type: note\ntype: note\n")],
    ["an alias without an anchor", page("title: *Italic*\ntype: note\n")],
    ["a value no key may have", page('type: note\ntitle: "\\uD800"\n')],
    ["text that is not well-formed", page("type: note\n", "\uD800")],
    ["a carriage return and a mark", "\uFEFF---\r\ntitle: A\r\n---\r\nText\r\n"],
  ])("%s", (_name, text) => {
    expect(rehomeForeignKeys(text)).toBe(text);
  });
});

describe("rehomeForeignKeys moves", () => {
  test.each([
    ["type: note\n", "x_import:\n  type: note\n"],
    ["title: A\ntype: note # why\nb: 2\n", "title: A\nb: 2\nx_import:\n  type: note # why\n"],
    ["# first\ntype: note\n# second\nb: 2\n# last\n", "# first\n# second\nb: 2\nx_import:\n  type: note\n# last\n"],
    [
      "confidence: high\nlifecycle: draft\nb: [1,  2]\n",
      "b: [1,  2]\nx_import:\n  confidence: high\n  lifecycle: draft\n",
    ],
    ["valid_from: 3.4.2024\n'k': \"v\"\n", "'k': \"v\"\nx_import:\n  valid_from: 3.4.2024\n"],
    ["tags:\n- {a: 1}\n- b\nc: d\n", "c: d\nx_import:\n  tags:\n  - {a: 1}\n  - b\n"],
    ["title: |\n  a\n\n    b\ntype: note\n", "title: |\n  a\n\n    b\nx_import:\n  type: note\n"],
    ["type: |\n  a\n\n    b\n\u2028c: d\n", "\u2028c: d\nx_import:\n  type: |\n    a\n\n      b\n"],
    ["title: ''\nb: 1\n", "b: 1\nx_import:\n  title: ''\n"],
    ["title: [a]\nsource: https://example.org\n", "x_import:\n  title: [a]\n  source: https://example.org\n"],
    ["source:\n  origin: web\n  url: x\nb: 1\n", "b: 1\nx_import:\n  source:\n    origin: web\n    url: x\n"],
    ["partition: My Notes\nsensitivity: high\n", "x_import:\n  partition: My Notes\n  sensitivity: high\n"],
    ["x_import:\n  a: 1\ntype: note\nb: 2\n", "x_import:\n  a: 1\n  type: note\nb: 2\n"],
    ["type: note\nx_import:\n  a: 1\n", "x_import:\n  a: 1\n  type: note\n"],
    ["  type: note\n  b: 2\n", "  b: 2\n  x_import:\n    type: note\n"],
    ["type: note\na: 1\n...\n", "a: 1\nx_import:\n  type: note\n...\n"],
  ])("%j", (before, after) => {
    expect(rehomeForeignKeys(page(before))).toBe(page(after));
    expect(rehomeForeignKeys(page(after))).toBe(page(after));
  });

  test("line ends and the byte order mark stay", () => {
    expect(rehomeForeignKeys("\uFEFF---\r\ntype: note\r\nb: 1\r\n---\r\nText\r\nmore\n")).toBe(
      "\uFEFF---\r\nb: 1\r\nx_import:\r\n  type: note\r\n---\r\nText\r\nmore\n",
    );
    expect(rehomeForeignKeys("---\rtype: note\rb: 1\r---\rText")).toBe("---\rb: 1\rx_import:\r  type: note\r---\rText");
  });

  // These can't be cut at their lines: the block is written anew.
  test.each([
    ["{type: note, b: 1}\n", "b: 1\nx_import:\n  type: note\n"],
    ["confidence: &a high\nb: *a\n", "b: high\nx_import:\n  confidence: high\n"],
    ["x_import: old\ntype: note\n", "x_import:\n  x_import: old\n  type: note\n"],
    ["x_import: {type: a}\ntype: note\nid: 7\n", "x_import:\n  type: a\n  type_2: note\n  id: 7\n"],
  ])("%j anew", (before, after) => {
    expect(rehomeForeignKeys(page(before))).toBe(page(after));
  });
});

test("whatever a file says of our keys, it can be read afterwards and nothing of it is gone", () => {
  const scalar = fc.oneof(
    fc.constantFrom(
      "note",
      "high",
      "draft",
      "~",
      "2024-13-01",
      "[a, b]",
      "{a: 1}",
      "|\n  two\n\n  lines",
      ">-\n  x",
      "&a z",
    ),
    fc.constantFrom(
      '"quoted # text"',
      "''",
      "0.5",
      "semantic",
      "active",
      "\n  - a\n  - b: c",
      "\n- a",
      "a # comment",
      "!!str 1",
    ),
    fc.integer().map(String),
    fc.string({ unit: "grapheme" }).map((text) => JSON.stringify(text)),
  );
  const key = fc.constantFrom(...CLIENT_KEYS, "id", "mine", "'other key'", "aliases");
  const line = fc.tuple(key, scalar, fc.constantFrom("", "# note\n", "\n"));
  const text = fc
    .tuple(
      fc.uniqueArray(line, { selector: ([name]) => name, maxLength: 8 }),
      fc.string(),
      fc.constantFrom("\n", "\r\n"),
    )
    .map(([lines, body, end]) =>
      page(lines.map(([name, value, after]) => `${name}: ${value}\n${after}`).join(""), body).replaceAll("\n", end),
    );
  const run = (given: string): void => {
    const mended = rehomeForeignKeys(given);
    expect(rehomeForeignKeys(mended)).toBe(mended);
    const [before, after] = [parseForeignHead(given), parseForeignHead(mended)];
    if (!before.ok) {
      expect(mended).toBe(given);
      return;
    }
    expect(parsePageText(mended)).toMatchObject({ ok: true, body: before.body });
    if (!after.ok) throw new Error("unreadable");
    const home = (after.keys.x_import ?? {}) as Record<string, unknown>;
    for (const [name, value] of Object.entries(before.keys)) {
      if (Object.hasOwn(after.keys, name)) expect(after.keys[name]).toEqual(value);
      else expect(home[name]).toEqual((parse(headOf(given)) as Record<string, unknown>)[name]);
    }
  };
  fc.assert(fc.property(text, run), { seed: testSeed(), numRuns: scaled(10_000) });
}, 300_000);

const headOf = (text: string): string => text.replaceAll("\r\n", "\n").split("\n---\n")[0]!.slice("---\n".length);

test("parseForeignHead gives the keys by no rule of ours", () => {
  expect(parseForeignHead(page("id: a\ntype: note\ntags: 5\n", "B"))).toEqual({
    ok: true,
    keys: { id: "a", type: "note", tags: "5" },
    body: "B",
  });
  expect(parseForeignHead("no block")).toEqual({ ok: true, keys: {}, body: "no block" });
  expect(parseForeignHead(page("- x: [\n"))).toMatchObject({ ok: false, problems: [{ line: 3 }] });
});

test("a long block and a long body take time in proportion", () => {
  const many = Array.from({ length: 1500 }, (_, index) => `k${index}: v\n`).join("");
  const text = page(`type: note\n${many}`, "x".repeat(200_000)).replaceAll("\n", "\r\n");
  const begun = performance.now();
  expect(rehomeForeignKeys(text)).toContain("x_import:\r\n  type: note\r\n");
  expect(performance.now() - begun).toBeLessThan(2_000);
});
