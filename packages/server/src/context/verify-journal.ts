import { parseVerifierKey, type StoredEntry, type Verdict, type VerifierKey, verifyLog } from "@satchel/journal";
import type { Store } from "../store/store.js";

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
  const unsettled = new Set<string>();
  const verdict = await store.read(async (transaction) => {
    const { id } = await transaction.context();
    return verifyLog(transaction.journal, {
      trusted,
      origin: `satchel/${id}`,
      checkpoints,
      onEntry: (entry) => settle(unsettled, entry),
      onProgress: ({ checked, size }) => onProgress?.(checked, size),
    });
  });
  return { ...verdict, unsettled: [...unsettled] };
}

function settle(unsettled: Set<string>, { kind, openings: [opening] }: StoredEntry): void {
  if (!opening || !kind.startsWith("prp.")) return;
  const callId = /"callId":"([^"]+)"/.exec(opening.body)?.[1] ?? "";
  if (kind === "prp.input") unsettled.add(callId);
  else unsettled.delete(callId);
}
