import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scaled, testSeed } from "../../../../test/scale.js";
import { holdsInexactNumber, NumberGuard } from "./exact-numbers.js";

const newline = 0x0a;

function call(value: string): string {
  return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_write","arguments":{"n":${value}}}}\n`;
}

function passThrough(guard: NumberGuard, chunks: Buffer[]): string {
  const passed = chunks.flatMap((chunk) => guard.push(chunk));
  return Buffer.concat([...passed, ...guard.end()]).toString("utf8");
}

function isMarked(line: string): boolean {
  return holdsInexactNumber(JSON.parse(line).params._meta);
}

describe("a number that parsing would change", () => {
  const table: [literal: string, marked: boolean][] = [
    ["1", false],
    ["1.0", false],
    ["-0", false],
    ["1e2", false],
    ['"9007199254740993"', false],
    ["9007199254740992", false],
    ["9007199254740993", true],
    ["1.00000000000000000001", true],
    ["1e400", true],
  ];
  for (const [literal, marked] of table) {
    it(`${literal} is ${marked ? "" : "not "}marked`, () => {
      const line = passThrough(new NumberGuard({ limitBytes: 1000, separator: newline }), [Buffer.from(call(literal))]);
      expect(isMarked(line)).toBe(marked);
      if (!marked) expect(line).toBe(call(literal));
    });
  }

  it("is left alone in what is no call, and in what is no JSON", () => {
    for (const text of ['{"id":9007199254740993,"method":"ping"}\n', "9007199254740993\n", "{9007199254740993\n"]) {
      expect(passThrough(new NumberGuard({ limitBytes: 1000, separator: newline }), [Buffer.from(text)])).toBe(text);
    }
  });

  it("marks every call of a batch", () => {
    const batch = `[${call("1").trim()},${call("9007199254740993").trim()}]\n`;
    const line = passThrough(new NumberGuard({ limitBytes: 1000, separator: newline }), [Buffer.from(batch)]);
    expect(
      JSON.parse(line).map((message: { params: { _meta: unknown } }) => holdsInexactNumber(message.params._meta)),
    ).toEqual([true, true]);
  });

  it("changes nothing of a message that is too large to be taken", () => {
    const text = call(`[${"9007199254740993,".repeat(100)}0]`);
    expect(passThrough(new NumberGuard({ limitBytes: 200, separator: newline }), [Buffer.from(text)])).toBe(text);
    const next = passThrough(new NumberGuard({ limitBytes: 200, separator: newline }), [
      Buffer.from(text + call("9007199254740993")),
    ]);
    expect(isMarked(next.slice(text.length))).toBe(true);
  });

  it("is found however the messages are cut into pieces", () => {
    const literals = fc.array(fc.constantFrom("1", "9007199254740993", '"é😀\\u2028"'), { minLength: 1, maxLength: 5 });
    const cuts = fc.array(fc.nat(600), { maxLength: 8 });
    fc.assert(
      fc.property(literals, cuts, fc.boolean(), (values, places, endsOpen) => {
        const text = values
          .map(call)
          .join("")
          .slice(0, endsOpen ? -1 : undefined);
        const bytes = Buffer.from(text);
        const edges = [0, ...places.filter((at) => at < bytes.length).sort((a, b) => a - b), bytes.length];
        const chunks = edges.slice(1).map((end, at) => bytes.subarray(edges[at], end));
        const lines = passThrough(new NumberGuard({ limitBytes: 1000, separator: newline }), chunks)
          .trimEnd()
          .split("\n");
        expect(lines.map(isMarked)).toEqual(values.map((value) => value === "9007199254740993"));
      }),
      { seed: testSeed(), numRuns: scaled(2000) },
    );
  });
});
