import { randomUUID } from "node:crypto";
import type { Stats } from "node:fs";
import { mkdir, open, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type Client, type ClientName, findClient, type Place } from "./clients.js";
import { buildEntry, type Entry, mergeConfiguration } from "./configuration.js";
import { ConnectError } from "./connect-error.js";

export interface ConnectOptions {
  client: ClientName;
  place: Place;
  nodePath: string;
  scriptPath: string;
  dataDir: string;
  context?: string | undefined;
  /** Left out or false: nothing is read or written, and the text says what to add where. */
  write?: boolean | undefined;
}

/** `text` is for a person, complete, and ends in a line end. `backup` is the file as it was, if there was one. */
export type ConnectResult =
  | { outcome: "printed"; file: string; text: string }
  | { outcome: "unchanged"; file: string; text: string }
  | { outcome: "written"; file: string; backup?: string; text: string };

interface Existing {
  text: string;
  mode: number;
}

// Such a file often comes to hold tokens of other servers: only its owner reads a new one.
const newFileMode = 0o600;

/**
 * Tells how to connect a client, or with `write` does it: the client's file gets our entry, keeps all else and its mode,
 * is replaced in one step, and is kept as it was beside it as `<file>.satchel-backup` (of the last change).
 * Throws `ConnectError`; the client's file is then untouched.
 */
export async function connectClient(options: ConnectOptions): Promise<ConnectResult> {
  const client = findClient(options.client);
  const entry = buildEntry({ ...options, client });
  const file = client.configurationFile(options.place);
  if (!options.write) return { outcome: "printed", file, text: describeEntry(client, entry, file) };
  try {
    return await writeEntry(client, entry, file);
  } catch (error) {
    if (error instanceof ConnectError) throw error.file ? error : error.in(file);
    throw new ConnectError("configuration_io", (error as Error).message, { file, cause: error });
  }
}

function describeEntry(client: Client, entry: Entry, file: string): string {
  const snippet = mergeConfiguration(undefined, client, entry).text.trimEnd();
  const lines = [
    `${client.displayName} reads its servers from`,
    `  ${file}`,
    "Add this to it and keep what is there (the same command with --write does it):",
    "",
    snippet,
    "",
    client.reload,
  ];
  return `${lines.join("\n")}\n`;
}

async function writeEntry(client: Client, entry: Entry, file: string): Promise<ConnectResult> {
  const target = await resolveLink(file);
  const existing = await readExisting(target);
  const merged = mergeConfiguration(existing?.text, client, entry);
  if (!merged.changed) {
    return { outcome: "unchanged", file, text: `${client.displayName} is connected already: ${file}\n` };
  }
  await mkdir(dirname(target), { recursive: true });
  const backup = existing ? `${target}.satchel-backup` : undefined;
  if (existing && backup) await replaceFile(backup, existing);
  await replaceFile(target, { text: merged.text, mode: existing?.mode ?? newFileMode }, () =>
    verifyUnchanged(target, existing),
  );
  const kept = backup ? `The file as it was: ${backup}\n` : "";
  const text = `${client.displayName} is connected: ${file}\n${kept}${client.reload}\n`;
  return { outcome: "written", file, ...(backup ? { backup } : {}), text };
}

/** The file a link leads to, so that a configuration kept elsewhere is changed there and the link stays. */
async function resolveLink(file: string): Promise<string> {
  try {
    return await realpath(file);
  } catch (error) {
    if (isMissing(error)) return file;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}

async function readExisting(file: string): Promise<Existing | undefined> {
  let stats: Stats;
  let bytes: Buffer;
  try {
    stats = await stat(file);
    bytes = await readFile(file);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
  return { text: decodeText(bytes), mode: stats.mode & 0o777 };
}

function decodeText(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new ConnectError("configuration_unparsable", "not valid UTF-8", { cause });
  }
}

/** Narrows the time in which a running client could have written the file to that of one rename. */
async function verifyUnchanged(file: string, existing: Existing | undefined): Promise<void> {
  const now = await readExisting(file);
  if (now?.text !== existing?.text) {
    throw new ConnectError(
      "configuration_changed",
      "changed while it was being edited: close the client and try again",
    );
  }
}

/** Readers see the old file or the new one, never a part: written beside, forced to the disk, then renamed. */
async function replaceFile(file: string, content: Existing, verify?: () => Promise<void>): Promise<void> {
  const temporary = join(dirname(file), `.${basename(file)}.${randomUUID()}.tmp`);
  try {
    const handle = await open(temporary, "wx", content.mode);
    try {
      await handle.chmod(content.mode);
      await handle.writeFile(content.text, "utf8");
      await handle.sync();
    } finally {
      await handle.close();
    }
    await verify?.();
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
