import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  appendEntries,
  generateSigningKey,
  JournalError,
  parseSigningKey,
  type SigningKey,
  startLog,
} from "@satchel/journal";
import { PcpError } from "@satchel/pcp";
import type { Store, WriteTransaction } from "../store/store.js";
import { auditEntry } from "./audit-entry.js";
import { openCheckpointFile } from "./checkpoint-file.js";
import type { Environment } from "./context.js";
import { type ContextJournal, createContextJournal } from "./journal.js";
import { makeOnce } from "./key-file.js";
import { isRotationLeft, settleRotation } from "./rotate-journal-key.js";

/** Signs the journal's checkpoints: a signed-note secret key, readable by its owner only. */
export const journalKeyFile = "journal.key";
export const checkpointsFile = "checkpoints.log";
/** The verifier keys of the journal from its first on, one a line: what `journal verify` trusts unless told otherwise. */
export const journalKeysFile = "journal.pub";

/** The journal of a store, and how it is started before the first transaction. */
export function openJournal(
  store: Store,
  { folder, environment }: { folder: string; environment: Environment },
): { journal: ContextJournal; start: () => Promise<void> } {
  const origin = `satchel/${store.contextId}`;
  const keyFile = join(folder, journalKeyFile);
  const readKey = keyReader(keyFile, origin);
  const checkpoints = openCheckpointFile(join(folder, checkpointsFile));
  const settle = (transaction: WriteTransaction) => settleRotation(transaction, folder);
  return {
    journal: createContextJournal({ store, environment, origin, readKey, settle, checkpoints }),
    start: async () => {
      const place = { folder, origin, environment };
      await startJournal(store, { environment, readKey: () => makeSigningKey(place) });
      if (isRotationLeft(folder)) await store.write(settle, { isErasing: true });
    },
  };
}

/** Writes entry 0 of a context that has no journal yet, and takes in the audit of a release that had none. */
async function startJournal(
  store: Store,
  { environment, readKey }: { environment: Environment; readKey(): SigningKey },
): Promise<void> {
  const isStarted = await store.read(async ({ journal }) => (await journal.state()).size > 0, { isErasing: true });
  if (isStarted) return;
  await store.write(async (transaction) => {
    const { journal } = transaction;
    if ((await journal.state()).size > 0) return;
    const { randomBytes } = environment;
    await startLog(journal, readKey(), { randomBytes, at: new Date(environment.now()).toISOString() });
    const earlier = await transaction.takeEarlierAudit();
    const added = await appendEntries(
      journal,
      earlier.map((entry) => auditEntry(entry)),
      environment,
    );
    for (const [index, { seq }] of added.entries()) {
      const entry = earlier[index];
      if (entry) await transaction.indexAudit(seq, entry);
    }
  });
}

/** Contexts of a release without a journal have no key; of processes that make one at once, one wins. */
function makeSigningKey(place: { folder: string; origin: string; environment: Environment }): SigningKey {
  const file = join(place.folder, journalKeyFile);
  if (!existsSync(file)) makeOnce(file, { bytes: newSigningKey(place).secret, environment: place.environment });
  const key = keyReader(file, place.origin)();
  if (!existsSync(join(place.folder, journalKeysFile))) writeKnownKeys(place.folder, [key.verifier.text]);
  return key;
}

/** The file is whole at any instant. */
export function writeKnownKeys(folder: string, keys: string[]): void {
  const file = join(folder, journalKeysFile);
  writeFileSync(`${file}.new`, `${keys.join("\n")}\n`, { flush: true });
  renameSync(`${file}.new`, file);
}

/** The contents of the two key files of a new journal. */
export function newSigningKey({ origin, environment }: { origin: string; environment: Environment }) {
  const key = generateSigningKey(origin, environment.randomBytes(32));
  return { secret: `${key.secretText()}\n`, known: `${key.verifier.text}\n` };
}

/** Reads the file each time, since another process may hand the journal over, and parses it only when it is another. */
function keyReader(file: string, origin: string): () => SigningKey {
  let known: { text: string; key: SigningKey } | undefined;
  return () => {
    const text = existsSync(file) ? readFileSync(file, "utf8") : "";
    if (known?.text !== text) known = { text, key: parseKeyText(text, { file, origin }) };
    return known.key;
  };
}

function parseKeyText(text: string, { file, origin }: { file: string; origin: string }): SigningKey {
  try {
    const key = parseSigningKey(text.trim());
    if (key.verifier.name === origin) return key;
  } catch (cause) {
    if (!(cause instanceof JournalError)) throw cause;
  }
  throw new PcpError("internal", `${file} is not the journal key of this context. Restore it from a backup.`);
}
