import { describe, expect, test } from "vitest";
import type { ForeignFormat } from "./foreign-format.js";
import { mem0 } from "./mem0.js";
import { omp } from "./omp.js";
import { fileOf, made, readChecked } from "./reading.contract.js";
import { samples } from "./samples.contract.js";
import { serverMemory } from "./server-memory.js";

const read = (format: ForeignFormat, name: string, content: string | object) =>
  readChecked(format, [fileOf(name, content)]);

describe("the reference memory server", () => {
  test("an entity is a page with its observations and relations, also where two lines were glued", () => {
    const pages = made(readChecked(serverMemory, samples["server-memory"]));
    const [ada, club] = Object.keys(pages);
    expect(pages[ada!]).toEqual({
      frontmatter: {
        title: "Ada Example",
        type: "semantic",
        tags: ["person"],
        source: { origin: "import" },
        relations: [{ rel: "about", target: club, relation_type: "member_of" }],
        x_import: { entity_type: "person", relations_elsewhere: [{ to: "Nobody", type: "knows", rest: {} }] },
      },
      body: "- Plays chess\n- Lives by the sea\n\n## Relations\n\n- member_of [[Chess club]]\n- knows [[Nobody]]\n",
    });
  });

  test("bad lines are refused with their number, the others are read", () => {
    const lines = [
      '{"type":"entity","name":"A","entityType":"t","observations":["x"]}',
      '{"type":"entity","name":"","entityType":"t","observations":[]}',
      "not json",
      '{"type":"entity","name":"B","entityType":"t","observations":[5]}',
      '{"type":"relation","from":"A","to":"B"}',
      '{"type":"relation","from":"Z","to":"A","relationType":"r"}',
      '{"type":"thing"}',
      '{"type":"entity","name":"A","entityType":"t","observations":["x","y"],"extra":1}',
    ];
    const reading = read(serverMemory, "memory.jsonl", lines.join("\n"));
    expect(reading.refused.map(({ line }) => line)).toEqual([2, 3, 4, 5, 7, 6]);
    expect(Object.values(made(reading))).toMatchObject([
      { body: "- x\n- y\n", frontmatter: { x_import: { extra: 1 } } },
    ]);
  });

  test("names that differ by case or are alike stay two pages, and a type that comes back is a relation of ours", () => {
    const graph = {
      entities: ["Tea", "tea", "Tea!"].map((name) => ({ name, entityType: "drink", observations: [] })),
      relations: [{ from: "Tea", to: "tea", relationType: "supersedes" }],
    };
    const reading = read(serverMemory, "graph.json", graph);
    expect(reading.pages).toHaveLength(3);
    expect(reading.pages[0]).toMatchObject({
      frontmatter: { relations: [{ rel: "supersedes", target: reading.pages[1]?.path }] },
    });
  });

  test("many relations fit: what has no room is in the text", () => {
    const names = Array.from({ length: 400 }, (_, index) => `Somebody with a rather long name ${index}`);
    const graph = {
      entities: names.map((name) => ({ name, entityType: "person", observations: [] })),
      relations: names.map((to) => ({ from: names[0], to, relationType: "knows" })),
    };
    const first = Object.values(made(read(serverMemory, "graph.json", graph)))[0];
    expect(first?.body).toContain(`- knows [[${names[399]}]]`);
  });
});

describe("mem0", () => {
  test("a memory keeps what has no home", () => {
    expect(made(readChecked(mem0, samples.mem0))).toEqual({
      "imported/mem0/5b0a2f6e-0000-4000-8000-000000000001": {
        frontmatter: {
          title: "Prefers window seats",
          type: "semantic",
          tags: ["travel"],
          source: { origin: "import", client: "mem0", at: "2024-07-01T19:00:00.123Z" },
          x_import: {
            id: "5b0a2f6e-0000-4000-8000-000000000001",
            hash: "abc",
            user_id: "ada",
            metadata: { room: { number: 12 } },
            created_at: "2024-07-01T12:00:00.123456-07:00",
          },
        },
        body: "Prefers window seats\n",
      },
      "imported/mem0/relations": expect.objectContaining({ body: "- ada likes trains\n" }),
    });
  });

  test("OpenMemory's backup: categories by name, the archived archived, the deleted left out, the second copy too", () => {
    const backup = {
      categories: [{ id: "c1", name: "food" }],
      memories: [
        {
          id: "m1",
          content: "Likes soup",
          state: "archived",
          category_ids: ["c1"],
          created_at: "2024-01-01T00:00:00+00:00",
        },
        { id: "m2", content: "Gone", state: "deleted" },
        { id: "m3", content: " " },
        { id: "m1", content: "Likes soup a lot" },
      ],
      export_meta: { version: "1" },
    };
    const gz = { name: "memories.jsonl.gz", bytes: Buffer.from([0x1f, 0x8b]) };
    const reading = readChecked(mem0, [fileOf("memories.json", backup), gz]);
    expect(reading.pages.map(({ path }) => path)).toEqual([
      "imported/mem0/m1",
      expect.stringMatching(/^imported\/mem0\/m1-[0-9a-f]{12}$/),
    ]);
    expect(reading.pages[0]).toMatchObject({ frontmatter: { lifecycle: "archived", tags: ["food"] } });
    expect(reading.refused).toEqual([{ file: "memories.json", line: 23, reason: expect.stringContaining("no text") }]);
    expect(reading.notes).toEqual([
      expect.stringContaining("jsonl.gz"),
      "Left out: 1 memories that were deleted in OpenMemory.",
    ]);
    expect(readChecked(mem0, [gz]).refused).toMatchObject([{ file: "memories.jsonl.gz" }]);
  });

  test.each<[string, unknown, string | undefined]>([
    ["an offset", "2024-01-01T01:00:00+01:00", "2024-01-01T00:00:00.000Z"],
    ["a blank for T", "2024-01-01 01:00:00.5Z", "2024-01-01T01:00:00.500Z"],
    ["seconds", 1704067200, "2024-01-01T00:00:00.000Z"],
    ["milliseconds", 1704067200001, "2024-01-01T00:00:00.001Z"],
    ["no offset", "2024-01-01T01:00:00", undefined],
    ["another calendar", "01.02.2024", undefined],
    ["a huge number", 1e300, undefined],
    ["a negative number", -5, undefined],
  ])("a time with %s", (_name, created_at, at) => {
    const [page] = read(mem0, "a.json", [{ id: "x", memory: "y", user_id: "u", created_at }]).pages;
    const source = { origin: "import", client: "mem0", ...(at && { at }) };
    expect(page).toMatchObject({ frontmatter: { source, x_import: { created_at } } });
    expect(page && "frontmatter" in page && page.frontmatter.source).toEqual(source);
  });

  test("too much to keep goes below the text, too deep is refused", () => {
    const big = { note: "```` ".repeat(20_000) };
    const [page] = Object.values(made(read(mem0, "a.json", [{ memory: "y", user_id: "u", metadata: big }])));
    expect(page?.frontmatter.x_import).toEqual({ in_body: true });
    expect(page?.body).toContain("\n`````json\n{");
    let deep: unknown = 1;
    for (let count = 0; count < 50; count++) deep = [deep];
    const reading = read(mem0, "a.json", [
      { memory: "y", user_id: "u", metadata: deep },
      { memory: "z", user_id: "u" },
    ]);
    expect(reading).toMatchObject({ refused: [{ line: 2 }], pages: [{ body: "z\n" }] });
  });
});

describe("OMP", () => {
  test("a memory's keys find their homes", () => {
    expect(made(readChecked(omp, samples.omp))).toEqual({
      "imported/omp/mem_0123456789abcdef": {
        frontmatter: {
          title: "Runs the tests before every commit",
          type: "procedural",
          valid_until: "2027-01-01T00:00:00.000Z",
          tags: ["work"],
          source: { origin: "import", client: "an-editor", session: "s-1", at: "2026-06-01T08:00:00.000Z" },
          x_import: {
            id: "mem_0123456789abcdef",
            namespace: "project:boat",
            created_at: "2026-06-01T09:00:00Z",
            updated_at: "2026-06-02T09:00:00Z",
            metadata: { colour: "blue" },
            source: { user_id: "u" },
          },
        },
        body: "Runs the tests before every commit\n",
      },
    });
  });

  test("values that are not ours are kept, not lost", () => {
    const memory = { id: "mem_a", content: "x", type: "note", source: "me", tags: "a,b", expires_at: "soon" };
    const reading = read(omp, "a.json", { omp_version: "0.1", memories: [memory, { content: 5 }] });
    expect(reading.pages).toMatchObject([
      { frontmatter: { x_import: { type: "note", source: "me", tags_given: "a,b", expires_at: "soon" } } },
    ]);
    expect(reading.refused).toMatchObject([{ line: expect.any(Number), reason: expect.stringContaining("content") }]);
  });
});
