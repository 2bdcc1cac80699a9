import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type ArchiveReading,
  type Caller,
  type Identity,
  parseIdentities,
  readArchive,
  writeArchive,
} from "@satchel/server";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { expect } from "vitest";
import { owner, type Shared, temporaryFolder } from "./shared-context.js";

/*
 * Archives that tests make and open again.
 */

export interface Answered {
  export_id: string;
  coverage: "full" | "partial";
  download_url: string;
  expires_at: string;
  sha256: string;
  bytes: number;
  page_count: number;
}

const secretKey = await generateX25519Identity();
/** A key made for this run. */
export const key = {
  recipient: await identityToRecipient(secretKey),
  secret: secretKey,
  identities: parseIdentities(secretKey) as readonly Identity[],
};

export interface Opened extends Answered {
  path: string;
  files: ReadonlyMap<string, Buffer>;
  manifest: NonNullable<ArchiveReading["manifest"]>;
  /** Everything in it: names, the manifest, every file. */
  text: string;
}

/** Exports as this caller, and opens what came of it. @throws unless the archive is whole */
export async function exportAs(shared: Shared, caller: Caller = owner, args: object = {}): Promise<Opened> {
  const answer = await shared.ok<Answered>("export_create", args, caller);
  return { ...answer, ...(await openArchive(fileURLToPath(answer.download_url))) };
}

export async function openArchive(path: string): Promise<Omit<Opened, keyof Answered>> {
  const { files, manifest, manifestBytes, problems } = await readArchive(path, { identities: key.identities });
  expect(problems).toEqual([]);
  if (!manifest) throw new Error("the archive has no manifest");
  const text = [String(manifestBytes), ...[...files].flatMap(([name, bytes]) => [name, bytes.toString("utf8")])];
  return { path, files, manifest, text: text.join("\n") };
}

export const encrypted = { encrypt_to: [key.recipient] };

export function isAgeFile(path: string): boolean {
  return readFileSync(path).subarray(0, 22).toString() === "age-encryption.org/v1\n";
}

/** The names of its files, ids and numbers left out, each once. */
export function kindsOf({ files }: Pick<Opened, "files">): string[] {
  const kinds = [...files.keys()].map((name) =>
    name.replace(/(pg|ver|rev)_[0-9a-z]{26}/g, "$1").replace(/\d{6}/g, "N"),
  );
  return [...new Set(kinds)].sort();
}

export type Files = Map<string, Buffer>;

/** The archive with its files changed and a manifest that fits them. @returns where it is */
export async function remadeArchive(original: Opened, change: (files: Files) => void): Promise<string> {
  const files: Files = new Map(original.files);
  change(files);
  const target = join(temporaryFolder(), "archive");
  const { files: _, ...facts } = original.manifest;
  const listFiles = async function* () {
    for (const [path, bytes] of files) yield { path, bytes, mtimeMs: 0 };
  };
  await writeArchive(target, { manifest: () => facts, files: listFiles, recipients: [] });
  return target;
}
