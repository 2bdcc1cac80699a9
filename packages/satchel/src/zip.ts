import { type FileHandle, open } from "node:fs/promises";
import { type ForeignFile, findNameProblem, type RefusedEntry } from "@satchel/server";
import { configure, type Entry, type FileEntry, Reader, ZipReader } from "@zip.js/zip.js";
import { isReadName } from "./folder.js";
import { UsageError } from "./usage-error.js";

/*
 * A zip, as accounts of ChatGPT and Claude are exported in. Nothing of it is written to the disk.
 */

export interface ZipLimits {
  /** All that is read of it, unpacked. */
  totalBytes: number;
  memberBytes: number;
  members: number;
}

const gibibyte = 2 ** 30;

export const zipLimits: Readonly<ZipLimits> = {
  totalBytes: 2 * gibibyte,
  memberBytes: gibibyte,
  members: 1_000_000,
};

export interface ZipReading {
  files: ForeignFile[];
  /** Members whose names could lead out of the archive. */
  refused: RefusedEntry[];
}

/** Told from the first bytes, whatever the file is called. */
export function isZip(head: Uint8Array): boolean {
  const [p, k, third, fourth] = head;
  return p === 0x50 && k === 0x4b && ((third === 3 && fourth === 4) || (third === 5 && fourth === 6));
}

/**
 * The members that a folder's import would read, by name. @throws UsageError when it is damaged, encrypted or over a limit
 */
export async function readZip(path: string, limits: ZipLimits = zipLimits): Promise<ZipReading> {
  configure({ useWebWorkers: false });
  const handle = await open(path);
  const zip = new ZipReader(new HandleReader(handle), { strictness: "tolerant", checkCrc32: true });
  try {
    return await readMembers(zip, new Budget(path, limits));
  } catch (error) {
    throw toUsageError(error, path);
  } finally {
    await handle.close();
  }
}

/** Reads what is asked for of an open file, so that a large archive is never in memory as a whole. */
class HandleReader extends Reader<FileHandle> {
  readonly #handle: FileHandle;

  constructor(handle: FileHandle) {
    super(handle);
    this.#handle = handle;
  }

  override async init(): Promise<void> {
    await super.init?.();
    this.size = (await this.#handle.stat()).size;
  }

  override async readUint8Array(index: number, length: number): Promise<Uint8Array> {
    const bytes = Buffer.alloc(Math.max(0, Math.min(length, this.size - index)));
    const { bytesRead } = await this.#handle.read(bytes, 0, bytes.length, index);
    return new Uint8Array(bytes.buffer, bytes.byteOffset, bytesRead);
  }
}

/** What may still be unpacked. */
class Budget {
  readonly #path: string;
  readonly #limits: ZipLimits;
  #members = 0;
  #bytes = 0;

  constructor(path: string, limits: ZipLimits) {
    this.#path = path;
    this.#limits = limits;
  }

  countMember(): void {
    this.#members += 1;
    const { members } = this.#limits;
    if (this.#members > members) throw this.#over(`${this.#path} holds more than ${members} files.`);
  }

  /** Before a member is unpacked, with the size it states, and with what more than that comes out. */
  take(name: string, { total, more }: { total: number; more: number }): void {
    const { memberBytes, totalBytes } = this.#limits;
    if (total > memberBytes) throw this.#over(`"${name}" in ${this.#path} has more than ${memberBytes} bytes.`);
    this.#bytes += more;
    if (this.#bytes > totalBytes) throw this.#over(`${this.#path} unpacks to more than ${totalBytes} bytes.`);
  }

  #over(what: string): UsageError {
    return new UsageError(`${what} Unpack it and import its files one by one.`);
  }
}

async function readMembers(zip: ZipReader<unknown>, budget: Budget): Promise<ZipReading> {
  const reading: ZipReading = { files: [], refused: [] };
  const taken = new Set<string>();
  const members: FileEntry[] = [];
  for await (const entry of zip.getEntriesGenerator()) {
    budget.countMember();
    if (!isWanted(entry)) continue;
    const name = entry.filename;
    const reason = taken.has(name) ? "the archive holds two files of this name" : findNameProblem(name);
    taken.add(name);
    if (reason) reading.refused.push({ file: name, reason: `${reason}: unpack the archive and import the folder` });
    else members.push(entry);
  }
  for (const member of members.sort((a, b) => (a.filename < b.filename ? -1 : 1)))
    reading.files.push({ name: member.filename, bytes: await unpack(member, budget) });
  return reading;
}

/** As in a folder: by its ending, and nothing that is hidden. What a Mac adds to a zip is hidden there. */
function isWanted(entry: Entry): entry is FileEntry {
  const parts = entry.filename.split(/[/\\]/);
  const isHidden = parts.some((part) => /^\.[^.]/.test(part) || part === "__MACOSX");
  return !entry.directory && !isHidden && isReadName(entry.filename);
}

async function unpack(member: FileEntry, budget: Budget): Promise<Buffer> {
  const { filename: name, uncompressedSize: stated } = member;
  if (member.encrypted) throw new UsageError(`"${name}" is encrypted: unpack the archive and import the folder.`);
  budget.take(name, { total: stated, more: stated });
  const chunks: Uint8Array[] = [];
  let length = 0;
  const sink = new WritableStream<Uint8Array>({
    write(chunk) {
      length += chunk.length;
      if (length > stated) throw new Error("more comes out than the archive states");
      chunks.push(chunk);
    },
  });
  await member.getData(sink);
  if (length !== stated) throw new Error("less comes out than the archive states");
  return Buffer.concat(chunks, length);
}

function toUsageError(error: unknown, path: string): unknown {
  const isOurs = error instanceof UsageError || typeof (error as NodeJS.ErrnoException)?.syscall === "string";
  if (isOurs) return error;
  const why = error instanceof Error ? error.message : String(error);
  return new UsageError(`${path} is a damaged zip (${why.toLowerCase()}): download or pack it again.`);
}
