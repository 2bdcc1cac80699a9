import {
  appendEntries,
  currentKey,
  type Entry,
  makeCheckpoint,
  type NewEntry,
  type SigningKey,
} from "@satchel/journal";
import { PcpError } from "@satchel/pcp";
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
  /** The facts with `key_id` and `signature` (Ed25519, base64url, over the canonical form with `key_id`), unless the key is lost. */
  sign<Facts extends Record<string, unknown>>(facts: Facts): Facts & Partial<Signature>;
  /** Signs a checkpoint over everything that is there. @returns the signed note */
  seal(): Promise<string>;
  /**
   * Copies checkpoints of transactions that are done to the file outside the store. What fails is tried again with the
   * next one: a call that is done is not answered as failed for it. `seal` and `close` throw instead.
   */
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
  /** Takes the new key of a rotation whose process has ended. */
  settle(transaction: WriteTransaction): Promise<void>;
  checkpoints: CheckpointFile;
}

export function createContextJournal(place: JournalPlace): ContextJournal {
  const { store, environment, origin, readKey, settle, checkpoints } = place;
  let unsealedSinceMs: number | undefined;
  let alarm: NodeJS.Timeout | undefined;
  let sealedSize = 0;
  const copier = createCopier(store, checkpoints);

  const sealIn = async (transaction: WriteTransaction): Promise<string> => {
    const { note } = await makeCheckpoint(transaction.journal, readKey());
    unsealedSinceMs = undefined;
    clearTimeout(alarm);
    alarm = undefined;
    copier.expect();
    return note;
  };
  /**
   * Not so for the moment in which another process hands the journal over to a new key, and when the key is lost: calls
   * go on without checkpoints then.
   */
  const isSigner = async (transaction: WriteTransaction) =>
    (await currentKey(transaction.journal)).text === readableKey(readKey)?.verifier.text;
  /** What this process knows of the last checkpoint may be old; another one may have made a later. */
  const isFull = async (transaction: WriteTransaction, size: number) => {
    if (size - sealedSize < entriesPerCheckpoint) return false;
    sealedSize = (await transaction.journal.lastCheckpoint())?.size ?? 0;
    return size - sealedSize >= entriesPerCheckpoint;
  };
  const seal = async (): Promise<string> => {
    const note = await store.write(
      async (transaction) => {
        await settle(transaction);
        if (await isSigner(transaction)) return sealIn(transaction);
        throw new PcpError("internal", "journal.key is not the key that signs this journal. Restore it from a backup.");
      },
      { durability: "process" },
    );
    await copier.copy();
    return note;
  };
  const sealLater = () => {
    alarm ??= setTimeout(() => {
      alarm = undefined;
      void seal().catch(sealLater);
    }, longestUnsealedMs).unref();
  };
  return {
    origin,
    sign: (facts) => signFacts(readableKey(readKey), facts),
    publish: () => copier.copy().catch(() => undefined),
    seal,
    async append(transaction, entries) {
      const added = await appendEntries(transaction.journal, entries, environment);
      const nowMs = environment.now();
      unsealedSinceMs ??= nowMs;
      const size = (added.at(-1)?.seq ?? -1) + 1;
      const isLong = nowMs - unsealedSinceMs >= longestUnsealedMs;
      if ((isLong || (await isFull(transaction, size))) && (await isSigner(transaction))) await sealIn(transaction);
      else sealLater();
      return added;
    },
    async close() {
      clearTimeout(alarm);
      if (await isSealed(store)) await copier.copy();
      else await seal();
    },
  };
}

function isSealed(store: Store): Promise<boolean> {
  return store.read(async ({ journal }) => {
    const { size } = await journal.state();
    return size === 0 || size === (await journal.lastCheckpoint())?.size;
  });
}

interface Signature {
  key_id: string;
  signature: string;
}

function readableKey(readKey: () => SigningKey): SigningKey | undefined {
  try {
    return readKey();
  } catch (error) {
    if (error instanceof PcpError) return undefined;
    throw error;
  }
}

function signFacts<Facts extends Record<string, unknown>>(
  key: SigningKey | undefined,
  facts: Facts,
): Facts & Partial<Signature> {
  if (!key) return facts;
  const signed = { ...facts, key_id: key.verifier.id };
  const signature = Buffer.from(key.sign(Buffer.from(canonicalJson(signed)))).toString("base64url");
  return { ...signed, signature };
}

/** Copies to the file what the store has beyond it, also of processes that could not, and all when the file is gone. */
function createCopier(store: Store, checkpoints: CheckpointFile) {
  let mayBeMore = true;
  return {
    expect() {
      mayBeMore = true;
    },
    async copy(): Promise<void> {
      if (!mayBeMore) return;
      mayBeMore = false;
      try {
        const after = checkpoints.lastSize();
        const notes = await store.read((transaction) => transaction.journal.checkpoints({ after }));
        if (notes.length > 0) checkpoints.append(notes);
      } catch (error) {
        mayBeMore = true;
        throw error;
      }
    },
  };
}
