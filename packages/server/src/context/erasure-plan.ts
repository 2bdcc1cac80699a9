import { digestOf } from "@satchel/prp";
import { linkedPaths } from "../domain/page-view.js";
import type { Attachment, ErasureCounts } from "../domain/records.js";
import type { AccessOptions, Store, StoredPage } from "../store/store.js";
import { answerTexts, holdsPhraseInAny } from "./called-texts.js";
import type { Context } from "./context.js";
import { type ExportPlan, planAttachments, planExports } from "./erasure-exports.js";
import { type ErasureItem, Findings } from "./erasure-findings.js";
import { buildMatch, type ErasureMatch, type ErasureSelector } from "./erasure-match.js";
import { type ProfilePlan, type ProfileRewrite, planProfiles } from "./erasure-profiles.js";
import { planRedaction, type RedactionPlan } from "./redaction-plan.js";
import { eachAnswer, eachPage, eachRevision, type Read } from "./stored-walks.js";

export type { ErasureItem } from "./erasure-findings.js";
export type { ErasureSelector } from "./erasure-match.js";

export interface ErasureRequest {
  selector: ErasureSelector;
  /** Also pages derived from those that go. */
  includeDerived: boolean;
}

export interface ErasurePlan {
  items: ErasureItem[];
  pages: StoredPage[];
  /** Versions of pages that stay. */
  versions: string[];
  revisions: string[];
  profiles: ProfileRewrite[];
  answers: Uint8Array[];
  /** Archives, by id. */
  exports: string[];
  /** As they are to be afterwards. */
  attachments: Attachment[];
  redaction: RedactionPlan;
  counts: ErasureCounts;
  /** Pages that stay and name a path that goes; by subject, sealed documents that can't be opened. */
  remainingMentions: number;
  /** Everything that goes, as text, and its words as they are indexed. */
  texts: string[];
  words: string[];
}

/** Reads everything there is and decides what goes. Nothing is changed; a batch of pages is one transaction. */
export async function planErasure(
  context: Pick<Context, "documents"> & { store: Pick<Store, "read"> },
  request: ErasureRequest,
  options: AccessOptions = {},
): Promise<ErasurePlan> {
  const read: Read = (use) => context.store.read(use, options);
  const match = buildMatch(request.selector);
  const { phrase } = match;
  const found = new Findings();
  await eachPage(read, async (page, versions) => found.addPage(page, versions, match));
  if (request.includeDerived) found.addDerived();
  found.addVersions();
  await eachRevision(read, async (revision) => found.addRevision(revision, { match, ...request }));
  const profiles: ProfilePlan =
    phrase === undefined ? { rewrites: [], unreadable: 0 } : await planProfiles(context, read, phrase);
  const documents = profiles.rewrites.map(({ namespace }) => namespace);
  const names = found.names();
  const guessed = digestsNaming(names.paths, found.pages.keys());
  const holders = await readHolders(read, found);
  const calls = { ...names, documents, phrase, guessed, holders };
  const archived = new Set([...found.archived(), ...documents]);
  const named = await planRedaction(read, calls);
  const exports = await planExports(read, { archived, audited: firstDetail(named) });
  // A call that made such an archive returned what goes.
  const paths = new Set([...names.paths, ...exports.ids]);
  const redaction = exports.ids.length === 0 ? named : await planRedaction(read, { ...calls, paths });
  const answers = await planAnswers(read, found, { match, exports: exports.ids });
  const attachments = await planAttachments(read, { ...names, phrase });
  const remainingMentions = phrase === undefined ? await countMentions(read, found) : profiles.unreadable;
  return toPlan(found, { profiles: profiles.rewrites, answers, exports, attachments, redaction, remainingMentions });
}

function firstDetail({ entries }: RedactionPlan): number {
  const details = entries.filter(({ slots }) => slots.includes(1));
  return details.reduce((first, { seq }) => Math.min(first, seq), Number.POSITIVE_INFINITY);
}

function toPlan(
  found: Findings,
  more: Pick<ErasurePlan, "profiles" | "answers" | "redaction" | "remainingMentions"> & {
    exports: ExportPlan;
    attachments: { changed: Attachment[]; details: number };
  },
): ErasurePlan {
  const { profiles, answers, redaction, exports, attachments } = more;
  const { texts, words } = found.texts();
  const documents = profiles.map(({ namespace: name }): ErasureItem => ({ what: "profile", name }));
  return {
    ...more,
    items: [...found.items, ...documents, ...exports.items],
    exports: exports.ids,
    attachments: attachments.changed,
    pages: [...found.pages.values()],
    versions: found.versions,
    revisions: found.revisions.map(({ id }) => id),
    counts: {
      ...found.counts,
      profile: profiles.length,
      stored_results: answers.length,
      envelopes: redaction.envelopes,
      audit_details: redaction.auditDetails + attachments.details,
      exports: exports.files,
    },
    texts: [...texts, ...profiles.flatMap(({ before }) => before)],
    words,
  };
}

/** Of the arguments of a call that named nothing but the page: what is left of one that was refused. */
function digestsNaming(paths: Iterable<string>, ids: Iterable<string>): Set<string> {
  const named = [...[...paths].map((path) => ({ path })), ...[...ids].map((id) => ({ id }))];
  return new Set(named.map((args) => digestOf(args)));
}

/** Of paths that erased pages and others had, in turns: whose the ids are that calls named them by. */
async function readHolders(read: Read, found: Findings): Promise<Map<string, { path: string; isErased: boolean }>> {
  const holders = new Map<string, { path: string; isErased: boolean }>();
  for (const page of found.contested()) {
    const holder = { path: page.path, isErased: found.isTaken(page) };
    const versions = await read((transaction) => transaction.versions(page.id));
    for (const id of [page.id, ...versions.map(({ version }) => version)]) holders.set(id, holder);
  }
  return holders;
}

async function planAnswers(
  read: Read,
  found: Findings,
  { match: { phrase }, exports }: { match: ErasureMatch; exports: string[] },
): Promise<Uint8Array[]> {
  const paths = found.paths(); // Answers about a proposal name it by its id.
  const ids = new Set([...found.names().ids, ...exports]);
  const answers: Uint8Array[] = [];
  await eachAnswer(read, (answer) => {
    const { id, currentRevision = "", needs, result = "" } = answer;
    const isNamed = needs?.page !== undefined && paths.has(needs.page.path);
    const holds = phrase !== undefined && holdsPhraseInAny(answerTexts(answer), phrase);
    if (isNamed || holds || ids.has(currentRevision) || [...ids].some((one) => result.includes(one))) answers.push(id);
  });
  return answers;
}

/** Pages that stay and name the path of one that goes. */
async function countMentions(read: Read, found: Findings): Promise<number> {
  const paths = found.paths();
  if (paths.size === 0) return 0;
  const named = [...paths].map((path) => path.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
  const mention = new RegExp(
    `(?<![\\p{L}\\p{N}\\p{M}_/.-])(?:${named})(?![\\p{L}\\p{N}\\p{M}_/-]|\\.[\\p{L}\\p{N}_])`,
    "u",
  );
  let mentions = 0;
  await eachPage(read, async (page, versions) => {
    const last = versions.findLast(({ removed }) => !removed);
    if (!last || found.isTaken(page)) return;
    if (linkedPaths(last).some((path) => paths.has(path)) || mention.test(`${last.head}\n${last.body}`)) mentions++;
  });
  return mentions;
}
