import { closeSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";
import { holdsPhrase } from "../domain/subject.js";
import type { Store } from "../store/store.js";
import { ErasedText } from "./erased-text.js";
import { erasureJobFile } from "./erasure-job.js";

export interface Residue {
  filesScanned: number;
  /** Files that still hold what was erased, relative to the context's folder; `journal` stands for its bodies. */
  traced: string[];
}

export interface ScanRequest {
  store: Store;
  /** Of the context. */
  folder: string;
  erased: { texts: string[]; words: string[] };
  /** Of an erasure by subject. */
  phrase?: string | undefined;
}

const chunkBytes = 4 * 1024 * 1024;
const batch = 1000;

/** Looks into every file of the context for what was erased and no surviving text holds (pcp section 10). */
export async function scanResidue({ store, folder, erased: parts, phrase }: ScanRequest): Promise<Residue> {
  const erased = new ErasedText(parts);
  const options = { isErasing: true };
  let isHeld = false;
  await store.read(async (transaction) => {
    for (const text of transaction.storedTexts()) {
      isHeld ||= phrase !== undefined && holdsPhrase(text, phrase);
      erased.survive(Buffer.from(text));
    }
  }, options);
  const traced = isHeld ? ["context.db"] : [];
  if (await isTracedInJournal(store, { erased, phrase })) traced.push("journal");
  const files = listFiles(folder);
  for (const name of files) {
    if (isTracedInFile(join(folder, name), erased)) traced.push(name);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { filesScanned: files.length, traced: [...new Set(traced)] };
}

/** Bodies are stored compressed, so they are read through the journal. */
async function isTracedInJournal(
  store: Store,
  { erased, phrase }: { erased: ErasedText; phrase: string | undefined },
): Promise<boolean> {
  for (let from = 0; ; from += batch) {
    const entries = await store.read(({ journal }) => journal.entries({ from, limit: batch }), { isErasing: true });
    for (const { openings } of entries) {
      for (const opening of openings) {
        if (!opening) continue;
        if (erased.isTracedIn(Buffer.from(opening.body))) return true;
        if (phrase !== undefined && holdsPhrase(opening.body, phrase)) return true;
      }
    }
    if (entries.length < batch) return false;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function listFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith(erasureJobFile))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

function isTracedInFile(file: string, erased: ErasedText): boolean {
  const bytes = Buffer.alloc(chunkBytes);
  const descriptor = openSync(file, "r");
  try {
    let kept = 0;
    for (;;) {
      const read = readSync(descriptor, bytes, kept, chunkBytes - kept, null);
      if (read === 0) return false;
      const chunk = bytes.subarray(0, kept + read);
      if (erased.isTracedIn(chunk)) return true;
      kept = Math.min(chunk.length, ErasedText.overlapBytes);
      chunk.copyWithin(0, chunk.length - kept);
    }
  } finally {
    closeSync(descriptor);
  }
}
