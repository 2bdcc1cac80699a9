import type { StoredEntry } from "@satchel/journal";
import type { PageVersion, Revision } from "../domain/records.js";
import type { ReadTransaction, StoredAnswer, StoredPage } from "../store/store.js";

export type Read = <T>(use: (transaction: ReadTransaction) => Promise<T>) => Promise<T>;
export type AnyVersion = PageVersion & { removed: boolean };

const batch = 200;
const entryBatch = 1000;

/** A batch of pages is one transaction. */
export async function eachPage(
  read: Read,
  visit: (page: StoredPage, versions: AnyVersion[]) => Promise<void>,
): Promise<void> {
  for (let after = 0; ; ) {
    const pages = await read(async (transaction) => {
      const found = await transaction.storedPages({ after, limit: batch });
      for (const page of found) await visit(page, await transaction.versions(page.id));
      return found;
    });
    if (pages.length < batch) return;
    after = pages.at(-1)?.num ?? after;
    await letOthersRun();
  }
}

export async function eachRevision(read: Read, visit: (revision: Revision) => Promise<void>): Promise<void> {
  for (let after = 0; ; ) {
    const revisions = await read((transaction) => transaction.storedRevisions({ after, limit: batch }));
    for (const revision of revisions) await visit(revision);
    if (revisions.length < batch) return;
    after = revisions.at(-1)?.num ?? after;
  }
}

/** Answers that are kept for a repeated call. */
export async function eachAnswer(read: Read, visit: (answer: StoredAnswer) => void): Promise<void> {
  for (let after = 0; ; ) {
    const answers = await read((transaction) => transaction.storedAnswers({ after, limit: batch }));
    for (const answer of answers) visit(answer);
    if (answers.length < batch) return;
    after = answers.at(-1)?.num ?? after;
  }
}

/** Of the journal, in the order of `seq`. */
export async function eachEntry(read: Read, visit: (entry: StoredEntry) => void): Promise<void> {
  for (let from = 0; ; from += entryBatch) {
    const entries = await read(({ journal }) => journal.entries({ from, limit: entryBatch }));
    for (const entry of entries) visit(entry);
    if (entries.length < entryBatch) return;
    await letOthersRun();
  }
}

function letOthersRun(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
