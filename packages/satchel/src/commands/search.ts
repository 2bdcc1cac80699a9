import { type CommonOptions, callLocally, withContext } from "../session.js";
import { note, paint, print, printJson, showHidden } from "../terminal.js";
import { UsageError } from "../usage-error.js";

interface Answer {
  results: {
    path: string;
    title: string;
    snippet: string;
    score: number;
    updated: string;
    stale?: boolean;
    superseded_by?: string;
  }[];
  stale_fallback?: boolean;
  next_cursor?: string;
}

export interface SearchOptions extends CommonOptions {
  limit: string;
  stale?: boolean;
  archived?: boolean;
}

/** What `memory_search` answers. */
export async function search(words: string[], options: SearchOptions): Promise<void> {
  const limit = Number(options.limit);
  if (!Number.isInteger(limit)) throw new UsageError(`--limit takes a number from 1 to 100, not "${options.limit}".`);
  const answer = await withContext(options, (context) =>
    callLocally<Answer>(context, "memory_search", {
      query: words.join(" "),
      limit,
      ...(options.stale && { include_stale: true }),
      ...(options.archived && { include_archived: true }),
    }),
  );
  if (options.json) {
    printJson(answer);
    return;
  }
  if (answer.results.length === 0) {
    note("No page matches.");
    return;
  }
  if (answer.stale_fallback) note("Nothing current matches; these pages are stale:");
  for (const hit of answer.results) {
    const state = hit.superseded_by ? ` (superseded by ${showHidden(hit.superseded_by)})` : hit.stale ? " (stale)" : "";
    print(
      `${paint("bold", showHidden(hit.title))}  ${paint("cyan", showHidden(hit.path))}  ${hit.score.toFixed(2)}${state}`,
    );
    print(`  ${highlight(showHidden(hit.snippet))}`);
  }
  if (answer.next_cursor) note("There are more; ask for them with --limit.");
}

function highlight(snippet: string): string {
  return snippet.replace(/\*\*(.+?)\*\*/g, (_, matched: string) => paint("yellow", matched));
}
