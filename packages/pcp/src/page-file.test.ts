import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildHead } from "./head-text.js";
import { buildPageFile, splitPageFile } from "./page-file.js";
import { parseHead, splitPage } from "./page-text.js";

const keys = {
  id: "pg_01h",
  created: "2026-01-01T00:00:00.000Z",
  updated: "2026-02-01T00:00:00.000Z",
  generated: { principal: "user:owner", client: "client:local", at: "2026-02-01T00:00:00.000Z" },
};
const lines = `id: pg_01h
created: "2026-01-01T00:00:00.000Z"
updated: "2026-02-01T00:00:00.000Z"
generated:
  principal: "user:owner"
  client: "client:local"
  at: "2026-02-01T00:00:00.000Z"
`;

describe("buildPageFile", () => {
  it.each([
    ["no block", "", "# Text\n", `---\n${lines}---\n# Text\n`],
    ["a block", "---\ntitle: A\n# why\n---\n", "x", `---\ntitle: A\n# why\n${lines}---\nx`],
    ["an empty block", "---\n---\n", "", `---\n${lines}---\n`],
    ["a block of comments", "---\n# none\n---\n", "", `---\n# none\n${lines}---\n`],
    ["a block at the end of the text", "---\ntitle: A\n---", "", `---\ntitle: A\n${lines}---\n`],
    ["blanks after the fences", "--- \ntitle: A\n---\t\n", "b\n", `--- \ntitle: A\n${lines}---\t\nb\n`],
    [
      "server keys of the client",
      "---\nid: mine\ntitle: A\nreview:\n  state: x\n  by: y\nb: 1\n---\n",
      "",
      `---\ntitle: A\nb: 1\n${lines}---\n`,
    ],
    ["a flow mapping", "---\n{title: A, b: [1, 2]}\n---\n", "", `---\ntitle: A\nb: [1,2]\n${lines}---\n`],
    ["an anchor in a server key", "---\nid: &a x\ntitle: *a\n---\n", "", `---\ntitle: x\n${lines}---\n`],
    ["an indented mapping", "---\n  title: A\n---\n", "", `---\ntitle: A\n${lines}---\n`],
  ])("%s", (_, head, body, text) => {
    expect(buildPageFile({ head, body }, keys).replace("b:\n  - 1\n  - 2\n", "b: [1,2]\n")).toBe(text);
  });

  it.each([
    ["a block", "---\ntitle: A\n# why\n---\n", "x"],
    ["no block", "", "# Text\n"],
    ["blanks after the fences", "--- \ntitle: A\n---\t\n", "b\n"],
  ])("is taken apart again: %s", (_, head, body) => {
    expect(splitPageFile(buildPageFile({ head, body }, keys))).toEqual({ head, body, keys });
  });

  it("is no page file when its frontmatter can't be read", () => {
    expect(splitPageFile("---\na: [\n---\nx")).toBeUndefined();
    expect(splitPageFile("no block")).toEqual({ head: "", body: "no block", keys: {} });
  });

  it("gives one block that holds the client's keys and the server's, and the body as it was", () => {
    const value = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.array(fc.string(), { maxLength: 3 }));
    const frontmatter = fc.dictionary(fc.string({ minLength: 1, maxLength: 8 }), value, { maxKeys: 6 });
    fc.assert(
      fc.property(frontmatter, fc.string(), (given, body) => {
        const head = buildHead(given);
        const parsed = parseHead(head);
        fc.pre(parsed.ok && splitPage(head + body).head === head);
        const text = buildPageFile({ head, body }, keys);
        const split = splitPage(text);
        expect(split.body).toBe(body);
        const read = parseHead(split.head);
        expect(read.ok && read.frontmatter).toEqual(parsed.ok && parsed.frontmatter);
        for (const line of lines.split("\n")) expect(split.head).toContain(line);
      }),
    );
  });
});
