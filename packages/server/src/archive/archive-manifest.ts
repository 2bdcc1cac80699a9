import { createHash } from "node:crypto";
import { type ExportManifest, validateManifest } from "@satchel/pcp";
import type { ArchiveProblem } from "./archive-contents.js";
import { findNameProblem, manifestName } from "./archive-name.js";

/** What the caller says in the manifest; the list of files is made from the files. */
export type ManifestFacts = { [Key in keyof ExportManifest as Key extends "files" ? never : Key]: ExportManifest[Key] };

export type ListedFile = ExportManifest["files"][number];

export const digestOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** The order of `files` in a manifest: by code units, the same on every machine. */
export function compareNames(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

export interface ParsedManifest {
  manifest?: ExportManifest;
  problems: ArchiveProblem[];
}

/** The manifest, when it passes its schema and names each file once. */
export function parseManifest(bytes: Buffer): ParsedManifest {
  const fail = (messages: string[]) => ({
    problems: messages.map((message) => ({ kind: "manifest" as const, path: manifestName, message })),
  });
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return fail(["is no JSON text"]);
  }
  const violations = validateManifest(value);
  if (violations.length > 0) return fail(violations);
  const manifest = value as ExportManifest;
  return { manifest, problems: listNameProblems(manifest.files) };
}

function listNameProblems(files: readonly ListedFile[]): ArchiveProblem[] {
  const seen = new Set<string>();
  return files.flatMap(({ path }) => {
    const isTwice = seen.has(path);
    seen.add(path);
    const message = isTwice ? "is listed twice" : path === manifestName ? "lists itself" : findNameProblem(path);
    return message === undefined ? [] : [{ kind: "manifest" as const, path, message }];
  });
}

/** Listed files that are other than the manifest says, in the archive's order. */
export function listChanged(manifest: ExportManifest, files: ReadonlyMap<string, Buffer>): ArchiveProblem[] {
  const listed = new Map(manifest.files.map((file) => [file.path, file]));
  return [...files].flatMap(([path, bytes]) => {
    const expected = listed.get(path);
    const isSame = !expected || (expected.bytes === bytes.length && expected.sha256 === digestOf(bytes));
    return isSame ? [] : [{ kind: "changed" as const, path, message: describeChange(expected, bytes) }];
  });
}

function describeChange(expected: ListedFile, bytes: Buffer): string {
  if (expected.bytes === bytes.length) return "its content is not what the manifest lists";
  return `has ${bytes.length} bytes, and ${expected.bytes} are listed`;
}

/** Listed files that are not there. */
export function listMissing(manifest: ExportManifest, has: (path: string) => boolean): ArchiveProblem[] {
  const paths = [...new Set(manifest.files.map(({ path }) => path))].filter((path) => !has(path));
  return paths.map((path) => ({ kind: "missing", path, message: "is listed, but not in the archive" }));
}

/** Files that the manifest does not list. */
export function listExtra(manifest: ExportManifest, files: ReadonlyMap<string, Buffer>): ArchiveProblem[] {
  const listed = new Set(manifest.files.map(({ path }) => path));
  const paths = [...files.keys()].filter((path) => !listed.has(path));
  return paths.map((path) => ({ kind: "extra", path, message: "is in the archive, but not listed" }));
}
