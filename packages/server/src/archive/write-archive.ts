import { createHash } from "node:crypto";
import { type FileHandle, open, rm } from "node:fs/promises";
import { validateManifest } from "@satchel/pcp";
import { ArchiveError } from "./archive-error.js";
import { archiveLimits } from "./archive-limits.js";
import { compareNames, digestOf, type ListedFile, type ManifestFacts } from "./archive-manifest.js";
import { findNameProblem, manifestName } from "./archive-name.js";
import type { ByteStream } from "./byte-stream.js";
import { gzip } from "./gzip.js";
import { checkRecipients, encrypt, type Recipient } from "./recipient.js";
import { type ArchiveFile, packTar } from "./tar.js";

export interface ArchiveSpec {
  /** Asked for when the files are measured. `created` is the manifest's time in the tar as well. */
  manifest: () => ManifestFacts;
  /** Called twice: to measure and to write. Both times it must give the same files. */
  files: () => AsyncIterable<ArchiveFile>;
  /** None: the archive is not encrypted. */
  recipients: readonly Recipient[];
  signal?: AbortSignal;
}

/**
 * Writes an archive to a new file that only its owner may read, and syncs it. Holds one file at a time in memory. When it
 * fails nothing is left; a file that was at `target` before is not touched.
 * @returns the SHA-256 and the size of what was written
 * @throws ArchiveError `mixed_recipients`, `invalid_manifest`, `invalid_name`, `over_limit`, `changed` or `aborted`, and
 *   the system's errors (`EEXIST` when there is a file already)
 */
export async function writeArchive(target: string, spec: ArchiveSpec): Promise<{ sha256: string; bytes: number }> {
  const { recipients, signal } = spec;
  checkRecipients(recipients);
  const listed = await measure(spec);
  const facts = spec.manifest();
  checkFacts(facts);
  const manifest = buildManifestFile(facts, listed);
  const packed = gzip(limitTotal(packTar(listFiles(manifest, { listed, spec }))));
  const handle = await open(target, "wx", 0o600);
  try {
    const written = await writeStream(handle, recipients.length > 0 ? encrypt(packed, recipients) : packed, signal);
    await handle.sync();
    await handle.close();
    return written;
  } catch (error) {
    await handle.close().catch(() => undefined);
    await rm(target, { force: true });
    throw error;
  }
}

function checkFacts(facts: ManifestFacts): void {
  const [violation] = validateManifest({ ...facts, files: [] });
  if (violation !== undefined) throw new ArchiveError("invalid_manifest", `The manifest does not pass: ${violation}`);
}

type Listed = Map<string, ListedFile>;

async function measure({ files, signal }: ArchiveSpec): Promise<Listed> {
  const listed: Listed = new Map();
  for await (const { path, bytes } of files()) {
    checkAborted(signal);
    checkName(path, listed);
    if (bytes.length > archiveLimits.fileBytes) throw overLimit("fileBytes", `bytes in ${path}`);
    if (listed.size + 2 > archiveLimits.files) throw overLimit("files", "files");
    listed.set(path, { path, sha256: digestOf(bytes), bytes: bytes.length });
  }
  return listed;
}

function checkName(path: string, listed: Listed): void {
  const problem = path === manifestName ? "the archive makes this file itself" : findNameProblem(path);
  const isTwice = listed.has(path) ? "it is given twice" : undefined;
  const message = problem ?? isTwice;
  if (message !== undefined) throw new ArchiveError("invalid_name", `${JSON.stringify(path)}: ${message}.`);
  if (Buffer.byteLength(path) > archiveLimits.nameBytes) throw overLimit("nameBytes", "bytes in a file's name");
}

function overLimit(limit: keyof typeof archiveLimits, what: string): ArchiveError {
  return new ArchiveError("over_limit", `An archive can't have more than ${archiveLimits[limit]} ${what}.`);
}

function checkAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new ArchiveError("aborted", "Writing the archive was ended.", { cause: signal.reason });
}

function buildManifestFile(facts: ManifestFacts, listed: Listed): ArchiveFile {
  const files = [...listed.values()].sort((a, b) => compareNames(a.path, b.path));
  // One line a file, each made for itself: the whole as one text would take several times its size.
  const opening = `${JSON.stringify(facts, null, 2).replace(/\n\}$/, "")},\n  "files": [`;
  const lines = files.map((file, index) => Buffer.from(`${index > 0 ? "," : ""}\n    ${JSON.stringify(file)}`));
  const bytes = Buffer.concat([Buffer.from(opening), ...lines, Buffer.from("\n  ]\n}\n")]);
  if (bytes.length > archiveLimits.manifestBytes) throw overLimit("manifestBytes", "bytes in its manifest");
  return { path: manifestName, bytes, mtimeMs: Date.parse(facts.created) };
}

/** The manifest, then the files as they were measured. @throws ArchiveError `changed` */
async function* listFiles(
  manifest: ArchiveFile,
  { listed, spec }: { listed: Listed; spec: ArchiveSpec },
): AsyncGenerator<ArchiveFile> {
  yield manifest;
  const left = new Map(listed);
  for await (const file of spec.files()) {
    const expected = left.get(file.path);
    if (expected?.sha256 !== digestOf(file.bytes)) throw changed(file.path);
    left.delete(file.path);
    yield file;
  }
  for (const path of left.keys()) throw changed(path);
}

function changed(path: string): ArchiveError {
  return new ArchiveError("changed", `${JSON.stringify(path)} changed while the archive was written.`);
}

async function* limitTotal(source: ByteStream): AsyncGenerator<Uint8Array> {
  let total = 0;
  for await (const chunk of source) {
    total += chunk.length;
    if (total > archiveLimits.totalBytes) throw overLimit("totalBytes", "bytes before it is packed");
    yield chunk;
  }
}

async function writeStream(handle: FileHandle, source: ByteStream, signal: AbortSignal | undefined) {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of source) {
    checkAborted(signal);
    hash.update(chunk);
    bytes += chunk.length;
    await handle.writeFile(chunk);
  }
  return { sha256: hash.digest("hex"), bytes };
}
