import { parsePath } from "@satchel/pcp";
import { describe, expect, it } from "vitest";
import { isConflictOf, nameConflict } from "./conflict-name.js";

const atMs = Date.parse("2026-01-31T12:34:56.789Z");

describe("nameConflict", () => {
  it("names a path beside the page's own, with the time", () => {
    const copy = nameConflict("notes/a", atMs, () => false);
    expect(copy).toBe("notes/a (conflict 2026-01-31 123456)");
    expect(isConflictOf("notes/a", copy)).toBe(true);
    expect(isConflictOf("notes/b", copy)).toBe(false);
  });

  it("counts on where the name is taken", () => {
    const taken = new Set(["a (conflict 2026-01-31 123456)", "a (conflict 2026-01-31 123456 2)"]);
    expect(nameConflict("a", atMs, (path) => taken.has(path))).toBe("a (conflict 2026-01-31 123456 3)");
  });

  it.each(["x".repeat(252), `folder/${"日".repeat(84)}`, `${"y".repeat(100)}/${"z".repeat(154)}`, "💼".repeat(62)])(
    "fits a page and a file when it is made from %s",
    (path) => {
      const copy = nameConflict(path, atMs, () => false);
      expect(parsePath(copy)).toEqual({ ok: true, path: copy });
      for (const part of `${copy}.md`.split("/")) expect(Buffer.byteLength(part)).toBeLessThan(256);
    },
  );
});
