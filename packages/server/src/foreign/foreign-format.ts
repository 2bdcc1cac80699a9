/** One file of what another tool exported; `name` is relative, `/`-separated. */
export interface ForeignFile {
  name: string;
  bytes: Buffer;
}

/**
 * A page made from it. `text`: a Markdown file's own text, kept byte for byte; else `frontmatter` and `body`. `line`
 * from 1. `path` is a wish, checked later; no extension.
 */
export type ForeignPage = { file: string; line?: number; path: string } & (
  | { text: string }
  | { frontmatter: Record<string, unknown>; body: string }
);

export interface RefusedEntry {
  file: string;
  line?: number;
  /** Says what to do; holds no content. */
  reason: string;
}

export interface ForeignReading {
  pages: ForeignPage[];
  refused: RefusedEntry[];
  /** Profile documents by namespace (`core`, `pcp.health`), where the format has them. */
  profiles?: Record<string, Record<string, unknown>>;
  /** What was left out on purpose, in plain words. */
  notes?: string[];
}

export type ForeignFormatName =
  | "pcp-0.2"
  | "omp"
  | "remnic"
  | "mem0"
  | "server-memory"
  | "claude-memory"
  | "chatgpt"
  | "basic-memory"
  | "markdown";

/**
 * Reads what one kind of tool exports. Bytes in, pages out: the same files always give the same pages, no two of them at
 * one path. Never throws: what can't be read is refused, and the rest is still read.
 */
export interface ForeignFormat {
  name: ForeignFormatName;
  /** For people. */
  title: string;
  /** Looks at names and the first bytes. */
  detect(files: readonly ForeignFile[]): boolean;
  read(files: readonly ForeignFile[]): ForeignReading;
}
