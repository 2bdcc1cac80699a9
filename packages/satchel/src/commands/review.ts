import { type Context, type PageRead, pageTextOperation, reviewTextOperation } from "@satchel/server";
import { type CommonOptions, callLocally, listLocally, runLocally, withContext } from "../session.js";
import { note, paint, print, printJson, printTable, showHidden } from "../terminal.js";
import { renderDiff } from "../text-diff.js";
import { CommandError } from "../usage-error.js";

interface Item {
  path: string;
  revision: string;
  title: string;
  state: string;
  partition: string;
  generated: { principal: string; client?: string; at: string };
  target_exists: boolean;
  note?: string;
}

export async function reviewList(options: CommonOptions & { rejected?: boolean; partition?: string }): Promise<void> {
  const filter = {
    state: options.rejected ? "rejected" : "proposed",
    ...(options.partition !== undefined && { partition: options.partition }),
  };
  const items = await withContext(options, (context) =>
    listLocally<Item>(context, { tool: "review_list", member: "items", filter }),
  );
  if (options.json) {
    printJson({ items });
    return;
  }
  if (items.length === 0) note("Nothing waits for review.");
  printTable(
    ["REVISION", "PATH", "CHANGE", "BY", "AT", "NOTE"],
    items.map(({ revision, path, target_exists, generated, note: reason }) => [
      revision,
      path,
      target_exists ? "change" : "new",
      generated.client ?? generated.principal,
      generated.at,
      (reason ?? "").replace(/\s+/g, " ").slice(0, 60),
    ]),
  );
}

/** What a revision would change, as a diff against the page as it is. */
export async function reviewShow(revision: string, options: CommonOptions): Promise<void> {
  await withContext(options, async (context) => {
    const proposed = await runLocally(context, reviewTextOperation, { revision });
    if (options.json) {
      printJson(proposed);
      return;
    }
    const { path, generated, state, note: reason } = proposed;
    print(
      `${paint("bold", showHidden(path))}  ${state}, by ${generated.client ?? generated.principal} at ${generated.at}`,
    );
    if (reason !== undefined) print(`Note: ${showHidden(reason)}`);
    const current = await readCurrent(context, path);
    const after = proposed.head + proposed.body;
    print(
      renderDiff(
        { name: current === undefined ? "nothing" : path, text: current ?? "" },
        { name: revision, text: after },
      ),
    );
  });
}

async function readCurrent(context: Context, path: string): Promise<string | undefined> {
  const read = await runLocally(context, pageTextOperation, { path }).catch((error: unknown): PageRead | undefined => {
    if (error instanceof CommandError) return undefined;
    throw error;
  });
  return read?.kind === "page" ? read.version.head + read.version.body : undefined;
}

interface Resolved {
  path: string;
  state: string;
  updated?: string;
}

/** Decides revisions, one after the other. */
export async function reviewResolve(
  revisions: string[],
  verb: string,
  options: CommonOptions & { note?: string },
): Promise<void> {
  await withContext(options, async (context) => {
    const resolved: Resolved[] = [];
    for (const revision of revisions) {
      const { path } = await runLocally(context, reviewTextOperation, { revision });
      const args = { path, revision, verb, ...(options.note !== undefined && { note: options.note }) };
      resolved.push(await callLocally<Resolved>(context, "review_resolve", args));
    }
    if (options.json) printJson({ resolved });
    else
      for (const { path, state, updated } of resolved)
        print(`${path}: ${state}${updated ? ` (updated ${updated})` : ""}`);
  });
}
