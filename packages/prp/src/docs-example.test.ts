import { readFileSync } from "node:fs";
import { describe, expect, test, vi } from "vitest";
import { ISSUE_CODES } from "./envelope-issues.js";
import { PRP_ERROR_CODES } from "./errors.js";
import { RECEIPT_CODES } from "./receipt-codes.js";

const page = readFileSync(new URL("../../../docs/receipts-library.md", import.meta.url), "utf8");
const block = (language: string) => page.split(`\`\`\`${language}\n`)[1]?.split("```")[0];

describe("the page on the library", () => {
  test("shows the example as it is, and what it prints", async () => {
    expect(block("js")).toBe(readFileSync(new URL("../examples/envelope.mjs", import.meta.url), "utf8"));
    const { inspect } = await import("node:util");
    const printed: string[] = [];
    const log = vi.spyOn(console, "log").mockImplementation((...parts: unknown[]) => {
      printed.push(parts.map((part) => (typeof part === "string" ? part : inspect(part))).join(" "));
    });
    await import(/* @vite-ignore */ new URL("../examples/envelope.mjs", import.meta.url).href).finally(() =>
      log.mockRestore(),
    );
    expect(block("text")).toBe(`${printed.join("\n")}\n`);
  });

  test("has the table of codes as the code has it", () => {
    const rows = Object.entries(RECEIPT_CODES).map(([code, { outcome, boundary, retryable }]) =>
      [`\`${code}\``, outcome, boundary, retryable ? "yes" : "no"].join("|"),
    );
    const table = page.split("\n").map((line) =>
      line
        .replace(/^\| | \|$/g, "")
        .replace(/ *\| */g, "|")
        .trim(),
    );
    for (const row of rows) expect(table).toContain(row);
  });

  test("names every error and every issue", () => {
    for (const code of [...PRP_ERROR_CODES, ...ISSUE_CODES]) expect(page).toContain(`\`${code}\``);
  });
});
