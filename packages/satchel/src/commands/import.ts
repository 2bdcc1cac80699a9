import { type ImportSummary, importOperation } from "@satchel/server";
import { readMarkdownFolder } from "../folder.js";
import { type CommonOptions, runLocally, withContext } from "../session.js";
import { createProgress, note, paint, print, printJson, showHidden } from "../terminal.js";

export interface ImportCommandOptions extends CommonOptions {
  dryRun?: boolean;
  skipRefused?: boolean;
  partition?: string;
}

/** Brings a folder of Markdown in: all files or none. Exit code 1 when files were refused. */
export async function importFolder(path: string, options: ImportCommandOptions): Promise<void> {
  const files = readMarkdownFolder(path);
  const progress = createProgress("Importing");
  const { dryRun = false, skipRefused = false, partition } = options;
  const summary = await withContext(options, (context) => {
    const operation = importOperation(files, {
      dryRun,
      skipRefused,
      onProgress: progress.show,
      ...(partition !== undefined && { partition }),
    });
    return runLocally(context, operation, {});
  });
  progress.end();
  if (options.json) printJson(summary);
  else printSummary(summary, { dryRun, count: files.length });
  if (summary.refused.length > 0 && !skipRefused) process.exitCode = 1;
}

function printSummary(summary: ImportSummary, { dryRun, count }: { dryRun: boolean; count: number }): void {
  const { added, changed, same, refused, applied } = summary;
  for (const { file, line, reason } of refused) {
    const place = line === undefined ? "" : `:${line}`;
    note(`${paint("red", "refused")} ${showHidden(file)}${place}: ${showHidden(reason)}`);
  }
  const counts = `added ${added.length}, changed ${changed.length}, same ${same}, refused ${new Set(refused.map(({ file }) => file)).size}`;
  if (count === 0) note("There are no Markdown files there.");
  else if (dryRun) print(`Would be: ${counts}.`);
  else if (applied) print(`Done: ${counts}.`);
  else note("Nothing was imported. Mend the files above, or take the others with --skip-refused.");
}
