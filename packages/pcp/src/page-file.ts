import { isMap, isNode, isScalar, type Pair } from "yaml";
import { SERVER_KEYS } from "./frontmatter.js";
import { buildHead, buildYaml } from "./head-text.js";
import { parseHead, splitPage } from "./page-text.js";
import { MAX_ALIASES, parseYamlTree } from "./yaml-tree.js";

/** What the server writes into a page's file; the members are those of `memory.page`. */
export type ServerKeys = Partial<Record<(typeof SERVER_KEYS)[number], unknown>>;

const SERVER: ReadonlySet<string> = new Set(SERVER_KEYS);

/**
 * The text of a page as a file of an archive (pcp section 9): the client's frontmatter and body as they were written,
 * with the server's keys at the end of the block in place of any that the client gave. `head` is as `splitPage` gives it.
 * Only where lines can't be added to a block, such as `{title: x}`, is it written anew with the same keys.
 */
export function buildPageFile({ head, body }: { head: string; body: string }, keys: ServerKeys): string {
  const added = buildYaml(Object.entries(keys).filter(([, value]) => value !== undefined));
  if (head === "") return `---\n${added}---\n${body}`;
  const start = head.indexOf("\n") + 1;
  const end = head.trimEnd().lastIndexOf("\n") + 1;
  const kept = withoutServerLines(head.slice(start, end));
  const text = kept === undefined ? undefined : closed(`${head.slice(0, start)}${kept}${added}${head.slice(end)}`);
  if (text !== undefined && hasSameKeys(head, text)) return text + body;
  const parsed = parseHead(head);
  const own = parsed.ok ? buildHead(parsed.frontmatter) : "---\n---\n";
  return `${own.slice(0, -"---\n".length)}${added}---\n${body}`;
}

/**
 * What `buildPageFile` put together, as far as the text tells: the client's head and body, and the server's keys, unchecked.
 * Undefined when the frontmatter can't be read.
 */
export function splitPageFile(text: string): { head: string; body: string; keys: Record<string, unknown> } | undefined {
  const { head, body } = splitPage(text);
  if (head === "") return { head, body, keys: {} };
  const start = head.indexOf("\n") + 1;
  const end = head.trimEnd().lastIndexOf("\n") + 1;
  const yaml = head.slice(start, end);
  const tree = parseYamlTree(yaml);
  if (!tree.ok) return undefined;
  const all = (tree.document?.toJS({ maxAliasCount: MAX_ALIASES }) ?? {}) as Record<string, unknown>;
  const keys = Object.fromEntries(Object.entries(all).filter(([key]) => SERVER.has(key)));
  const kept = withoutServerLines(yaml) ?? yaml;
  const isEmpty = kept === "" && Object.keys(keys).length > 0;
  return { head: isEmpty ? "" : head.slice(0, start) + kept + head.slice(end), body, keys };
}

const closed = (head: string): string => (head.endsWith("\n") ? head : `${head}\n`);

function hasSameKeys(head: string, text: string): boolean {
  const [before, after] = [parseHead(head), parseHead(text)];
  return before.ok && after.ok && JSON.stringify(before.frontmatter) === JSON.stringify(after.frontmatter);
}

/** @returns undefined when the block is no mapping of lines */
function withoutServerLines(yaml: string): string | undefined {
  const tree = parseYamlTree(yaml);
  if (!tree.ok) return undefined;
  const { contents } = tree.document ?? {};
  if (contents === null || contents === undefined) return yaml;
  if (!isMap(contents) || contents.flow) return isMap(contents) ? undefined : yaml;
  const cuts = contents.items.filter(isServerPair).map((pair) => linesOf(pair, yaml));
  return cuts.reduceRight((text, [from, to]) => text.slice(0, from) + text.slice(to), yaml);
}

function isServerPair({ key }: Pair): boolean {
  return isScalar(key) && SERVER.has(String(key.value));
}

function linesOf({ key, value }: Pair, yaml: string): [number, number] {
  const from = isNode(key) ? (key.range?.[0] ?? 0) : 0;
  const last = isNode(value) ? (value.range?.[1] ?? from) : from;
  const lineEnd = yaml.indexOf("\n", Math.max(from, last - 1));
  return [yaml.lastIndexOf("\n", from) + 1, lineEnd < 0 ? yaml.length : lineEnd + 1];
}
