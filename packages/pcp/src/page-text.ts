import { type Frontmatter, parseFrontmatter } from "./frontmatter.js";
import { type Block, findBlock, frontmatterTooLarge, position, readBlock } from "./frontmatter-block.js";
import { isWellFormed } from "./json.js";
import { MAX_BODY_BYTES, MAX_FRONTMATTER_BYTES, type PageProblem } from "./page-problem.js";

export type ParsedHead = { ok: true; head: string; frontmatter: Frontmatter } | { ok: false; problems: PageProblem[] };

export type ParsedPage =
  | { ok: true; head: string; body: string; frontmatter: Frontmatter }
  | { ok: false; problems: PageProblem[] };

/** The stored form of a text (pcp section 3): no byte order mark at the start, line ends LF. Nothing else changes. */
export function normaliseText(text: string): string {
  const start = text.startsWith("\uFEFF") ? 1 : 0;
  return text.slice(start).replace(/\r\n?/g, "\n");
}

/**
 * Splits a page's text (already normalised) so that `head + body === text`. `head` is the frontmatter block with
 * both fence lines, or "" when there is none: no fence first, no closing fence, or YAML that is a scalar or a list
 * (a horizontal rule and prose). A block that can't be read stays a head: `parseHead` then says why.
 */
export function splitPage(text: string): { head: string; body: string } {
  const block = findBlock(text);
  if (!block || readBlock(block).kind === "text") return { head: "", body: text };
  return { head: text.slice(0, block.end), body: text.slice(block.end) };
}

/** Reads a head as `splitPage` gives it; "" has no keys. Problems: `invalid_input` and `too_large` (32 KiB). */
export function parseHead(head: string): ParsedHead {
  if (head === "") return { ok: true, head, frontmatter: {} };
  const block = findBlock(head);
  if (!block || block.end !== head.length) return refuse("The text is not a frontmatter block.");
  const reading = readBlock(block);
  if (reading.kind === "text") return refuse("The frontmatter is not a YAML mapping.");
  if (reading.kind === "faulty") return { ok: false, problems: reading.problems };
  const parsed = parseFrontmatter(reading.value);
  if (parsed.ok) return { ok: true, head, frontmatter: parsed.frontmatter };
  return { ok: false, problems: parsed.problems.map((problem) => withPosition(problem, block, reading.offsets)) };
}

function refuse(message: string): { ok: false; problems: PageProblem[] } {
  return { ok: false, problems: [{ code: "invalid_input", message, line: 1, column: 1 }] };
}

// A value the view made up has no source of its own: the nearest ancestor that has one is shown.
function withPosition(problem: PageProblem, block: Block, offsets: ReadonlyMap<string, number>): PageProblem {
  for (let pointer = problem.pointer ?? ""; pointer !== ""; pointer = pointer.slice(0, pointer.lastIndexOf("/"))) {
    const offset = offsets.get(pointer);
    if (offset !== undefined) return { ...problem, ...position(block, offset) };
  }
  return { ...problem, ...position(block, 0) };
}

/**
 * The whole text of a page file: normalised, split, read and measured (pcp section 3). The result's `head + body` is
 * the normalised text. A block without a title is no problem; the caller derives one (`titleFromBody`).
 */
export function parsePageText(input: string): ParsedPage {
  const text = normaliseText(input);
  if (!isWellFormed(text)) return refuse("The text is not well-formed Unicode.");
  const { head, body } = splitPage(text);
  const parsed = parseHead(head);
  const tooLarge = verifyBodySize(body);
  const problems = [...(parsed.ok ? [] : parsed.problems), ...tooLarge];
  if (!parsed.ok || problems.length > 0) return { ok: false, problems };
  return { ok: true, head, body, frontmatter: parsed.frontmatter };
}

/** Bodies and heads that arrive apart have to be measured too: 256 KiB and 32 KiB of UTF-8. */
export function verifyPageSizes(head: string, body: string): PageProblem[] {
  const yaml = findBlock(head)?.yaml ?? "";
  return [...(Buffer.byteLength(yaml) > MAX_FRONTMATTER_BYTES ? [frontmatterTooLarge()] : []), ...verifyBodySize(body)];
}

function verifyBodySize(body: string): PageProblem[] {
  if (Buffer.byteLength(body) <= MAX_BODY_BYTES) return [];
  return [{ code: "too_large", message: `The body is larger than ${MAX_BODY_BYTES / 1024} KiB.` }];
}
