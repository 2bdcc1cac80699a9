import { describe, expect, it } from "vitest";
import { currentSuccessors, standingAt } from "./standing.js";

type Page = Parameters<typeof standingAt>[0];

const noon = "2026-03-15T12:00:00.000Z";

const validity: [name: string, page: Omit<Page, "lifecycle">, at: string, standing: string][] = [
  ["no window", {}, noon, "current"],
  ["the last day's first moment", { validUntil: "2026-03-15" }, "2026-03-15T00:00:00.000Z", "current"],
  ["the last day's last moment", { validUntil: "2026-03-15" }, "2026-03-15T23:59:59.999Z", "current"],
  ["the day after the last", { validUntil: "2026-03-15" }, "2026-03-16T00:00:00.000Z", "stale"],
  ["the last day of a leap February", { validUntil: "2028-02-29" }, "2028-02-29T23:59:59.999Z", "current"],
  ["until an instant, at it", { validUntil: noon }, noon, "current"],
  ["until an instant, after it", { validUntil: noon }, "2026-03-15T12:00:00.001Z", "stale"],
  ["the moment before the first day", { validFrom: "2026-03-15" }, "2026-03-14T23:59:59.999Z", "stale"],
  ["the first day's first moment", { validFrom: "2026-03-15" }, "2026-03-15T00:00:00.000Z", "current"],
  ["from an instant, before it", { validFrom: noon }, "2026-03-15T11:59:59.999Z", "stale"],
  ["from an instant, at it", { validFrom: noon }, noon, "current"],
  ["a window of one day, on it", { validFrom: "2026-03-15", validUntil: "2026-03-15" }, noon, "current"],
  ["a window that ends before it begins", { validFrom: "2026-03-16", validUntil: "2026-03-14" }, noon, "stale"],
  ["years before 1000", { validUntil: "0099-01-01" }, noon, "stale"],
];

describe("standing", () => {
  it.each(validity)("%s", (_name, window, at, standing) => {
    const atMs = Date.parse(at);
    expect(standingAt({ lifecycle: "active", ...window }, atMs)).toBe(standing);
    expect(standingAt({ lifecycle: "validated", ...window }, atMs)).toBe(standing);
    expect(standingAt({ lifecycle: "stale", ...window }, atMs)).toBe("stale");
    expect(standingAt({ lifecycle: "archived", ...window }, atMs)).toBe("archived");
  });
});

interface Written extends Page {
  path: string;
  updated: string;
}

function page(path: string, updated: string, more: Partial<Written> = {}): Written {
  return { path, updated, lifecycle: "active", ...more };
}

describe("supersession", () => {
  const at = Date.parse(noon);
  const old = page("old", "2026-01-02");
  const successors = (of: Written, claims: { target: string; page: Written }[]) =>
    currentSuccessors(of, claims, at).map(({ path }) => path);

  const single: [name: string, by: Written, counts: boolean][] = [
    ["a current page", page("new", "2026-01-03"), true],
    ["a validated page", page("new", "2026-01-03", { lifecycle: "validated" }), true],
    ["a page that was written earlier", page("new", "2026-01-01"), true],
    ["a stale page", page("new", "2026-01-03", { lifecycle: "stale" }), false],
    ["an archived page", page("new", "2026-01-03", { lifecycle: "archived" }), false],
    ["a page that is no longer valid", page("new", "2026-01-03", { validUntil: "2026-03-14" }), false],
    ["a page on its last valid day", page("new", "2026-01-03", { validUntil: "2026-03-15" }), true],
    ["a page that is not valid yet", page("new", "2026-01-03", { validFrom: "2026-03-16" }), false],
    ["the page itself", page("old", "2026-01-02"), false],
  ];
  it.each(single)("%s", (_name, by, counts) => {
    expect(successors(old, [{ target: "old", page: by }])).toEqual(counts ? [by.path] : []);
  });

  it("claims on other pages do not count", () => {
    expect(successors(old, [{ target: "older", page: page("new", "2026-01-03") }])).toEqual([]);
    expect(successors(old, [])).toEqual([]);
  });

  it("of two pages that supersede each other only the earlier written one is stale", () => {
    const earlier = page("a", "2026-01-01");
    const later = page("b", "2026-01-02");
    const claims = [
      { target: "a", page: later },
      { target: "b", page: earlier },
    ];
    for (const order of [claims, [...claims].reverse()]) {
      expect(successors(earlier, order)).toEqual(["b"]);
      expect(successors(later, order)).toEqual([]);
    }
  });

  it("a third page's claim counts beside a mutual one", () => {
    const claims = [
      { target: "a", page: page("b", "2026-01-02") },
      { target: "b", page: page("a", "2026-01-03") },
      { target: "a", page: page("c", "2026-01-01") },
    ];
    expect(successors(page("a", "2026-01-03"), claims)).toEqual(["c"]);
    expect(successors(page("b", "2026-01-02"), claims)).toEqual(["a"]);
  });
});
