import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scaled, testSeed } from "../../../test/scale.js";
import { bodyDictionary } from "./body-dictionary.js";
import { packOpening, unpackOpening } from "./body-packing.js";

const salt = Buffer.alloc(32, 3);
const pack = (body: string) => Buffer.from(packOpening({ salt, body }));
const seal = (bytes: Buffer) => {
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(bytes));
  return Buffer.concat([bytes, checksum]);
};

/** Long enough to be worth compressing. */
const envelope = `{"callId":"call_01a22c00-4691-7052-8ca6-da5af8d7c36a","content":{"digest":"sha256:${"0123456789abcdef".repeat(4)}","redactionDisposition":"digest_only","references":[]},"correlation":{"itemId":"item_01a22c00-4691-7052-8ca6-da5af8d7c36a","normalizedSessionId":"session_1","runId":"run_1","turnId":"turn_1"},"idempotencyKey":null,"operationId":"memory_search","phase":"input","schema":"paperclip.prp.semantic_tool.v1","schemaVersion":1}`;

describe("packed openings", () => {
  it("come back as they were", () => {
    const bodies = fc.oneof(fc.string({ unit: "binary", maxLength: 3000 }), fc.json());
    const check = (body: string) => {
      if (!body.isWellFormed()) return;
      const opening = unpackOpening(pack(body))!;
      expect(opening.body).toBe(body);
      expect(Buffer.compare(opening.salt, salt)).toBe(0);
    };
    fc.assert(fc.property(bodies, check), { numRuns: scaled(10_000), seed: testSeed() });
  });

  it("are small for what they are made for, and never much larger than the text", () => {
    expect(pack(envelope).length).toBeLessThan(150);
    for (const body of ["1", '""', "q~Z{", createHash("sha512").update("x").digest("base64url")]) {
      expect(pack(body).length).toBeLessThanOrEqual(32 + 1 + Buffer.byteLength(body) + 4);
    }
  });

  it("are nothing when a bit is flipped, a byte lost or added, or the checksum made to fit other content", () => {
    for (const body of [envelope, "1"]) {
      const packed = pack(body);
      for (let bit = 0; bit < packed.length * 8; bit++) {
        const other = Buffer.from(packed);
        other[bit >> 3]! ^= 1 << (bit & 7);
        expect(unpackOpening(other)).toBeUndefined();
      }
      for (let length = 0; length < packed.length; length++) {
        expect(unpackOpening(packed.subarray(0, length))).toBeUndefined();
      }
      const content = packed.subarray(0, -4);
      expect(unpackOpening(seal(content))).toMatchObject({ body });
      expect(unpackOpening(seal(Buffer.concat([content, Buffer.from("hidden")])))?.body).not.toBe(body);
    }
    const deflated = pack(envelope).subarray(0, -4);
    expect(deflated[32]).toBe(1);
    expect(unpackOpening(seal(Buffer.concat([deflated, Buffer.from("hidden")])))).toBeUndefined();
    expect(unpackOpening(seal(deflated.subarray(0, -1)))).toBeUndefined();
    const withForm = (form: number) => seal(Buffer.concat([salt, Buffer.of(form), Buffer.from("1")]));
    expect(unpackOpening(withForm(0))).toMatchObject({ body: "1" });
    expect(unpackOpening(withForm(2))).toBeUndefined();
    expect(unpackOpening(seal(Buffer.concat([salt, Buffer.of(0, 0xff)])))).toBeUndefined();
  });
});

describe("the dictionary", () => {
  it("is what stored bodies were compressed with", () => {
    expect(createHash("sha256").update(bodyDictionary).digest("hex")).toBe(
      "e36560c187329faa0b56b86073d29cf6bb39c0eb55fa56f8d8f03e6068bd9a48",
    );
    const stored = "AwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMBq0ZLRaj5BuGuWgBmF2Km";
    expect(unpackOpening(Buffer.from(stored, "base64"))?.body).toBe('{"callId":"call_1","outcome":"succeeded"}');
  });
});
