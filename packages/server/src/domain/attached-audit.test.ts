import { describe, expect, it } from "vitest";
import { attachedTexts, withoutErased } from "./attached-audit.js";

const head = { id: "aud_1", at: "2026-01-01T00:00:00.000Z", principal: "user:owner", category: "memory" };
const line = (more: Record<string, unknown>) => JSON.stringify({ ...head, ...more });
const key = "satchel/018f0000-0000-7000-8000-000000000001+0123abcd+AbCd/+==";

describe("what is read of attached audit", () => {
  it.each<[string, string, string[]]>([
    [
      "targets and the call id",
      line({ targets: ["notes/a", "pg_1"], call_id: "call_1" }),
      ["notes/a", "pg_1", "call_1"],
    ],
    ["nothing of who called what", line({ tool: "memory_read", client: "client:notes", receipt: "r" }), []],
    ["a member we know nothing of, with its name", line({ note: { about: ["tea"] } }), ["note", "about", "tea"]],
    ["a target that is no text of a list", line({ targets: { a: "tea" } }), ["a", "tea"]],
    ["a line that is no entry", "tea at four", ["tea at four"]],
    ["a broken line", '{"targets":["tea"', ['{"targets":["tea"']],
    ["no verifier key", key, []],
    ["nothing of an empty file", "", []],
  ])("%s", (_, text, texts) => {
    expect(attachedTexts(text)).toEqual(texts);
  });
});

describe("what an erasure takes out of attached audit", () => {
  const take = (text: string) =>
    withoutErased(text, ({ targets, call_id }) => [...targets, call_id].some((one) => one.includes("tea")));

  it.each<[string, string, string, number]>([
    ["the detail of an entry that names it", line({ targets: ["notes/tea", "notes/a"], call_id: "c" }), line({}), 1],
    ["the detail of an entry whose call id names it", line({ targets: ["notes/a"], call_id: "tea-1" }), line({}), 1],
    ["a whole entry whose head names it", line({ note: "tea" }), "", 1],
    ["a whole entry that names it in head and detail", line({ note: "tea", targets: ["tea"] }), "", 1],
    ["a line that is no entry", "tea at four", "", 1],
    ["a broken line", '{"targets":["tea"', "", 1],
    ["nothing of an entry that doesn't name it", line({ targets: ["notes/a"] }), line({ targets: ["notes/a"] }), 0],
    ["nothing of a verifier key", `tea${key}`, `tea${key}`, 0],
    ["nothing of who called", line({ principal: "user:tea" }), line({ principal: "user:tea" }), 0],
  ])("%s", (_, text, rest, details) => {
    expect(take(text)).toEqual({ text: rest, details });
  });

  it("line by line, and every other byte stays as it was", () => {
    const odd = `{ "targets" : [ "notes/a" ] , "id":"x" }`;
    const before = `${odd}\n${line({ targets: ["tea"] })}\n${key}\n\n${odd}\r\n`;
    const { text, details } = take(before);
    expect(details).toBe(1);
    expect(text).toBe(`${odd}\n${line({})}\n${key}\n\n${odd}\r\n`);
    expect(take(text)).toEqual({ text, details: 0 });
  });
});
