import { parsePath, twinKey } from "@satchel/pcp";
import type { Caller } from "../domain/access.js";
import { decideWrite, type WriteRequest } from "../domain/page-write.js";
import type { PageVersion } from "../domain/records.js";
import { isRefusal, type Refusal } from "../domain/refusal.js";
import type { WriteTransaction } from "../store/store.js";
import { loadAccess } from "./access.js";
import type { Context } from "./context.js";
import { applyWrite, checkSecrets, loadWriteState, parseWrite } from "./write-page.js";

export interface ImportFile {
  /** Relative to the imported folder, `/`-separated, with its extension: for messages. */
  file: string;
  /** The same without the extension: the page's path. */
  path: string;
  /** Undefined when the file is not valid UTF-8. */
  text: string | undefined;
}

export interface ImportOptions {
  dryRun: boolean;
  skipRefused: boolean;
  /** Where pages go that name no partition; made when it does not exist. */
  partition?: string;
  onProgress?: (done: number, total: number) => void;
}

export interface RefusedFile {
  file: string;
  /** From 1, where the reason has one. */
  line?: number;
  reason: string;
}

export interface ImportSummary {
  added: string[];
  changed: string[];
  same: number;
  refused: RefusedFile[];
  /** False: nothing was written, because of refused files or a dry run. */
  applied: boolean;
}

interface ParsedFile {
  file: string;
  request: WriteRequest;
}

/** Ends the transaction of an import that must not be kept, without an error. */
class Undo extends Error {}

/**
 * Brings Markdown files in, all or none (pcp section 9): one refused file refuses the import unless `skipRefused`.
 * A file whose page holds the same text already changes nothing.
 */
export async function importPages(
  context: Context,
  caller: Caller,
  input: { files: ImportFile[]; options: ImportOptions },
): Promise<ImportSummary> {
  const { files, options } = input;
  const summary: ImportSummary = { added: [], changed: [], same: 0, refused: [], applied: false };
  const parsed = await parseFiles(context, files, { options, summary });
  if (summary.refused.length > 0 && !options.skipRefused) return summary;
  try {
    return await context.store.write(async (transaction) => {
      await applyFiles(context, transaction, { caller, parsed, options, summary });
      if (options.dryRun || (summary.refused.length > 0 && !options.skipRefused)) throw new Undo();
      return { ...summary, applied: true };
    });
  } catch (error) {
    if (error instanceof Undo) return summary;
    throw error;
  }
}

async function parseFiles(
  context: Context,
  files: ImportFile[],
  { options, summary }: { options: ImportOptions; summary: ImportSummary },
): Promise<ParsedFile[]> {
  const parsed: ParsedFile[] = [];
  const taken = new Map<string, string>();
  for (const [index, file] of files.entries()) {
    const request = await parseFile(context, file, options);
    if (isRefusal(request)) summary.refused.push(...toRefusedFiles(file.file, request));
    else {
      const key = twinKey(request.path);
      const other = taken.get(key);
      if (other === undefined) {
        taken.set(key, file.file);
        parsed.push({ file: file.file, request });
      } else
        summary.refused.push({
          file: file.file,
          reason: `same page name as "${other}" (names that differ only by case or Unicode form are one)`,
        });
    }
    options.onProgress?.(index + 1, files.length * 2);
  }
  return parsed;
}

async function parseFile(context: Context, file: ImportFile, options: ImportOptions): Promise<WriteRequest | Refusal> {
  const name = parsePath(`${file.path}.md`);
  if (!name.ok) return { refused: "invalid_input", message: "", violations: name.violations };
  if (file.text === undefined) return { refused: "invalid_input", message: "", violations: ["not valid UTF-8 text"] };
  const request = parseWrite({ path: name.path, body: file.text });
  if (isRefusal(request)) return request;
  const secrets = await checkSecrets(context, request.head + request.body);
  if (isRefusal(secrets)) return secrets;
  if (options.partition && !request.keys?.partition) {
    return { ...request, keys: { ...request.keys, partition: options.partition } };
  }
  return { ...request, keys: request.keys ?? {} };
}

function toRefusedFiles(file: string, refusal: Refusal): RefusedFile[] {
  return (refusal.violations ?? [refusal.message]).map((reason) => {
    const line = /^line (\d+)/.exec(reason)?.[1];
    return { file, ...(line && { line: Number(line) }), reason };
  });
}

async function applyFiles(
  context: Context,
  transaction: WriteTransaction,
  run: { caller: Caller; parsed: ParsedFile[]; options: ImportOptions; summary: ImportSummary },
): Promise<void> {
  const { caller, parsed, options, summary } = run;
  const known = await transaction.partitions();
  if (options.partition !== undefined && !known.some(({ name }) => name === options.partition)) {
    await transaction.putPartition({ name: options.partition, grants: [], review: "nobody", fourEyes: false });
  }
  const access = await loadAccess(transaction, caller);
  for (const [index, { file, request }] of parsed.entries()) {
    const state = await loadWriteState(transaction, access, request.path);
    const { existing } = state;
    options.onProgress?.(parsed.length + index + 1, parsed.length * 2);
    if (existing && isUnchanged(existing, request)) {
      summary.same++;
      continue;
    }
    const decided = decideWrite(access, request, state);
    if (isRefusal(decided)) {
      summary.refused.push({ file, reason: decided.message });
      continue;
    }
    await applyWrite(context, transaction, { caller, path: request.path, decided, ...(existing && { existing }) });
    (existing ? summary.changed : summary.added).push(request.path);
  }
}

function isUnchanged(existing: PageVersion, { path, head, body, keys }: WriteRequest): boolean {
  const isInPlace = keys?.partition === undefined || keys.partition === existing.partition;
  return existing.path === path && existing.head === head && existing.body === body && isInPlace;
}
