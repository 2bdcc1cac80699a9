import { existsSync, readFileSync } from "node:fs";
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
import type { Store } from "../store/store.js";
import { auditEntry } from "./audit-entry.js";
import { openCheckpointFile } from "./checkpoint-file.js";
import type { Environment } from "./context.js";
import { type ContextJournal, createContextJournal } from "./journal.js";
import { makeOnce } from "./key-file.js";

/** Signs the journal's checkpoints: a signed-note secret key, readable by its owner only. */
export const journalKeyFile = "journal.key";
export const checkpointsFile = "checkpoints.log";

/** The journal of a store, and how it is started before the first transaction. */
export function openJournal(
  store: Store,
  { folder, environment }: { folder: string; environment: Environment },
): { journal: ContextJournal; start: () => Promise<void> } {
  const origin = `satchel/${store.contextId}`;
  const keyFile = join(folder, journalKeyFile);
  const readKey = () => readSigningKey(keyFile, origin);
  const checkpoints = openCheckpointFile(join(folder, checkpointsFile));
  return {
    journal: createContextJournal({ store, environment, origin, readKey, checkpoints }),
    start: () => startJournal(store, { environment, readKey: () => makeSigningKey(keyFile, { origin, environment }) }),
  };
}

/** Writes entry 0 of a context that has no journal yet, and takes in the audit of a release that had none. */
async function startJournal(
  store: Store,
  { environment, readKey }: { environment: Environment; readKey(): SigningKey },
): Promise<void> {
  const isStarted = await store.read(async ({ journal }) => (await journal.state()).size > 0);
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
function makeSigningKey(
  file: string,
  { origin, environment }: { origin: string; environment: Environment },
): SigningKey {
  if (!existsSync(file)) makeOnce(file, { bytes: newSigningKey(origin, environment), environment });
  return readSigningKey(file, origin);
}

export function newSigningKey(origin: string, environment: Environment): string {
  return `${generateSigningKey(origin, environment.randomBytes(32)).secretText()}\n`;
}

function readSigningKey(file: string, origin: string): SigningKey {
  try {
    const key = parseSigningKey(readFileSync(file, "utf8").trim());
    if (key.verifier.name === origin) return key;
  } catch (cause) {
    if (!(cause instanceof JournalError) && (cause as NodeJS.ErrnoException).code !== "ENOENT") throw cause;
  }
  throw new PcpError("internal", `${file} is not the journal key of this context. Restore it from a backup.`);
}
