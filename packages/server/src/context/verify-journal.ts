import { parseVerifierKey, type StoredEntry, type Verdict, type VerifierKey, verifyLog } from "@satchel/journal";
import type { AuditRecord } from "../domain/records.js";
import type { AuditLine, ReadTransaction, Store } from "../store/store.js";

export interface VerifyJournalOptions {
  /** Keys from outside the log, in text form. */
  keys: string[];
  /** Signed notes from outside the log. */
  checkpoints: string[];
  onProgress?: (checked: number, size: number) => void;
}

export interface JournalVerdict extends Verdict {
  /** Call ids of inputs that have no terminal. */
  unsettled: string[];
}

/** The whole log, against everything that is known from outside it. @throws JournalError `bad_key` */
export async function verifyJournal(
  store: Pick<Store, "read">,
  { keys, checkpoints, onProgress }: VerifyJournalOptions,
): Promise<JournalVerdict> {
  const trusted: VerifierKey[] = keys.map(parseVerifierKey);
  const unsettled = new Map<string, string>();
  const audits = new AuditLines();
  const verify = async (transaction: ReadTransaction): Promise<Verdict> => {
    const { id } = await transaction.context();
    const verdict = await verifyLog(transaction.journal, {
      trusted,
      origin: `satchel/${id}`,
      checkpoints,
      onEntry: (entry) => {
        settle(unsettled, entry);
        audits.add(entry);
      },
      onProgress: ({ checked, size }) => onProgress?.(checked, size),
    });
    if (verdict.verdict === "truncated" && checkpoints.length === 0 && (await isUnused(transaction)))
      return { ...verdict, verdict: "valid", message: "Nothing is recorded yet: the log begins with the first call." };
    const seq = verdict.verdict === "valid" ? await audits.findUnindexed(transaction) : undefined;
    if (seq === undefined) return verdict;
    const message = `The index of the audit does not say of entry ${seq} what the entry says.`;
    return { ...verdict, verdict: "changed", seq, message };
  };
  const verdict = await store.read(verify, { isErasing: true });
  return { ...verdict, unsettled: [...unsettled.values()] };
}

/** A context that was made and never called: of one whose log was emptied, other rows or checkpoints are left. */
async function isUnused(transaction: ReadTransaction): Promise<boolean> {
  const { journal } = transaction;
  const [entry] = await journal.entries({ from: Number.MIN_SAFE_INTEGER, limit: 1 });
  if (entry || (await journal.lastCheckpoint()) || (await journal.state()).size > 0) return false;
  return (await transaction.recordedTime()) === (await transaction.context()).created;
}

/** The members of an envelope's canonical text that name its call, in their order there. */
const identityForm = /"callId":"([^"]+)".*?"runId":"([^"]+)".*?"operationId":"([^"]+)"/;

/** Two callers may choose the same call id, each in a run of its own. */
function settle(unsettled: Map<string, string>, { kind, openings: [opening] }: StoredEntry): void {
  if (!opening || !kind.startsWith("prp.")) return;
  const [, callId = "", runId, operationId] = identityForm.exec(opening.body) ?? [];
  const call = `${callId} ${runId} ${operationId}`;
  if (kind === "prp.input") unsettled.set(call, callId);
  else unsettled.delete(call);
}

/** The members of an audit head's canonical text that the index holds. */
const headForm = /^\{"action":"[^"]*","at":"([^"\\]+)","category":"([^"\\]+)",.*?"principal":"([^"\\]+)"/;

function readHead(body: string): Pick<AuditRecord, "at" | "category" | "principal"> {
  const [, at, category, principal] = headForm.exec(body) ?? [];
  if (at && category && principal) return { at, category, principal };
  return JSON.parse(body) as AuditRecord;
}

const linesPerBatch = 1000;

/**
 * What `audit_list` shows is chosen by an index beside the log: it has to list every audit entry as what it is, and
 * nothing else. What the entries say is kept in few bytes each, since there can be millions.
 */
class AuditLines {
  private readonly seqs: number[] = [];
  /** Of each entry: its line, as a number of `texts`; undefined where its head can't be read. */
  private readonly lines: (number | undefined)[] = [];
  private readonly times: number[] = [];
  private readonly texts = new Map<string, number>();

  add({ seq, kind, openings: [head] }: StoredEntry): void {
    if (kind !== "audit") return;
    this.seqs.push(seq);
    const { at, principal, category } = head ? readHead(head.body) : { at: "", principal: "", category: "" };
    this.times.push(Date.parse(at));
    this.lines.push(head && this.numberOf(`${principal} ${category}`));
  }

  private numberOf(text: string): number {
    const known = this.texts.get(text);
    if (known !== undefined) return known;
    this.texts.set(text, this.texts.size);
    return this.texts.size - 1;
  }

  /** @returns the first entry of which the index does not say what the entry says */
  async findUnindexed(transaction: ReadTransaction): Promise<number | undefined> {
    let at = 0;
    for (let after = -1; ; ) {
      const lines = await transaction.auditLines({ after, limit: linesPerBatch });
      for (const line of lines) {
        const seq = this.seqs[at] ?? Number.POSITIVE_INFINITY;
        if (line.seq !== seq || !this.isSame(at, line)) return Math.min(line.seq, seq);
        at++;
      }
      if (lines.length < linesPerBatch) return this.seqs[at];
      after = lines.at(-1)?.seq ?? after;
    }
  }

  private isSame(at: number, line: AuditLine): boolean {
    const known = this.lines[at];
    if (known === undefined) return true;
    return line.atMs === this.times[at] && this.texts.get(`${line.principal} ${line.category}`) === known;
  }
}
