import { fstatSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { holdsPhrase } from "../domain/subject.js";
import type { Store } from "../store/store.js";
import { answerTexts, callTexts, holdsPhraseInAny } from "./called-texts.js";
import { ErasedText } from "./erased-text.js";
import { erasureJobFile } from "./erasure-job.js";
import { idForm } from "./redaction-plan.js";
import { eachAnswer, eachEntry, type Read } from "./stored-walks.js";

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

/** In our files whatever pages say: a page that says it too leaves no trace there. */
const ownWords = ["SQLite format 3", "PRIVATE+KEY+satchel/", '{"targets":[]}'];

/** Members of kept answers that come from pages and documents; `text` is the whole answer once more. */
const copiedMembers: ReadonlySet<string> = new Set(["path", "changed", "text"]);

const chunkBytes = 4 * 1024 * 1024;

/** Looks into every file of the context for what was erased and no surviving text holds (pcp section 10). */
export async function scanResidue({ store, folder, erased: parts, phrase }: ScanRequest): Promise<Residue> {
  const erased = new ErasedText(parts);
  const read: Read = (use) => store.read(use, { isErasing: true });
  let isHeld = false;
  await read(async (transaction) => {
    for (const { kind, text } of transaction.storedTexts()) {
      if (kind === "content") isHeld ||= phrase !== undefined && holdsPhrase(text, phrase);
      erased.survive(Buffer.from(kind === "copy" ? ownWordsOf(text) : text));
    }
    isHeld ||= await isHeldInAnswers((use) => use(transaction), phrase);
  });
  for (const text of ownWords) erased.survive(Buffer.from(text));
  await eachEntry(read, ({ openings: [first] }) => erased.survive(Buffer.from(first?.body.replace(idForm, "") ?? "")));
  const traced = isHeld ? ["context.db"] : [];
  if (await isTracedInJournal(read, { erased, phrase })) traced.push("journal");
  const files = listFiles(folder);
  for (const name of files) {
    if (isTracedInFile(join(folder, name), erased)) traced.push(name);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { filesScanned: files.length, traced: [...new Set(traced)] };
}

/** A copy of what was erased is no reason to keep it: only our own words of an answer stay for themselves. */
function ownWordsOf(copy: string): string {
  if (!copy.startsWith("{")) return "";
  const own = JSON.stringify(JSON.parse(copy), (name, value) => (copiedMembers.has(name) ? "" : value));
  return own.replace(idForm, "");
}

async function isHeldInAnswers(read: Read, phrase: string | undefined): Promise<boolean> {
  if (phrase === undefined) return false;
  let isHeld = false;
  await eachAnswer(read, (answer) => {
    isHeld ||= holdsPhraseInAny(answerTexts(answer), phrase);
  });
  return isHeld;
}

/** Bodies are stored compressed, so they are read through the journal. */
async function isTracedInJournal(
  read: Read,
  { erased, phrase }: { erased: ErasedText; phrase: string | undefined },
): Promise<boolean> {
  let isTraced = false;
  await eachEntry(read, (entry) => {
    isTraced ||= phrase !== undefined && holdsPhraseInAny(callTexts(entry), phrase);
    for (const opening of entry.openings)
      isTraced ||= opening !== undefined && erased.isTracedIn(Buffer.from(opening.body));
  });
  return isTraced;
}

function listFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith(erasureJobFile))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

function isTracedInFile(file: string, erased: ErasedText): boolean {
  const bytes = Buffer.alloc(chunkBytes);
  const descriptor = openForGood(file);
  if (descriptor === undefined) return false;
  let kept = 0;
  for (let position = 0; ; ) {
    const read = readSync(descriptor, bytes, kept, chunkBytes - kept, position);
    if (read === 0) return false;
    position += read;
    const chunk = bytes.subarray(0, kept + read);
    if (erased.isTracedIn(chunk)) return true;
    kept = Math.min(chunk.length, ErasedText.overlapBytes);
    chunk.copyWithin(0, chunk.length - kept);
  }
}

/** By device and inode, which a file keeps while it is open. */
const opened = new Map<string, number>();

/**
 * A file once opened here is never closed: with any descriptor of a file that is closed, POSIX drops every lock that the
 * process holds on the file, and SQLite's are what keeps other processes from using the database as if it were theirs
 * alone. @returns undefined when the file is gone
 */
function openForGood(file: string): number | undefined {
  const there = statSync(file, { throwIfNoEntry: false });
  const known = there && opened.get(`${there.dev}:${there.ino}`);
  if (!there || known !== undefined) return known;
  try {
    const descriptor = openSync(file, "r");
    const { dev, ino } = fstatSync(descriptor);
    opened.set(`${dev}:${ino}`, descriptor);
    return descriptor;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
