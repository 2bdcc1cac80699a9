import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { testSeed } from "../../../../test/scale.js";
import { createDocumentSeal } from "./document-seal.js";

const environment = { randomBytes };
const key = Buffer.alloc(32, 7);
const seal = createDocumentSeal(key, environment);
const document = { conditions: ["secretword"], note: "\0\u2028\u{1F9F3}", nested: { list: [1, null, true] } };
const sealedNamespaces = ["pcp.health", "pcp.residency"];

function bytesOf(stored: Record<string, unknown>): Buffer {
  return Buffer.from(String(stored.sealed), "base64");
}

describe("sealed documents", () => {
  it.each(sealedNamespaces)("%s: given back as it was, and not a word of it is stored", (namespace) => {
    const stored = seal.seal(namespace, document);
    expect(Object.keys(stored)).toEqual(["sealed"]);
    expect(JSON.stringify(stored)).not.toMatch(/secretword|conditions|nested/);
    expect(bytesOf(stored).includes("secretword")).toBe(false);
    expect(seal.open(namespace, stored)).toEqual(document);
    expect(createDocumentSeal(Buffer.from(key), environment).open(namespace, stored)).toEqual(document);
  });

  it.each(["core", "team", "org.example.diet", "pcp.healthy", "pcp.Health", "health", "pcp.health.x"])(
    "%s is stored as it is",
    (namespace) => {
      expect(seal.seal(namespace, document)).toEqual(document);
      expect(seal.open(namespace, document)).toEqual(document);
    },
  );

  it("the same document is never stored the same way twice", () => {
    const stored = Array.from({ length: 20 }, () => String(seal.seal("pcp.health", document).sealed));
    expect(new Set(stored).size).toBe(20);
  });

  it("any flipped bit, cut or added byte makes it fail instead of opening as something else", () => {
    const sealed = bytesOf(seal.seal("pcp.health", document));
    const open = (bytes: Buffer) => seal.open("pcp.health", { sealed: bytes.toString("base64") });
    fc.assert(
      fc.property(fc.nat({ max: sealed.length - 1 }), fc.nat({ max: 7 }), (at, bit) => {
        const changed = Buffer.from(sealed);
        changed[at]! ^= 1 << bit;
        expect(() => open(changed)).toThrow();
      }),
      { seed: testSeed(), numRuns: 300 },
    );
    for (let length = 0; length < sealed.length; length++) expect(() => open(sealed.subarray(0, length))).toThrow();
    expect(() => open(Buffer.concat([sealed, Buffer.from([0])]))).toThrow();
    expect(open(sealed)).toEqual(document);
  });

  it("opens only for the namespace and the key it was made with", () => {
    const stored = seal.seal("pcp.health", document);
    expect(() => seal.open("pcp.residency", stored)).toThrow();
    expect(() => createDocumentSeal(Buffer.alloc(32, 8), environment).open("pcp.health", stored)).toThrow();
  });

  it.each([{ sealed: 1 }, { sealed: "" }, { sealed: "no base64 at all" }, { sealed: null }, { sealed: ["x"] }])(
    "what is not sealed does not open: %j",
    (stored) => {
      expect(() => seal.open("pcp.health", stored)).toThrow();
    },
  );

  it("a failure repeats nothing of what was stored", () => {
    const sealed = bytesOf(seal.seal("pcp.health", document));
    sealed[20]! ^= 1;
    let message = "";
    try {
      seal.open("pcp.health", { sealed: sealed.toString("base64") });
    } catch (error) {
      message = String(error);
    }
    expect(message).not.toBe("");
    expect(message).not.toMatch(/secretword/);
  });
});
