import { normaliseText, parsePageText, rehomeForeignKeys } from "@satchel/pcp";
import { isHidden, isMarkdown, textOf } from "./file-text.js";
import type { ForeignFile, ForeignFormat } from "./foreign-format.js";
import { ReadingBuilder } from "./reading-builder.js";

/** Any folder of Markdown, Obsidian vaults too. Links stay as they are written. */
export const markdown: ForeignFormat = {
  name: "markdown",
  title: "A folder of Markdown, such as an Obsidian vault",
  detect: (files) => files.some((file) => isMarkdown(file) && !isHidden(file)),
  read(files) {
    const reading = new ReadingBuilder();
    for (const file of files) {
      if (isHidden(file)) reading.count("hidden files");
      else if (isMarkdown(file)) addMarkdown(file, file.name, reading);
      else reading.count("files that are not Markdown");
    }
    return reading.build();
  },
};

/** A file's text as it is, but for known keys whose value PCP does not know. `name` is what the page is called after. */
export function addMarkdown(file: ForeignFile, name: string, reading: ReadingBuilder): void {
  const read = textOf(file);
  if (!read.ok) {
    reading.addRefused(read.refused);
    return;
  }
  // What can be stored as it is has no key to move; most files are, and reading YAML is most of what an import does.
  const isPlain = parsePageText(normaliseText(read.text)).ok;
  const text = isPlain ? read.text : rehomeForeignKeys(read.text);
  const parsed = isPlain ? { ok: true as const } : parsePageText(text);
  if (parsed.ok) {
    reading.addText({ file: file.name, path: name.replace(/\.(md|markdown)$/i, ""), text });
    return;
  }
  for (const { line, column, message } of parsed.problems) {
    const place = line === undefined ? "" : `line ${line}${column === undefined ? "" : `, column ${column}`}: `;
    reading.refuse({ file: file.name, line }, `${place}${message}`);
  }
}
