import type { StoredPage } from "../store/store.js";
import type { AnyVersion } from "./stored-walks.js";

interface Holder {
  page: StoredPage;
  /** When the page was live: from, and until before. */
  spans: [from: string, until: string][];
}

const forEver = "9999";

/** Which pages had a path, and when: a path is free again once its page is removed. */
export class PathHolders {
  private readonly holders = new Map<string, Holder[]>();

  add(page: StoredPage, versions: AnyVersion[]): void {
    const holder = { page, spans: spansOf(versions) };
    const known = this.holders.get(page.path);
    if (known) known.push(holder);
    else this.holders.set(page.path, [holder]);
  }

  pagesAt(path: string): StoredPage[] {
    return (this.holders.get(path) ?? []).map(({ page }) => page);
  }

  /** Whether a page that stays has or had the path. */
  isKept(path: string, erased: ReadonlyMap<string, unknown>): boolean {
    return this.holders.get(path)?.some(({ page }) => !erased.has(page.id)) ?? false;
  }

  /** Whether what named the path at a time meant an erased page: it had the path then, or no page that stays ever had it. */
  isErasedAt(path: string, at: string, erased: ReadonlyMap<string, unknown>): boolean {
    const holders = this.holders.get(path) ?? [];
    const gone = holders.filter(({ page }) => erased.has(page.id));
    if (gone.length === holders.length) return gone.length > 0;
    return gone.some(({ spans }) => spans.some(([from, until]) => from <= at && at < until));
  }
}

/** From the page's creation, whichever of its versions are left. */
function spansOf(versions: AnyVersion[]): Holder["spans"] {
  const spans: Holder["spans"] = [];
  let from = versions[0]?.created;
  for (const { updated, removed } of versions) {
    if (removed && from !== undefined) spans.push([from, updated]);
    from = removed ? undefined : (from ?? updated);
  }
  return from === undefined ? spans : [...spans, [from, forEver]];
}
