import type { ExportManifest } from "@satchel/pcp";
import { ArchiveContents, type ArchiveProblem } from "./archive-contents.js";
import { ArchiveError } from "./archive-error.js";
import { type ArchiveLimits, archiveLimits } from "./archive-limits.js";
import { listChanged, listExtra, listMissing, parseManifest } from "./archive-manifest.js";
import { manifestName } from "./archive-name.js";
import { readArchiveFile } from "./archive-source.js";
import { InflateFault } from "./gzip.js";
import type { Identity } from "./identity.js";
import { readTar } from "./tar.js";

export interface ArchiveReading {
  /** Undefined when it is missing or does not pass its schema; then no file could be checked. */
  manifest: ExportManifest | undefined;
  /** The manifest as it is, also when it does not pass; undefined when it is not there. */
  manifestBytes: Buffer | undefined;
  /** Every other file that could be read, also one with a problem, in the archive's order. */
  files: Map<string, Buffer>;
  /** Empty when the archive is whole and holds what it lists, no more and no less. What is hurt first comes first. */
  problems: ArchiveProblem[];
}

export interface ReadOptions {
  identities: readonly Identity[];
  /** Others than those of every archive: for tests. */
  limits?: Partial<ArchiveLimits>;
}

/**
 * Reads a whole archive into memory and checks it: gzip or plain tar, encrypted by age or not. Damage is a problem and no
 * error: what comes before it is read and checked.
 * @throws ArchiveError `not_an_archive`, `locked_archive` or `over_limit`, and the system's errors
 */
export async function readArchive(file: string, { identities, limits }: ReadOptions): Promise<ArchiveReading> {
  const options = { identities, limits: { ...archiveLimits, ...limits } };
  const scan = await scanArchive(file, options);
  const { damage } = scan;
  if (damage instanceof InflateFault) return checkScan(await scanArchive(file, options, damage.soundBytes));
  return checkScan(scan);
}

interface Scan {
  contents: ArchiveContents;
  /** What ended the reading early. */
  damage?: ArchiveError;
}

async function scanArchive(
  file: string,
  options: { identities: readonly Identity[]; limits: ArchiveLimits },
  fineFrom?: number,
): Promise<Scan> {
  const contents = new ArchiveContents(options.limits);
  const onOddity = (message: string) => {
    contents.problems.push({ kind: "unreadable", message });
  };
  const source = readArchiveFile(file, { ...options, onOddity, ...(fineFrom !== undefined && { fineFrom }) });
  try {
    await readTar(contents.count(source), (entry) => contents.take(entry));
  } catch (error) {
    if (!(error instanceof ArchiveError) || error.code !== "damaged") throw error;
    return { contents, damage: error };
  }
  return { contents };
}

function checkScan({ contents, damage }: Scan): ArchiveReading {
  const { manifest: manifestBytes, files } = contents;
  if (!manifestBytes && !damage)
    throw new ArchiveError("not_an_archive", `The file is no archive: it holds no ${manifestName}.`);
  const { manifest, problems } = manifestBytes
    ? parseManifest(manifestBytes)
    : { problems: [lostManifest], manifest: undefined };
  const damaged = damage ? [describeDamage(damage, { contents, manifest })] : [];
  const hurt = new Set([...contents.problems, ...damaged].map(({ path }) => path));
  const checked = manifest
    ? {
        changed: listChanged(manifest, files),
        rest: [...listMissing(manifest, (path) => files.has(path) || hurt.has(path)), ...listExtra(manifest, files)],
      }
    : { changed: [], rest: [] };
  const all = [...contents.problems, ...problems, ...checked.changed, ...damaged, ...checked.rest];
  return { manifest, manifestBytes, files, problems: all };
}

const lostManifest: ArchiveProblem = { kind: "manifest", path: manifestName, message: "can't be read" };

/** Names the file that the damage hits: the one being read, else the first that should have followed. */
function describeDamage(
  damage: ArchiveError,
  { contents, manifest }: { contents: ArchiveContents; manifest: ExportManifest | undefined },
): ArchiveProblem {
  const { current, files } = contents;
  const next = manifest?.files.find(({ path }) => !files.has(path))?.path;
  const path = current ?? (manifest ? next : manifestName);
  const isRest = manifest === undefined || next !== undefined;
  const consequence = isRest ? "this file and what follows it can't be read" : "every listed file could be read";
  return { kind: "unreadable", ...(path !== undefined && { path }), message: `${damage.message}: ${consequence}` };
}
