import { structuredPatch } from "diff";
import { paint, showHidden } from "./terminal.js";

/** A unified diff for a person: red and green on a terminal, plain in a pipe; hidden characters shown. "" when equal. */
export function renderDiff(before: { name: string; text: string }, after: { name: string; text: string }): string {
  const { hunks } = structuredPatch(before.name, after.name, before.text, after.text, "", "", { context: 3 });
  if (hunks.length === 0) return "";
  const head = [paint("red", `--- ${showHidden(before.name)}`), paint("green", `+++ ${showHidden(after.name)}`)];
  const body = hunks.flatMap((hunk) => [
    paint("cyan", `@@ -${range(hunk.oldStart, hunk.oldLines)} +${range(hunk.newStart, hunk.newLines)} @@`),
    ...hunk.lines.map(renderLine),
  ]);
  return [...head, ...body].join("\n");
}

function renderLine(line: string): string {
  const shown = showHidden(line);
  if (line.startsWith("+")) return paint("green", shown);
  return line.startsWith("-") ? paint("red", shown) : shown;
}

/** A unified diff names the line before an empty range. */
function range(start: number, lines: number): string {
  return `${lines === 0 ? start - 1 : start},${lines}`;
}
