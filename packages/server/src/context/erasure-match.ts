import type { PageContent, PageVersion, Revision } from "../domain/records.js";
import { foldSubject, holdsPhrase, textsInKeys, valueHoldsPhrase, withoutOwnNames } from "../domain/subject.js";
import type { ReadTransaction, StoredPage } from "../store/store.js";

/** What is to go (pcp section 10). */
export type ErasureSelector =
  | { kind: "subject"; subject: string }
  | { kind: "paths"; paths: string[] }
  | { kind: "ids"; ids: string[] };

export interface ErasureMatch {
  phrase?: string;
  page(page: StoredPage): boolean;
  content(content: PageContent & { review?: { note?: string } }): boolean;
  revision(revision: Revision): boolean;
  version(id: string): boolean;
}

const never = () => false;

export function buildMatch(selector: ErasureSelector): ErasureMatch {
  if (selector.kind === "paths") {
    const paths = new Set(selector.paths);
    const isNamed = ({ path }: { path: string }) => paths.has(path);
    return { page: isNamed, revision: isNamed, content: never, version: never };
  }
  if (selector.kind === "ids") {
    const ids = new Set(selector.ids);
    const isNamed = ({ id }: { id: string }) => ids.has(id);
    return { page: isNamed, revision: isNamed, content: never, version: (id) => ids.has(id) };
  }
  const phrase = foldSubject(selector.subject) ?? "";
  const content = ({ head, body, keys, review }: Parameters<ErasureMatch["content"]>[0]) =>
    holdsPhrase(`${withoutOwnNames(head)}\n${body}`, phrase) ||
    valueHoldsPhrase([textsInKeys(keys), review?.note ?? ""], phrase);
  return {
    phrase,
    content,
    page: ({ path }) => holdsPhrase(path, phrase),
    revision: (revision) =>
      content(revision) ||
      valueHoldsPhrase([revision.path, revision.note ?? "", revision.decision?.note ?? ""], phrase),
    version: never,
  };
}

export type Read = <T>(use: (transaction: ReadTransaction) => Promise<T>) => Promise<T>;
export type AnyVersion = PageVersion & { removed: boolean };

const batch = 200;

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
    await new Promise((resolve) => setImmediate(resolve));
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
