import { parsePath } from "@satchel/pcp";
import fc from "fast-check";
import { expect, test } from "vitest";
import { scaled, testSeed } from "../../../../test/scale.js";
import { splitBody } from "./body-parts.js";
import { datedPart, idPart, pathOfName, slugOf } from "./entry-path.js";

test.each([
  ["Hello, World!", "hello-world"],
  ["中文 API 说明", "中文-api-说明"],
  ["Şükrü's  café", "şükrü-s-café"],
  ["🎒", ""],
  ["../..\\con", "con"],
  ["a".repeat(100), "a".repeat(48)],
])("the slug of %j is %j", (text, slug) => {
  expect(slugOf(text)).toBe(slug);
});

test("every part and name is a path, and different names have different ones", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("con", "..", "a/../b", "a.md.md", "A", "%2e%2e", "x".repeat(300)),
  );
  const run = (one: string, other: string): void => {
    for (const part of [datedPart({ text: one }), idPart(one), pathOfName(one)]) {
      expect(parsePath(`imported/${part}.md`).ok).toBe(true);
    }
    if (one !== other) expect(idPart(one)).not.toBe(idPart(other));
  };
  fc.assert(fc.property(text, text, run), { seed: testSeed(), numRuns: scaled(20_000) });
});

test("the parts of a body are small enough and, joined, the body", () => {
  const body = fc
    .array(fc.constantFrom("a", " ", "\n", "\n\n", "ü", "😀", "word ", "\uFFFD"), { maxLength: 300 })
    .map((parts) => parts.join(""));
  const run = (text: string, most: number): void => {
    const parts = splitBody(text, most);
    expect(parts.join("")).toBe(text);
    for (const part of parts) {
      expect(Buffer.byteLength(part)).toBeLessThanOrEqual(most);
      expect(part.isWellFormed()).toBe(true);
    }
  };
  fc.assert(fc.property(body, fc.integer({ min: 4, max: 200 }), run), { seed: testSeed(), numRuns: scaled(10_000) });
});
