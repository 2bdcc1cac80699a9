import { existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import {
  currentKey,
  generateSigningKey,
  JournalError,
  parseSigningKey,
  rotateKey,
  type SigningKey,
} from "@satchel/journal";
import type { WriteTransaction } from "../store/store.js";
import type { Context } from "./context.js";
import { syncFolder, writeSecret } from "./key-file.js";
import { journalKeyFile, journalKeysFile, writeKnownKeys } from "./open-journal.js";

/*
 * The new key waits beside the old one until the entry that puts it in force is committed, so that a crash in between
 * loses neither. Invariant: the waiting file is written, taken and dropped only inside a write transaction, so that of
 * processes that rotate, start or seal at once none takes or drops a key whose transaction is still open.
 */

/** Hands the journal over to a new signing key: an entry signed by both. @returns the new key's verifier text */
export async function rotateJournalKey(context: Context): Promise<{ key: string; previous: string }> {
  const { folder, environment, store, journal } = context;
  await journal?.seal();
  const rotated = await store.write(async (transaction) => {
    await settleRotation(transaction, folder);
    const from = parseSigningKey(readFileSync(join(folder, journalKeyFile), "utf8").trim());
    const to = generateSigningKey(from.verifier.name, environment.randomBytes(32));
    writeSecret(waitingFile(folder), `${to.secretText()}\n`);
    syncFolder(folder);
    const { randomBytes } = environment;
    const at = new Date(environment.now()).toISOString();
    await rotateKey(transaction.journal, { from, to, at, randomBytes });
    return { key: to.verifier.text, previous: from.verifier.text };
  });
  await journal?.seal();
  return rotated;
}

export function isRotationLeft(folder: string): boolean {
  return existsSync(waitingFile(folder));
}

/** Finishes a rotation whose entry is committed, or drops a key that never came into force. */
export async function settleRotation({ journal }: WriteTransaction, folder: string): Promise<void> {
  if (!isRotationLeft(folder)) return;
  const waiting = readWaitingKey(folder);
  const present = await currentKey(journal);
  if (waiting?.verifier.text === present.text) takeWaitingKey(folder, present.text);
  else rmSync(waitingFile(folder));
}

/** Undefined for one that a crash left half written: no entry speaks of it. */
function readWaitingKey(folder: string): SigningKey | undefined {
  try {
    return parseSigningKey(readFileSync(waitingFile(folder), "utf8").trim());
  } catch (error) {
    if (error instanceof JournalError) return undefined;
    throw error;
  }
}

function takeWaitingKey(folder: string, verifier: string): void {
  const known = join(folder, journalKeysFile);
  const lines = existsSync(known) ? readFileSync(known, "utf8").trim().split("\n") : [];
  if (!lines.includes(verifier)) writeKnownKeys(folder, [...lines, verifier]);
  renameSync(waitingFile(folder), join(folder, journalKeyFile));
}

function waitingFile(folder: string): string {
  return join(folder, `${journalKeyFile}.next`);
}
