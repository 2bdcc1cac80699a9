import { JournalError, type Proof, proveEntry, type StoredEntry } from "@satchel/journal";
import type { CallIdentity, SemanticToolEnvelope } from "@satchel/prp";
import { invalidInput, type Refusal } from "../domain/refusal.js";
import type { ReadTransaction } from "../store/store.js";
import type { Context } from "./context.js";

/** An entry as a person reads it: bodies are absent once they were erased. */
export interface JournalLine {
  seq: number;
  at: string;
  kind: StoredEntry["kind"];
  commitments: string[];
  bodies: (Record<string, unknown> | null)[];
}

export interface ListJournalInput {
  limit: number;
  /** Only entries before this one. */
  before?: number;
}

const batch = 500;

/** Newest first. */
export async function listJournal(context: Context, { limit, before }: ListJournalInput): Promise<JournalLine[]> {
  return context.store.read(async ({ journal }) => {
    const end = before ?? (await journal.state()).size;
    const from = Math.max(0, end - limit);
    const entries = end === 0 ? [] : await journal.entries({ from, limit: end - from });
    return entries.map(toLine).reverse();
  });
}

function toLine({ seq, at, kind, commitments, openings }: StoredEntry): JournalLine {
  return { seq, at, kind, commitments, bodies: openings.map((opening) => (opening ? JSON.parse(opening.body) : null)) };
}

/** The entry that a number or an id names: an audit entry, a receipt, a call, an erasure. The newest of several. */
export async function readJournalEntry(context: Context, name: string): Promise<JournalLine | Refusal> {
  return context.store.read(async (transaction) => {
    const entry = await findEntry(transaction, name);
    return entry ? toLine(entry) : noSuchEntry(name);
  });
}

/** A proof that the log holds the entry, against a checkpoint that is made now when none covers it. */
export async function proveJournalEntry(context: Context, name: string): Promise<Proof | Refusal> {
  const prove = () =>
    context.store.read(async (transaction) => {
      const entry = await findEntry(transaction, name);
      return entry ? proveEntry(transaction.journal, entry.seq) : noSuchEntry(name);
    });
  try {
    return await prove();
  } catch (error) {
    if (!(error instanceof JournalError && error.code === "no_checkpoint")) throw error;
    await context.journal?.seal();
    return prove();
  }
}

async function findEntry({ journal }: ReadTransaction, name: string): Promise<StoredEntry | undefined> {
  const { size } = await journal.state();
  if (/^\d+$/.test(name)) {
    const [entry] = Number(name) < size ? await journal.entries({ from: Number(name), limit: 1 }) : [];
    return entry;
  }
  for (let end = size; end > 0; end -= batch) {
    const from = Math.max(0, end - batch);
    const entries = await journal.entries({ from, limit: end - from });
    const found = entries.findLast(({ openings }) =>
      openings.some((opening) => opening && isNamed(opening.body, name)),
    );
    if (found) return found;
  }
  return undefined;
}

const names = ["id", "callId", "operationReceiptId", "receipt"] as const;

function isNamed(text: string, name: string): boolean {
  if (!text.includes(name)) return false;
  const body = JSON.parse(text) as Record<string, unknown>;
  return names.some((member) => body[member] === name);
}

function noSuchEntry(name: string): Refusal {
  const message = `The journal has no entry "${name.slice(0, 200)}". satchel journal list and satchel audit show what there is.`;
  return { refused: "not_found", message };
}

export interface ListReceiptsInput {
  limit: number;
  /** A receipt or call id. */
  id?: string;
}

export interface ReceiptLine {
  seq: number;
  at: string;
  envelope: SemanticToolEnvelope;
}

const receiptsMost = 1000;

/** Terminal envelopes, newest first; of an id, all its envelopes. */
export async function listReceipts(
  context: Context,
  { limit, id }: ListReceiptsInput,
): Promise<ReceiptLine[] | Refusal> {
  if (limit < 1 || limit > receiptsMost) return invalidInput([`limit: 1 to ${receiptsMost}`]);
  return context.store.read(async ({ journal }) => {
    const found: ReceiptLine[] = [];
    for (let end = (await journal.state()).size; end > 0 && found.length < limit; end -= batch) {
      const from = Math.max(0, end - batch);
      const entries = await journal.entries({ from, limit: end - from });
      found.push(...entries.reverse().flatMap((entry) => toReceipts(entry, id)));
    }
    return found.slice(0, limit);
  });
}

function toReceipts({ seq, at, kind, openings: [opening] }: StoredEntry, id: string | undefined): ReceiptLine[] {
  const isTerminal = kind === "prp.result" || kind === "prp.reconciled";
  if (!opening || !(isTerminal || (kind === "prp.input" && id !== undefined))) return [];
  const envelope = JSON.parse(opening.body) as SemanticToolEnvelope;
  const isAsked = id === undefined || envelope.callId === id || envelope.operationReceiptId === id;
  return isAsked ? [{ seq, at, envelope }] : [];
}

export interface UnsettledCall {
  seq: number;
  at: string;
  operation: string;
  callId: string;
}

/** Calls whose outcome is not known yet, oldest first. */
export async function listUnsettled(context: Context): Promise<UnsettledCall[]> {
  return context.store.read(async (transaction) => {
    const calls: UnsettledCall[] = [];
    for (const { seq, operation, identity } of await transaction.stagedCalls()) {
      const [entry] = await transaction.journal.entries({ from: seq, limit: 1 });
      const { callId } = JSON.parse(identity) as CallIdentity;
      calls.push({ seq, at: entry?.at ?? "", operation, callId });
    }
    return calls;
  });
}
