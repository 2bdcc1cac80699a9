import { type CommonOptions, callLocally, withContext } from "../session.js";
import { note, paint, print, printJson, showHidden } from "../terminal.js";
import { UsageError } from "../usage-error.js";

interface Brief {
  kind: string;
  profile?: Record<string, unknown> | null;
  memory: { path: string; title: string; excerpt: string }[];
  partitions?: { name: string; access: string[] }[];
  omitted: string[];
  truncated: boolean;
}

/** What `context_brief` tells an assistant. */
export async function brief(focus: string[], options: CommonOptions & { budget: string }): Promise<void> {
  const budget = Number(options.budget);
  if (!Number.isInteger(budget)) throw new UsageError(`--budget takes a number of tokens, not "${options.budget}".`);
  const answer = await withContext(options, (context) =>
    callLocally<Brief>(context, "context_brief", {
      token_budget: budget,
      ...(focus.length > 0 && { focus: focus.join(" ") }),
    }),
  );
  if (options.json) {
    printJson(answer);
    return;
  }
  print(paint("bold", "Profile"));
  print(
    answer.profile ? showHidden(JSON.stringify(answer.profile, null, 2)) : "  none yet: satchel profile set name=…",
  );
  print(paint("bold", "Memory"));
  for (const page of answer.memory) {
    print(`  ${showHidden(page.title)}  ${paint("cyan", showHidden(page.path))}\n    ${showHidden(page.excerpt)}`);
  }
  if (answer.partitions)
    print(`${paint("bold", "Partitions")} ${answer.partitions.map(({ name }) => name).join(", ")}`);
  if (answer.truncated) note(`Cut to ${budget} tokens.`);
}
