import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { allScopes, buildHead, type ToolName } from "@satchel/pcp";
import {
  type Caller,
  type Context,
  callTool,
  createContext,
  detectFormat,
  dispatch,
  type ImportSummary,
  importOperation,
  openContext,
  pageRemoveOperation,
  pageTextOperation,
  type ToolResult,
} from "@satchel/server";
import { afterAll } from "vitest";
import { environmentOf, startMs } from "./environment.js";

/*
 * A context in a temporary folder, called without a transport: the same dispatch as over MCP, some hundred times faster
 * than a process. Folders are removed after the last test of the file, also when one failed.
 */

const cleanups: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Noon of a day, UTC: where the clock of a new world stands. */

/** The owner in person. */
export const owner: Caller = {
  principal: "user:owner",
  client: "client:local",
  scopes: allScopes(),
  grant: "local",
};

/** The owner through an assistant that was granted `scopes` (everything when left out). */
export function assistant(scopes?: string, principal = "user:owner"): Caller {
  const granted = scopes === undefined ? allScopes() : new Set(scopes.split(" "));
  return { principal, client: "client:test", scopes: granted, grant: `test ${principal} ${scopes ?? "all"}` };
}

/** Reads and writes pages and profile, sensitive pages excepted. */
export const limitedScopes =
  "profile.core:read profile.core:write memory:read memory:write memory:propose memory:review audit:read export:read";

export interface ErrorAnswer {
  code: string;
  message: string;
  violations?: string[];
  required_scopes?: string[];
}

export interface Hit {
  path: string;
  id: string;
  title: string;
  updated: string;
  snippet: string;
  score: number;
  stale?: boolean;
  superseded_by?: string;
  lifecycle: string;
  partition: string;
}

export interface SearchResult {
  results: Hit[];
  stale_fallback?: boolean;
  next_cursor?: string;
}

export interface Written {
  path: string;
  id: string;
  updated: string;
  applied: boolean;
}

export interface PageFile {
  path: string;
  frontmatter?: Record<string, unknown>;
  body: string;
}

/** One open connection to a context, and the clock it runs by. */
export class World {
  /** Faults of ours that calls reported; a test that expects none checks that it is empty. */
  readonly faults: unknown[] = [];
  private constructor(
    readonly context: Context,
    readonly dataDir: string,
    readonly clock: { ms: number },
  ) {}

  /** A new context in a new folder. */
  static open(): World {
    const dataDir = mkdtempSync(join(tmpdir(), "satchel-world-"));
    cleanups.push(async () => rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 }));
    const clock = { ms: startMs };
    createContext(dataDir, { handle: "me", kind: "personal" }, environmentOf(clock));
    return World.connect(dataDir, clock);
  }

  /** A further connection to the same context, with caches of its own: what another process sees. */
  again(): World {
    return World.connect(this.dataDir, this.clock);
  }

  private static connect(dataDir: string, clock: { ms: number }): World {
    const context = openContext(dataDir, "me", environmentOf(clock));
    cleanups.push(() => context.store.close());
    return new World(context, dataDir, clock);
  }

  async call(name: ToolName, args: unknown, caller: Caller = owner): Promise<ToolResult> {
    return callTool(name, { context: this.context, caller, args, log: this.log() });
  }

  /** The structured answer. @throws when it is an error */
  async ok<Output = Record<string, unknown>>(name: ToolName, args: unknown, caller: Caller = owner): Promise<Output> {
    const result = await this.call(name, args, caller);
    if (result.isError) throw new Error(`${name} failed: ${JSON.stringify(result.structuredContent)}`);
    return result.structuredContent as Output;
  }

  /** The error. @throws when the call succeeded */
  async refused(name: ToolName, args: unknown, caller: Caller = owner): Promise<ErrorAnswer> {
    const result = await this.call(name, args, caller);
    if (!result.isError) throw new Error(`${name} did not fail: ${JSON.stringify(result.structuredContent)}`);
    return (result.structuredContent as { error: ErrorAnswer }).error;
  }

  /** "ok", or the error code. */
  async outcome(name: ToolName, args: unknown, caller: Caller = owner): Promise<string> {
    const { isError, structuredContent } = await this.call(name, args, caller);
    return isError ? (structuredContent as { error: ErrorAnswer }).error.code : "ok";
  }

  write(path: string, body: string, frontmatter?: Record<string, unknown>): Promise<Written> {
    return this.ok<Written>("memory_write", { path, body, ...(frontmatter && { frontmatter }) });
  }

  async remove(path: string): Promise<void> {
    const { context } = this;
    const result = await dispatch(pageRemoveOperation, { context, caller: owner, args: { path }, log: this.log() });
    if (!result.ok) throw new Error(`removing failed: ${result.refusal.message}`);
  }

  /** The page's own text. */
  async text(path: string): Promise<string> {
    const { context } = this;
    const result = await dispatch(pageTextOperation, { context, caller: owner, args: { path }, log: this.log() });
    if (!result.ok || result.output?.kind !== "page") throw new Error(`there is no page at ${path}`);
    return result.output.version.head + result.output.version.body;
  }

  /** Many pages in one transaction. @throws when one is refused */
  async addPages(pages: PageFile[], partition?: string): Promise<void> {
    const texts = pages.map(({ path, frontmatter, body }) => ({
      path,
      text: (frontmatter ? buildHead(frontmatter) : "") + body,
    }));
    const { refused } = await this.importTexts(texts, partition);
    if (refused.length > 0) throw new Error(`refused: ${JSON.stringify(refused)}`);
  }

  async importTexts(
    files: { path: string; text: string | Buffer }[],
    partition?: string,
    skipRefused = false,
  ): Promise<ImportSummary> {
    const given = files.map(({ path, text }) => ({ name: `${path}.md`, bytes: Buffer.from(text) }));
    const operation = importOperation(detectFormat(given).read(given), {
      dryRun: false,
      skipRefused,
      ...(partition !== undefined && { partition }),
    });
    const { context } = this;
    const result = await dispatch(operation, { context, caller: owner, args: {}, log: this.log() });
    if (!result.ok) throw new Error(`import failed: ${result.refusal.message}`);
    return result.output!;
  }

  search(args: Record<string, unknown>, caller: Caller = owner): Promise<SearchResult> {
    return this.ok<SearchResult>("memory_search", args, caller);
  }

  /** Paths of the first answer. */
  async paths(query: string, args: Record<string, unknown> = {}): Promise<string[]> {
    return (await this.search({ query, ...args })).results.map(({ path }) => path);
  }

  /** Every answer of a search until there is no cursor. `between` runs before each further one. */
  async walk(
    args: Record<string, unknown>,
    { caller = owner, between }: { caller?: Caller; between?: (round: number) => Promise<void> } = {},
  ): Promise<Hit[]> {
    const hits: Hit[] = [];
    let cursor: string | undefined;
    for (let round = 0; ; round++) {
      const answer = await this.search({ ...args, ...(cursor !== undefined && { cursor }) }, caller);
      hits.push(...answer.results);
      cursor = answer.next_cursor;
      if (cursor === undefined) return hits;
      await between?.(round);
    }
  }

  /** What a refused call may not change: pages, the recorded time and the profile documents. */
  async state(): Promise<string> {
    return this.context.store.read(async (transaction) => {
      const partitions = await transaction.partitions();
      const parts = partitions.flatMap(({ name }) =>
        (["normal", "sensitive"] as const).map((sensitivity) => ({ partition: name, sensitivity })),
      );
      const pages = await transaction.list({ parts, includeArchived: true, limit: 100_000 });
      const time = await transaction.recordedTime();
      return JSON.stringify([time, partitions, pages, await transaction.profiles(), await transaction.tokens()]);
    });
  }

  private log() {
    return { fault: (entry: unknown) => void this.faults.push(entry) };
  }
}
