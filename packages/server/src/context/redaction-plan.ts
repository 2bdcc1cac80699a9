import type { StoredEntry } from "@satchel/journal";
import { profileScope } from "@satchel/pcp";
import { indexedFolder } from "../domain/folder-index.js";
import { callTexts, holdsPhraseInAny } from "./called-texts.js";
import { eachEntry, type Read } from "./stored-walks.js";

/** What calls may have named what goes by. */
export interface ErasedNames {
  paths: ReadonlySet<string>;
  ids: ReadonlySet<string>;
  /** Namespaces of documents. */
  documents: readonly string[];
  phrase?: string | undefined;
  /** Of arguments that name what goes, and nothing else. */
  guessed: ReadonlySet<string>;
  /** Of pages that had one path in turns, by every id of theirs: that path, and whether the page goes. */
  holders: ReadonlyMap<string, { path: string; isErased: boolean }>;
}

/** The bodies in the journal that go: of every call that touched or returned something that goes (journal section 5). */
export interface RedactionPlan {
  entries: { seq: number; slots: number[] }[];
  envelopes: number;
  auditDetails: number;
}

/** Of pages, versions and proposals: all that an envelope names them by. */
export const idForm = /\b(?:pg|ver|rev)_[0-9a-hjkmnp-tv-z]{26}\b/g;

interface JournalSearch {
  names: ErasedNames;
  /** Calls that are not over yet, by call id. */
  open: Map<string, CallEntries>;
  touched: CallEntries[];
  /** Receipts of touched calls: a duplicate has its original's. */
  receipts: Set<string>;
  /** Audit entries of touched calls: a call that listed them returned their targets. */
  audits: Set<string>;
  /** Whose each path was when calls last named a page by an id of its own; until then, the erased page's. */
  held: Map<string, { isErased: boolean }>;
}

/** One call's entries so far. */
interface CallEntries {
  envelopes: number[];
  details: number[];
  targets: string[];
  audits: string[];
  isTouched: boolean;
}

export async function planRedaction(read: Read, names: ErasedNames): Promise<RedactionPlan> {
  const search: JournalSearch = {
    names,
    open: new Map(),
    touched: [],
    receipts: new Set(),
    audits: new Set(),
    held: new Map(),
  };
  const { open, touched } = search;
  for (const { path } of names.holders.values()) search.held.set(path, { isErased: true });
  await eachEntry(read, (entry) => addEntry(entry, search));
  const isTouched = (call: CallEntries) =>
    call.isTouched || call.targets.some((target) => isErasedTarget(target, search));
  touched.push(...[...open.values()].filter(isTouched));
  const envelopes = touched.flatMap((call) => call.envelopes);
  const details = touched.flatMap((call) => call.details);
  return {
    entries: [...envelopes.map((seq) => ({ seq, slots: [0] })), ...details.map((seq) => ({ seq, slots: [1] }))],
    envelopes: envelopes.length,
    auditDetails: details.length,
  };
}

/** The entries of one call share its call id; its terminal is the last of them. */
function addEntry(entry: StoredEntry, search: JournalSearch): void {
  const { names, open, touched, receipts, audits } = search;
  const { seq, kind, openings } = entry;
  const [first, second] = openings;
  const isEnvelope = kind === "prp.input" || kind === "prp.result" || kind === "prp.reconciled";
  if (!first || !(isEnvelope || kind === "audit")) return;
  const body = JSON.parse(first.body) as CallBody;
  const detail = second && (JSON.parse(second.body) as { targets: string[]; call_id?: string });
  const named = body.callId ?? detail?.call_id;
  const callId = named ?? `entry ${seq}`;
  const receipt = body.operationReceiptId ?? "";
  const call = open.get(callId) ?? { envelopes: [], details: [], targets: [], audits: [], isTouched: false };
  open.set(callId, call);
  if (isEnvelope) call.envelopes.push(seq);
  else {
    call.audits.push(body.id ?? "");
    if (detail) call.details.push(seq);
  }
  call.targets.push(...(detail?.targets ?? []));
  const ids = openings.flatMap((opening) => opening?.body.match(idForm) ?? []);
  notePathHolders(ids, search);
  call.isTouched ||=
    receipts.has(receipt) ||
    ids.some((id) => names.ids.has(id)) ||
    names.guessed.has(body.content?.digest ?? "") ||
    (names.phrase !== undefined && holdsPhraseInAny(callTexts(entry), names.phrase));
  const isOver = (isEnvelope && kind !== "prp.input") || (named === undefined && kind === "audit");
  if (!isOver) return;
  open.delete(callId);
  call.isTouched ||= call.targets.some((target) => isErasedTarget(target, search));
  if (!call.isTouched) return;
  touched.push(call);
  for (const id of call.audits) audits.add(id);
  if (isEnvelope) receipts.add(receipt);
}

interface CallBody {
  id?: string;
  callId?: string;
  operationReceiptId?: string;
  content?: { digest?: string };
}

function notePathHolders(ids: string[], { names: { holders }, held }: JournalSearch): void {
  for (const id of ids) {
    const holder = holders.get(id);
    if (holder) held.set(holder.path, holder);
  }
}

/** The generated index of a folder lists the pages below it. */
function isErasedTarget(target: string, { names: { paths, documents }, held, audits }: JournalSearch): boolean {
  const isErased = paths.has(target) || held.get(target)?.isErased || audits.has(target);
  if (isErased || documents.some((namespace) => `${target}:read` === profileScope(namespace, "read"))) return true;
  const folder = indexedFolder(target);
  if (folder === undefined) return false;
  const listed = [...paths, ...[...held].filter(([, holder]) => holder.isErased).map(([path]) => path)];
  return listed.some((path) => path.startsWith(folder));
}
