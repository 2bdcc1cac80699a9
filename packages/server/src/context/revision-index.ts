import { twinKey } from "@satchel/pcp";
import { type Access, includesPart, readableParts } from "../domain/access.js";
import type { PageRecord, Revision, RevisionState } from "../domain/records.js";
import { createCollection } from "../retrieval/collection.js";
import { indexText } from "../retrieval/index-text.js";
import type { WordIndex } from "../retrieval/retriever.js";
import type { ReadTransaction } from "../store/store.js";
import { visibleRevisions } from "./list-revisions.js";

/** The revisions a caller may see, as an index beside that of the pages. */
export async function indexRevisions(
  transaction: ReadTransaction,
  access: Access,
  query: { states: RevisionState[]; partitions?: string[] | undefined },
): Promise<WordIndex> {
  const revisions = await transaction.revisions(visibleRevisions(access, query.states));
  const asked = revisions.filter(({ partition }) => !query.partitions || query.partitions.includes(partition));
  return createCollection(
    asked.map((revision) => ({
      page: asRecord(revision, revision.id),
      words: indexText(revision),
      tags: revision.keys.tags ?? [],
      supersedes: [],
    })),
    { anywhere: true },
  );
}

/** A revision in the form of the page it would become. `id` is the page's where the caller sees one there. */
export async function revisionRecord(
  transaction: ReadTransaction,
  access: Access,
  revision: Revision,
): Promise<{ record: PageRecord; hasPage: boolean }> {
  const page = await transaction.page({ twinKey: twinKey(revision.path) });
  const isSeen = page !== undefined && includesPart(readableParts(access), page);
  return { record: asRecord(revision, isSeen ? page.id : ""), hasPage: isSeen };
}

function asRecord(revision: Revision, id: string): PageRecord {
  const { title, type, lifecycle = "active", valid_from, valid_until } = revision.keys;
  return {
    num: -revision.num,
    id,
    path: revision.path,
    version: revision.id,
    title,
    lifecycle,
    ...(type && { type }),
    ...(valid_from && { validFrom: valid_from }),
    ...(valid_until && { validUntil: valid_until }),
    created: revision.generated.at,
    updated: revision.generated.at,
    partition: revision.partition,
    sensitivity: revision.sensitivity,
  };
}
