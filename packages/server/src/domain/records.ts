/*
 * What a context holds, as values. The rules of `domain/` are functions over these; the store keeps them.
 */

export type ContextKind = "personal" | "work" | "team";
export type ProfileType = "core" | "team" | "none";
export type Sensitivity = "normal" | "sensitive";
export type Lifecycle = "active" | "validated" | "stale" | "archived";
export type PageType = "episodic" | "semantic" | "procedural";

export interface ContextRecord {
  /** Opaque and stable, a UUID. */
  id: string;
  handle: string;
  kind: ContextKind;
  profileType: ProfileType;
  created: string;
}

/** A partition × sensitivity × review state. Pages of different parts never share an index or a statistic. */
export interface Part {
  partition: string;
  sensitivity: Sensitivity;
}

/** Who wrote something, and when (pcp section 2, `actor_at`). */
export interface ActorAt {
  principal: string;
  client?: string;
  at: string;
}

export interface Relation {
  rel: "supersedes" | "contradicts" | "refines" | "about";
  target: string;
  confidence?: number;
}

/** The keys a client may set, as they count (pcp section 3). Unknown keys are kept beside the named ones. */
export interface PageKeys {
  title: string;
  type?: PageType;
  tags?: string[];
  partition?: string;
  sensitivity?: Sensitivity;
  lifecycle?: Lifecycle;
  confidence?: number;
  valid_from?: string;
  valid_until?: string;
  source?: { origin?: string; client?: string; session?: string; at?: string };
  derived_from?: string[];
  relations?: Relation[];
  [key: string]: unknown;
}

/** What a version holds: the client's text, byte for byte, and what counts of its keys. */
export interface PageContent {
  /** The frontmatter block with both fence lines, or "" when the page has none. */
  head: string;
  body: string;
  keys: PageKeys;
}

/** A page as it stands now, without its text. */
export interface PageRecord extends Part {
  /** Engine-internal number; never leaves the server. */
  num: number;
  id: string;
  path: string;
  version: string;
  title: string;
  type?: PageType;
  lifecycle: Lifecycle;
  validFrom?: string;
  validUntil?: string;
  created: string;
  updated: string;
  /** A review approved this version. */
  approved?: true;
}

export interface PageVersion extends PageRecord, PageContent {
  generated: ActorAt;
  /** Set on a version that a review approved. */
  review?: Decision;
}

export type Right = "read" | "propose" | "write" | "review";

/** Whose direct writes become proposals: nobody's, every assistant's, everyone's but owners in person. */
export type ReviewRule = "nobody" | "clients" | "everyone";

export interface Grant {
  principal: string;
  rights: Right[];
}

export interface PartitionRecord {
  name: string;
  label?: string;
  /** The access list. Owners need no entry. */
  grants: Grant[];
  review: ReviewRule;
  /** A revision is resolved by another user than its author. */
  fourEyes: boolean;
}

/** What the context knows of a caller's user. */
export interface Membership {
  isOwner: boolean;
  groups: string[];
}

export interface UserRecord {
  principal: string;
  isOwner: boolean;
}

export interface GroupRecord {
  principal: string;
  members: string[];
}

/** What a review said of a version or a revision (pcp section 5). */
export interface Decision {
  id: string;
  by: ActorAt;
  note?: string;
}

export type RevisionState = "proposed" | "rejected" | "approved";

/** A proposed page, whole. It changes nothing until it is approved. */
export interface Revision extends PageContent, Part {
  /** Engine-internal number; orders revisions by time. */
  num: number;
  id: string;
  path: string;
  /** The version it was made from; `erasedBase` once that was erased; absent for a page that its author could not see. */
  base?: string;
  generated: ActorAt;
  note?: string;
  state: RevisionState;
  /** The last decision; a deferred revision has one and stays proposed. */
  decision?: Decision;
}

/** Names no version. */
export const erasedBase = "erased";

/** One entry of the audit (pcp section 8). Its head stays; `targets` and `call_id` are the detail, absent once erased. */
export interface AuditRecord {
  id: string;
  at: string;
  principal: string;
  client: string;
  tool: string;
  category: string;
  action: string;
  outcome: string;
  /** Paths or ids that were returned or touched. */
  targets?: string[];
  /** The call's `operationReceiptId`. */
  receipt?: string;
  call_id?: string;
}

/** What a caller needs today to be given the stored answer of its earlier call. `isSeen`: it could read the page then. */
export interface ReplayNeeds {
  scopes?: string[];
  /** Only an owner is answered again. */
  owner?: true;
  page?: Part & { path: string; right: Right; isSeen?: boolean };
}

/** An idempotency key, or a call id, that was used (journal section 2). It is never forgotten. */
export interface Claim {
  /** 32 bytes over context, grant, run, operation and key, so that the store holds no text of a client. */
  id: Uint8Array;
  /** 32 bytes over the arguments. */
  input: Uint8Array;
  /** `spent`: the call is over and left no answer to give again. */
  state: "running" | "settled" | "erased" | "spent";
  /** Where the terminal envelope is in the journal. */
  terminal?: number;
  receiptId: string;
  currentRevision?: string;
  needs?: ReplayNeeds;
  /** The CallToolResult without `_meta`, JSON. */
  result?: string;
}

/** A call that is done in stages; the next start finishes what a crash left (journal section 4). */
export interface StagedCall {
  /** Of its input in the journal. */
  seq: number;
  operation: string;
  /** The call as its envelopes name it, JSON. */
  identity: string;
  /** Who made it, for the audit. */
  principal: string;
  client: string;
  /** The claims it holds. */
  claims: Uint8Array[];
  /** Names the lock that its process holds while it lives, where it isn't the erasure's; of an export, its id. */
  job?: string;
}

/** An archive that was made, or is being made (pcp section 9). */
export interface ExportRecord {
  /** `exp_`. */
  id: string;
  created: string;
  /** Its name below `exports/`; absent when it was written somewhere else. */
  file?: string;
  /** Hex; part of the download's address. */
  secret?: string;
  /** When the file goes. */
  expires?: string;
  /** The grant it was made for. */
  grant: string;
  /** Absent while it is being made. */
  made?: { sha256: string; bytes: number; pageCount: number };
  coverage: "full" | "partial";
  /** Audit entries below this place of the journal are in it; 0 for none. */
  auditSize: number;
}

/** A file that came with an archive and is kept as it is: foreign audit (pcp section 9). */
export interface Attachment {
  /** Below `audit/`. */
  path: string;
  text: string;
}

/** What an erasure counts, by store (pcp section 10). */
export const erasureStores = [
  "pages",
  "versions",
  "proposals",
  "index",
  "embeddings",
  "derived",
  "exports",
  "audit_details",
  "envelopes",
  "stored_results",
  "profile",
] as const;
export type ErasureCounts = Record<(typeof erasureStores)[number], number>;

/** An erasure that holds the context locked; it names no text that goes. */
export interface ErasureState {
  /** `era_`. */
  id: string;
  /** `planned`: nothing is deleted yet. `deleted`: the rows are gone, and the files are to be cleaned. */
  stage: "planned" | "deleted";
  /** Absent of one that an earlier release began. */
  requestedAt?: string;
  /** As its receipt says it. */
  selector?: { kind: "subject" | "paths" | "ids"; digest: string };
  /** Of `deleted`. */
  counts?: ErasureCounts;
  remainingMentions?: number;
  journal?: { size_before: number; root_before: string; size_after: number; root_after: string };
}
