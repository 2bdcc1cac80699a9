import { parseVerifierKey, type StoredEntry, type Verdict, type VerifierKey, verifyLog } from "@satchel/journal";
import type { ReadTransaction, Store } from "../store/store.js";

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
  const verify = async (transaction: ReadTransaction) => {
    const { id } = await transaction.context();
    return verifyLog(transaction.journal, {
      trusted,
      origin: `satchel/${id}`,
      checkpoints,
      onEntry: (entry) => settle(unsettled, entry),
      onProgress: ({ checked, size }) => onProgress?.(checked, size),
    });
  };
  const verdict = await store.read(verify, { isErasing: true });
  return { ...verdict, unsettled: [...unsettled.values()] };
}

/** Two callers may choose the same call id, each in a run of its own. */
function settle(unsettled: Map<string, string>, { kind, openings: [opening] }: StoredEntry): void {
  if (!opening || !kind.startsWith("prp.")) return;
  const [callId, operationId, runId] = identityForms.map((form) => form.exec(opening.body)?.[1] ?? "");
  const call = JSON.stringify([runId, operationId, callId]);
  if (kind === "prp.input") unsettled.set(call, callId ?? "");
  else unsettled.delete(call);
}

const identityForms = [/"callId":"([^"]+)"/, /"operationId":"([^"]+)"/, /"runId":"([^"]+)"/];
