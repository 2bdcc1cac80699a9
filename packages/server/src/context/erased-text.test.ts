import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scaled, testSeed } from "../../../../test/scale.js";
import { ErasedText } from "./erased-text.js";

const traced = (erased: ErasedText, text: string) => erased.isTracedIn(Buffer.from(text));

describe("a trace of erased text", () => {
  const text = "The quiet harbour keeps its seven lanterns lit until four.";

  it("is a run of 24 bytes, at any place of the text and of the file", () => {
    for (let from = 0; from + 24 <= text.length; from++) {
      for (const before of ["", "x", "y".repeat(13)]) {
        const erased = new ErasedText({ texts: ["one before", text, "one behind"], words: [] });
        expect(traced(erased, `${before}${text.slice(from, from + 24)}`), `${from} ${before}`).toBe(true);
        expect(traced(erased, `${before}${text.slice(from, from + 23)}`), `${from} ${before}`).toBe(false);
      }
    }
  });

  it("is none where a surviving text holds the run, and still one a byte further", () => {
    const erased = new ErasedText({ texts: [text], words: [] });
    erased.survive(Buffer.from(`kept:${text.slice(4, 40)}!`));
    expect(traced(erased, text.slice(4, 40))).toBe(false);
    expect(traced(erased, text.slice(3, 40))).toBe(true);
    expect(traced(erased, text.slice(4, 41))).toBe(true);
  });

  it("does not lie across two texts", () => {
    const erased = new ErasedText({ texts: ["abcdefghijklmnopqrst", "uvwxyz0123456789ABCD"], words: [] });
    expect(traced(erased, "abcdefghijklmnopqrstuvwxyz0123456789ABCD".slice(8, 32))).toBe(false);
  });

  it("is a word and every end of it of six characters, unless a surviving text holds that", () => {
    const erased = new ErasedText({ texts: [], words: ["pomegranate", "kleine", "ab", "京都市役所前広場"] });
    for (const found of ["pomegranate", "\0\x05granate", "ranate", "kleine", "市役所前広場"]) {
      expect(traced(erased, found), found).toBe(true);
    }
    for (const none of ["anate", "leine", "ab", "役所前広場"]) expect(traced(erased, none), none).toBe(false);
    erased.survive(Buffer.from("a ranate"));
    expect(traced(erased, "ranate")).toBe(false);
    expect(traced(erased, "granate")).toBe(true);
  });

  it("is found in text that repeats itself, in time that does not grow with its square", () => {
    const erased = new ErasedText({ texts: ["a".repeat(300_000)], words: [] });
    const startedMs = performance.now();
    expect(erased.isTracedIn(Buffer.from("a".repeat(300_000)))).toBe(true);
    erased.survive(Buffer.from("a".repeat(24)));
    expect(erased.isTracedIn(Buffer.from("a".repeat(300_000)))).toBe(false);
    expect(performance.now() - startedMs).toBeLessThan(5000);
  });

  it("agrees with a search by hand", () => {
    const some = fc.stringMatching(/^[ab ]{0,60}$/);
    const holds = (file: string, erased: string[], kept: string[]) =>
      erased.some((one) =>
        Array.from({ length: Math.max(0, one.length - 23) }, (_, at) => one.slice(at, at + 24)).some(
          (run) => file.includes(run) && !kept.some((each) => each.includes(run)),
        ),
      );
    fc.assert(
      fc.property(
        fc.array(some, { maxLength: 3 }),
        fc.array(some, { maxLength: 2 }),
        some,
        some,
        (texts, kept, a, b) => {
          const erased = new ErasedText({ texts, words: [] });
          for (const each of kept) erased.survive(Buffer.from(each));
          const file = a + (texts[0] ?? "") + b;
          expect(traced(erased, file)).toBe(holds(file, texts, kept));
        },
      ),
      { seed: testSeed(), numRuns: scaled(5000) },
    );
  });
});
