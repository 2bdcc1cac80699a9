import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parsePath, twinKey } from "./paths.js";

const pathOf = (input: string): string | undefined => {
  const parsed = parsePath(input);
  return parsed.ok ? parsed.path : undefined;
};

describe("parsePath", () => {
  test.each([
    ["notes/x", "notes/x"],
    ["notes/x.md", "notes/x"],
    ["x.md/y.md", "x.md/y"],
    ["x.mdx.md", "x.mdx"],
    ["x.MD", "x.MD"],
    ["日記/京都", "日記/京都"],
    ["notes/Mu\u0308ller.md", "notes/Müller"],
    ["café", "café"],
    ["ナレッジ".normalize("NFD"), "ナレッジ"],
    ["中文 API 说明", "中文 API 说明"],
    ["Şükrü", "Şükrü"],
    ["🎒/plan ✈️", "🎒/plan ✈️"],
    ["a\u202Fb", "a\u202Fb"],
    ["_index", "_index"],
    [".hidden/..x", ".hidden/..x"],
    ["100%/50%25 off", "100%/50%25 off"],
    ["caf%C3%A9", "caf%C3%A9"],
    ["console/auxiliary/com10/lpt0", "console/auxiliary/com10/lpt0"],
    ["😀".repeat(255), "😀".repeat(255)],
  ])("%j is accepted as %j", (input, path) => {
    expect(parsePath(input)).toEqual({ ok: true, path });
  });

  test.each([
    ["", "empty"],
    [".md", "empty"],
    ["a/.md", "ends with a slash"],
    ["a.md.md", ".md twice"],
    ["a.md.md.md", ".md twice"],
    [".md.md", ".md twice"],
    ["a/.md.md", ".md twice"],
    ["/etc/passwd", "starts with a slash"],
    ["a/", "ends with a slash"],
    ["a//b", "empty segment"],
    ["../x.md", "segment . or .."],
    ["a/../../x.md", "segment . or .."],
    ["a/./b", "segment . or .."],
    ["..\\x", "one of"],
    ["D:\\a b\\c", "one of"],
    ["a\u0000b", "control"],
    ["a\u0085b", "control"],
    ["a\u2028b", "control"],
    ["a\u202Eb", "direction"],
    ["a\u2066b", "direction"],
    ["a\u200Bb", "zero-width"],
    ["a\uFEFFb", "zero-width"],
    ["a\u{E0041}b", "tag character"],
    ['a"b', "one of"],
    ["a|b", "one of"],
    ["what?", "one of"],
    ["a./b", "ends in a dot or a space"],
    ["a /b", "ends in a dot or a space"],
    ["a/b...", "ends in a dot or a space"],
    ["con", "Windows"],
    ["a/NUL.txt", "Windows"],
    ["Com1", "Windows"],
    ["com¹.tar.gz", "Windows"],
    ["lpt9 .x", "Windows"],
    ["aux.md", "Windows"],
    ["%2e%2e/x", "% escapes"],
    [".%2E/x", "% escapes"],
    ["a/%2e/b", "% escapes"],
    ["a%2fb", "% escapes"],
    ["a%5Cb", "% escapes"],
    ["a%00b", "% escapes"],
    ["a%C2%85b", "% escapes"],
    ["%252e%252e/x", "% escapes"],
    ["%c0%ae%c0%ae/x", "% escapes"],
    ["a%c0%afb", "% escapes"],
    ["a%e0%80%afb", "% escapes"],
    ["a\uD800", "well-formed"],
    ["x".repeat(256), "longer than 255"],
    ["😀".repeat(256), "longer than 255"],
  ])("%j is refused", (input, why) => {
    const parsed = parsePath(input);
    expect(parsed.ok).toBe(false);
    expect(parsed.ok ? [] : parsed.violations).toEqual(expect.arrayContaining([expect.stringContaining(why)]));
  });

  test("every broken rule is named", () => {
    const parsed = parsePath("/a\u0000/../con");
    expect(parsed.ok ? 0 : parsed.violations.length).toBe(4);
  });

  test("what is accepted is NFC, free of traversal, and accepted as itself", () => {
    const seed = Date.now();
    console.log(`paths seed ${seed}`);
    const input = fc.string({
      unit: fc.oneof(
        fc.constantFrom("/", ".", "%", "2", "e", "m", "d", " "),
        fc.string({ unit: "binary", maxLength: 1 }),
      ),
    });
    fc.assert(
      fc.property(input, (text) => {
        const path = pathOf(text);
        if (path === undefined) return;
        expect(path).toBe(path.normalize("NFC"));
        expect(path.split("/")).not.toContain("..");
        expect([...path].length).toBeLessThanOrEqual(255);
        expect(pathOf(path)).toBe(path);
        expect(pathOf(`${path}.md`)).toBe(path);
      }),
      { seed, numRuns: 1000 },
    );
  });
});

describe("twinKey", () => {
  test.each([
    ["Alpha", "alpha"],
    ["NOTES/x", "notes/x"],
    ["Straße", "STRASSE"],
    ["ẞ", "ss"],
    ["ΟΔΟΣ", "οδος"],
    ["οδοσ", "οδος"],
    ["İ", "i\u0307"],
    ["\u212B", "å"],
    ["\u212A", "k"],
    ["ﬁle", "FILE"],
    ["ſ", "S"],
    ["ᾳ", "αι"],
    ["e\u0301", "É"],
  ])("%j and %j are twins", (a, b) => {
    expect(twinKey(a)).toBe(twinKey(b));
  });

  test.each([
    ["ı", "i"],
    ["ı", "I"],
    ["a", "b"],
    ["e", "é"],
    ["ｆ", "f"],
    ["a/b", "a b"],
    ["İ", "i"],
  ])("%j and %j are not", (a, b) => {
    expect(twinKey(a)).not.toBe(twinKey(b));
  });

  test("folding covers the language's simple folding and changes nothing when repeated", () => {
    for (let code = 0; code <= 0x1ffff; code++) {
      if (code >= 0xd800 && code <= 0xdfff) continue;
      const text = String.fromCodePoint(code);
      const key = twinKey(text);
      if (twinKey(key) !== key) expect([code, twinKey(key)]).toEqual([code, key]);
      for (const other of [text.toLowerCase(), text.toUpperCase()]) {
        if (other === text || [...other].length !== 1) continue;
        if (new RegExp(`^${text}$`, "iu").test(other) && twinKey(other) !== key)
          expect([code, other]).toEqual([code, text]);
      }
    }
  });
});
