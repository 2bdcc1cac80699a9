import { type ImportSummary, importOperation } from "@satchel/server";
import { readSource, type SourceOptions } from "../import-source.js";
import { type CommonOptions, runLocally, withContext } from "../session.js";
import { createProgress, note, paint, print, printJson, showHidden } from "../terminal.js";

export interface ImportCommandOptions extends CommonOptions, SourceOptions {
  dryRun?: boolean;
  skipRefused?: boolean;
  review?: boolean;
  partition?: string;
}

/** Brings in an archive, a folder, or what another tool exported: all or nothing. Exit code 1 when entries were refused. */
export async function importInto(path: string, options: ImportCommandOptions): Promise<void> {
  const { title, source } = await readSource(path, options);
  const progress = createProgress("Importing");
  const { dryRun = false, skipRefused = false, review = false, partition } = options;
  const operation = importOperation(source, {
    dryRun,
    skipRefused,
    review,
    onProgress: progress.show,
    ...(partition !== undefined && { partition }),
  });
  const summary = await withContext(options, (context) => runLocally(context, operation, {}));
  progress.end();
  if (options.json) printJson({ ...(title !== undefined && { format: title }), ...summary });
  else {
    if (title !== undefined) note(`${title}.`);
    printSummary(summary, dryRun);
  }
  if (summary.refused.length > 0 && !skipRefused) process.exitCode = 1;
}

function printSummary(summary: ImportSummary, dryRun: boolean): void {
  const { added, changed, same, proposed, profiles, refused, notes, applied } = summary;
  for (const { file, line, reason } of refused) {
    const place = line === undefined ? "" : `:${line}`;
    note(`${paint("red", "refused")} ${showHidden(file)}${place}: ${showHidden(reason)}`);
  }
  for (const text of notes) note(showHidden(text));
  const refusedFiles = new Set(refused.map(({ file, line = 0 }) => `${file}:${line}`)).size;
  const counts = [
    `added ${added.length}, changed ${changed.length}, same ${same}`,
    ...(proposed.length > 0 ? [`for review ${proposed.length}`] : []),
    ...(profiles.length > 0 ? [`profile documents ${profiles.length}`] : []),
    `refused ${refusedFiles}`,
  ].join(", ");
  if (added.length + changed.length + same + proposed.length + profiles.length + refusedFiles === 0)
    note("There is nothing to import: no Markdown files and no export of another tool.");
  else if (dryRun) print(`Would be: ${counts}.`);
  else if (applied) print(`Done: ${counts}.`);
  else note("Nothing was imported. Mend what is listed above, or take the others with --skip-refused.");
  if (applied && proposed.length > 0) note("satchel review list shows what waits for you.");
}
