import { readFileSync } from "node:fs";
import {
  ArchiveError,
  type ArchiveErrorCode,
  type Identity,
  parseIdentities,
  passphraseIdentity,
} from "@satchel/server";
import { askPassphrase } from "./passphrase.js";
import { UsageError } from "./usage-error.js";

export interface IdentityOptions {
  /** Files with private keys. */
  identity: string[];
  passphrase?: boolean;
}

/** What opens an archive: private keys from files, and a passphrase that is asked for. @throws UsageError */
export async function readIdentities({ identity, passphrase }: IdentityOptions): Promise<Identity[]> {
  const identities: Identity[] = [];
  for (const file of identity) identities.push(...(await readIdentityFile(file)));
  if (passphrase) identities.push(passphraseIdentity(await askPassphrase("Passphrase of the archive")));
  return identities;
}

/** Asks for the passphrase of a private key that needs one. */
async function readIdentityFile(file: string): Promise<Identity[]> {
  const text = readFileSync(file, "utf8");
  try {
    return parseIdentities(text);
  } catch (error) {
    if (!isArchiveError(error, "locked_identity")) throw toUsageError(error, file);
  }
  const passphrase = await askPassphrase(`Passphrase of ${file}`);
  try {
    return parseIdentities(text, passphrase);
  } catch (error) {
    throw toUsageError(error, file);
  }
}

export function isArchiveError(error: unknown, code: ArchiveErrorCode): error is ArchiveError {
  return error instanceof ArchiveError && error.code === code;
}

function toUsageError(error: unknown, file: string): unknown {
  return error instanceof ArchiveError ? new UsageError(`--identity ${file}: ${error.message}`) : error;
}

/** What to do about an archive that nothing given opens. */
export function lockedArchive({ message }: ArchiveError): UsageError {
  return new UsageError(`${message} --identity FILE gives a key, --passphrase asks for a passphrase.`);
}
