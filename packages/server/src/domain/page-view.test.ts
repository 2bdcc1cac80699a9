import { describe, expect, it } from "vitest";
import { frontmatterView, linkedPaths, pageSummary } from "./page-view.js";
import type { PageKeys, PageVersion } from "./records.js";

const facts = {
  num: 7,
  id: "pg_1",
  path: "a",
  version: "ver_1",
  title: "T",
  lifecycle: "active",
  created: "2026-01-01T00:00:00.000Z",
  updated: "2026-01-02T00:00:00.000Z",
  partition: "main",
  sensitivity: "normal",
} as const;

function version(keys: Partial<PageKeys>): PageVersion {
  const generated = { principal: "user:owner", client: "client:c", at: facts.updated };
  return { ...facts, head: "HEAD", body: "BODY", keys: { title: "T", ...keys }, generated };
}

const links: Partial<PageKeys> = {
  relations: [
    { rel: "about", target: "seen" },
    { rel: "supersedes", target: "hidden" },
  ],
  derived_from: ["hidden", "seen", "absent"],
};

describe("frontmatter view", () => {
  it("gives the client's keys and the server's own, and nothing internal", () => {
    const view = frontmatterView(version({ mood: "calm", tags: ["x"] }), new Set());
    expect(view).toEqual({
      ...{ title: "T", mood: "calm", tags: ["x"], partition: "main", sensitivity: "normal", lifecycle: "active" },
      ...{ id: "pg_1", created: facts.created, updated: facts.updated },
      generated: { principal: "user:owner", client: "client:c", at: facts.updated },
    });
  });

  it("what counts is where the page is, not what its text says", () => {
    const keys = {
      partition: "work",
      sensitivity: "sensitive",
      lifecycle: "validated",
      id: "pg_x",
      updated: "never",
    } as const;
    const view = frontmatterView(version(keys), new Set());
    expect(view).toMatchObject({ partition: "main", sensitivity: "normal", lifecycle: "active", id: "pg_1" });
    expect(view.updated).toBe(facts.updated);
  });

  it("keeps links to hidden pages back, and those to absent pages not", () => {
    const view = frontmatterView(version(links), new Set(["hidden"]));
    expect(view.relations).toEqual([{ rel: "about", target: "seen" }]);
    expect(view.derived_from).toEqual(["seen", "absent"]);
    expect(JSON.stringify(view)).not.toContain("hidden");
  });

  it("a key whose links are all hidden is as if it had not been set; an empty one stays", () => {
    const allHidden = frontmatterView(
      version({ relations: [{ rel: "about", target: "h" }], derived_from: ["h"] }),
      new Set(["h"]),
    );
    expect(allHidden).not.toHaveProperty("relations");
    expect(allHidden).not.toHaveProperty("derived_from");
    const empty = frontmatterView(version({ relations: [], derived_from: [] }), new Set());
    expect(empty).toMatchObject({ relations: [], derived_from: [] });
  });

  it("links are the targets of relations and sources", () => {
    expect(linkedPaths(version(links))).toEqual(["seen", "hidden", "hidden", "seen", "absent"]);
    expect(linkedPaths(version({}))).toEqual([]);
  });
});

describe("page summary", () => {
  it("has the schema's members, and neither text nor internals", () => {
    const full = { ...version({}), type: "semantic", validFrom: "2026-01-01", validUntil: "2026-12-31" } as const;
    expect(pageSummary(full)).toEqual({
      ...{ path: "a", id: "pg_1", title: "T", updated: facts.updated, type: "semantic", lifecycle: "active" },
      ...{ partition: "main", sensitivity: "normal", valid_from: "2026-01-01", valid_until: "2026-12-31" },
    });
    const bare = Object.keys(pageSummary(facts)).sort();
    expect(bare).toEqual(["id", "lifecycle", "partition", "path", "sensitivity", "title", "updated"]);
  });
});
