import { describe, expect, it } from "vitest";
import { buildFolderIndex, folderIndexLimit, indexedFolder } from "./folder-index.js";
import type { PageRecord } from "./records.js";

const updated = "2026-01-01T00:00:00.000Z";

function page(path: string, title = path): PageRecord {
  const times = { created: updated, updated };
  const part = { partition: "main", sensitivity: "normal" } as const;
  return { num: 1, id: "pg_1", version: "ver_1", path, title, lifecycle: "active", ...times, ...part };
}

describe("folder of an index", () => {
  const named: [path: string, folder: string | undefined][] = [
    ["_index", ""],
    ["a/_index", "a/"],
    ["a/b/_index", "a/b/"],
    ["日記/_index", "日記/"],
    ["a_index", undefined],
    ["a/_index/b", undefined],
    ["_Index", undefined],
    ["a/_indexes", undefined],
    ["index", undefined],
  ];
  it.each(named)("%s: %j", (path, folder) => {
    expect(indexedFolder(path)).toBe(folder);
  });
});

describe("generated index", () => {
  it("names the folder, the time and each page once, with its title on one line", () => {
    const index = buildFolderIndex("a/", [page("a/b", "Title\nof  two\u2028lines"), page("a/c")], updated);
    expect(index).toEqual({
      path: "a/_index",
      title: "Index of a",
      updated,
      body: "- a/b: Title of two lines\n- a/c: a/c\n",
    });
  });

  it("says that there is nothing", () => {
    expect(buildFolderIndex("", [], updated)).toEqual({
      path: "_index",
      title: "Index",
      updated,
      body: "No pages yet.\n",
    });
  });

  it.each([folderIndexLimit, folderIndexLimit + 1])("%i pages: at most the limit is listed", (count) => {
    const pages = Array.from({ length: count }, (_, i) => page(`a/${i}`));
    const lines = buildFolderIndex("a/", pages, updated).body.trimEnd().split("\n");
    expect(lines.filter((line) => line.startsWith("- a/"))).toHaveLength(folderIndexLimit);
    expect(lines.some((line) => line.includes("memory_list"))).toBe(count > folderIndexLimit);
    expect(lines.join("\n")).not.toContain(`a/${folderIndexLimit}:`);
  });
});
