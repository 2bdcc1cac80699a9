import { allScopes, isHandle, type ToolName } from "@satchel/pcp";
import {
  type AnsweredCall,
  type Caller,
  type CallLog,
  type Context,
  callTool,
  createContext,
  dispatch,
  listContexts,
  type Operation,
  openContext,
  ownerPrincipal,
  type Refusal,
} from "@satchel/server";
import { chooseDataDir, createEnvironment } from "./system.js";
import { CommandError, UsageError } from "./usage-error.js";

/** Options that every command takes. */
export interface CommonOptions {
  data?: string;
  context?: string;
  json?: boolean;
  now?: string;
}

/** Faults of ours go to standard error, with everything the public message leaves out. */
export const stderrLog: CallLog = {
  fault({ id, operation, error }) {
    const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.stderr.write(`satchel: fault ${id} in ${operation}: ${detail}\n`);
  },
};

/** The owner at the terminal. */
export const localCaller: Caller = {
  principal: ownerPrincipal,
  client: "client:local",
  scopes: allScopes(),
  grant: "local",
};

const defaultHandle = "me";

/** The handle that is meant: `--context`, else the only one there is. */
export function chooseHandle(dataDir: string, asked: string | undefined): string {
  if (asked !== undefined) {
    if (!isHandle(asked)) throw new UsageError(`"${asked}" is no context handle (a-z, 0-9 and -).`);
    return asked;
  }
  const handles = listContexts(dataDir);
  if (handles.length === 0) throw new UsageError(`There is no context in ${dataDir} yet. Make one: satchel init`);
  if (handles.length > 1) throw new UsageError(`Say which context with --context: ${handles.join(", ")}`);
  return handles[0] ?? defaultHandle;
}

/** Opens the context that is meant; with `create`, the first one is made when there is none. */
export function openSession(options: CommonOptions, { create = false } = {}): { context: Context; dataDir: string } {
  const dataDir = chooseDataDir(options.data);
  const environment = createEnvironment(options.now);
  if (create && options.context === undefined && listContexts(dataDir).length === 0) {
    createContext(dataDir, { handle: defaultHandle, kind: "personal" }, environment);
  }
  return { context: openContext(dataDir, chooseHandle(dataDir, options.context), environment), dataDir };
}

/** Runs `use` with an open context and closes it afterwards. */
export async function withContext<T>(options: CommonOptions, use: (context: Context) => Promise<T>): Promise<T> {
  const { context } = openSession(options);
  try {
    return await use(context);
  } finally {
    await context.store.close();
  }
}

/** Calls a tool as the owner in person. @returns its structured content. @throws CommandError */
export async function callLocally<Output>(context: Context, name: ToolName, args: unknown): Promise<Output> {
  return (await answerLocally(context, name, args)).structuredContent as Output;
}

/** The same with `_meta`. @throws CommandError */
export async function answerLocally(context: Context, name: ToolName, args: unknown): Promise<AnsweredCall> {
  const result = await callTool(name, { context, caller: localCaller, args, log: stderrLog });
  if (!result.isError) return result;
  const { error } = result.structuredContent as { error: { code: string; message: string } };
  throw new CommandError(`${error.code}: ${error.message}`);
}

/** Follows the cursors of a listing tool as the owner in person. @returns the entries of all answers @throws CommandError */
export async function listLocally<Item>(
  context: Context,
  listing: { tool: ToolName; member: string; filter: Record<string, unknown>; most?: number },
): Promise<Item[]> {
  const { tool, member, filter, most = Number.POSITIVE_INFINITY } = listing;
  const items: Item[] = [];
  let cursor: unknown;
  do {
    const args = { ...filter, limit: Math.min(100, most - items.length), ...(cursor !== undefined && { cursor }) };
    const answer = await callLocally<Record<string, unknown>>(context, tool, args);
    items.push(...(answer[member] as Item[]));
    cursor = answer.next_cursor;
  } while (cursor !== undefined && items.length < most);
  return items;
}

/** Runs an operation of the terminal as the owner in person. @throws CommandError */
export async function runLocally<Input, Output>(
  context: Context,
  operation: Operation<Input, Output>,
  args: unknown,
): Promise<Output> {
  const result = await dispatch(operation, { context, caller: localCaller, args, log: stderrLog });
  if (result.ok) return result.output as Output; // The terminal gives no keys, so it is this call's own.
  throw refusedCommand(result.refusal);
}

export function refusedCommand({ refused, message }: Refusal): CommandError {
  return new CommandError(`${refused}: ${message}`);
}
