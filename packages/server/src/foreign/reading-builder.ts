import {
  buildHead,
  IMPORT_KEY,
  MAX_BODY_BYTES,
  MAX_FRONTMATTER_BYTES,
  MAX_RELATIONS,
  MAX_TAG_CHARACTERS,
  MAX_TAGS,
  MAX_TITLE_CHARACTERS,
  parsePath,
  twinKey,
  validateFrontmatter,
} from "@satchel/pcp";
import { splitBody } from "./body-parts.js";
import { digestOf } from "./entry-path.js";
import type { ForeignPage, ForeignReading, RefusedEntry } from "./foreign-format.js";
import { isTooDeep, MAX_VALUE_DEPTH, plainText, plainValue } from "./values.js";

/** One entry of an export on its way to a page. */
export interface Entry {
  file: string;
  line?: number | undefined;
  path: string;
  /** Undefined: taken from the body. */
  title?: string | undefined;
  body: string;
  /** Keys as PCP knows them, valid ones. `tags` may be anything a tool calls so. */
  keys?: Record<string, unknown>;
  tags?: readonly string[];
  /** RFC 3339, UTC. */
  at?: string | undefined;
  client?: string | undefined;
  session?: string | undefined;
  /** What has no home in the keys. */
  kept?: Record<string, unknown>;
}

const TITLE_CHARACTERS = 80;
const MARGIN_BYTES = 4 * 1024;

/** Collects what a format reads. Entries that say the same at the same path are one page; no two pages share a path. */
export class ReadingBuilder {
  readonly #pages: ForeignPage[] = [];
  readonly #refused: RefusedEntry[] = [];
  readonly #notes: string[] = [];
  readonly #counts = new Map<string, number>();
  readonly #taken = new Map<string, string>();

  refuse(entry: { file: string; line?: number | undefined }, reason: string): void {
    this.#refused.push(placed(entry, { reason }));
  }

  addRefused(entry: RefusedEntry): void {
    this.#refused.push(entry);
  }

  note(text: string): void {
    if (!this.#notes.includes(text)) this.#notes.push(text);
  }

  /** One more of something that is left out; the note says how many. */
  count(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }

  /** A Markdown file's own text. The second of two names that are one page is refused. */
  addText(page: { file: string; path: string; text: string }): void {
    const parsed = parsePath(`${page.path}.md`);
    const key = twinKey(parsed.ok ? parsed.path : page.path);
    const other = this.#taken.get(key);
    if (other !== undefined) {
      const why = "names that differ only by case or Unicode form are one";
      this.refuse(page, `same page name as "${other}" (${why}): rename one of them`);
      return;
    }
    this.#taken.set(key, page.file);
    this.#pages.push(page);
  }

  add(entry: Entry): void {
    if (isTooDeep(entry.kept) || isTooDeep(entry.keys)) {
      this.refuse(entry, `nested deeper than ${MAX_VALUE_DEPTH} levels: make it flatter, or leave it out`);
      return;
    }
    const { frontmatter, body } = buildPage(entry);
    const problems = validateFrontmatter(frontmatter);
    if (problems.length > 0) {
      this.refuse(entry, problems.map(({ message }) => message).join(" "));
      return;
    }
    const parts = splitBody(body, MAX_BODY_BYTES);
    const path = this.#claim(entry.path, digestOf(JSON.stringify(frontmatter), body));
    if (path === undefined) {
      this.count("entries that were there twice");
      return;
    }
    const rest = parts.slice(1).map((part, index) => this.#claim(`${path}-part-${index + 2}`, digestOf(path, part))!);
    const paths = [path, ...rest];
    for (const [index, part] of parts.entries()) {
      const keys = parts.length === 1 ? frontmatter : keysOfPart(frontmatter, paths, index);
      this.#pages.push(placed(entry, { path: paths[index]!, frontmatter: keys, body: part }));
    }
  }

  build(profiles?: Record<string, Record<string, unknown>>): ForeignReading {
    const counted = [...this.#counts].map(([what, count]) => `Left out: ${count} ${what}.`);
    const notes = [...this.#notes, ...counted];
    return {
      pages: this.#pages,
      refused: this.#refused,
      ...(profiles && Object.keys(profiles).length > 0 && { profiles }),
      ...(notes.length > 0 && { notes }),
    };
  }

  // Undefined: this very page is there already.
  #claim(wish: string, digest: string): string | undefined {
    const parsed = parsePath(wish);
    const path = parsed.ok ? parsed.path : wish;
    for (let count = 0; ; count++) {
      const tried = count === 0 ? path : `${path}-${digest}${count === 1 ? "" : `-${count}`}`;
      const other = this.#taken.get(twinKey(tried));
      if (other === digest) return undefined;
      if (other !== undefined) continue;
      this.#taken.set(twinKey(tried), digest);
      return tried;
    }
  }
}

function placed<T>(
  { file, line }: { file: string; line?: number | undefined },
  rest: T,
): T & { file: string; line?: number } {
  return { file, ...(line !== undefined && { line }), ...rest };
}

function buildPage(entry: Entry): { frontmatter: Record<string, unknown>; body: string } {
  const { tags, spare } = tagsOf(entry.tags ?? []);
  const { relations, ...keys } = { relations: [] as unknown[], ...entry.keys } as Record<string, unknown>;
  const edges = Array.isArray(relations) ? relations : [];
  const most = MAX_RELATIONS - 2;
  const kept = {
    ...entry.kept,
    ...(entry.client && !isShort(entry.client) && { client: entry.client }),
    ...(entry.session && !isShort(entry.session) && { session: entry.session }),
    ...(spare.length > 0 && { tags: spare }),
    ...(edges.length > most && { relations: edges.slice(most) }),
  };
  const body = withLineEnd(plainText(entry.body));
  const { at } = entry;
  const source = {
    origin: "import",
    ...(isShort(entry.client) && { client: entry.client }),
    ...(isShort(entry.session) && { session: entry.session }),
    ...(at && { at }),
  };
  const frontmatter = {
    title: cut(oneLine(entry.title ?? "") || titleOf(body), MAX_TITLE_CHARACTERS),
    ...keys,
    ...(tags.length > 0 && { tags }),
    source,
    ...(edges.length > 0 && { relations: edges.slice(0, most) }),
  };
  return withKept(
    plainValue(frontmatter) as Record<string, unknown>,
    body,
    plainValue(filled(kept)) as Record<string, unknown>,
  );
}

const isShort = (text: string | undefined): boolean => text !== undefined && text.trim() !== "" && text.length <= 200;

// What a frontmatter has no room for follows the body as JSON: what was kept, then the edges too.
function withKept(frontmatter: Record<string, unknown>, body: string, kept: Record<string, unknown>) {
  const isKept = Object.keys(kept).length > 0;
  const whole = isKept ? { ...frontmatter, [IMPORT_KEY]: kept } : frontmatter;
  if (isSmall(whole)) return { frontmatter: whole, body };
  const { relations, derived_from, ...keys } = frontmatter;
  const isRoomy = isSmall(frontmatter);
  const moved = isRoomy
    ? kept
    : { ...kept, derived_from, relations: [...listed(relations), ...listed(kept.relations)] };
  const json = JSON.stringify(moved, null, 2);
  const longest = (json.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  const fence = "`".repeat(longest + 1);
  const more = `\n## ${IMPORT_KEY}\n\n${fence}json\n${json}\n${fence}\n`;
  return { frontmatter: { ...(isRoomy ? frontmatter : keys), [IMPORT_KEY]: { in_body: true } }, body: body + more };
}

const listed = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

// Nothing this short can fill a head, however deep its indentation; building one takes its time.
function isSmall(frontmatter: Record<string, unknown>): boolean {
  if (JSON.stringify(frontmatter).length < 400) return true;
  return Buffer.byteLength(buildHead(frontmatter)) <= MAX_FRONTMATTER_BYTES - MARGIN_BYTES;
}

function filled(kept: Record<string, unknown>): Record<string, unknown> {
  const isEmpty = (value: unknown) =>
    value === undefined ||
    value === null ||
    value === "" ||
    (typeof value === "object" && Object.keys(value).length === 0);
  return Object.fromEntries(Object.entries(kept).filter(([, value]) => !isEmpty(value)));
}

function keysOfPart(
  frontmatter: Record<string, unknown>,
  paths: readonly string[],
  index: number,
): Record<string, unknown> {
  const own = { ...frontmatter };
  if (index > 0) {
    own.title = `${cut(String(frontmatter.title), MAX_TITLE_CHARACTERS - 40)} (part ${index + 1} of ${paths.length})`;
    own[IMPORT_KEY] = { part: index + 1, parts: paths.length };
  } else own[IMPORT_KEY] = { ...(frontmatter[IMPORT_KEY] as object | undefined), part: 1, parts: paths.length };
  const given = index === 0 && Array.isArray(frontmatter.relations) ? frontmatter.relations : [];
  const near = [paths[index - 1], paths[index + 1]].flatMap((target) => (target ? [{ rel: "about", target }] : []));
  return { ...own, relations: [...given, ...near] };
}

const withLineEnd = (body: string): string => (body === "" || body.endsWith("\n") ? body : `${body}\n`);

const oneLine = (text: string): string =>
  plainText(text)
    .replace(/[\p{Cc}\s]+/gu, " ")
    .trim();

/** The first words of a text, as a title. */
export function titleOf(text: string): string {
  const line = oneLine(text.slice(0, 2_000)).replace(/^[#>*\-\s]+/, "");
  if ([...line].length <= TITLE_CHARACTERS) return line || "Untitled";
  const short = cut(line, TITLE_CHARACTERS - 1);
  const blank = short.lastIndexOf(" ");
  return `${(blank > TITLE_CHARACTERS / 2 ? short.slice(0, blank) : short).trimEnd()}…`;
}

const cut = (text: string, most: number): string =>
  [...text.slice(0, most * 2)].slice(0, most).join("").toWellFormed().trim();

function tagsOf(given: readonly string[]): { tags: string[]; spare: string[] } {
  const tags = new Set<string>();
  const spare: string[] = [];
  for (const text of given) {
    const tag = oneLine(text).replace(/^#+/, "").trim();
    if (tag === "") continue;
    if ([...tag].length <= MAX_TAG_CHARACTERS && tags.size < MAX_TAGS) tags.add(tag);
    else if (!tags.has(tag)) spare.push(text);
  }
  return { tags: [...tags], spare };
}
