import type { StoredEntry } from "@satchel/journal";
import { profileScope } from "@satchel/pcp";
import { indexedFolder } from "../domain/folder-index.js";
import { holdsPhrase } from "../domain/subject.js";
import type { ReadTransaction } from "../store/store.js";

/** What calls may have named what goes by. */
export interface ErasedNames {
  paths: ReadonlySet<string>;
  ids: ReadonlySet<string>;
  /** Namespaces of documents. */
  documents: readonly string[];
  phrase?: string | undefined;
}

/** The bodies in the journal that go: of every call that touched or returned something that goes (journal section 5). */
export interface RedactionPlan {
  entries: { seq: number; slots: number[] }[];
  envelopes: number;
  auditDetails: number;
}

const batch = 1000;
const idForm = /\b(?:pg|ver|rev)_[0-9a-hjkmnp-tv-z]{26}\b/g;

interface JournalSearch {
  names: ErasedNames;
  /** Calls that are not over yet, by call id. */
  open: Map<string, CallEntries>;
  touched: CallEntries[];
  /** Receipts of touched calls: a duplicate has its original's. */
  receipts: Set<string>;
}

/** One call's entries so far. */
interface CallEntries {
  envelopes: number[];
  details: number[];
  isTouched: boolean;
}

export async function planRedaction(
  read: <T>(use: (transaction: ReadTransaction) => Promise<T>) => Promise<T>,
  names: ErasedNames,
): Promise<RedactionPlan> {
  const search: JournalSearch = { names, open: new Map(), touched: [], receipts: new Set() };
  const { open, touched } = search;
  for (let from = 0; ; from += batch) {
    const entries = await read(({ journal }) => journal.entries({ from, limit: batch }));
    for (const entry of entries) addEntry(entry, search);
    if (entries.length < batch) break;
    await new Promise((resolve) => setImmediate(resolve));
  }
  touched.push(...[...open.values()].filter(({ isTouched }) => isTouched));
  const envelopes = touched.flatMap((call) => call.envelopes);
  const details = touched.flatMap((call) => call.details);
  return {
    entries: [...envelopes.map((seq) => ({ seq, slots: [0] })), ...details.map((seq) => ({ seq, slots: [1] }))],
    envelopes: envelopes.length,
    auditDetails: details.length,
  };
}

/** The entries of one call share its call id; its terminal is the last of them. */
function addEntry(entry: StoredEntry, { names, open, touched, receipts }: JournalSearch): void {
  const { seq, kind, openings } = entry;
  const [first, detail] = openings;
  const isEnvelope = kind === "prp.input" || kind === "prp.result" || kind === "prp.reconciled";
  if (!first || !(isEnvelope || kind === "audit")) return;
  const body = JSON.parse(first.body) as { callId?: string; call_id?: string; operationReceiptId?: string };
  const callId = String(body.callId ?? body.call_id ?? `entry ${seq}`);
  const receipt = body.operationReceiptId ?? "";
  const call = open.get(callId) ?? { envelopes: [], details: [], isTouched: false };
  open.set(callId, call);
  if (isEnvelope) call.envelopes.push(seq);
  else if (detail) call.details.push(seq);
  call.isTouched ||=
    receipts.has(receipt) ||
    namesErased(first.body, names) ||
    (detail !== undefined && targetsErased(detail.body, names));
  const isOver = (isEnvelope && kind !== "prp.input") || (body.call_id === undefined && kind === "audit");
  if (!isOver) return;
  open.delete(callId);
  if (!call.isTouched) return;
  touched.push(call);
  if (isEnvelope) receipts.add(receipt);
}

function namesErased(text: string, { ids, phrase }: ErasedNames): boolean {
  if (ids.size > 0 && text.match(idForm)?.some((id) => ids.has(id))) return true;
  return phrase !== undefined && holdsPhrase(text, phrase);
}

function targetsErased(text: string, names: ErasedNames): boolean {
  const { targets } = JSON.parse(text) as { targets: string[] };
  return targets.some((target) => isErasedTarget(target, names)) || namesErased(text, names);
}

/** The generated index of a folder lists the pages below it. */
function isErasedTarget(target: string, { paths, documents }: ErasedNames): boolean {
  if (paths.has(target) || documents.some((namespace) => `${target}:read` === profileScope(namespace, "read")))
    return true;
  const folder = indexedFolder(target);
  return folder !== undefined && [...paths].some((path) => path.startsWith(folder));
}
