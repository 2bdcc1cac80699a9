import { appendFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { currentKey, generateSigningKey, parseSigningKey, rotateKey } from "@satchel/journal";
import type { Store } from "../store/store.js";
import type { Context } from "./context.js";
import { journalKeyFile, journalKeysFile } from "./open-journal.js";

/**
 * Hands the journal over to a new signing key: an entry signed by both. The new key waits beside the old one until the
 * entry is committed, so that a crash in between loses neither. @returns the new key's verifier text
 */
export async function rotateJournalKey(context: Context): Promise<{ key: string; previous: string }> {
  const { folder, environment, store, journal } = context;
  await journal?.seal();
  const file = join(folder, journalKeyFile);
  const from = parseSigningKey(readFileSync(file, "utf8").trim());
  const to = generateSigningKey(from.verifier.name, environment.randomBytes(32));
  writeFileSync(waitingFile(folder), `${to.secretText()}\n`, { mode: 0o600, flush: true });
  const { randomBytes } = environment;
  const at = new Date(environment.now()).toISOString();
  const rotated = await store.write(async (transaction) => {
    await rotateKey(transaction.journal, { from, to, at, randomBytes });
    return { key: to.verifier.text, previous: from.verifier.text };
  });
  takeWaitingKey(folder);
  await journal?.seal();
  return rotated;
}

/** Finishes a rotation that a crash left between the entry and the file, or drops a key that never came into force. */
export async function settleRotation(store: Store, folder: string): Promise<void> {
  const waiting = waitingFile(folder);
  if (!existsSync(waiting)) return;
  const present = await store.read((transaction) => currentKey(transaction.journal));
  if (parseSigningKey(readFileSync(waiting, "utf8").trim()).verifier.text === present.text) takeWaitingKey(folder);
  else rmSync(waiting);
}

function takeWaitingKey(folder: string): void {
  const key = parseSigningKey(readFileSync(waitingFile(folder), "utf8").trim());
  appendFileSync(join(folder, journalKeysFile), `${key.verifier.text}\n`);
  renameSync(waitingFile(folder), join(folder, journalKeyFile));
}

function waitingFile(folder: string): string {
  return join(folder, `${journalKeyFile}.next`);
}
