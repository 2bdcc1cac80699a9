import type { PageRecord, PageVersion } from "./records.js";

/** The frontmatter of `memory_read`: the client's keys as they count, then the server's own (pcp section 3). */
export function frontmatterView(version: PageVersion, hiddenLinks: ReadonlySet<string>): Record<string, unknown> {
  const { relations, derived_from, ...keys } = version.keys;
  const seenRelations = relations?.filter(({ target }) => !hiddenLinks.has(target));
  const seenSources = derived_from?.filter((from) => !hiddenLinks.has(from));
  return {
    ...keys,
    ...(relations && (seenRelations?.length || !relations.length) && { relations: seenRelations }),
    ...(derived_from && (seenSources?.length || !derived_from.length) && { derived_from: seenSources }),
    partition: version.partition,
    sensitivity: version.sensitivity,
    lifecycle: version.lifecycle,
    id: version.id,
    created: version.created,
    updated: version.updated,
    generated: version.generated,
  };
}

/** The paths a page points at. */
export function linkedPaths(version: Pick<PageVersion, "keys">): string[] {
  return [...(version.keys.relations?.map(({ target }) => target) ?? []), ...(version.keys.derived_from ?? [])];
}

/** `page_summary` of the tools schema. */
export function pageSummary(page: PageRecord): Record<string, unknown> {
  return {
    path: page.path,
    id: page.id,
    title: page.title,
    updated: page.updated,
    ...(page.type && { type: page.type }),
    partition: page.partition,
    sensitivity: page.sensitivity,
    lifecycle: page.lifecycle,
    ...(page.validFrom && { valid_from: page.validFrom }),
    ...(page.validUntil && { valid_until: page.validUntil }),
  };
}
