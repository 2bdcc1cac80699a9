import { styleText } from "node:util";
import stringWidth from "string-width";
import { wantsColour } from "./system.js";

type Style = Parameters<typeof styleText>[0];

/** Colours on a terminal, plain text in a pipe. */
export function paint(style: Style, text: string): string {
  return wantsColour() ? styleText(style, text) : text;
}

export function print(text: string): void {
  process.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2));
}

/** What is said to the person beside the data goes to standard error. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Aligned columns on a terminal; in a pipe one row a line, tab-separated, without a head. */
export function printTable(head: string[], rows: string[][]): void {
  const shown = rows.map((row) => row.map(showHidden));
  if (!process.stdout.isTTY) {
    for (const row of shown) print(row.join("\t"));
    return;
  }
  const widths = head.map((_, column) => Math.max(...[head, ...shown].map((row) => stringWidth(row[column] ?? ""))));
  const line = (row: string[]) =>
    row
      .map((cell, column) => pad(cell, widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  print(paint("bold", line(head)));
  for (const row of shown) print(line(row));
}

function pad(cell: string, width: number): string {
  return cell + " ".repeat(Math.max(0, width - stringWidth(cell)));
}

/** Stored text is hostile: control characters, escape sequences and direction overrides are shown, not obeyed. */
export function showHidden(text: string): string {
  return text.replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}

/** A counter on standard error that overwrites itself; silent unless that is a terminal. */
export function createProgress(label: string): { show(done: number, total: number): void; end(): void } {
  const isShown = process.stderr.isTTY === true;
  let shownAt = 0;
  return {
    show(done, total) {
      const now = performance.now();
      if (!isShown || (now - shownAt < 80 && done < total)) return;
      shownAt = now;
      process.stderr.write(`\r${label} ${Math.floor((done / Math.max(1, total)) * 100)} %`);
    },
    end() {
      if (isShown && shownAt > 0) process.stderr.write("\r\u001b[K");
    },
  };
}
