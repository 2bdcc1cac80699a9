import type { ForeignFormatName } from "../packages/server/src/foreign/index.js";
import { samples as unitSamples } from "../packages/server/src/foreign/samples.contract.js";

/*
 * One small export of each format as a folder or a file, what becomes of it, and the same with a bad entry in the middle.
 */

export type Files = Record<string, string>;

export interface FormatSample {
  format: ForeignFormatName;
  files: Files;
  /** What is given to the command; the folder unless it says a file. */
  give?: string;
  /** Path to title. */
  pages: Record<string, string>;
  /** One of these pages: what its text holds. */
  shown: { path: string; holds: string[] };
  /** What changes in the files, and what is then said of it. `left` pages are taken all the same. */
  bad: { files: Files; file: string; line: number; reason: RegExp; left: number };
}

const filesOf = (format: ForeignFormatName): Files =>
  Object.fromEntries(unitSamples[format].map(({ name, bytes }) => [name, bytes.toString("utf8")]));

const lines = (...each: string[]) => `${each.join("\n")}\n`;
const badYaml = lines("---", "title: One", "type: semantic", "title: Two", "---", "Text.");

export const formatSamples: FormatSample[] = [
  {
    format: "markdown",
    files: filesOf("markdown"),
    pages: { Home: "Home", "Projects/Boat": "Boat" },
    shown: { path: "Projects/Boat", holds: ["---\ndate: 2026-03-16\nstatus: draft\n---\nText\n"] },
    bad: { files: { "Mid.md": badYaml }, file: "Mid.md", line: 4, reason: /keys must be unique|twice/, left: 2 },
  },
  {
    format: "basic-memory",
    files: filesOf("basic-memory"),
    pages: { "recipes/Flat bread": "Flat bread", "recipes/Soup": "Soup" },
    shown: {
      path: "recipes/Flat bread",
      holds: ["x_import:\n  type: note", "permalink: recipes/flat-bread", "- pairs_with [[Soup]]"],
    },
    bad: {
      files: { "recipes/Rice.md": badYaml },
      file: "recipes/Rice.md",
      line: 4,
      reason: /keys must be unique|twice/,
      left: 2,
    },
  },
  {
    format: "pcp-0.2",
    files: filesOf("pcp-0.2"),
    pages: { "imported/pcp-0.2/index": "Index", "notes/boat": "Boat" },
    shown: { path: "notes/boat", holds: ["title: Boat", "type: semantic", "It floats.\n"] },
    bad: {
      files: { "context/memory/notes/car.md": badYaml, "context/manifest.json": manifestOf(3) },
      file: "context/memory/notes/car.md",
      line: 4,
      reason: /keys must be unique|twice/,
      left: 2,
    },
  },
  {
    format: "remnic",
    files: filesOf("remnic"),
    pages: {
      "imported/remnic/facts/2026-02-11/fact-1": "Likes green tea in the morning.",
      "imported/remnic/facts/2026-02-11/fact-2": "Likes green tea in the morning.",
    },
    shown: {
      path: "imported/remnic/facts/2026-02-11/fact-1",
      holds: ["origin: import", "target: imported/remnic/facts/2026-02-11/fact-2", "Likes green tea in the morning.\n"],
    },
    bad: {
      files: { "facts/2026-02-11/fact-1b.md": badYaml },
      file: "facts/2026-02-11/fact-1b.md",
      line: 4,
      reason: /keys must be unique|twice/,
      left: 2,
    },
  },
  {
    format: "claude-memory",
    files: filesOf("claude-memory"),
    give: "memory.txt",
    pages: {
      "imported/claude-memory/2024-05-01-answer-in-short-sentences-65ee59646f4a": "Answer in short sentences.",
      "imported/claude-memory/undated-a-bird-box-with-a-camera-8e00e77e90fe": "A bird box with a camera.",
      "imported/claude-memory/undated-use-metric-units-never-imperial-ones-f7d03d1727dd":
        "Use metric units, never imperial ones.",
    },
    shown: {
      path: "imported/claude-memory/undated-use-metric-units-never-imperial-ones-f7d03d1727dd",
      holds: ["tags:\n  - instructions\n", "client: claude", "Use metric units,\n  never imperial ones."],
    },
    bad: {
      files: {
        "memories.json": lines(
          "[",
          '{"account_uuid": "a", "conversations_memory": "Likes trains."},',
          '{"account_uuid": "c", "project_memories": {"p": 5}},',
          '{"account_uuid": "b", "conversations_memory": "Likes ships."}',
          "]",
        ),
      },
      file: "memories.json",
      line: 3,
      reason: /project's memory is no text/,
      left: 2,
    },
  },
  {
    format: "chatgpt",
    files: filesOf("chatgpt"),
    pages: {
      "imported/chatgpt/conversations/2024-03-01-conv-1": "Garden plan",
      "imported/chatgpt/memories/2024-03-01-grows-peas-in-a-small-garden-d4d8d546efe8": "Grows peas in a small garden.",
    },
    shown: {
      path: "imported/chatgpt/conversations/2024-03-01-conv-1",
      holds: ["title: Garden plan", "client: chatgpt", "session: conv-1", "## Assistant", "In March.\n"],
    },
    bad: {
      files: {
        "conversations.json": lines(
          "[",
          '{"title": "One", "id": "1", "mapping": {"a": {"message": {"author": {"role": "user"}, "content": {"parts": ["First."]}}}}},',
          '{"title": "Two", "id": "2", "mapping": "lost"},',
          '{"title": "Three", "id": "3", "mapping": {"a": {"message": {"author": {"role": "user"}, "content": {"parts": ["Third."]}}}}}',
          "]",
        ),
      },
      file: "conversations.json",
      line: 3,
      reason: /export/,
      left: 2,
    },
  },
  {
    format: "server-memory",
    files: filesOf("server-memory"),
    pages: {
      "imported/server-memory/person-ada-example-c58042d1dfd6": "Ada Example",
      "imported/server-memory/organisation-chess-club-4e652d61f9bb": "Chess club",
    },
    shown: {
      path: "imported/server-memory/person-ada-example-c58042d1dfd6",
      holds: ["title: Ada Example", "- Plays chess", "- member_of [[Chess club]]"],
    },
    bad: {
      files: {
        "memory.jsonl": lines(
          '{"type":"entity","name":"One","entityType":"thing","observations":["a"]}',
          '{"type":"entity","entityType":"thing","observations":["b"]}',
          '{"type":"entity","name":"Three","entityType":"thing","observations":["c"]}',
        ),
      },
      file: "memory.jsonl",
      line: 2,
      reason: /no "name"/,
      left: 2,
    },
  },
  {
    format: "mem0",
    files: filesOf("mem0"),
    pages: {
      "imported/mem0/5b0a2f6e-0000-4000-8000-000000000001": "Prefers window seats",
      "imported/mem0/relations": "Relations from mem0",
    },
    shown: {
      path: "imported/mem0/5b0a2f6e-0000-4000-8000-000000000001",
      holds: ['at: "2024-07-01T19:00:00.123Z"', "- travel", "number: 12", "---\nPrefers window seats"],
    },
    bad: {
      files: {
        "mem0.json": lines(
          '{"results": [',
          '{"id": "1", "memory": "One", "user_id": "ada"},',
          '{"id": "2", "user_id": "ada"},',
          '{"id": "3", "memory": "Three", "user_id": "ada"}',
          "]}",
        ),
      },
      file: "mem0.json",
      line: 3,
      reason: /./,
      left: 2,
    },
  },
  {
    format: "omp",
    files: filesOf("omp"),
    pages: { "imported/omp/mem_0123456789abcdef": "Runs the tests before every commit" },
    shown: {
      path: "imported/omp/mem_0123456789abcdef",
      holds: [
        "type: procedural",
        'valid_until: "2027-01-01T00:00:00.000Z"',
        "colour: blue",
        "---\nRuns the tests before every commit",
      ],
    },
    bad: {
      files: {
        "export.json": lines(
          '{"omp_version": "0.1", "memories": [',
          '{"id": "mem_1", "content": "One"},',
          '{"id": "mem_2"},',
          '{"id": "mem_3", "content": "Three"}',
          "]}",
        ),
      },
      file: "export.json",
      line: 3,
      reason: /./,
      left: 2,
    },
  },
];

/** The manifest of the sample of PCP 0.2, for so many pages. */
function manifestOf(pages: number): string {
  const manifest = JSON.parse(filesOf("pcp-0.2")["context/manifest.json"] ?? "{}");
  return JSON.stringify({ ...manifest, memory: { ...manifest.memory, page_count: pages } });
}
