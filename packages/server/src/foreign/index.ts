import { basicMemory } from "./basic-memory.js";
import { chatgpt } from "./chatgpt.js";
import { claudeMemory } from "./claude-memory.js";
import { isHidden, isMarkdown } from "./file-text.js";
import type { ForeignFile, ForeignFormat } from "./foreign-format.js";
import { markdown } from "./markdown.js";
import { mem0 } from "./mem0.js";
import { omp } from "./omp.js";
import { pcp02 } from "./pcp-0-2.js";
import { remnic } from "./remnic.js";
import { serverMemory } from "./server-memory.js";

export type * from "./foreign-format.js";

/** Most specific first. */
export const foreignFormats: readonly ForeignFormat[] = [
  pcp02,
  omp,
  remnic,
  mem0,
  serverMemory,
  claudeMemory,
  chatgpt,
  basicMemory,
  markdown,
];

/** Exports that are JSON. Beside notes such a file is no export, whatever it looks like. */
const jsonFormats: ReadonlySet<ForeignFormat> = new Set([omp, mem0, serverMemory, chatgpt]);

/** The first format that knows these files, else the folder of Markdown. */
export function detectFormat(files: readonly ForeignFile[]): ForeignFormat {
  const hasNotes = files.some((file) => isMarkdown(file) && !isHidden(file));
  const likely = foreignFormats.filter((format) => !(hasNotes && jsonFormats.has(format)));
  return likely.find((format) => format.detect(files)) ?? markdown;
}
