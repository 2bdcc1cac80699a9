import { randomBytes } from "node:crypto";
import { findProtected } from "@satchel/prp";
import { describe, expect, it } from "vitest";
import { type CursorPosition, type CursorSubject, createCursorSeal, cursorLifetimeMs } from "./cursor.js";

const startMs = Date.parse("2026-01-01T00:00:00.000Z");
const maxCursorCharacters = 512;

function makeSeal(key = Buffer.alloc(32, 1)) {
  const clock = { ms: startMs };
  const seal = createCursorSeal(key, {
    now: () => clock.ms,
    newUuid: () => "",
    randomBytes: (count) => randomBytes(count),
  });
  return { seal, clock };
}

const subject: CursorSubject = { tool: "memory_search", grant: "tok_1", query: { query: "tea", tags: ["x"] } };
const position: CursorPosition = {
  snapshotMs: startMs,
  id: `pg_${"0".repeat(26)}`,
  search: { score: 0.123456, fallback: true, listing: Buffer.from([0, 10, 255, 1]) },
};

describe("cursor", () => {
  it("opens to what was sealed, each seal looks different and shows nothing", () => {
    const { seal } = makeSeal();
    const cursors = [seal.seal(subject, position), seal.seal(subject, position)];
    expect(cursors[0]).not.toBe(cursors[1]);
    for (const cursor of cursors) {
      expect(seal.open(subject, cursor)).toEqual(position);
      expect(cursor).toMatch(/^[\w-]+$/);
      expect(Buffer.from(cursor, "base64url").toString("latin1")).not.toContain("pg_");
    }
  });

  it("never has the form of a credential", () => {
    const ivs = ["sk-1aaaaaaaaaaaa", "_AKIAABCDEFGHIJK", "aaaaaaaaaaaaaaaa"].map((text) =>
      Buffer.from(text, "base64url"),
    );
    const given = [...ivs];
    const seal = createCursorSeal(Buffer.alloc(32, 1), {
      now: () => startMs,
      newUuid: () => "",
      randomBytes: () => given.shift() ?? randomBytes(12),
    });
    const cursor = seal.seal(subject, position);
    expect(given.length).toBeLessThan(ivs.length - 1);
    expect(findProtected(cursor)).toEqual([]);
    expect(seal.open(subject, cursor)).toEqual(position);
  });

  const strangers: [name: string, other: CursorSubject][] = [
    ["another tool", { ...subject, tool: "memory_list" }],
    ["another grant", { ...subject, grant: "tok_2" }],
    ["another query", { ...subject, query: { query: "coffee", tags: ["x"] } }],
    ["other tags", { ...subject, query: { query: "tea", tags: ["x", "y"] } }],
    ["no tags", { ...subject, query: { query: "tea" } }],
    ["members that only read alike", { tool: "memory_search", grant: '","', query: subject.query }],
  ];
  it.each(strangers)("does not open for %s", (_name, other) => {
    const { seal } = makeSeal();
    expect(seal.open(other, seal.seal(subject, position))).toBeUndefined();
  });

  it("does not open with another context's key", () => {
    const cursor = makeSeal().seal.seal(subject, position);
    expect(makeSeal(Buffer.alloc(32, 2)).seal.open(subject, cursor)).toBeUndefined();
  });

  it("does not open when any character of it is another, lost or added", () => {
    const { seal } = makeSeal();
    for (const id of ["pg_1", "pg_12", "pg_123"]) {
      const cursor = seal.seal(subject, { snapshotMs: startMs, id });
      for (let at = 0; at < cursor.length; at++) {
        const flipped = cursor[at] === "A" ? "B" : "A";
        const next = String.fromCharCode(cursor.charCodeAt(at) ^ 1);
        for (const other of [flipped, next, ""]) {
          const tampered = cursor.slice(0, at) + other + cursor.slice(at + 1);
          expect(seal.open(subject, tampered), `character ${at} as ${JSON.stringify(other)}`).toBeUndefined();
        }
      }
      for (const tampered of [`${cursor}A`, `${cursor}=`, ` ${cursor}`, `${cursor}\n`, `${cursor}${cursor}`]) {
        expect(seal.open(subject, tampered)).toBeUndefined();
      }
    }
  });

  it.each(["", "A", "abc", "=", "null", "\0", "日記", "A".repeat(37), "A".repeat(38), "A".repeat(600)])(
    "does not open %j",
    (text) => {
      expect(makeSeal().seal.open(subject, text)).toBeUndefined();
    },
  );

  const ages: [ageMs: number, opens: boolean][] = [
    [0, true],
    [cursorLifetimeMs, true],
    [cursorLifetimeMs + 1, false],
    [24 * cursorLifetimeMs, false],
  ];
  it.each(ages)("%i ms after it was made: %s", (ageMs, opens) => {
    const { seal, clock } = makeSeal();
    const cursor = seal.seal(subject, position);
    clock.ms += ageMs;
    expect(seal.open(subject, cursor) !== undefined).toBe(opens);
  });

  it("fits in 512 characters with the longest listing, whatever the query and the grant", () => {
    const { seal } = makeSeal();
    const longest = { tool: "t".repeat(64), grant: "g".repeat(4000), query: { query: "\u{1F9F3}".repeat(2000) } };
    const far = {
      snapshotMs: startMs,
      id: "",
      search: { score: 0.123456, fallback: true, listing: Buffer.alloc(308, 255) },
    };
    const cursor = seal.seal(longest, far);
    expect(cursor.length).toBeLessThanOrEqual(maxCursorCharacters);
    expect(seal.open(longest, cursor)).toEqual(far);
  });
});
