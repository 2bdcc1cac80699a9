import { baseName, headOf, isHidden, isMarkdown, jsonOf, textOf } from "./file-text.js";
import type { ForeignFile, ForeignFormat } from "./foreign-format.js";
import { ReadingBuilder } from "./reading-builder.js";
import { RemnicFolder } from "./remnic-page.js";
import { isObject, listOf, member } from "./values.js";

const FORMAT = /"format"\s*:\s*"openclaw-engram-export"/;
const MEMORY = /^\uFEFF?---\r?\n(?:[^\n]*\n)*?category:[^\n]*\n(?:[^\n]*\n)*?(?:confidenceTier|confidence):/;

/** The memory folder of Remnic (once Engram), its Markdown and JSON exports, and unpacked capsules. */
export const remnic: ForeignFormat = {
  name: "remnic",
  title: "Remnic (the memory folder, or an export of it)",
  detect: (files) => files.some(isBundle) || isMemoryFolder(files),
  read(files) {
    const reading = new ReadingBuilder();
    const folder = new RemnicFolder(reading);
    const isExported = files.some(isBundle);
    for (const file of files) {
      if (isBundle(file)) readBundle(file, folder, reading);
      else if (isMarkdown(file) && !isHidden(file)) readMarkdown(file, folder, reading);
      else if (/\.capsule\.json\.gz$/i.test(file.name)) {
        reading.refuse({ file: file.name }, "packed with gzip: unpack it (gunzip) and import the .json file");
      } else if (!(isExported && baseName(file.name) === "manifest.json")) {
        reading.count("files of Remnic that are no memories (state, indexes, transcripts)");
      }
    }
    folder.addPages();
    return reading.build();
  },
};

const isBundle = (file: ForeignFile): boolean =>
  !isHidden(file) &&
  /\.json$/i.test(file.name) &&
  FORMAT.test(headOf(file)) &&
  /"records"\s*:|"manifest"\s*:/.test(headOf(file));

/** More of its notes are memories than not: a vault may hold a note that reads like one. */
function isMemoryFolder(files: readonly ForeignFile[]): boolean {
  const notes = files.filter((file) => isMarkdown(file) && !isHidden(file));
  return notes.filter(isMemory).length * 2 > notes.length;
}

// A head whose block is closed before these keys come is none of Remnic's.
const isMemory = (file: ForeignFile): boolean =>
  isMarkdown(file) &&
  !isHidden(file) &&
  MEMORY.test(
    headOf(file)
      .slice(0, 4_000)
      .replace(/(\n---\r?\n)[\s\S]*$/, "$1"),
  );

function readMarkdown(file: ForeignFile, folder: RemnicFolder, reading: ReadingBuilder): void {
  const read = textOf(file);
  if (read.ok) folder.addFile({ file: file.name }, file.name, read.text);
  else reading.addRefused(read.refused);
}

function readBundle(file: ForeignFile, folder: RemnicFolder, reading: ReadingBuilder): void {
  const json = jsonOf(file);
  if (!json.ok) {
    reading.addRefused(json.refused);
    return;
  }
  for (const record of listOf(member(json.value, "records"))) {
    const place = { file: file.name, line: json.lineOf(record) };
    const [path, content] = [member(record, "path"), member(record, "content")];
    if (!isObject(record) || typeof path !== "string" || typeof content !== "string") {
      reading.refuse(place, 'a record has a "path" and a "content": mend it, or export again');
    } else if (/\.(?:md|markdown)$/i.test(path)) folder.addFile(place, path, content);
    else reading.count("files of Remnic that are no memories (state, indexes, transcripts)");
  }
}
