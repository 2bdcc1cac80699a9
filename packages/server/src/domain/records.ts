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
}

export interface PageVersion extends PageRecord, PageContent {
  generated: ActorAt;
}

export interface PartitionRecord {
  name: string;
  label?: string;
}
