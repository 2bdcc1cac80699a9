import type { ForeignFile, ForeignFormatName } from "./foreign-format.js";
import { fileOf } from "./reading.contract.js";

const message = (role: string, text: unknown, more: object = {}) => ({
  author: { role },
  create_time: 1709294400.5,
  content: { content_type: "text", parts: [text] },
  recipient: "all",
  ...more,
});

export const chatConversation = {
  title: "Garden plan",
  create_time: 1709294400.123456,
  update_time: 1709294500,
  current_node: "a2",
  conversation_id: "conv-1",
  default_model_slug: "some-model",
  moderation_results: [],
  mapping: {
    root: { id: "root", message: null, parent: null, children: ["s"] },
    s: { id: "s", message: message("system", ""), parent: "root", children: ["q"] },
    q: { id: "q", message: message("user", "When do I sow peas?"), parent: "s", children: ["a1", "t"] },
    a1: { id: "a1", message: message("assistant", "An answer that was given up."), parent: "q", children: [] },
    t: { id: "t", message: message("tool", "tool output"), parent: "q", children: ["b"] },
    b: {
      id: "b",
      message: message("assistant", "Grows peas in a small garden.", { recipient: "bio", create_time: 1709294420 }),
      parent: "t",
      children: ["a2"],
    },
    a2: { id: "a2", message: message("assistant", "In March."), parent: "b", children: [] },
  },
};

export const remnicFact = `---
id: fact-1
category: preference
created: 2026-02-11T10:00:00.000Z
updated: 2026-02-12T10:00:00.000Z
source: extraction
confidence: 0.9
confidenceTier: explicit
tags: ["tea", "morning"]
lifecycleState: validated
validAt: 2026-02-01T00:00:00.000Z
links:
  - targetId: fact-2
    linkType: contradicts
    strength: 0.7
derived_from: ["facts/2026-02-11/fact-2.md:3", "facts/gone.md:1"]
---

Likes green tea in the morning.
`;

/** One small export of each format, as its tool writes it. Neutral and made up. */
export const samples: Record<ForeignFormatName, ForeignFile[]> = {
  "claude-memory": [
    fileOf(
      "memory.txt",
      [
        "Here is everything I have stored:",
        "",
        "```",
        "## Instructions",
        "[2024-05-01] - Answer in short sentences.",
        "[unknown] - Use metric units,",
        "  never imperial ones.",
        "",
        "**Projects**",
        "- [2024-06] - A bird box with a camera.",
        "```",
        "",
        "That is the complete set.",
      ].join("\n"),
    ),
  ],
  chatgpt: [
    fileOf("conversations.json", [chatConversation]),
    fileOf("user.json", { id: "u" }),
    fileOf("chat.html", "<html>"),
  ],
  "server-memory": [
    fileOf(
      "memory.jsonl",
      [
        '{"type":"entity","name":"Ada Example","entityType":"person","observations":["Plays chess","Lives by the sea"]}',
        '{"type":"entity","name":"Chess club","entityType":"organisation","observations":[]}{"type":"relation","from":"Ada Example","to":"Chess club","relationType":"member_of"}',
        '{"type":"relation","from":"Ada Example","to":"Nobody","relationType":"knows"}',
      ].join("\n"),
    ),
  ],
  mem0: [
    fileOf("mem0.json", {
      results: [
        {
          id: "5b0a2f6e-0000-4000-8000-000000000001",
          memory: "Prefers window seats",
          hash: "abc",
          user_id: "ada",
          categories: ["travel"],
          metadata: { room: { number: 12 } },
          created_at: "2024-07-01T12:00:00.123456-07:00",
          updated_at: null,
        },
      ],
      relations: [{ source: "ada", relationship: "likes", target: "trains" }],
    }),
  ],
  omp: [
    fileOf("export.json", {
      omp_version: "0.1",
      exported_at: "2026-06-29T12:00:00Z",
      server: "a-server",
      memories: [
        {
          id: "mem_0123456789abcdef",
          content: "Runs the tests before every commit",
          type: "procedural",
          source: { tool: "an-editor", session_id: "s-1", timestamp: "2026-06-01T08:00:00Z", user_id: "u" },
          tags: ["work"],
          namespace: "project:boat",
          created_at: "2026-06-01T09:00:00Z",
          updated_at: "2026-06-02T09:00:00Z",
          expires_at: "2027-01-01T00:00:00Z",
          embedding: [0.1, 0.2],
          metadata: { colour: "blue" },
        },
      ],
    }),
  ],
  remnic: [
    fileOf("facts/2026-02-11/fact-1.md", remnicFact),
    fileOf(
      "facts/2026-02-11/fact-2.md",
      remnicFact.replace("fact-1", "fact-2").replace(/links:[\s\S]*?derived_from.*\n/, ""),
    ),
    fileOf("state/index.json", "{}"),
  ],
  "pcp-0.2": [
    fileOf("context/manifest.json", {
      pcp_version: "0.2",
      manifest_version: "1",
      profile: {
        core: "profile/core.json",
        extensions: [{ namespace: "pcp.health", path: "profile/pcp.health.json" }],
      },
      memory: { path: "memory/", page_count: 2, index_included: false },
      files: [],
      omitted: [{ what: "profile.pcp_finance", reason: "unsupported" }],
    }),
    fileOf("context/profile/core.json", { pcp_version: "0.2", name: "Ada Example" }),
    fileOf("context/profile/pcp.health.json", { allergies: [] }),
    fileOf("context/memory/_index.md", "# Index\n"),
    fileOf(
      "context/memory/notes/boat.md",
      "---\ntitle: Boat\nupdated: 2026-01-01T00:00:00Z\ntype: semantic\n---\nIt floats.\n",
    ),
    fileOf("context/audit/log.jsonl", "{}\n"),
    fileOf("context/connections/notes.json", "{}"),
  ],
  "basic-memory": [
    fileOf(
      "recipes/Flat bread.md",
      "---\ntitle: Flat bread\ntype: note\npermalink: recipes/flat-bread\ntags:\n- bread\n---\n\n# Flat bread\n\n- [method] Hot pan #quick (no oven)\n- pairs_with [[Soup]]\n",
    ),
    fileOf("recipes/Soup.md", "Only text.\n"),
  ],
  markdown: [
    fileOf("Home.md", "# Home\n\nSee [[Projects/Boat|the boat]] and ![[photo.png]].\n"),
    fileOf("Projects/Boat.markdown", "---\r\ndate: 2026-03-16\r\nstatus: draft\r\n---\r\nText\r\n"),
    fileOf(".obsidian/app.json", "{}"),
    fileOf(".trash/Old.md", "# Old\n"),
    fileOf("photo.png", "\x89PNG"),
  ],
};
