import {
  appendEntries,
  currentKey,
  type Entry,
  makeCheckpoint,
  type NewEntry,
  parseCheckpoint,
  type SigningKey,
} from "@satchel/journal";
import { canonicalJson } from "@satchel/prp";
import type { Store, WriteTransaction } from "../store/store.js";
import type { CheckpointFile } from "./checkpoint-file.js";
import type { Environment } from "./context.js";

/** A checkpoint is due after this many entries, and after this long while there are unsealed ones (journal section 5). */
const entriesPerCheckpoint = 256;
const longestUnsealedMs = 60_000;

/** The journal of one context, as this process writes it. */
export interface ContextJournal {
  /** `satchel/<context id>`: the name of its signing keys and the origin of its checkpoints. */
  readonly origin: string;
  /** Adds entries in the caller's transaction, and a checkpoint when one is due. */
  append(transaction: WriteTransaction, entries: NewEntry[]): Promise<Entry[]>;
  /** The facts with `key_id` and `signature`: Ed25519, base64url, over the canonical form with `key_id`. */
  sign<Facts extends Record<string, unknown>>(facts: Facts): Facts & { key_id: string; signature: string };
  /** Signs a checkpoint over everything that is there. @returns the signed note */
  seal(): Promise<string>;
  /** Copies checkpoints of transactions that are done to the file outside the store. */
  publish(): Promise<void>;
  /** Seals what is unsealed. */
  close(): Promise<void>;
}

export interface JournalPlace {
  store: Store;
  environment: Environment;
  origin: string;
  /** The key that signs now; another process may have changed it. */
  readKey(): SigningKey;
  checkpoints: CheckpointFile;
}

export function createContextJournal({
  store,
  environment,
  origin,
  readKey,
  checkpoints,
}: JournalPlace): ContextJournal {
  let unsealedSinceMs: number | undefined;
  let alarm: NodeJS.Timeout | undefined;
  let publishedSize = checkpoints.lastSize();
  let maySealed = true; // Checkpoints that an earlier process could not copy.

  const sealIn = async (transaction: WriteTransaction): Promise<string> => {
    const { note } = await makeCheckpoint(transaction.journal, readKey());
    unsealedSinceMs = undefined;
    clearTimeout(alarm);
    alarm = undefined;
    maySealed = true;
    return note;
  };
  /** Not so for the moment in which another process hands the journal over to a new key. */
  const isSigner = async (transaction: WriteTransaction) =>
    (await currentKey(transaction.journal)).text === readKey().verifier.text;
  const publish = async () => {
    if (!maySealed) return;
    maySealed = false;
    const notes = await store.read((transaction) => transaction.journal.checkpoints({ after: publishedSize }));
    if (notes.length === 0) return;
    checkpoints.append(notes);
    publishedSize = parseCheckpoint(notes.at(-1) ?? "").size;
  };
  const seal = async (): Promise<string> => {
    const note = await store.write(sealIn, { durability: "process" });
    await publish();
    return note;
  };
  return {
    origin,
    sign(facts) {
      const key = readKey();
      const signed = { ...facts, key_id: key.verifier.id };
      const signature = Buffer.from(key.sign(Buffer.from(canonicalJson(signed)))).toString("base64url");
      return { ...signed, signature };
    },
    publish,
    seal,
    async append(transaction, entries) {
      const added = await appendEntries(transaction.journal, entries, environment);
      const nowMs = environment.now();
      unsealedSinceMs ??= nowMs;
      const { size } = await transaction.journal.state();
      const sealed = await transaction.journal.lastCheckpoint();
      const isDue = size - (sealed?.size ?? 0) >= entriesPerCheckpoint || nowMs - unsealedSinceMs >= longestUnsealedMs;
      if (isDue && (await isSigner(transaction))) await sealIn(transaction);
      else alarm ??= setTimeout(() => void seal().catch(() => undefined), longestUnsealedMs).unref();
      return added;
    },
    async close() {
      clearTimeout(alarm);
      const isSealed = await store.read(async ({ journal }) => {
        const { size } = await journal.state();
        return size === 0 || size === (await journal.lastCheckpoint())?.size;
      });
      if (isSealed) await publish();
      else await seal();
    },
  };
}
