import { parsePageText, splitPage } from "@satchel/pcp";
import { mergePages } from "./merge.js";
import type { PageContent, PageKeys } from "./records.js";

/**
 * Three-way merge of whole page texts, as their writers wrote them. What only one side changed is taken byte for byte, its
 * frontmatter block too. Undefined when both changed the same place differently, or the result would be no page.
 */
export function mergeTexts(versions: { base: string; theirs: string; ours: string }): string | undefined {
  const [base, theirs, ours] = [versions.base, versions.theirs, versions.ours].map(parseContent);
  if (!base || !theirs || !ours) return undefined;
  const merged = mergePages({ base, theirs, proposed: ours });
  if (!merged) return undefined;
  const head = chooseHead({ base, theirs, ours }) ?? merged.head;
  const text = head + merged.body;
  // A body that begins like a block, or a head without a line end, would be read as another page.
  return splitPage(text).head === head && parsePageText(text).ok ? text : undefined;
}

/** The keys as the text says them: without the title that is derived and the origin that is added. */
function parseContent(text: string): PageContent | undefined {
  const parsed = parsePageText(text);
  return parsed.ok ? { head: parsed.head, body: parsed.body, keys: parsed.frontmatter as PageKeys } : undefined;
}

function chooseHead({ base, theirs, ours }: Record<"base" | "theirs" | "ours", PageContent>): string | undefined {
  if (base.head === theirs.head) return ours.head;
  return base.head === ours.head || theirs.head === ours.head ? theirs.head : undefined;
}
