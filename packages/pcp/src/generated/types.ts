// Written by scripts/generate.mjs from packages/pcp/schemas. Not to be edited.

/**
 * Kind and id.
 */
export type Principal = string;
/**
 * RFC 3339; answers are in UTC with Z and milliseconds.
 */
export type UtcDatetime = string;
export type PartitionName = string;
export type ArchivedPartitions = {
  name: PartitionName;
  label?: string;
  review?: "nobody" | "clients" | "everyone";
  four_eyes?: boolean;
  grants?: {
    principal: Principal;
    rights: ("read" | "propose" | "write" | "review")[];
  }[];
}[];
/**
 * Segments joined by single slashes, without .md.
 */
export type Path = string;
export type Limit = number;
/**
 * Continues a listing where the previous answer's next_cursor left off. Opaque.
 */
export type Cursor = string;

export interface ActorAt {
  principal: Principal;
  client?: Principal;
  at: UtcDatetime;
  [k: string]: unknown;
}
/**
 * The JSON files of an archive beside the manifest, the profile documents and the audit.
 */
export interface ArchiveRecord {
  [k: string]: unknown;
}
/**
 * One state of a profile document.
 */
export interface ArchivedChange {
  namespace: string;
  generated: ActorAt;
  changed: string[];
  document: {
    [k: string]: unknown;
  };
}
export interface ArchivedDecision {
  id: string;
  by: ActorAt;
  note?: string;
}
/**
 * An open proposal.
 */
export interface ArchivedRevision {
  id: string;
  path: Path;
  base?: string;
  generated: ActorAt;
  partition: PartitionName;
  sensitivity: "normal" | "sensitive";
  note?: string;
  decision?: ArchivedDecision;
  keys: {
    title: string;
    [k: string]: unknown;
  };
  head: string;
  body: string;
}
/**
 * One version of a page. The body of the current one is in the page's own file.
 */
export interface ArchivedVersion {
  page: string;
  version: string;
  path: Path;
  created: UtcDatetime;
  updated: UtcDatetime;
  generated: ActorAt;
  review?: ArchivedDecision;
  partition: PartitionName;
  sensitivity: "normal" | "sensitive";
  current?: true;
  removed?: true;
  /**
   * The keys as they count.
   */
  keys: {
    title: string;
    [k: string]: unknown;
  };
  head: string;
  body?: string;
}
/**
 * One call or administrative change, allowed or not.
 */
export interface AuditEntry {
  id: string;
  at: UtcDatetime;
  principal: Principal;
  client?: Principal;
  tool?: string;
  /**
   * profile.<name>, memory, memory.sensitive, review, audit, export, erase, auth or admin.
   */
  category: string;
  action: "read" | "write" | "propose" | "resolve" | "export" | "erase" | "grant" | "revoke" | "deny";
  outcome:
    | "ok"
    | "invalid_input"
    | "not_found"
    | "forbidden"
    | "conflict"
    | "too_large"
    | "rate_limited"
    | "locked"
    | "unsupported"
    | "internal";
  /**
   * Paths or ids returned or touched; absent once erased or hidden.
   */
  targets?: string[];
  /**
   * The call's receipt in the journal.
   */
  receipt?: string;
  call_id?: string;
  [k: string]: unknown;
}
export interface AuditListInput {
  since?: UtcDatetime;
  until?: UtcDatetime;
  principal?: Principal;
  /**
   * Such as memory, profile.core, review or export.
   */
  category?: string;
  limit?: Limit;
  cursor?: Cursor;
}
export interface AuditListOutput {
  entries: AuditEntry[];
  next_cursor?: Cursor;
}
export interface ContextBriefInput {
  /**
   * Topic of the conversation, to choose memory by.
   */
  focus?: string;
  /**
   * Most tokens the answer may take; 2000 when absent.
   */
  token_budget?: number;
}
export interface ContextBriefOutput {
  kind: "personal" | "work" | "team";
  profile_type: "core" | "team" | "none";
  profile?: null | ProfileCore | ProfileTeam;
  memory: {
    path: Path;
    id?: string;
    title: string;
    updated: UtcDatetime;
    type?: "episodic" | "semantic" | "procedural";
    partition?: PartitionName;
    sensitivity?: "normal" | "sensitive";
    lifecycle?: "active" | "validated" | "stale" | "archived";
    review_state?: "proposed" | "approved" | "rejected";
    valid_from?: string;
    valid_until?: string;
    /**
     * Set when the entry is a proposal.
     */
    revision?: string;
    excerpt?: string;
  }[];
  partitions?: {
    name: PartitionName;
    label?: string;
    /**
     * Rights left after both the grant's scopes and the partition's list.
     */
    access: ("read" | "propose" | "write" | "review")[];
    /**
     * Whether the caller's writes here wait for review.
     */
    review_required?: boolean;
  }[];
  /**
   * Parts that the grant's scopes leave out.
   */
  omitted: string[];
  truncated?: boolean;
}
/**
 * One person, as an assistant should know them.
 */
export interface ProfileCore {
  pcp_version?: string;
  name: string;
  preferred_name?: string;
  pronouns?: string;
  languages?: {
    /**
     * BCP 47 tag.
     */
    code: string;
    proficiency?: "native" | "fluent" | "conversational" | "basic";
    /**
     * Where the person uses it.
     */
    contexts?: string[];
  }[];
  locale?: string;
  /**
   * IANA name.
   */
  timezone?: string;
  location?: {
    city?: string;
    country?: string;
  };
  communication?: {
    tone?: string;
    verbosity?: "minimal" | "concise" | "balanced" | "detailed";
    formatting?: string;
  };
  work?: {
    role?: string;
    organization?: string;
    field?: string;
    context?: string;
  };
  interests?: string[];
  ai_instructions?: string;
  updated?: UtcDatetime;
}
/**
 * A team, its people and its agreements.
 */
export interface ProfileTeam {
  name: string;
  purpose?: string;
  members?: {
    principal?: Principal;
    name?: string;
    role?: string;
  }[];
  conventions?: string[];
  glossary?: {
    term: string;
    meaning: string;
  }[];
  links?: {
    title?: string;
    url: string;
  }[];
  ai_instructions?: string;
  updated?: UtcDatetime;
}
/**
 * One of subject, paths and ids. Nothing is erased unless dry_run is false.
 */
export interface EraseRequestInput {
  /**
   * Phrase to find in all text; give exactly one selector.
   */
  subject?: string;
  /**
   * Paths of pages to erase.
   *
   * @minItems 1
   * @maxItems 500
   */
  paths?: Path[];
  /**
   * Ids of pages to erase.
   *
   * @minItems 1
   * @maxItems 500
   */
  ids?: string[];
  /**
   * Also pages made from the erased ones.
   */
  include_derived?: boolean;
  /**
   * Only count; false really erases, for good.
   */
  dry_run?: boolean;
  /**
   * With the same key, never done twice.
   */
  idempotencyKey?: string;
}
export interface EraseRequestOutput {
  dry_run: boolean;
  /**
   * Items per store, from a dry run.
   */
  would_erase?: {
    [k: string]: number;
  };
  receipt?: ErasureReceipt;
}
/**
 * Proof that an erasure ran and what it removed. It holds none of the erased text.
 */
export interface ErasureReceipt {
  id: string;
  requested_at: UtcDatetime;
  completed_at: UtcDatetime;
  requested_by: Principal;
  selector: {
    kind: "subject" | "paths" | "ids";
    /**
     * SHA-256 over salt and selector; only the requester got the salt.
     */
    digest: string;
    [k: string]: unknown;
  };
  /**
   * Items removed per store.
   */
  counts: {
    [k: string]: number;
  };
  /**
   * What the scan of all files found afterwards.
   */
  residual: {
    clean: boolean;
    files_scanned?: number;
    remaining_mentions?: number;
    [k: string]: unknown;
  };
  journal?: {
    size_before?: number;
    root_before?: string;
    size_after?: number;
    root_after?: string;
    [k: string]: unknown;
  };
  key_id?: string;
  /**
   * Ed25519 over the JCS form without this member, base64url.
   */
  signature?: string;
  [k: string]: unknown;
}
/**
 * What an answer with isError holds as structuredContent.
 */
export interface ErrorOutput {
  error: {
    code:
      | "invalid_input"
      | "not_found"
      | "forbidden"
      | "conflict"
      | "too_large"
      | "rate_limited"
      | "locked"
      | "unsupported"
      | "internal";
    message: string;
    required_scopes?: string[];
    violations?: string[];
  };
}
export interface ExportCreateInput {
  /**
   * age or SSH public keys that can open the archive.
   *
   * @maxItems 10
   */
  encrypt_to?: string[];
  /**
   * Whether the audit log goes in.
   */
  include_audit?: boolean;
  /**
   * With the same key, never done twice.
   */
  idempotencyKey?: string;
}
export interface ExportCreateOutput {
  export_id: string;
  status: "pending" | "ready" | "failed";
  coverage: "full" | "partial";
  /**
   * Where the archive is for a short while; also sent as a resource link.
   */
  download_url?: string;
  expires_at?: UtcDatetime;
  /**
   * Digest of the archive as downloaded.
   */
  sha256?: string;
  bytes?: number;
  page_count?: number;
}
/**
 * Lists every other file of an archive.
 */
export interface ExportManifest {
  pcp_version: "0.3";
  export_id?: string;
  created: UtcDatetime;
  generator?: string;
  context: {
    handle: string;
    kind: "personal" | "work" | "team";
    profile_type: "core" | "team" | "none";
    [k: string]: unknown;
  };
  coverage: "full" | "partial";
  page_count: number;
  files: {
    path: string;
    sha256: string;
    bytes: number;
  }[];
  omitted: {
    part: string;
    reason: string;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
/**
 * The page keys a client sets, title at least. Values for keys that only the server writes are dropped.
 */
export interface FrontmatterInput {
  title: string;
  type?: "episodic" | "semantic" | "procedural";
  /**
   * @maxItems 64
   */
  tags?: string[];
  partition?: PartitionName;
  sensitivity?: "normal" | "sensitive";
  lifecycle?: "active" | "validated" | "stale" | "archived";
  confidence?: number;
  /**
   * Date or date-time; a date is UTC.
   */
  valid_from?: string;
  /**
   * Date or date-time; the last day counts.
   */
  valid_until?: string;
  source?: {
    origin: "chat" | "connector" | "import" | "user";
    client?: string;
    session?: string;
    at?: UtcDatetime;
    [k: string]: unknown;
  };
  /**
   * Paths of pages this one was made from.
   *
   * @maxItems 256
   */
  derived_from?: Path[];
  /**
   * @maxItems 256
   */
  relations?: {
    rel: "supersedes" | "contradicts" | "refines" | "about";
    target: Path;
    confidence?: number;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
export interface MemoryListInput {
  /**
   * Start of the path, case-sensitive, such as a folder.
   */
  prefix?: string;
  partition?: PartitionName;
  /**
   * Also archived pages.
   */
  include_archived?: boolean;
  limit?: Limit;
  cursor?: Cursor;
  type?: "episodic" | "semantic" | "procedural";
  /**
   * false leaves outdated and expired pages out.
   */
  include_stale?: boolean;
  /**
   * Also proposals in these states that you may see.
   */
  include_review?: ("proposed" | "rejected")[];
  as_of?: UtcDatetime;
}
export interface MemoryListOutput {
  pages: PageSummary[];
  next_cursor?: Cursor;
}
/**
 * A page as lists and hits show it.
 */
export interface PageSummary {
  path: Path;
  id?: string;
  title: string;
  updated: UtcDatetime;
  type?: "episodic" | "semantic" | "procedural";
  partition?: PartitionName;
  sensitivity?: "normal" | "sensitive";
  lifecycle?: "active" | "validated" | "stale" | "archived";
  review_state?: "proposed" | "approved" | "rejected";
  valid_from?: string;
  valid_until?: string;
  /**
   * Set when the entry is a proposal.
   */
  revision?: string;
}
/**
 * The frontmatter of a page as the server gives it: the client's keys and the server's own.
 */
export interface MemoryPage {
  title: string;
  type?: "episodic" | "semantic" | "procedural";
  /**
   * @maxItems 64
   */
  tags?: string[];
  partition?: PartitionName;
  sensitivity?: "normal" | "sensitive";
  lifecycle?: "active" | "validated" | "stale" | "archived";
  confidence?: number;
  /**
   * Date or date-time; a date is UTC.
   */
  valid_from?: string;
  /**
   * Date or date-time; the last day counts.
   */
  valid_until?: string;
  source?: {
    origin: "chat" | "connector" | "import" | "user";
    client?: string;
    session?: string;
    at?: UtcDatetime;
    [k: string]: unknown;
  };
  /**
   * Paths of pages this one was made from.
   *
   * @maxItems 256
   */
  derived_from?: Path[];
  /**
   * @maxItems 256
   */
  relations?: {
    rel: "supersedes" | "contradicts" | "refines" | "about";
    target: Path;
    confidence?: number;
    [k: string]: unknown;
  }[];
  id?: string;
  created?: UtcDatetime;
  updated: UtcDatetime;
  generated?: ActorAt;
  review?: {
    state: "proposed" | "approved" | "rejected";
    by?: Principal;
    at?: UtcDatetime;
    note?: string;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
export interface MemoryProposeInput {
  path: Path;
  /**
   * Whole Markdown text as it should become.
   */
  body: string;
  frontmatter?: FrontmatterInput;
  /**
   * Tells the reviewer the reason.
   */
  note?: string;
  expected_updated?: UtcDatetime;
  /**
   * With the same key, never done twice.
   */
  idempotencyKey?: string;
}
export interface MemoryProposeOutput {
  path: Path;
  revision: string;
  review_state: "proposed";
  /**
   * Whether an approved page would change.
   */
  target_exists: boolean;
}
/**
 * Either path or id.
 */
export interface MemoryReadInput {
  path?: Path;
  /**
   * A page id from an earlier answer.
   */
  id?: string;
  /**
   * A proposal of this page instead of the page.
   */
  revision?: string;
  as_of?: UtcDatetime;
}
export interface MemoryReadOutput {
  path: Path;
  frontmatter: MemoryPage;
  /**
   * Markdown below the frontmatter.
   */
  body: string;
  /**
   * How many open proposals for this page the caller may see.
   */
  pending_revisions?: number;
}
export interface MemorySearchInput {
  /**
   * Words or a question, any language, no syntax.
   */
  query: string;
  limit?: Limit;
  type?: "episodic" | "semantic" | "procedural";
  /**
   * Only pages that have all of these tags.
   */
  tags?: string[];
  /**
   * Only pages in one of these partitions.
   */
  partitions?: PartitionName[];
  /**
   * Also outdated, expired and superseded pages.
   */
  include_stale?: boolean;
  /**
   * Also proposals in these states that you may see.
   */
  include_review?: ("proposed" | "rejected")[];
  as_of?: UtcDatetime;
  cursor?: Cursor;
  /**
   * Also archived pages.
   */
  include_archived?: boolean;
}
export interface MemorySearchOutput {
  results: {
    path: Path;
    id?: string;
    title: string;
    updated: UtcDatetime;
    type?: "episodic" | "semantic" | "procedural";
    partition?: PartitionName;
    sensitivity?: "normal" | "sensitive";
    lifecycle?: "active" | "validated" | "stale" | "archived";
    review_state?: "proposed" | "approved" | "rejected";
    valid_from?: string;
    valid_until?: string;
    /**
     * Set when the entry is a proposal.
     */
    revision?: string;
    snippet?: string;
    score?: number;
    stale?: boolean;
    superseded_by?: Path;
  }[];
  /**
   * false when an erasure after as_of makes the past incomplete.
   */
  as_of_exact?: boolean;
  next_cursor?: Cursor;
  /**
   * true when only stale pages matched.
   */
  stale_fallback?: boolean;
}
export interface MemoryWriteInput {
  path: Path;
  /**
   * Whole Markdown text; may start with YAML frontmatter instead.
   */
  body: string;
  frontmatter?: FrontmatterInput;
  expected_updated?: UtcDatetime;
  /**
   * With the same key, never done twice.
   */
  idempotencyKey?: string;
}
export interface MemoryWriteOutput {
  path: Path;
  id?: string;
  /**
   * false when the write became a proposal.
   */
  applied: boolean;
  updated?: UtcDatetime;
  review_state?: "proposed" | "approved";
  /**
   * The proposal, when there is one.
   */
  revision?: string;
}
/**
 * The keys a client sets; any other key is kept as given.
 */
export interface PageKeys {
  title?: string;
  type?: "episodic" | "semantic" | "procedural";
  /**
   * @maxItems 64
   */
  tags?: string[];
  partition?: PartitionName;
  sensitivity?: "normal" | "sensitive";
  lifecycle?: "active" | "validated" | "stale" | "archived";
  confidence?: number;
  /**
   * Date or date-time; a date is UTC.
   */
  valid_from?: string;
  /**
   * Date or date-time; the last day counts.
   */
  valid_until?: string;
  source?: {
    origin: "chat" | "connector" | "import" | "user";
    client?: string;
    session?: string;
    at?: UtcDatetime;
    [k: string]: unknown;
  };
  /**
   * Paths of pages this one was made from.
   *
   * @maxItems 256
   */
  derived_from?: Path[];
  /**
   * @maxItems 256
   */
  relations?: {
    rel: "supersedes" | "contradicts" | "refines" | "about";
    target: Path;
    confidence?: number;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
export interface PartitionListInput {}
export interface PartitionListOutput {
  partitions: {
    name: PartitionName;
    label?: string;
    /**
     * Rights left after both the grant's scopes and the partition's list.
     */
    access: ("read" | "propose" | "write" | "review")[];
    /**
     * Whether the caller's writes here wait for review.
     */
    review_required?: boolean;
  }[];
}
/**
 * What helps in care and emergencies. Entries are words or objects.
 */
export interface PcpHealth {
  blood_type?: string;
  allergies?: (
    | string
    | {
        [k: string]: unknown;
      }
  )[];
  conditions?: (
    | string
    | {
        [k: string]: unknown;
      }
  )[];
  medications?: (
    | string
    | {
        [k: string]: unknown;
      }
  )[];
  providers?: (
    | string
    | {
        [k: string]: unknown;
      }
  )[];
  /**
   * References only: insurer and policy number, no contracts.
   */
  insurance?: (
    | string
    | {
        [k: string]: unknown;
      }
  )[];
  emergency_notes?: string;
  updated?: UtcDatetime;
  [k: string]: unknown;
}
export interface ProfileGetInput {
  /**
   * Extension namespaces wanted; all that are granted when absent.
   */
  namespaces?: string[];
}
export interface ProfileGetOutput {
  profile_type: "core" | "team" | "none";
  /**
   * The core or team document; null while there is none or without its scope.
   */
  profile: null | ProfileCore | ProfileTeam;
  /**
   * Namespace to document, for the namespaces the grant covers.
   */
  extensions?: {
    [k: string]: {
      [k: string]: unknown;
    };
  };
}
export interface ProfileUpdateInput {
  /**
   * core, team or an extension namespace; the context's own when absent.
   */
  namespace?: string;
  /**
   * JSON Merge Patch (RFC 7396); null removes a member.
   */
  patch: {
    [k: string]: unknown;
  };
  /**
   * With the same key, never done twice.
   */
  idempotencyKey?: string;
}
export interface ProfileUpdateOutput {
  namespace: string;
  updated: UtcDatetime;
  /**
   * Pointers (RFC 6901) to what differs after the patch.
   */
  changed: string[];
}
export interface ReviewListInput {
  state?: "proposed" | "rejected";
  partition?: PartitionName;
  limit?: Limit;
  cursor?: Cursor;
}
export interface ReviewListOutput {
  items: {
    path: Path;
    revision: string;
    title: string;
    state: "proposed" | "rejected";
    partition?: PartitionName;
    generated: ActorAt;
    target_exists: boolean;
    note?: string;
  }[];
  next_cursor?: Cursor;
}
export interface ReviewResolveInput {
  path: Path;
  /**
   * The proposal's id, from review_list.
   */
  revision: string;
  /**
   * approve, reject, satchel:approve_archive or satchel:defer.
   */
  verb: string;
  /**
   * Reason, kept with the decision.
   */
  note?: string;
  /**
   * With the same key, never done twice.
   */
  idempotencyKey?: string;
}
export interface ReviewResolveOutput {
  path: Path;
  revision: string;
  state: "approved" | "rejected" | "proposed";
  updated?: UtcDatetime;
}
