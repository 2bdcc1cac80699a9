import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseVerifierKey, type Verdict, verifyLog } from "@satchel/journal";
import type { ToolName } from "@satchel/pcp";
import { type SemanticToolEnvelope, validateTrace } from "@satchel/prp";
import { type AnsweredCall, type Caller, type Context, callTool } from "@satchel/server";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { expect } from "vitest";
import { type ErrorAnswer, owner, type Shared } from "./shared-context.js";

/*
 * Calls as a client makes them, with names of its own in `_meta`, and what they leave in the journal.
 */

const requestMetaKey = "dev.satchel/prp";
export const receiptMetaKey = "dev.satchel/receipt";

export interface Asked {
  caller?: Caller;
  /** What the caller says of its call: runId, callId, idempotencyKey … */
  names?: unknown;
  connection?: string;
  /** Another form of the context, such as one that fails. */
  context?: Context;
}

type Call = [tool: ToolName, args: unknown, asked?: Asked];

export function ask(shared: Shared, ...[tool, args, asked = {}]: Call): Promise<AnsweredCall> {
  const { caller = owner, names, connection, context = shared.context } = asked;
  const log = { fault: (entry: unknown) => void shared.faults.push(entry) };
  const meta = names === undefined ? undefined : { [requestMetaKey]: names };
  return callTool(tool, { context, caller, args, log, meta, ...(connection !== undefined && { connection }) });
}

export function receiptOf(answer: AnsweredCall): SemanticToolEnvelope {
  const receipt = answer._meta?.[receiptMetaKey];
  if (!receipt) throw new Error(`the answer has no receipt: ${JSON.stringify(answer)}`);
  return receipt;
}

/** "ok", or the code of the receipt. */
export function codeOf(answer: AnsweredCall): string {
  return receiptOf(answer).code ?? "";
}

export function errorOf({ structuredContent }: Pick<AnsweredCall, "structuredContent">): ErrorAnswer {
  return structuredContent.error as ErrorAnswer;
}

/** The same context, whose next commit fails after everything was done. */
export function failingOnce({ context }: Shared, error = new Error("the disk is full")): Context {
  let hasFailed = false;
  const write: Context["store"]["write"] = (use, options) =>
    context.store.write(async (transaction) => {
      const result = await use(transaction);
      if (hasFailed) return result;
      hasFailed = true;
      throw error;
    }, options);
  return { ...context, store: { ...context.store, write } };
}

const schemaFile = new URL("../packages/prp/schemas/semantic-tool.schema.json", import.meta.url);
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
const validate = ajv.compile(JSON.parse(readFileSync(schemaFile, "utf8")));

/** Each envelope by itself, and all together. */
export function expectSound(entries: Recorded[]): void {
  const envelopes = envelopesOf(entries);
  for (const envelope of envelopes) {
    expect(validate(envelope), JSON.stringify([validate.errors, envelope])).toBe(true);
    expect(Object.values(envelope)).not.toContain(undefined);
  }
  expect(validateTrace(envelopes).issues).toEqual([]);
}

export interface AuditBody {
  id: string;
  principal: string;
  client: string;
  tool: string;
  outcome: string;
  targets: string[];
  receipt: string;
  call_id: string;
}

export interface Recorded {
  seq: number;
  kind: string;
  /** Null where it was erased. */
  bodies: (Record<string, unknown> | null)[];
}

/** The entries of the journal, oldest first. */
export async function journalOf({ context }: Pick<Shared, "context">, from = 0): Promise<Recorded[]> {
  const entries = await context.store.read(({ journal }) => journal.entries({ from, limit: 1_000_000 }));
  return entries.map(({ seq, kind, openings }) => ({
    seq,
    kind,
    bodies: openings.map((opening) => (opening ? JSON.parse(opening.body) : null)),
  }));
}

/** The entries that `act` leaves. */
export async function leftBy(shared: Shared, act: () => Promise<unknown>): Promise<Recorded[]> {
  const { size } = await shared.context.store.read(({ journal }) => journal.state());
  await act();
  return journalOf(shared, size);
}

export const kindsOf = (entries: Recorded[]) => entries.map(({ kind }) => kind);

/** What is left of the envelopes. */
export function envelopesOf(entries: Recorded[]): SemanticToolEnvelope[] {
  const envelopes = entries.filter(({ kind }) => kind.startsWith("prp."));
  return envelopes.flatMap(({ bodies: [body] }) => (body ? [body as unknown as SemanticToolEnvelope] : []));
}

export function auditsOf(entries: Recorded[]): AuditBody[] {
  const audits = entries.filter(({ kind }) => kind === "audit");
  return audits.map(({ bodies }) => Object.assign({}, ...bodies) as AuditBody);
}

/** The whole log, against the key that lies beside it. */
export async function verdictOn({ context }: Shared): Promise<Verdict> {
  const keys = readFileSync(join(context.folder, "journal.pub"), "utf8").trim().split("\n");
  return context.store.read(async (transaction) => {
    const { id } = await transaction.context();
    return verifyLog(transaction.journal, { trusted: keys.map(parseVerifierKey), origin: `satchel/${id}` });
  });
}
