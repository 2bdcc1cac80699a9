import type { Decision, ErasureCounts, PageContent, Revision } from "../domain/records.js";
import { erasureStores } from "../domain/records.js";
import { textsIn } from "../domain/subject.js";
import { indexText } from "../retrieval/index-text.js";
import type { StoredPage } from "../store/store.js";
import type { ErasureMatch } from "./erasure-match.js";
import { PathHolders } from "./path-holders.js";
import type { AnyVersion } from "./stored-walks.js";

/** One page, proposal or document that goes, whole or in part. */
export interface ErasureItem {
  what: "page" | "derived page" | "versions" | "proposal" | "profile" | "export" | "export taken out";
  /** A path, or the namespace of a document. */
  name: string;
  id?: string;
  /** How many versions of it go. */
  versions?: number;
}

/** The content of a version or a proposal. */
interface ErasedContent extends PageContent {
  path: string;
  ids: string[];
  review?: Decision;
  decision?: Decision;
}

/** What was found to go, while everything is read once. */
export class Findings {
  readonly items: ErasureItem[] = [];
  readonly pages = new Map<string, StoredPage>();
  /** Of pages that stay. */
  readonly versions: string[] = [];
  readonly revisions: Revision[] = [];
  readonly counts = Object.fromEntries(erasureStores.map((name) => [name, 0])) as ErasureCounts;
  private readonly holders = new PathHolders();
  /** Pages that stay without some of their versions. */
  private readonly partial = new Map<string, { page: StoredPage; versions: AnyVersion[] }>();
  private readonly derivers: { page: StoredPage; versions: AnyVersion[] }[] = [];
  private readonly erasedContents: ErasedContent[] = [];
  private readonly keptRevisionPaths = new Set<string>();
  /** The versions that approvals made, by decision. */
  private readonly approvals = new Map<string, string>();

  addPage(page: StoredPage, versions: AnyVersion[], match: ErasureMatch): void {
    this.holders.add(page, versions);
    for (const { review, version } of versions) if (review) this.approvals.set(review.id, version);
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
    if (last?.keys.derived_from?.length) this.derivers.push({ page, versions });
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
    for (let before = -1; before !== this.pages.size; ) {
      before = this.pages.size;
      for (const { page, versions } of this.derivers)
        if (!this.pages.has(page.id) && this.isMadeFromErased(versions.filter(({ removed }) => !removed)))
          this.takePage(page, versions, "derived page");
    }
  }

  /** Whether its present text names a path that an erased page had when a version of it named it. */
  private isMadeFromErased(versions: AnyVersion[]): boolean {
    const sources = versions.at(-1)?.keys.derived_from ?? [];
    return sources.some((path) =>
      versions.some(
        ({ keys, updated }) => keys.derived_from?.includes(path) && this.holders.isErasedAt(path, updated, this.pages),
      ),
    );
  }

  addRevision(revision: Revision, { match, includeDerived }: { match: ErasureMatch; includeDerived: boolean }): void {
    const { path, keys, generated } = revision;
    const isBound = (named: string) => this.holders.isErasedAt(named, generated.at, this.pages);
    const isDerived = includeDerived && keys.derived_from?.some(isBound);
    if (!match.revision(revision) && !isBound(path) && !isDerived && !this.madeErasedVersion(revision)) {
      this.keptRevisionPaths.add(path);
      return;
    }
    this.revisions.push(revision);
    this.items.push({ what: "proposal", name: path, id: revision.id });
    this.counts.proposals++;
    this.erasedContents.push({ ...revision, body: `${revision.body}\n${revision.note ?? ""}`, ids: [revision.id] });
  }

  private erasedVersionIds: Set<string> | undefined;

  /** An approved revision is a copy of the version that its approval made. */
  private madeErasedVersion({ state, decision }: Revision): boolean {
    if (state !== "approved" || !decision) return false;
    this.erasedVersionIds ??= new Set(this.erasedContents.flatMap(({ ids }) => ids));
    return this.erasedVersionIds.has(this.approvals.get(decision.id) ?? "");
  }

  isTaken({ id }: StoredPage): boolean {
    return this.pages.has(id);
  }

  /** What archives that hold something of it have it under: pages, whole or in part, and proposals, by id. */
  archived(): Set<string> {
    return new Set([...this.pages.keys(), ...this.partial.keys(), ...this.revisions.map(({ id }) => id)]);
  }

  /** Paths of pages that go and that no page which stays has. */
  paths(): Set<string> {
    const paths = [...this.pages.values()].map(({ path }) => path);
    return new Set(paths.filter((path) => !this.holders.isKept(path, this.pages)));
  }

  /** Pages with one path of which some go and some stay. */
  contested(): StoredPage[] {
    const paths = new Set([...this.pages.values()].map(({ path }) => path));
    return [...paths].flatMap((path) => (this.holders.isKept(path, this.pages) ? this.holders.pagesAt(path) : []));
  }

  /** Everything that calls may have named it by. What stays has its path still; a proposal that goes is named by its id there. */
  names(): { paths: Set<string>; ids: Set<string> } {
    const paths = this.paths();
    for (const { path } of this.revisions)
      if (!this.holders.isKept(path, this.pages) && !this.keptRevisionPaths.has(path)) paths.add(path);
    return { paths, ids: new Set(this.erasedContents.flatMap(({ ids }) => ids)) };
  }

  /** Everything that goes, as text, and its words as they are indexed. */
  texts(): { texts: string[]; words: string[] } {
    const contents = this.erasedContents;
    return {
      texts: [
        ...contents.flatMap(({ head, body, keys, path, ids }) => [head, body, ...textsIn(keys), path, ...ids]),
        ...contents.flatMap(({ review, decision }) => [review?.note ?? [], decision?.note ?? []].flat()),
      ],
      words: contents.flatMap((one) => Object.values(indexText(one)).flatMap((words) => words.split(" "))),
    };
  }
}
