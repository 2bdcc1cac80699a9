import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { allScopes, type ToolName } from "@satchel/pcp";
import {
  type Caller,
  type CallResult,
  type Context,
  callTool,
  createContext,
  dispatch,
  importOperation,
  type Operation,
  openContext,
  type PartitionChange,
  pageRemoveOperation,
  partitionSetOperation,
  settingOperation,
  type ToolResult,
  userAddOperation,
} from "@satchel/server";
import { afterAll } from "vitest";
import { environmentOf, startMs } from "./environment.js";

/*
 * A context that several people and assistants share, called in process: the same dispatch as over MCP. Folders are
 * removed after the last test of the file, also when one failed.
 */

const cleanups: (() => unknown)[] = [];
afterAll(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Noon of a day, UTC: where the clock of a new context stands. */

/** The owner at the terminal. */
export const owner = person("owner");

/** A user in person, with every scope. */
export function person(name: string): Caller {
  return { principal: `user:${name}`, client: "client:local", scopes: allScopes(), grant: `local ${name}` };
}

/** A user (the owner unless told otherwise) through an assistant that was granted `scopes`, everything when left out. */
export function assistant(scopes?: string, { user = "owner", client = "notes" } = {}): Caller {
  const granted = scopes === undefined ? allScopes() : new Set(scopes.split(" ").filter(Boolean));
  return {
    principal: `user:${user}`,
    client: `client:${client}`,
    scopes: granted,
    grant: `test ${user} ${client} ${scopes ?? "all"}`,
  };
}

export interface ErrorAnswer {
  code: string;
  message: string;
  violations?: string[];
  required_scopes?: string[];
}

export interface Written {
  path: string;
  id?: string;
  updated?: string;
  applied: boolean;
  review_state?: string;
  revision?: string;
}

export interface Read {
  path: string;
  frontmatter: Record<string, unknown> & { updated: string; id?: string };
  body: string;
  pending_revisions?: number;
}

export interface Item {
  path: string;
  revision: string;
  title: string;
  state: string;
  partition: string;
  generated: { principal: string; client?: string; at: string };
  target_exists: boolean;
  note?: string;
}

/** A temporary folder that is removed at the end. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "satchel-shared-"));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** One open connection to a context, and the clock it runs by. */
export class Shared {
  /** Faults of ours that calls reported. */
  readonly faults: unknown[] = [];
  /** Who calls unless a call says otherwise. */
  private caller = owner;
  private constructor(
    readonly context: Context,
    readonly dataDir: string,
    readonly clock: { ms: number },
  ) {}

  /** A new context in a new folder. */
  static open(kind: "personal" | "team" = "personal"): Shared {
    const dataDir = temporaryFolder();
    const clock = { ms: startMs };
    createContext(dataDir, { handle: "me", kind }, environmentOf(clock));
    return Shared.connect(dataDir, clock);
  }

  /** A further connection to the same context: what another process sees. */
  again(): Shared {
    return Shared.connect(this.dataDir, this.clock);
  }

  private static connect(dataDir: string, clock: { ms: number }): Shared {
    const context = openContext(dataDir, "me", environmentOf(clock));
    cleanups.push(() => context.store.close());
    return new Shared(context, dataDir, clock);
  }

  /** The same connection as another caller uses it. */
  as(caller: Caller): Shared {
    return Object.assign(Object.create(this) as Shared, { caller });
  }

  /** The same connection over another form of its context, such as one that fails. */
  over(context: Context): Shared {
    return Object.assign(Object.create(this) as Shared, { context });
  }

  /** Where the clock stands, as the tools write it. */
  get now(): string {
    return new Date(this.clock.ms).toISOString();
  }

  call(name: ToolName, args: unknown, caller = this.caller): Promise<ToolResult> {
    return callTool(name, { context: this.context, caller, args, log: this.log() });
  }

  /** The structured answer. @throws when it is an error */
  async ok<Output = Record<string, unknown>>(name: ToolName, args: unknown, caller = this.caller): Promise<Output> {
    const result = await this.call(name, args, caller);
    if (result.isError) throw new Error(`${name} failed: ${JSON.stringify(result.structuredContent)}`);
    return result.structuredContent as Output;
  }

  /** The error. @throws when the call succeeded */
  async refused(name: ToolName, args: unknown, caller = this.caller): Promise<ErrorAnswer> {
    const result = await this.call(name, args, caller);
    if (!result.isError) throw new Error(`${name} did not fail: ${JSON.stringify(result.structuredContent)}`);
    return (result.structuredContent as { error: ErrorAnswer }).error;
  }

  /** "ok", or the error code. */
  async outcome(name: ToolName, args: unknown, caller = this.caller): Promise<string> {
    const { isError, structuredContent } = await this.call(name, args, caller);
    return isError ? (structuredContent as { error: ErrorAnswer }).error.code : "ok";
  }

  run<Input, Output>(
    operation: Operation<Input, Output>,
    args: unknown = {},
    caller = this.caller,
  ): Promise<CallResult<Output>> {
    return dispatch(operation, { context: this.context, caller, args, log: this.log() });
  }

  /** What an operation of the terminal answers. @throws when it is refused */
  async done<Input, Output>(operation: Operation<Input, Output>, args: unknown = {}): Promise<Output> {
    const result = await this.run(operation, args);
    if (!result.ok)
      throw new Error(`${operation.name} failed: ${JSON.stringify(result.refusal)}`, { cause: this.faults });
    return result.output!;
  }

  /** Rights by principal, such as `{ "user:bob": "read propose" }`. */
  async partition(name: string, grants: Record<string, string> = {}, more: Partial<PartitionChange> = {}) {
    const grant = Object.entries(grants).map(([principal, rights]) => ({ principal, rights: rights.split(" ") }));
    return this.done(partitionSetOperation, { name, grant, revoke: [], ...more });
  }

  async users(...names: string[]): Promise<void> {
    for (const name of names) await this.done(userAddOperation, { principal: `user:${name}`, isOwner: false });
  }

  async setting(name: string, value: string): Promise<void> {
    await this.done(settingOperation, { name, value });
  }

  write(path: string, body: string, frontmatter?: Record<string, unknown>): Promise<Written> {
    return this.ok<Written>("memory_write", { path, body, ...(frontmatter && { frontmatter }) });
  }

  /** Many pages in one transaction. @throws when one is refused */
  async addPages(made: { path: string; body: string }[]): Promise<void> {
    const pages = made.map(({ path, body }) => ({ file: `${path}.md`, path, text: body }));
    const { refused } = await this.done(importOperation({ pages, refused: [] }, { dryRun: false, skipRefused: false }));
    if (refused.length > 0) throw new Error(`refused: ${JSON.stringify(refused)}`);
  }

  /** When the last change was recorded. */
  recordedTime(): Promise<string> {
    return this.context.store.read((transaction) => transaction.recordedTime());
  }

  async remove(path: string): Promise<void> {
    await this.done(pageRemoveOperation, { path });
  }

  /** @returns the revision's id */
  async propose(args: Record<string, unknown>, caller: Caller): Promise<string> {
    const { revision } = await this.ok<{ revision: string }>("memory_propose", args, caller);
    return revision;
  }

  read(path: string, more: Record<string, unknown> = {}, caller = this.caller): Promise<Read> {
    return this.ok<Read>("memory_read", { path, ...more }, caller);
  }

  async items(args: Record<string, unknown> = {}, caller = this.caller): Promise<Item[]> {
    return (await this.ok<{ items: Item[] }>("review_list", { limit: 100, ...args }, caller)).items;
  }

  resolve(path: string, revision: string, verb: string) {
    return this.ok<{ state: string; updated?: string }>("review_resolve", { path, revision, verb });
  }

  private log() {
    return { fault: (entry: unknown) => void this.faults.push(entry) };
  }
}
