/**
 * The store port. One store holds one context. Everything above `context/` is unaware of the engine behind it.
 *
 * A use case runs inside exactly one `read` or `write` transaction. The functions a transaction offers return promises
 * so that an engine across a network can implement them; a use case awaits nothing else inside a transaction, and the
 * SQLite engine refuses one that does.
 */

import type { JournalReader, JournalStorage } from "@satchel/journal";
import type {
  ActorAt,
  Attachment,
  AuditRecord,
  Claim,
  ContextRecord,
  Decision,
  ErasureState,
  ExportRecord,
  GroupRecord,
  Membership,
  PageContent,
  PageRecord,
  PageType,
  PageVersion,
  Part,
  PartitionRecord,
  Revision,
  RevisionState,
  StagedCall,
  UserRecord,
} from "../domain/records.js";

/** The indexed form of a page: tokens joined by one space, per field. */
export interface IndexedText {
  title: string;
  tags: string;
  headings: string;
  body: string;
}

export interface NewVersion extends PageContent, Part {
  version: string;
  path: string;
  twinKey: string;
  updated: string;
  generated: ActorAt;
  review?: Decision;
  words: IndexedText;
}

/** A page as it was elsewhere, with its past: nothing of it is stamped anew. */
export interface RestoredPage {
  id: string;
  created: string;
  /** Oldest first; the last one is the page as it stands. */
  versions: (Omit<NewVersion, "words"> & { removed: boolean })[];
  /** Of the last version. */
  words: IndexedText;
}

export interface NewRevision extends Omit<Revision, "num" | "state" | "decision"> {
  twinKey: string;
}

/** Revisions that a caller may see: its own, and those of `reviewable` parts that aim at no page outside them. */
export interface RevisionQuery {
  states: RevisionState[];
  reviewable: Part[];
  /** Own revisions, in parts of these sensitivities. */
  author: { principal: string; client: string; sensitivities: Part["sensitivity"][] };
  partition?: string;
  twinKey?: string;
  /** Only older ones than this number. */
  before?: number;
  limit?: number;
}

/** The last versions recorded at or before an instant that lay in `parts`, of pages that lie, or lay last, in `readable`. */
export interface PastQuery {
  at: string;
  parts: Part[];
  readable: Part[];
}

export interface AuditQuery {
  since?: string;
  until?: string;
  principal?: string;
  category?: string;
  before?: number;
  limit: number;
}

/** What an audit entry is looked up by, as it is stored: it may have been changed by hand. */
export interface AuditLine {
  seq: number;
  atMs: number;
  principal: string;
  category: string;
}

export interface ProfileRecord {
  namespace: string;
  document: Record<string, unknown>;
  updated: string;
}

export interface ProfileChange extends ActorAt {
  namespace: string;
  /** JSON pointers of the members that changed. */
  changed: string[];
  document: Record<string, unknown>;
}

export interface TokenRecord {
  id: string;
  /** Hex SHA-256 of the secret; the secret itself is never stored. */
  digest: string;
  user: string;
  client: string;
  scopes: string;
  created: string;
  expires?: string;
  revoked?: string;
}

export type PageSelector = { path: string } | { id: string } | { twinKey: string };

export interface ListQuery {
  parts: Part[];
  prefix?: string;
  type?: PageType;
  includeArchived: boolean;
  /** Only paths after this one, in code point order. */
  after?: string;
  limit: number;
}

/** A term of the index, or the beginning of terms. */
export interface TermGroup {
  term: string;
  isBeginning: boolean;
}

export interface WordQuery {
  parts: Part[];
  groups: TermGroup[];
  /** "all": every group; "any": at least one. */
  mode: "all" | "any";
  /** Per part, at most this many. */
  limit?: number;
}

export interface FurtherQuery {
  parts: Part[];
  /** At least one of them. */
  groups: TermGroup[];
  below?: number;
  limit: number;
}

/** `rank` is comparable only within one part, best first = most negative (as FTS5 reports it). */
export interface WordMatch {
  num: number;
  rank: number;
}

export interface WordStatistics {
  documents: number;
  tokens: number;
  /** Documents per term, summed over the asked parts; absent = 0. */
  frequency: Map<string, number>;
}

export interface Candidate {
  page: PageRecord;
  words: IndexedText;
}

export interface CandidateQuery {
  nums: number[];
  parts: Part[];
  /** Only pages with all of these. */
  tags: string[];
}

/** Reads of one consistent state. */
export interface ReadTransaction {
  context(): Promise<ContextRecord>;
  /** The last recorded time; every version's `updated` is at most this. */
  recordedTime(): Promise<string>;
  setting(name: string): Promise<string | undefined>;
  partitions(): Promise<PartitionRecord[]>;
  membership(principal: string): Promise<Membership>;
  users(): Promise<UserRecord[]>;
  groups(): Promise<GroupRecord[]>;
  /** A live page. No access rule is applied here: the caller checks `Part` before anything of it is shown. */
  page(selector: PageSelector): Promise<PageRecord | undefined>;
  /** The path of a page, live or removed. */
  pathOf(id: string): Promise<string | undefined>;
  /** The current version of a live page. */
  currentVersion(page: PageRecord): Promise<PageVersion>;
  list(query: ListQuery): Promise<PageRecord[]>;
  /** Live pages of `parts`, newest `updated` first, strictly older than `before`. */
  recent(query: { parts: Part[]; before?: string; limit: number }): Promise<PageRecord[]>;
  /**
   * For each path that a live page in `parts` supersedes: those pages. For paths of those pages too, so that two that
   * supersede each other can be told apart.
   */
  superseders(query: { paths: string[]; parts: Part[] }): Promise<{ target: string; page: PageRecord }[]>;
  /** Of `paths`, those held by a live page in `parts`. */
  readablePaths(query: { paths: string[]; parts: Part[] }): Promise<Set<string>>;
  /** The newest `updated` of the pages under a prefix. */
  newestUpdate(query: { parts: Part[]; prefix: string }): Promise<string | undefined>;
  countPages(query: { parts: Part[] }): Promise<number>;
  /** Matches of each part, best first, one list per part. */
  bestMatches(query: WordQuery): Promise<WordMatch[][]>;
  /** Matches of all parts by page number, the highest first. */
  furtherMatches(query: FurtherQuery): Promise<number[]>;
  wordStatistics(query: { parts: Part[]; terms: string[] }): Promise<WordStatistics>;
  /** Indexed terms that start with `prefix`, most frequent first. */
  termsByPrefix(query: { parts: Part[]; prefix: string; limit: number }): Promise<string[]>;
  /** Live pages of `parts` with their indexed text, in the order of `nums`; others are left out. */
  candidates(query: CandidateQuery): Promise<Candidate[]>;
  profile(namespace: string): Promise<ProfileRecord | undefined>;
  profiles(): Promise<ProfileRecord[]>;
  profileChanges(namespace: string): Promise<ProfileChange[]>;
  /** A version by its id, of a live or removed page. */
  version(id: string): Promise<PageVersion | undefined>;
  /** The version of a page that was recorded at `updated`. */
  versionAt(page: PageRecord, updated: string): Promise<PageVersion | undefined>;
  /** The pages as they were, by path in code point order. */
  past(query: PastQuery): Promise<PageVersion[]>;
  /** The page that a path or id named then. */
  pastPage(query: PastQuery & { selector: { path: string } | { id: string } }): Promise<PageVersion | undefined>;
  /** A revision, whoever may see it. */
  revision(id: string): Promise<Revision | undefined>;
  /** Newest first. */
  revisions(query: RevisionQuery): Promise<Revision[]>;
  extensionSchema(namespace: string): Promise<Record<string, unknown> | undefined>;
  extensionNamespaces(): Promise<string[]>;
  journal: JournalReader;
  /** Newest first: where the entries are in the journal. */
  audit(query: AuditQuery): Promise<number[]>;
  /** What entries are looked up by, by their place in the journal. */
  auditLines(range: Range): Promise<AuditLine[]>;
  claim(id: Uint8Array): Promise<Claim | undefined>;
  /** Archives that were made, oldest first. */
  exports(): Promise<ExportRecord[]>;
  /** The ids of pages and proposals and the namespaces of documents that are in an archive. */
  exportedItems(id: string): Promise<string[]>;
  attachments(): Promise<Attachment[]>;
  /** Whether a page, version or proposal with this id was ever stored and not erased. */
  isUsed(id: string): Promise<boolean>;
  /** Every recorded time of a page's versions. */
  recordedTimes(): Promise<Set<string>>;
  /** Calls whose effect may have happened and whose terminal is not written yet, oldest first. */
  stagedCalls(): Promise<StagedCall[]>;
  /** Every version of a page, oldest first; a removal is the last one with `removed: true`. */
  versions(pageId: string): Promise<(PageVersion & { removed: boolean })[]>;
  tokens(): Promise<TokenRecord[]>;
  /** The erasure that holds the context locked. */
  erasure(): Promise<ErasureState | undefined>;
  /** When the latest erasure ended. */
  lastErasure(): Promise<string | undefined>;
  /** Every page, live or removed, by its number. */
  storedPages(range: Range): Promise<StoredPage[]>;
  /** Every revision, by its number. */
  storedRevisions(range: Range): Promise<Revision[]>;
  /** Every answer that is kept for its key, by an engine-internal number. */
  storedAnswers(range: Range): Promise<StoredAnswer[]>;
  /** Every text the store holds outside the journal. */
  storedTexts(): Iterable<StoredText>;
  tokenByDigest(digest: string): Promise<TokenRecord | undefined>;
}

/** Reads and writes of one atomic, durable change. */
export interface WriteTransaction extends ReadTransaction {
  /** The next recorded time: `now` (milliseconds), or later so that it is strictly after every earlier one. */
  tick(nowMs: number): Promise<string>;
  setSetting(name: string, value: string): Promise<void>;
  /** Makes or replaces a partition with its access list. */
  putPartition(partition: PartitionRecord): Promise<void>;
  putUser(user: UserRecord): Promise<void>;
  /** Removes a user, its memberships and its entries in access lists. */
  removeUser(principal: string): Promise<void>;
  putGroup(group: GroupRecord): Promise<void>;
  putExtensionSchema(namespace: string, schema: Record<string, unknown>): Promise<void>;
  addRevision(revision: NewRevision): Promise<void>;
  decideRevision(id: string, state: RevisionState, decision: Decision): Promise<void>;
  journal: JournalStorage;
  /** Remembers what the entry at this place of the journal is looked up by. */
  indexAudit(seq: number, entry: Pick<AuditRecord, "at" | "principal" | "category">): Promise<void>;
  /** Takes the audit of a release that had no journal out of the store, oldest first; empty afterwards. */
  takeEarlierAudit(): Promise<AuditRecord[]>;
  putClaim(claim: Claim): Promise<void>;
  /** Forgets a claim: its key can be used as if it never was. */
  endClaim(id: Uint8Array): Promise<void>;
  putStagedCall(call: StagedCall): Promise<void>;
  endStagedCall(seq: number): Promise<void>;
  putExport(record: ExportRecord): Promise<void>;
  /** Replaces what is remembered of an archive's content. */
  putExportedItems(id: string, items: string[]): Promise<void>;
  endExport(id: string): Promise<void>;
  putAttachment(attachment: Attachment): Promise<void>;
  /** Recorded times go on after this one. */
  advanceTime(recorded: string): Promise<void>;
  /** Its id and, if it is live, its path have to be free. */
  restorePage(page: RestoredPage): Promise<void>;
  /** Creates a page with its first version. */
  createPage(id: string, version: NewVersion): Promise<void>;
  /** Makes `version` the current one of a live page. */
  addVersion(page: PageRecord, version: NewVersion): Promise<void>;
  /** Ends a page with a tombstone version; the path is free afterwards. */
  removePage(page: PageRecord, tombstone: { version: string; updated: string; generated: ActorAt }): Promise<void>;
  putProfile(change: ProfileChange): Promise<void>;
  /** Begins, goes on with or ends (`undefined`) an erasure; `erased` is when it ended. */
  setErasure(state: ErasureState | undefined, erased?: string): Promise<void>;
  /** Deletes a page with all its versions; revisions made from one have `erasedBase` then. So does `eraseVersion`. */
  erasePage(num: number): Promise<void>;
  /** Deletes a version that is not its page's current one. */
  eraseVersion(id: string): Promise<void>;
  eraseRevision(id: string): Promise<void>;
  /** Forgets an answer; its key stays claimed. */
  eraseAnswer(id: Uint8Array): Promise<void>;
  /** Replaces the history of a document; the last change is the document, and without changes there is none. */
  rewriteProfile(namespace: string, changes: ProfileChange[]): Promise<void>;
  addToken(token: TokenRecord): Promise<void>;
  /** False when there is no such token or it is revoked already. */
  revokeToken(id: string, at: string): Promise<boolean>;
}

export interface Range {
  /** Numbers above this one. */
  after: number;
  limit: number;
}

export interface StoredPage {
  num: number;
  id: string;
  path: string;
  isLive: boolean;
}

export interface StoredText {
  /**
   * `content`: of pages, proposals and documents. `copy`: an answer, or an id, that is kept beside one of those. `own`:
   * everything else, and JSON whose content comes as texts of its own.
   */
  kind: "content" | "copy" | "own";
  text: string;
}

export interface StoredAnswer extends Pick<Claim, "id" | "currentRevision" | "needs" | "result"> {
  num: number;
}

export interface AccessOptions {
  /** Also while an erasure holds the context locked: for the erasure itself. */
  isErasing?: boolean;
}

export interface WriteOptions extends AccessOptions {
  /** `process`: survives the end of this process, not the loss of power. Default `power`: survives both. */
  durability?: "power" | "process";
}

export interface Store {
  /** Opaque and stable, a UUID. */
  readonly contextId: string;
  /** @throws StoreError `locked` */
  read<T>(use: (transaction: ReadTransaction) => Promise<T>, options?: AccessOptions): Promise<T>;
  write<T>(use: (transaction: WriteTransaction) => Promise<T>, options?: WriteOptions): Promise<T>;
  /** Holds a job's lock, which other processes see, until it is let go or the process ends; undefined while it is held. */
  lockJob(job: string): { release(): void } | undefined;
  /** The jobs that are locked, and those whose process ended without letting go. */
  lockedJobs(): string[];
  /** Holds the context's erasure until it is let go or the process ends; undefined while another one holds it. */
  lockErasure(): { release(): void } | undefined;
  /**
   * Leaves nothing of deleted rows in any file. @returns false when a reader in another process holds something back for
   * `waitMs`, default 10 s
   */
  scrub(options?: { waitMs?: number }): Promise<boolean>;
  /** Engine facts for `satchel doctor`: version, size in bytes, integrity problems (empty = sound). */
  inspect(): Promise<StoreReport>;
  close(): Promise<void>;
}

export interface StoreReport {
  engine: string;
  schemaVersion: number;
  bytes: number;
  pages: number;
  versions: number;
  problems: string[];
}

/** What a store can fail with; everything expected is in the return types above. */
export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly code: StoreErrorCode;
  constructor(code: StoreErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** `locked`: another process held the store too long. `newer`: written by a later release. `damaged`: fails its checks. */
export type StoreErrorCode = "locked" | "newer" | "damaged" | "misused";
