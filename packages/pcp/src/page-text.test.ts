import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { normaliseText, type ParsedPage, parseHead, parsePageText, splitPage } from "./page-text.js";

const page = (yaml: string, body = "text\n"): string => `---\n${yaml}\n---\n${body}`;

function viewOf(text: string): Record<string, unknown> {
  const parsed = parsePageText(text);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.frontmatter;
}

function problemsOf(parsed: ParsedPage) {
  return parsed.ok ? [] : parsed.problems;
}

describe("normaliseText and splitPage", () => {
  test("line ends and the byte order mark, nothing else", () => {
    expect(normaliseText("\uFEFFa\r\nb\rc\n\r\n\uFEFFd")).toBe("a\nb\nc\n\n\uFEFFd");
  });

  test.each([
    ["no block", "text\n", ""],
    ["a block", "---\ntitle: x\n---\nbody", "---\ntitle: x\n---\n"],
    ["blanks after the fences", "--- \ntitle: x\n---\t\nbody", "--- \ntitle: x\n---\t\n"],
    ["no newline at the end", "---\ntitle: x\n---", "---\ntitle: x\n---"],
    ["an empty block", "---\n---\nbody", "---\n---\n"],
    ["only a comment", "---\n# note\n---\nbody", "---\n# note\n---\n"],
    ["no closing fence", "---\ntitle: x\n", ""],
    ["a rule and prose", "---\nJust a sentence.\n---\nmore", ""],
    ["a rule and a list", "---\n- a\n- b\n---\nmore", ""],
    ["a rule and a written null", "---\nnull\n---\nmore", ""],
    ["a longer rule", "----\ntitle: x\n----\n", ""],
    ["an indented fence", " ---\ntitle: x\n---\n", ""],
    ["unreadable YAML stays a head", '---\ntitle: "a "b" c"\n---\nbody', '---\ntitle: "a "b" c"\n---\n'],
    ["only a real line ends the block", "---\ntitle: a\u2028---\nx: y\n---\nb", "---\ntitle: a\u2028---\nx: y\n---\n"],
  ])("%s", (_name, text, head) => {
    expect(splitPage(text)).toEqual({ head, body: text.slice(head.length) });
  });

  test("head and body are always the whole text", () => {
    const seed = Date.now();
    console.log(`split seed ${seed}`);
    const piece = fc.oneof(
      fc.constantFrom("---", "\n", "---\n", ": ", "- ", "[", "{", "&a", "*a", "|", '"', "#", "title: x\n", "\t", "!x "),
      fc.string({ unit: "binary" }),
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const text = `---\n${pieces.join("")}\n---\n`;
        const { head, body } = splitPage(text);
        expect(head + body).toBe(text);
        const parsed = parsePageText(text);
        if (parsed.ok) expect(parsed.head + parsed.body).toBe(normaliseText(text));
      }),
      { seed, numRuns: 2000 },
    );
  });
});

describe("the view", () => {
  test.each([
    ["title: 2024-01-02", { title: "2024-01-02" }],
    ["title: 12:30", { title: "12:30" }],
    ["title: 1.0", { title: "1.0" }],
    ["title: 0x1F", { title: "0x1F" }],
    ["title: true", { title: "true" }],
    ["title: !!str null", { title: "null" }],
    ['title: "null"', { title: "null" }],
    ["title: null\ntype: ~\ntags:\nconfidence: null", {}],
    ["title: x\nsource: {origin: chat, session: null}", { title: "x", source: { origin: "chat" } }],
    ["tags: [1.0, true, 2025-10-24, no]", { tags: ["1.0", "true", "2025-10-24", "no"] }],
    ["tags:\n  - a\n  -\n  - b", { tags: ["a", "b"] }],
    ["tags: ['#x', '##y', 'C#']", { tags: ["x", "y", "C#"] }],
    ["tags: a, b c", { tags: ["a", "b c"] }],
    ['tags: \'["a, b", "c"]\'', { tags: ["a, b", "c"] }],
    ["tags: '[a'", { tags: ["[a"] }],
    [
      "valid_from: 2024-01-02\nvalid_until: 2024-02-03T04:05:06+01:00",
      { valid_from: "2024-01-02", valid_until: "2024-02-03T04:05:06+01:00" },
    ],
    [
      "derived_from: [a/b.md, e\u0301]\nrelations: [{rel: supersedes, target: x.md}]",
      { derived_from: ["a/b", "é"], relations: [{ rel: "supersedes", target: "x" }] },
    ],
    ["date: 2026-03-16\ncount: 012\nyes: no\nratio: 1.50", { date: "2026-03-16", count: 12, yes: "no", ratio: 1.5 }],
    [
      "a: .nan\nb: -.inf\nc: 9007199254740993\nd: 1e400\ne: -0",
      { a: ".nan", b: "-.inf", c: "9007199254740993", d: "1e400", e: 0 },
    ],
    ["1: a\n1.0: b\nnull: c\n? true\n: d", { "1": "a", "1.0": "b", null: "c", true: "d" }],
    ["a: &x [1]\nb: *x\n<<: *x", { a: [1], b: [1], "<<": [1] }],
    ["id: [\n x]\nupdated: yesterday\nreview: {state: approved}\ncreated: 5\ngenerated:\ntitle: x", { title: "x" }],
    ["x: null\ny: ''", { x: null, y: "" }],
  ])("%s", (yaml, view) => {
    expect(viewOf(page(yaml))).toEqual(view);
  });

  test("a key named __proto__ is a key", () => {
    const view = viewOf(page("__proto__: {polluted: true}"));
    expect(Object.keys(view)).toEqual(["__proto__"]);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(view.polluted).toBeUndefined();
  });
});

describe("what is refused", () => {
  test.each([
    ['title: "a "b" c"', 2, 12],
    ["title: `C:\\x`", 2, 8],
    ["a: 1\nlist:\n- [[link]]suffix", 4, 11],
    ["title: *Italic*", 2, 8],
    ["a: 1\nb: 2\na: 3", 4, 1],
    ["a: {b: 1, 'b': 2}", 2, 11],
    ["1: x\n'1': y", 3, 1],
    ["a: !custom x", 2, 4],
    ["a: !!binary aGk=", 2, 4],
    ["a: !!set {x}", 2, 4],
    ["[a]: x", 2, 1],
    ["a: 1\n...\nb: 2", 4, 1],
    ["%YAML 1.1\n--- {a: yes}", 2, 1],
    ["a: &x [*x]", 2, 8],
    ["\ta: 1", 2, 1],
    ["type: note", 2, 7],
    ["ok: 1\ntags: [a, {b: c}]", 3, 11],
    ["title: ''", 2, 8],
    ['a: "\\ud800"', 2, 4],
    ["relations:\n  - rel: about\n    target: ../x", 4, 13],
  ])("%j at %i:%i", (yaml, line, column) => {
    const problems = problemsOf(parsePageText(page(yaml)));
    expect(problems[0]).toMatchObject({ code: "invalid_input", line, column });
    expect(parseHead(`---\n${yaml}\n---\n`).ok).toBe(false);
  });

  test.each(["[", "{a: ", "- ", "? ", "a: [", "!x ", "&a ", "*a ", "- - &a [*a,"])(
    "%j thousands of times is refused, quickly",
    (piece) => {
      const started = performance.now();
      const problems = problemsOf(
        parsePageText(page(`x: 1\ny:\n  ${piece.repeat(Math.floor(30_000 / piece.length))}`)),
      );
      expect(problems.map(({ code }) => code)).toContain("invalid_input");
      expect(problems.length).toBeLessThanOrEqual(20);
      expect(performance.now() - started).toBeLessThan(3000);
    },
  );

  test("30,000 brackets at the root", () => {
    expect(problemsOf(parsePageText(page("[".repeat(30_000))))[0]?.message).toContain("nested deeper");
  });

  test("aliases: 100 pass, 101 do not, and they can't expand without end", () => {
    const uses = (count: number): string => page(`a: &a x\nb: [${Array(count).fill("*a").join(", ")}]`);
    expect((viewOf(uses(100)).b as unknown[]).length).toBe(100);
    expect(problemsOf(parsePageText(uses(101)))[0]?.message).toContain("aliases");
    const levels = ["l0: &l0 [x,x,x,x,x,x,x,x,x,x]"];
    for (let i = 1; i < 10; i++)
      levels.push(
        `l${i}: &l${i} [${Array(10)
          .fill(`*l${i - 1}`)
          .join(", ")}]`,
      );
    expect(problemsOf(parsePageText(page(levels.join("\n"))))[0]?.message).toContain("expand");
  });

  test("depth: 64 passes, 65 does not, not even through aliases", () => {
    const nested = (depth: number): string => `${"[".repeat(depth)}${"]".repeat(depth)}`;
    expect(parsePageText(page(`a: ${nested(63)}`)).ok).toBe(true);
    expect(parsePageText(page(`a: ${nested(64)}`)).ok).toBe(false);
    expect(
      parsePageText(page(`a: &a ${nested(40)}\nb: &b ${nested(20).replace("[]", "[*a]")}\nc: [[[[*b]]]]`)).ok,
    ).toBe(false);
  });

  test("limits in bytes", () => {
    const yaml = (bytes: number): string => `a: "${"é".repeat((bytes - 6) / 2)}"`;
    expect(parsePageText(page(yaml(32 * 1024))).ok).toBe(true);
    expect(problemsOf(parsePageText(page(yaml(32 * 1024 + 2))))).toMatchObject([{ code: "too_large" }]);
    expect(parsePageText("é".repeat(128 * 1024)).ok).toBe(true);
    expect(problemsOf(parsePageText(`${"é".repeat(128 * 1024)}x`))).toMatchObject([{ code: "too_large" }]);
  });

  test("ill-formed text", () => {
    expect(problemsOf(parsePageText("a\uD800"))).toMatchObject([{ code: "invalid_input" }]);
  });

  test("a message never repeats a value", () => {
    const problems = problemsOf(
      parsePageText(page("type: hunter2\npartition: HUNTER2\nvalid_from: hunter2\nsource: hunter2")),
    );
    expect(problems).toHaveLength(4);
    expect(JSON.stringify(problems)).not.toMatch(/hunter2/i);
  });
});
