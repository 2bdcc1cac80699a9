import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { askRemovals } from "./removal-question.js";
import type { Removal } from "./removals.js";

const page = { id: "pg", version: "v", digest: "d" };
const removals: Removal[] = [
  { do: "remove-page", path: "a", page, asks: true },
  { do: "remove-file", path: "b\u001b[31m", file: { name: "b.md", digest: "d" }, asks: true, isErased: false },
];

async function ask(typed: string | undefined): Promise<{ answer: string; said: string }> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const chunks: Buffer[] = [];
  output.on("data", (chunk: Buffer) => chunks.push(chunk));
  const asked = askRemovals(removals, { input, output, onInterrupt: () => undefined });
  if (typed === undefined) input.end();
  else input.write(typed);
  return { answer: await asked, said: Buffer.concat(chunks).toString() };
}

describe("askRemovals", () => {
  it.each([
    ["y\n", "delete"],
    ["YES\n", "delete"],
    ["k\n", "keep"],
    [" keep \n", "keep"],
    ["\n", "later"],
    ["n\n", "later"],
    ["yk\n", "later"],
    [undefined, "later"],
  ])("takes %j for %s", async (typed, answer) => {
    expect((await ask(typed)).answer).toBe(answer);
  });

  it("asks one question that lists all of them, and obeys no escape sequence", async () => {
    const { said } = await ask("\n");
    expect(said).toMatch(/ {2}a: its file was deleted.*\n {2}b\\u\{1b\}\[31m: its page was removed.*\nDelete these\?/);
    expect(said).not.toContain("\u001b");
  });
});
