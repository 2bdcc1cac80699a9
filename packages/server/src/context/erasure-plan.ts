import { linkedPaths } from "../domain/page-view.js";
import type { Decision, ErasureCounts, PageContent, PageVersion, Revision } from "../domain/records.js";
import { erasureStores } from "../domain/records.js";
import { foldSubject, holdsPhrase, textsIn, valueHoldsPhrase, withoutPhrase } from "../domain/subject.js";
import { indexText } from "../retrieval/index-text.js";
import type { AccessOptions, ProfileChange, ReadTransaction, Store, StoredPage } from "../store/store.js";
import type { Context } from "./context.js";
import { verifyDocument } from "./profile.js";
import { planRedaction, type RedactionPlan } from "./redaction-plan.js";

/** What is to go (pcp section 10). */
export type ErasureSelector =
  | { kind: "subject"; subject: string }
  | { kind: "paths"; paths: string[] }
  | { kind: "ids"; ids: string[] };

export interface ErasureRequest {
  selector: ErasureSelector;
  /** Also pages derived from those that go. */
  includeDerived: boolean;
}

/** One page, proposal or document that goes, whole or in part. */
export interface ErasureItem {
  what: "page" | "derived page" | "versions" | "proposal" | "profile";
  /** A path, or the namespace of a document. */
  name: string;
  id?: string;
  /** How many versions of it go. */
  versions?: number;
}

export interface ErasurePlan {
  items: ErasureItem[];
  pages: StoredPage[];
  /** Versions of pages that stay. */
  versions: string[];
  revisions: string[];
  profiles: ProfileRewrite[];
  answers: Uint8Array[];
  redaction: RedactionPlan;
  counts: ErasureCounts;
  /** Pages that stay and name a path that goes. */
  remainingMentions: number;
  /** Everything that goes, as text, and its words as they are indexed. */
  texts: string[];
  words: string[];
}

const batch = 200;

/** Reads everything there is and decides what goes. Nothing is changed; a batch of pages is one transaction. */
export async function planErasure(
  context: Pick<Context, "documents"> & { store: Pick<Store, "read"> },
  request: ErasureRequest,
  options: AccessOptions = {},
): Promise<ErasurePlan> {
  const read = <T>(use: (transaction: ReadTransaction) => Promise<T>) => context.store.read(use, options);
  const match = buildMatch(request.selector);
  const found = new Findings();
  await eachPage(read, async (page, versions) => found.addPage(page, versions, match));
  if (request.includeDerived) found.addDerived();
  found.addVersions();
  await eachRevision(read, async (revision) => found.addRevision(revision, { match, ...request }));
  const profiles = match.phrase === undefined ? [] : await planProfiles(context, read, match.phrase);
  const profileTexts = profiles.flatMap(({ before }) => before);
  const answers = await planAnswers(read, found, match);
  const documents = profiles.map(({ namespace }) => namespace);
  const redaction = await planRedaction(read, { ...found.names(), documents, phrase: match.phrase });
  const remainingMentions = match.phrase === undefined ? await countMentions(read, found) : 0;
  return found.toPlan({ profiles, profileTexts, answers, redaction, remainingMentions });
}

interface Match {
  phrase?: string;
  page(page: StoredPage): boolean;
  content(content: PageContent & { review?: { note?: string } }): boolean;
  revision(revision: Revision): boolean;
  version(id: string): boolean;
}

const never = () => false;

function buildMatch(selector: ErasureSelector): Match {
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
  const content = ({ head, body, keys, review }: Parameters<Match["content"]>[0]) =>
    holdsPhrase(`${head}\n${body}`, phrase) || valueHoldsPhrase([keys, review?.note ?? ""], phrase);
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

type Read = <T>(use: (transaction: ReadTransaction) => Promise<T>) => Promise<T>;
type AnyVersion = PageVersion & { removed: boolean };

async function eachPage(read: Read, visit: (page: StoredPage, versions: AnyVersion[]) => Promise<void>): Promise<void> {
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

async function eachRevision(read: Read, visit: (revision: Revision) => Promise<void>): Promise<void> {
  for (let after = 0; ; ) {
    const revisions = await read((transaction) => transaction.storedRevisions({ after, limit: batch }));
    for (const revision of revisions) await visit(revision);
    if (revisions.length < batch) return;
    after = revisions.at(-1)?.num ?? after;
  }
}

/** The content of a version or a proposal. */
interface ErasedContent extends PageContent {
  path: string;
  ids: string[];
  review?: Decision;
  decision?: Decision;
}

/** What was found to go, while everything is read once. */
class Findings {
  private readonly items: ErasureItem[] = [];
  private readonly pages = new Map<string, StoredPage>();
  /** Pages that stay without some of their versions. */
  private readonly partial = new Map<string, { page: StoredPage; versions: AnyVersion[] }>();
  private readonly versions: string[] = [];
  private readonly revisions: Revision[] = [];
  private readonly derivers: { page: StoredPage; versions: AnyVersion[]; from: string[] }[] = [];
  private readonly counts = Object.fromEntries(erasureStores.map((name) => [name, 0])) as ErasureCounts;
  private readonly erasedContents: ErasedContent[] = [];

  addPage(page: StoredPage, versions: AnyVersion[], match: Match): void {
    const contents = versions.filter(({ removed }) => !removed);
    const last = contents.at(-1);
    if (match.page(page) || (last && match.content(last))) {
      this.takePage(page, versions, "page");
      return;
    }
    const earlier = contents.filter(
      (one) => (match.content(one) || match.version(one.version)) && one !== versions.at(-1),
    );
    if (earlier.length > 0 && earlier.length === contents.length) {
      this.takePage(page, versions, "page"); // A removed page of which nothing but its title would stay.
      return;
    }
    if (earlier.length > 0) this.partial.set(page.id, { page, versions: earlier });
    const from = last?.keys.derived_from ?? [];
    if (from.length > 0) this.derivers.push({ page, versions, from });
  }

  private takePage(page: StoredPage, versions: AnyVersion[], what: "page" | "derived page"): void {
    this.pages.set(page.id, page);
    this.partial.delete(page.id);
    this.items.push({ what, name: page.path, id: page.id, versions: versions.length });
    this.counts[what === "page" ? "pages" : "derived"]++;
    this.counts.versions += versions.length;
    if (page.isLive) this.counts.index++;
    for (const one of versions) this.erasedContents.push({ ...one, path: page.path, ids: [page.id, one.version] });
  }

  /** Of the pages that stay. */
  addVersions(): void {
    for (const { page, versions } of this.partial.values()) {
      this.items.push({ what: "versions", name: page.path, id: page.id, versions: versions.length });
      this.counts.versions += versions.length;
      this.versions.push(...versions.map(({ version }) => version));
      for (const one of versions) this.erasedContents.push({ ...one, path: "", ids: [one.version] });
    }
  }

  /** Pages made from pages that go, and pages made from those. */
  addDerived(): void {
    const paths = this.paths();
    for (let before = -1; before !== paths.size; ) {
      before = paths.size;
      for (const { page, versions, from } of this.derivers) {
        if (this.pages.has(page.id) || !from.some((path) => paths.has(path))) continue;
        this.takePage(page, versions, "derived page");
        paths.add(page.path);
      }
    }
  }

  addRevision(revision: Revision, { match, includeDerived }: { match: Match; includeDerived: boolean }): void {
    const paths = this.paths();
    const isDerived = includeDerived && revision.keys.derived_from?.some((path) => paths.has(path));
    if (!match.revision(revision) && !paths.has(revision.path) && !isDerived) return;
    this.revisions.push(revision);
    this.items.push({ what: "proposal", name: revision.path, id: revision.id });
    this.counts.proposals++;
    this.erasedContents.push({ ...revision, body: `${revision.body}\n${revision.note ?? ""}`, ids: [revision.id] });
  }

  private erasedPaths: Set<string> | undefined;
  paths(): Set<string> {
    if (this.erasedPaths?.size !== this.pages.size)
      this.erasedPaths = new Set([...this.pages.values()].map(({ path }) => path));
    return this.erasedPaths;
  }

  /** Everything that calls may have named it by. */
  names(): { paths: Set<string>; ids: Set<string> } {
    const revised = this.revisions.map(({ path }) => path);
    return {
      paths: new Set([...this.paths(), ...revised]),
      ids: new Set(this.erasedContents.flatMap(({ ids }) => ids)),
    };
  }

  isTaken({ id }: StoredPage): boolean {
    return this.pages.has(id);
  }

  toPlan(
    more: Pick<ErasurePlan, "profiles" | "answers" | "redaction" | "remainingMentions"> & { profileTexts: string[] },
  ): ErasurePlan {
    const { profileTexts, ...rest } = more;
    const { profiles, answers, redaction } = rest;
    const contents = this.erasedContents;
    return {
      ...rest,
      items: [...this.items, ...profiles.map(({ namespace: name }): ErasureItem => ({ what: "profile", name }))],
      pages: [...this.pages.values()],
      versions: this.versions,
      revisions: this.revisions.map(({ id }) => id),
      counts: {
        ...this.counts,
        profile: profiles.length,
        stored_results: answers.length,
        envelopes: redaction.envelopes,
        audit_details: redaction.auditDetails,
      },
      texts: [
        ...contents.flatMap(({ head, body, keys, path, ids }) => [head, body, ...textsIn(keys), path, ...ids]),
        ...contents.flatMap(({ review, decision }) => [review?.note ?? [], decision?.note ?? []].flat()),
        ...profileTexts,
      ],
      words: contents.flatMap((one) => Object.values(indexText(one)).flatMap((words) => words.split(" "))),
    };
  }
}

interface ProfileRewrite {
  namespace: string;
  changes: ProfileChange[];
  /** The texts of the documents that change. */
  before: string[];
}

/** The history of each document without what holds the phrase. Where the document can't be without it, all of it goes. */
async function planProfiles(
  { documents }: Pick<Context, "documents">,
  read: Read,
  phrase: string,
): Promise<ProfileRewrite[]> {
  return read(async (transaction) => {
    const rewrites: ProfileRewrite[] = [];
    for (const { namespace } of await transaction.profiles()) {
      const registered = await transaction.extensionSchema(namespace);
      const before: string[] = [];
      const kept = (await transaction.profileChanges(namespace)).flatMap((change) => {
        const document = documents.open(namespace, change.document);
        if (!valueHoldsPhrase([document, change.changed], phrase)) return [change];
        before.push(...textsIn(document));
        const rest = (withoutPhrase(document, phrase) ?? {}) as Record<string, unknown>;
        if (verifyDocument(namespace, rest, registered)) return [];
        const changed = change.changed.filter((pointer) => !holdsPhrase(pointer, phrase));
        return [{ ...change, changed, document: documents.seal(namespace, rest) }];
      });
      if (before.length === 0) continue;
      const isWhole = kept.at(-1)?.at !== (await transaction.profile(namespace))?.updated;
      rewrites.push({ namespace, changes: isWhole ? [] : kept, before });
    }
    return rewrites;
  });
}

async function planAnswers(read: Read, found: Findings, { phrase }: Match): Promise<Uint8Array[]> {
  const paths = found.paths(); // Answers about a proposal name it by its id.
  const { ids } = found.names();
  const answers: Uint8Array[] = [];
  for (let after = 0; ; ) {
    const some = await read((transaction) => transaction.storedAnswers({ after, limit: batch }));
    for (const { id, currentRevision = "", needs, result = "" } of some) {
      const isNamed = needs?.page !== undefined && paths.has(needs.page.path);
      const holds = phrase !== undefined && holdsPhrase(result, phrase);
      if (isNamed || holds || ids.has(currentRevision) || [...ids].some((one) => result.includes(one)))
        answers.push(id);
    }
    if (some.length < batch) return answers;
    after = some.at(-1)?.num ?? after;
  }
}

/** Pages that stay and name the path of one that goes. */
async function countMentions(read: Read, found: Findings): Promise<number> {
  const paths = [...found.paths()];
  if (paths.length === 0) return 0;
  let mentions = 0;
  await eachPage(read, async (page, versions) => {
    const last = versions.findLast(({ removed }) => !removed);
    if (!last || found.isTaken(page)) return;
    const text = `${last.head}\n${last.body}\n${linkedPaths(last).join("\n")}`;
    if (paths.some((path) => text.includes(path))) mentions++;
  });
  return mentions;
}
