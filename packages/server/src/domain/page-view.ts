import type { Decision, PageContent, PageRecord, PageVersion, Revision } from "./records.js";

/** The frontmatter of `memory_read`: the client's keys as they count, then the server's own (pcp section 3). */
export function frontmatterView(version: PageVersion, hiddenLinks: ReadonlySet<string>): Record<string, unknown> {
  return {
    ...keysView(version, hiddenLinks),
    partition: version.partition,
    sensitivity: version.sensitivity,
    lifecycle: version.lifecycle,
    id: version.id,
    created: version.created,
    updated: version.updated,
    generated: version.generated,
    ...(version.review && { review: reviewView("approved", version.review) }),
  };
}

/** The frontmatter of a revision: what it proposes, and how its review stands. */
export function revisionFrontmatter(revision: Revision, hiddenLinks: ReadonlySet<string>): Record<string, unknown> {
  return {
    ...keysView(revision, hiddenLinks),
    partition: revision.partition,
    sensitivity: revision.sensitivity,
    updated: revision.generated.at,
    generated: revision.generated,
    review: reviewView(revision.state, revision.decision),
  };
}

export function reviewView(state: string, decision: Decision | undefined): Record<string, unknown> {
  if (!decision) return { state };
  const { by, note } = decision;
  return { state, by: by.principal, at: by.at, ...(note !== undefined && { note }) };
}

/** The client's keys as they count, without links that stay hidden. */
export function keysView(
  { keys: all }: Pick<PageContent, "keys">,
  hiddenLinks: ReadonlySet<string>,
): Record<string, unknown> {
  const { relations, derived_from, ...keys } = all;
  const seenRelations = relations?.filter(({ target }) => !hiddenLinks.has(target));
  const seenSources = derived_from?.filter((from) => !hiddenLinks.has(from));
  return {
    ...keys,
    ...(relations && (seenRelations?.length || !relations.length) && { relations: seenRelations }),
    ...(derived_from && (seenSources?.length || !derived_from.length) && { derived_from: seenSources }),
  };
}

/** The paths a page points at. */
export function linkedPaths({ keys }: Pick<PageContent, "keys">): string[] {
  return [...(keys.relations?.map(({ target }) => target) ?? []), ...(keys.derived_from ?? [])];
}

/** `page_summary` of the tools schema; of a revision without `id` when the caller sees no page there. */
export function pageSummary(page: PageRecord, revision?: Revision): Record<string, unknown> {
  const reviewState = revision?.state ?? (page.approved && "approved");
  return {
    path: page.path,
    ...(page.id !== "" && { id: page.id }),
    title: page.title,
    updated: page.updated,
    ...(page.type && { type: page.type }),
    partition: page.partition,
    sensitivity: page.sensitivity,
    lifecycle: page.lifecycle,
    ...(reviewState && { review_state: reviewState }),
    ...(page.validFrom && { valid_from: page.validFrom }),
    ...(page.validUntil && { valid_until: page.validUntil }),
    ...(revision && { revision: revision.id }),
  };
}
