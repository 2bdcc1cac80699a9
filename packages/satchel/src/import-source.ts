import { closeSync, openSync, readSync, statSync } from "node:fs";
import {
  type ArchiveReading,
  detectFormat,
  type ForeignFile,
  type ForeignReading,
  foreignFormats,
  type RefusedEntry,
  readArchive,
} from "@satchel/server";
import { readImported } from "./folder.js";
import { isGzip, readGzip } from "./gzip-file.js";
import { type IdentityOptions, isArchiveError, lockedArchive, readIdentities } from "./identities.js";
import { UsageError } from "./usage-error.js";
import { isZip, readZip } from "./zip.js";

export interface SourceOptions extends IdentityOptions {
  /** The name of a format, where it is not to be found out. */
  format?: string;
}

export interface ImportSource {
  /** What it is, for people; undefined of plain Markdown. */
  title?: string;
  source: ArchiveReading | ForeignReading;
}

/** What there is to import at a path: an archive of ours, or what some other tool exported. @throws UsageError, ArchiveError */
export async function readSource(path: string, options: SourceOptions): Promise<ImportSource> {
  const asked = options.format === undefined ? undefined : findFormat(options.format);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) throw new UsageError(`There is nothing at ${path}.`);
  const head = stat.isFile() ? headOf(path) : undefined;
  const archive = head && !isZip(head) ? await readOwnArchive(path, options) : undefined;
  if (archive?.manifest && !asked)
    return { title: `An archive of ${archive.manifest.context.handle}`, source: archive };
  const { files, refused } = archive ? { files: unpacked(archive), refused: [] } : await readFiles(path, head);
  if (!archive && files.some(isOwnManifest))
    throw new UsageError(
      `${path} is an unpacked archive. Import the archive itself: only as a whole can it be checked.`,
    );
  const format = asked ?? detectFormat(files);
  if (archive && !asked && format.name !== "pcp-0.2") return { title: "A damaged archive", source: archive };
  const source = withRefused(format.read(files), refused);
  if (isEmpty(source)) throw nothingToImport(path, format.name === "markdown" ? undefined : format.title);
  return { source, ...(format.name !== "markdown" && { title: format.title }) };
}

const headBytes = 4;

function headOf(path: string): Buffer {
  const file = openSync(path, "r");
  try {
    const head = Buffer.alloc(headBytes);
    return head.subarray(0, readSync(file, head, 0, headBytes, 0));
  } finally {
    closeSync(file);
  }
}

/** What other tools wrote, in whatever it is packed. */
async function readFiles(path: string, head?: Buffer): Promise<{ files: ForeignFile[]; refused: RefusedEntry[] }> {
  if (head && isZip(head)) return readZip(path);
  if (head && isGzip(head)) return { files: [await readGzip(path)], refused: [] };
  return { files: readImported(path), refused: [] };
}

async function readOwnArchive(path: string, options: SourceOptions): Promise<ArchiveReading | undefined> {
  try {
    return await readArchive(path, { identities: await readIdentities(options) });
  } catch (error) {
    if (isArchiveError(error, "not_an_archive")) return undefined;
    throw isArchiveError(error, "locked_archive") ? lockedArchive(error) : error;
  }
}

function isOwnManifest({ name, bytes }: ForeignFile): boolean {
  return name === "manifest.json" && /"pcp_version"\s*:\s*"0\.3"/.test(bytes.subarray(0, 4096).toString());
}

/** An archive of an earlier release is a container of the same kind. */
function unpacked({ files, manifestBytes }: ArchiveReading): ForeignFile[] {
  const all = [...files].map(([name, bytes]) => ({ name, bytes }));
  return manifestBytes ? [{ name: "manifest.json", bytes: manifestBytes }, ...all] : all;
}

function findFormat(asked: string) {
  const found = foreignFormats.find(({ name }) => name === asked);
  if (found) return found;
  const names = foreignFormats.map(({ name }) => name).join(", ");
  throw new UsageError(`"${asked}" is no format. There are: ${names}.`);
}

function withRefused(reading: ForeignReading, refused: RefusedEntry[]): ForeignReading {
  return { ...reading, refused: [...refused, ...reading.refused] };
}

function isEmpty({ pages, refused, profiles = {} }: ForeignReading): boolean {
  return pages.length + refused.length + Object.keys(profiles).length === 0;
}

function nothingToImport(path: string, title: string | undefined): UsageError {
  const what = title === undefined ? "no Markdown files and no export of another tool" : `nothing of: ${title}`;
  return new UsageError(
    `There is nothing to import in ${path}: ${what}. docs/import.md lists what can be read; --format says what it is.`,
  );
}
