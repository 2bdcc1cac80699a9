import { buildHead, MAX_BODY_BYTES, parsePageText, parsePath, twinKey } from "@satchel/pcp";
import { expect } from "vitest";
import type { ForeignFile, ForeignFormat, ForeignPage, ForeignReading } from "./foreign-format.js";

export const fileOf = (name: string, content: string | object): ForeignFile => ({
  name,
  bytes: Buffer.from(typeof content === "string" ? content : JSON.stringify(content, null, 1)),
});

/** Paths of Markdown folders are their own; every other format's are below `imported/`. */
const OWN_PATHS = new Set(["markdown", "basic-memory", "pcp-0.2"]);

/** Reads, and checks what every format promises: the same each time, no two pages at one path, pages that can be written. */
export function readChecked(format: ForeignFormat, files: readonly ForeignFile[]): ForeignReading {
  const reading = format.read(files);
  expect(format.read(files)).toEqual(reading);
  const keys = reading.pages.map(({ path }) => twinKey(path));
  expect(new Set(keys).size).toBe(keys.length);
  for (const page of reading.pages) checkPage(page, format);
  for (const { file, line, reason } of reading.refused) {
    expect(typeof file).toBe("string");
    expect(line ?? 1).toBeGreaterThanOrEqual(1);
    expect(reason.length).toBeGreaterThan(5);
  }
  return reading;
}

function checkPage(page: ForeignPage, { name }: ForeignFormat): void {
  if ("text" in page) {
    expect(parsePageText(page.text)).toMatchObject({ ok: true });
    return;
  }
  const parsed = parsePageText(buildHead(page.frontmatter) + page.body);
  expect(parsed).toMatchObject({ ok: true, body: page.body });
  if (parsed.ok) expect(parsed.frontmatter).toEqual(JSON.parse(JSON.stringify(page.frontmatter)));
  expect(parsePath(`${page.path}.md`)).toEqual({ ok: true, path: page.path });
  if (!OWN_PATHS.has(name)) expect(page.path).toMatch(new RegExp(`^imported/${name}/`));
  expect(Buffer.byteLength(page.body)).toBeLessThanOrEqual(MAX_BODY_BYTES);
  expect(page.frontmatter).toMatchObject({ title: expect.any(String), source: { origin: "import" } });
}

/** The pages made from entries, by path. */
export const made = (reading: ForeignReading): Record<string, { frontmatter: Record<string, unknown>; body: string }> =>
  Object.fromEntries(
    reading.pages.flatMap((page) =>
      "text" in page ? [] : [[page.path, { frontmatter: page.frontmatter, body: page.body }]],
    ),
  );

export const titles = (reading: ForeignReading): unknown[] =>
  reading.pages.map((page) => ("text" in page ? undefined : page.frontmatter.title));
