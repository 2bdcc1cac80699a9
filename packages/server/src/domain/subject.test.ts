import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { testSeed } from "../../../../test/scale.js";
import { foldSubject, holdsPhrase, textsIn, valueHoldsPhrase, withoutPhrase } from "./subject.js";

const rows: [subject: string, text: string, holds: boolean][] = [
  ["Amber Field", "Met amber   FIELD at noon", true],
  ["Amber Field", "amber\nfield", true],
  ["Amber Field", "places/amber-field", true],
  ["Amber Field", "amber_field", true],
  ["Amber Field", "Amber Fields", false],
  ["Amber Field", "Chamber Field", false],
  ["Amber Field", "Amber and Field", false],
  ["Amber Field", "Ａｍｂｅｒ Ｆｉｅｌｄ", true],
  ["Müller", "muller", true],
  ["Muller", "MÜLLER's", true],
  ["Müller", "Mu\u0308ller", true],
  ["Straße", "STRASSE 5", true],
  ["Şükür", "sukur", true],
  ["José", "(jose)", true],
  ["京都", "昨日京都に行った", true],
  ["東京", "京都", false],
  ["かき", "庭のがき大将", false],
  ["がき", "庭の\u304b\u3099き大将", true],
  ["काम", "यह कम है", false],
  ["काम", "यह काम है", true],
  ["ปา", "ป่า", false],
  ["שלום", "שָׁלוֹם", true],
  ["محمد", "مُحَمَّد", true],
  ["Lodz", "in Łódź", true],
  ["Sørensen", "sorensen", true],
  ["Đorđe Ilić", "DORDE ILIC", true],
  ["ISIK", "ışık", true],
  ["Ægir", "aegir", true],
  ["Œuvre", "oeuvre", true],
  ["ΣΊΣΥΦΟΣ", "ο Σίσυφος", true],
  ["Strauß", "STRAUSS", true],
  ["Mary-Jane Watson", "Mary\u2011Jane\u2013Watson", true],
  ["O'Brien", "O\u2019Brien", true],
  ["O\u2019Brien", "O\u02bcBrien", true],
  ["Vexforth", "Vex\u00adforth", true],
  ["Vexforth", "V\u200de\u2060x\ufe0fforth", true],
  ["Quillon Vexforth", "Quillon\u200bVexforth", true],
  ["Vexforth", "Vex\u2010forth", false],
  ["ab", "abc", false],
  ["ab", "x ab.", true],
  ["a@b.example", "mail a@b.example now", true],
  ["a@b.example", "mail aa@b.example now", false],
  ["C++", "I like C++ a lot", true],
  ["12-34", "id 12-34", true],
  ["12-34", "id 12-345", false],
];

describe("a subject", () => {
  for (const [subject, text, holds] of rows) {
    it(`"${subject}" is ${holds ? "" : "not "}in ${JSON.stringify(text)}`, () => {
      const phrase = foldSubject(subject);
      expect(phrase).toBeDefined();
      expect(holdsPhrase(text, phrase ?? "")).toBe(holds);
    });
  }

  it("of signs alone is none", () => {
    for (const subject of ["", "  ", "-", "...", "\u0301"]) expect(foldSubject(subject)).toBeUndefined();
  });

  it("is found wherever it stands alone in a text", () => {
    const word = fc.stringMatching(/^[a-zA-Zäéß0-9]{1,8}$/);
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 3 }), fc.string(), fc.string(), (words, before, after) => {
        const phrase = foldSubject(words.join(" ")) ?? "";
        expect(holdsPhrase(`${before} ${words.join("\n").toUpperCase()} ${after}`, phrase)).toBe(true);
      }),
      { seed: testSeed() },
    );
  });
});

describe("a JSON value", () => {
  const phrase = "amber field";

  it("holds a phrase in values, items, numbers and names of members", () => {
    const holding = [{ a: [{ b: "Amber Field" }] }, { "amber-field": 1 }, ["x", "Amber Field!"], "Amber Field"];
    for (const value of holding) expect(valueHoldsPhrase(value, phrase), JSON.stringify(value)).toBe(true);
    for (const value of [{}, [], null, true, 7, { a: "Amber" }]) expect(valueHoldsPhrase(value, phrase)).toBe(false);
    expect(valueHoldsPhrase({ n: 4711 }, "4711")).toBe(true);
  });

  it("loses what holds it, and keeps the rest as it is", () => {
    const value = {
      a: "Amber Field",
      b: ["x", "with Amber Field", { c: "amber field", d: null }],
      "Amber Field": 1,
      e: false,
    };
    expect(withoutPhrase(value, phrase)).toEqual({ b: ["x", { d: null }], e: false });
    expect(withoutPhrase("Amber Field", phrase)).toBeUndefined();
    expect(withoutPhrase({ a: [{ c: "amber field" }, {}], b: { c: ["amber field"] } }, phrase)).toEqual({
      a: [{}],
      b: { c: [] },
    });
  });

  it("gives its texts without what JSON puts between them", () => {
    expect(textsIn({ a: ['"', { b: 1, c: ["d"] }], e: null })).toEqual(["a", '"', "b", "c", "d", "e"]);
    expect([textsIn("x"), textsIn(1), textsIn(undefined)]).toEqual([["x"], [], []]);
  });
});
