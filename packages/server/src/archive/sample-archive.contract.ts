import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pack as createPack, type Header } from "tar-stream";
import { afterAll } from "vitest";
import { digestOf, type ManifestFacts } from "./archive-manifest.js";
import { gzip } from "./gzip.js";
import type { Identity } from "./identity.js";
import { readArchive } from "./read-archive.js";
import type { ArchiveFile } from "./tar.js";

/*
 * What tests of archives share: folders that are removed at the end, and made-up content.
 */

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "satchel-archive-"));
  folders.push(folder);
  return folder;
}

let made = 0;

/** A path in a new place, where nothing is yet. */
export function newPath(name = "archive"): string {
  made += 1;
  folders[0] ??= temporaryFolder();
  return join(folders[0], `${made}-${name}`);
}

export const sampleFacts: ManifestFacts = {
  pcp_version: "0.3",
  created: "2026-01-31T12:00:00Z",
  context: { handle: "me", kind: "personal", profile_type: "core" },
  coverage: "full",
  page_count: 2,
  omitted: [],
};

/** Files with these texts, in this order. */
export function buildFiles(texts: Record<string, string | Buffer>): ArchiveFile[] {
  return Object.entries(texts).map(([path, text], index) => ({
    path,
    bytes: Buffer.from(text),
    mtimeMs: Date.UTC(2026, 0, 1 + index),
  }));
}

export const sampleFiles: ArchiveFile[] = buildFiles({
  "audit/log.jsonl": `${JSON.stringify({ seq: 1, at: "2026-01-01T00:00:00Z" })}\n`.repeat(40),
  "memory/notes/empty.md": "",
  "memory/notes/today.md": "---\ntitle: Today\n---\nTea at four.\n",
  "memory/日記/京都.md": "お寺\n".repeat(30),
  [`memory/${"long/".repeat(60)}name.md`]: "Deep down.\n",
  "profile/core.json": `${JSON.stringify({ name: "Somebody", timezone: "Europe/Oslo" })}\n`,
});

export function listing(files: readonly ArchiveFile[]): () => AsyncGenerator<ArchiveFile> {
  return async function* () {
    yield* files;
  };
}

/** Writes these bytes to a new file. */
export function store(bytes: Uint8Array): string {
  const path = newPath();
  writeFileSync(path, bytes);
  return path;
}

/** An entry of a tar as no writer of ours makes it. */
export type RawEntry = Partial<Header> & { name: string; text?: string | Buffer };

/** A plain tar of any entries at all. */
export async function buildTar(entries: readonly RawEntry[]): Promise<Buffer> {
  const pack = createPack();
  for (const { text, ...header } of entries) {
    if (text === undefined) pack.entry(header);
    else pack.entry(header, text);
  }
  pack.finalize();
  const chunks: Uint8Array[] = [];
  for await (const chunk of pack) chunks.push(chunk as Uint8Array);
  return Buffer.concat(chunks);
}

/** A manifest that lists exactly these files. */
export function buildManifest(files: readonly ArchiveFile[], more: object = {}): string {
  const listed = files.map(({ path, bytes }) => ({ path, sha256: digestOf(bytes), bytes: bytes.length }));
  return JSON.stringify({ ...sampleFacts, files: listed, ...more });
}

export const toRaw = (files: readonly ArchiveFile[]): RawEntry[] =>
  files.map(({ path, bytes }) => ({ name: path, text: bytes }));

/** The manifest of `listed` in front of `entries`, compressed, in a new file. */
export async function storePacked(listed: readonly ArchiveFile[], entries: readonly RawEntry[]): Promise<string> {
  return store(await pack(await buildTar([{ name: "manifest.json", text: buildManifest(listed) }, ...entries])));
}

/** Compressed as archives are. */
export async function pack(bytes: Uint8Array): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of gzip(Readable.from([bytes]))) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The problems that reading a file finds, as "kind path", in their order. */
export async function problemsOf(file: string, identities: readonly Identity[] = []): Promise<string[]> {
  const { problems } = await readArchive(file, { identities });
  return problems.map(({ kind, path }) => (path === undefined ? kind : `${kind} ${path}`));
}
