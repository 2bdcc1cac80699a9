import { describe, expect, test } from "vitest";
import { chatgpt } from "./chatgpt.js";
import { fileOf, made, readChecked } from "./reading.contract.js";
import { chatConversation, samples } from "./samples.contract.js";

const read = (content: object, name = "conversations.json") => readChecked(chatgpt, [fileOf(name, content)]);
const node = (parent: string | null, role: string, [parts, more]: [unknown[], object?]) => ({
  parent,
  children: [],
  message: { author: { role }, content: { content_type: "text", parts }, ...more },
});
const bodyOf = (conversation: object) => Object.values(made(read([{ id: "c", ...conversation }])))[0]?.body;

describe("a conversation", () => {
  test("is the branch that is shown, the user's and the assistant's text", () => {
    const reading = readChecked(chatgpt, samples.chatgpt);
    const pages = made(reading);
    expect(pages["imported/chatgpt/conversations/2024-03-01-conv-1"]).toEqual({
      frontmatter: {
        title: "Garden plan",
        type: "episodic",
        source: { origin: "import", client: "chatgpt", session: "conv-1", at: "2024-03-01T12:00:00.123Z" },
        x_import: { update_time: 1709294500, default_model_slug: "some-model" },
      },
      body: "## User (2024-03-01T12:00:00.500Z)\n\nWhen do I sow peas?\n\n## Assistant (2024-03-01T12:00:00.500Z)\n\nIn March.\n",
    });
    expect(JSON.stringify(reading.pages)).not.toMatch(/given up|tool output/);
  });

  test("keeps its path when it goes on", () => {
    const more = structuredClone(chatConversation);
    Object.assign(more.mapping, { q2: node("a2", "user", [["And beans?"]]) });
    more.current_node = "q2";
    more.title = "Garden";
    const paths = [chatConversation, more].map((one) => read([one]).pages[0]?.path);
    expect(paths[0]).toBe(paths[1]);
  });

  test.each<[string, object, string | undefined]>([
    [
      "no current node",
      { mapping: { a: node(null, "user", [["one"]]), b: node("a", "assistant", [["two"]]) } },
      "## User\n\none\n\n## Assistant\n\ntwo\n",
    ],
    [
      "a node that is missing",
      { current_node: "b", mapping: { b: node("gone", "user", [["two"]]) } },
      "## User\n\ntwo\n",
    ],
    ["a node of its own", { current_node: "a", mapping: { a: node("a", "user", [["one"]]) } }, "## User\n\none\n"],
    [
      "a circle",
      { current_node: "a", mapping: { a: node("b", "user", [["one"]]), b: node("a", "assistant", [["two"]]) } },
      "## Assistant\n\ntwo\n\n## User\n\none\n",
    ],
    [
      "images beside the text",
      { current_node: "a", mapping: { a: node(null, "user", [["one", { asset: 1 }, null, "two"]]) } },
      "## User\n\none\n\ntwo\n",
    ],
    [
      "a prototype's name",
      { current_node: "__proto__", mapping: { constructor: node("toString", "user", [["one"]]) } },
      "## User\n\none\n",
    ],
    [
      "half of a pair",
      { current_node: "a", mapping: { a: node(null, "user", [["one \uD83D"]]) } },
      "## User\n\none \uFFFD\n",
    ],
    ["nothing said", { current_node: "a", mapping: { a: node(null, "system", [["one"]]) } }, undefined],
    [
      "a hidden message",
      {
        current_node: "a",
        mapping: { a: node(null, "user", [["one"], { metadata: { is_visually_hidden_from_conversation: true } }]) },
      },
      undefined,
    ],
    [
      "a call of a tool",
      { current_node: "a", mapping: { a: node(null, "assistant", [["one"], { recipient: "python" }]) } },
      undefined,
    ],
  ])("%s", (_name, conversation, body) => {
    expect(bodyOf(conversation)).toBe(body);
  });

  test("one that is none is refused with its line, the others are read", () => {
    const reading = read([{ id: "a", mapping: 5 }, chatConversation, 7, { title: "x" }]);
    expect(reading.refused).toEqual([
      { file: "conversations.json", line: 2, reason: expect.stringContaining("message tree") },
      { file: "conversations.json", reason: expect.stringContaining("neither") },
      { file: "conversations.json", line: expect.any(Number), reason: expect.stringContaining("neither") },
    ]);
    expect(reading.pages[0]).toMatchObject({ path: "imported/chatgpt/conversations/2024-03-01-conv-1" });
  });

  test("a long one is cut into pages that name each other and, joined, are the whole", () => {
    const long = Array.from({ length: 7_000 }, (_, index) => `Paragraph ${index} ${"ü ".repeat(30)}`).join("\n\n");
    const pages = read([{ id: "c", mapping: { a: node(null, "user", [[long]]) } }]).pages;
    expect(pages.map(({ path }) => path)).toEqual(
      ["", "-part-2", "-part-3"].map((part) => `imported/chatgpt/conversations/undated-c${part}`),
    );
    const entries = Object.values(made({ pages, refused: [] }));
    expect(entries.map(({ body }) => body).join("")).toBe(`## User\n\n${long.trim()}\n`);
    expect(entries[1]?.frontmatter).toMatchObject({
      title: expect.stringMatching(/\(part 2 of 3\)$/),
      relations: [
        { rel: "about", target: pages[0]?.path },
        { rel: "about", target: pages[2]?.path },
      ],
      x_import: { part: 2, parts: 3 },
    });
  });
});

describe("memories", () => {
  test("are found in lists, in messages that saved one and in what the model was shown; the same text once", () => {
    const shown = {
      author: { role: "assistant" },
      create_time: 1709300000,
      content: {
        content_type: "model_editable_context",
        model_set_context: "1. [2024-02-01]. Likes tea\n2. [2024-02-02]. Grows peas in a small garden.",
      },
    };
    const mine = {
      author: { role: "user" },
      content: {
        content_type: "user_editable_context",
        user_profile: "Lives by the sea.",
        user_instructions: "Be brief.",
      },
    };
    const conversation = {
      ...chatConversation,
      mapping: { ...chatConversation.mapping, m: { message: shown }, u: { message: mine } },
    };
    const saved = {
      memories: [
        { id: "1", content: "Likes  tea", created_at: "2024-01-01T00:00:00Z", pinned: true },
        { text: "Old", deleted: true },
        "Plain",
      ],
    };
    const reading = readChecked(chatgpt, [
      fileOf("conversations.json", [conversation]),
      fileOf("memories.json", saved),
    ]);
    const memories = Object.entries(made(reading)).filter(([path]) => !path.includes("/conversations/"));
    expect(memories.map(([, { body, frontmatter }]) => [body, (frontmatter.source as { at?: string }).at])).toEqual([
      ["Grows peas in a small garden.\n", "2024-02-02T00:00:00.000Z"],
      ["Likes  tea\n", "2024-01-01T00:00:00.000Z"],
      ["Plain\n", undefined],
      ["## About the user\n\nLives by the sea.\n\n## How to answer\n\nBe brief.\n", undefined],
    ]);
    expect(memories[1]?.[1].frontmatter).toMatchObject({
      tags: ["chatgpt-memory"],
      x_import: { id: "1", pinned: true },
    });
    expect(reading.notes).toContain("Left out: 1 memories that were deleted or switched off.");
  });
});

test("a file that is no JSON is refused with the line where it stops being so", () => {
  const text = '[{"mapping": {},\n "title": "a"},\n {"mapping": }]';
  expect(chatgpt.read([fileOf("conversations.json", text)]).refused).toEqual([
    { file: "conversations.json", line: 3, reason: expect.stringContaining("JSON") },
  ]);
});
