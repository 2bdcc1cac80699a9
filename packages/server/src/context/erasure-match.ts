import type { PageContent, Revision } from "../domain/records.js";
import { foldSubject, holdsPhrase, textsInKeys, valueHoldsPhrase, withoutOwnNames } from "../domain/subject.js";
import type { StoredPage } from "../store/store.js";

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
    valueHoldsPhrase([withoutOwnNames(head), body, textsInKeys(keys), review?.note ?? ""], phrase);
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
