import {
  type ArchivedChange,
  type ArchivedPartitions,
  type ArchivedRevision,
  type ArchivedVersion,
  buildPageFile,
  isExtensionNamespace,
  parseFrontmatter,
  parseHead,
  parsePath,
  parseUtc,
  splitPageFile,
  twinKey,
  validateArchived,
  verifyPageSizes,
} from "@satchel/pcp";
import { frontmatterView } from "./page-view.js";
import type { Attachment, PageKeys, PageVersion } from "./records.js";

/** A page with its past, as an archive holds it. */
export interface ArchivedPage {
  id: string;
  /** Where it stands in the archive, for messages: its own file, or its last record. */
  file: string;
  /** Oldest first, each with its body. */
  versions: (ArchivedVersion & { body: string })[];
}

/** What an archive of ours holds, checked record by record. */
export interface ArchivedContext {
  pages: ArchivedPage[];
  /** Page files without a record: of another host, or put in by hand. */
  texts: { file: string; path: string; text: string }[];
  revisions: (ArchivedRevision & { file: string })[];
  /** By namespace, oldest first; the last one is the document. */
  profiles: Map<string, ArchivedChange[]>;
  partitions: ArchivedPartitions;
  extensions: Map<string, Record<string, unknown>>;
  attachments: Attachment[];
  refused: { file: string; reason: string }[];
  notes: string[];
}

const pageName = /^memory\/(.+)\.md$/;

/** A reason to refuse a file, thrown while it is read. */
class Refused extends Error {}

/** Reads the files of an archive that passed its checks. `label` names it among foreign audit. */
export function parseArchived(files: ReadonlyMap<string, Buffer>, label: string): ArchivedContext {
  const context: ArchivedContext = {
    pages: [],
    texts: [],
    revisions: [],
    profiles: new Map(),
    partitions: [],
    extensions: new Map(),
    attachments: [],
    refused: [],
    notes: [],
  };
  const reading: Reading = {
    files,
    context,
    label,
    pages: new Map(),
    documents: new Map(),
    taken: new Set(),
    names: new Map(),
    ids: new Set(),
  };
  const attempt = (file: string, read: () => void) => {
    try {
      read();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      context.refused.push({ file, reason: error.message });
    }
  };
  for (const [name, bytes] of files) attempt(name, () => readFile(reading, name, bytes));
  for (const page of reading.pages.values()) attempt(page.file, () => verifyPage(reading, page));
  for (const namespace of new Set([...reading.documents.keys(), ...context.profiles.keys()]))
    attempt(`profile/${namespace}.json`, () => verifyProfile(reading, namespace));
  for (const [name, bytes] of files)
    if (pageName.test(name) && !reading.taken.has(name)) attempt(name, () => readText(reading, name, bytes));
  return context;
}

interface Reading {
  files: ReadonlyMap<string, Buffer>;
  context: ArchivedContext;
  label: string;
  pages: Map<string, ArchivedPage>;
  documents: Map<string, Record<string, unknown>>;
  /** Page files that a record speaks of. */
  taken: Set<string>;
  /** The file of each name that a page has. */
  names: Map<string, string>;
  /** Of versions. */
  ids: Set<string>;
}

/** What each kind of file is read by; pages' own files come after the records. */
const readers: [RegExp, (reading: Reading, file: NamedFile) => void][] = [
  [/^history\/(pg_[^/]+)\/(ver_[^/]+)\.json$/, readVersion],
  [pageName, () => undefined],
  [/^review\/(rev_[^/]+)\.json$/, readRevision],
  [
    /^profile\/([^/]+)\.json$/,
    ({ documents }, { bytes, named }) => documents.set(namespaceOf(named), parseObject(bytes)),
  ],
  [/^history\/profile\/([^/]+)\/\d+\.json$/, readChange],
  [
    /^extensions\/([^/]+)\.schema\.json$/,
    ({ context }, { bytes, named }) => context.extensions.set(namespaceOf(named), parseObject(bytes)),
  ],
  [
    /^partitions\.json$/,
    ({ context }, { bytes }) => {
      context.partitions = parseRecord<ArchivedPartitions>("partitions", bytes);
    },
  ],
  [
    /^audit\/(?:imported\/[^/]+\/)*(?:log(?:-\d+)?\.jsonl|journal\.pub)$/,
    (reading, { name, bytes }) => reading.context.attachments.push(attach(reading, name, decode(bytes))),
  ],
];

interface NamedFile {
  name: string;
  bytes: Buffer;
  /** What the name says the content is of; of a version, its page. */
  named: string;
  version: string;
}

function readFile(reading: Reading, name: string, bytes: Buffer): void {
  for (const [form, read] of readers) {
    const match = form.exec(name);
    if (!match) continue;
    read(reading, { name, bytes, named: match[1] ?? "", version: match[2] ?? "" });
    return;
  }
  reading.context.notes.push(`${name} is left out: nothing is known about such a file.`);
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Refused("not valid UTF-8 text");
  }
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(decode(bytes));
  } catch (error) {
    throw error instanceof Refused ? error : new Refused("not valid JSON");
  }
}

function parseObject(bytes: Buffer): Record<string, unknown> {
  const value = parseJson(bytes);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new Refused("not a JSON object");
}

function parseRecord<Value>(kind: Parameters<typeof validateArchived>[0], bytes: Buffer): Value {
  const value = parseJson(bytes);
  const violations = validateArchived(kind, value);
  if (violations.length > 0) throw new Refused(violations.slice(0, 5).join("; "));
  return value as Value;
}

function namespaceOf(name: string): string {
  if (name === "core" || name === "team" || isExtensionNamespace(name)) return name;
  throw new Refused(`"${name.slice(0, 100)}" is no namespace of a profile document`);
}

function readVersion(reading: Reading, { name, bytes, named: id, version }: NamedFile): void {
  const record = parseRecord<ArchivedVersion>("version", bytes);
  if (record.page !== id || record.version !== version) throw new Refused("the record names another version");
  verifyContent(record);
  verifyTimes([record.created, record.updated, record.generated.at, ...(record.review ? [record.review.by.at] : [])]);
  const body = record.current ? readBody(reading, record) : record.body;
  if (body === undefined) throw new Refused("the record has no body");
  const page = reading.pages.get(id) ?? { id, file: name, versions: [] };
  reading.pages.set(id, page);
  page.versions.push({ ...record, body });
  page.file = record.current ? `memory/${record.path}.md` : page.file;
}

/** The body of a page's own file, which has to be what the record makes of it. */
function readBody(reading: Reading, record: ArchivedVersion): string {
  const name = `memory/${record.path}.md`;
  const bytes = reading.files.get(name);
  if (!bytes) throw new Refused(`the record speaks of ${name}, which is not there`);
  reading.taken.add(name);
  const text = decode(bytes);
  const body = splitPageFile(text)?.body;
  if (body === undefined || buildArchivedPage(record, body) !== text)
    throw new Refused(`the record does not match ${name}`);
  return body;
}

/** The text of a page's own file in an archive. */
export function buildArchivedPage(record: ArchivedVersion, body: string): string {
  const { page: id, created, updated, generated, review, head, keys } = record;
  const version = { id, created, updated, generated, keys, ...(review && { review }) } as unknown as PageVersion;
  const view = frontmatterView(version, new Set());
  return buildPageFile(
    { head, body },
    { id, created, updated, generated: view.generated, ...(view.review !== undefined && { review: view.review }) },
  );
}

function verifyContent({
  path,
  head,
  body = "",
  keys,
}: {
  path: string;
  head: string;
  body?: string;
  keys: PageKeys;
}): void {
  const parsed = parsePath(path);
  if (!parsed.ok || parsed.path !== path) throw new Refused("the path is not one that a page can have");
  const read = parseFrontmatter(keys);
  if (!read.ok || JSON.stringify(read.frontmatter) !== JSON.stringify(keys))
    throw new Refused("the keys are not a page's keys");
  if (head !== "" && !parseHead(head).ok) throw new Refused("the head is not a frontmatter block");
  const [problem] = verifyPageSizes(head, body);
  if (problem) throw new Refused(problem.message);
}

function verifyTimes(times: string[]): void {
  if (times.some((time) => parseUtc(time) !== time)) throw new Refused("a time is not in UTC with milliseconds");
}

function verifyPage({ context, names, ids }: Reading, page: ArchivedPage): void {
  page.versions.sort((a, b) => (a.updated < b.updated ? -1 : Number(a.updated > b.updated)));
  const { versions } = page;
  const last = versions.at(-1);
  const isOrdered = versions.every(({ updated }, at) => at === 0 || updated > (versions[at - 1]?.updated ?? ""));
  const isEnded = versions.every((version) => version === last || !(version.current || version.removed));
  const isOne = versions.every(({ path, created }) => path === last?.path && created === last.created);
  const isBegun = versions.every(({ updated, created, generated }) => created <= updated && generated.at === updated);
  if (!isOrdered || !isEnded || !isOne || !isBegun || !(last?.current || last?.removed))
    throw new Refused("the records of this page do not belong together");
  const name = last.current ? twinKey(last.path) : undefined;
  const twin = name === undefined ? undefined : names.get(name);
  if (twin !== undefined)
    throw new Refused(`same page name as "${twin}" (names that differ only by case or Unicode form are one)`);
  if (versions.some(({ version }) => ids.has(version))) throw new Refused("a version of it is one of another page");
  for (const { version } of versions) ids.add(version);
  if (name !== undefined) names.set(name, page.file);
  context.pages.push(page);
}

function readText({ context }: Reading, name: string, bytes: Buffer): void {
  context.texts.push({ file: name, path: String(pageName.exec(name)?.[1]), text: decode(bytes) });
}

function readRevision({ context }: Reading, { name, bytes, named: id }: NamedFile): void {
  const revision = parseRecord<ArchivedRevision>("revision", bytes);
  if (revision.id !== id) throw new Refused("the record names another proposal");
  verifyContent(revision);
  verifyTimes([revision.generated.at, ...(revision.decision ? [revision.decision.by.at] : [])]);
  context.revisions.push({ ...revision, file: name });
}

function readChange({ context: { profiles } }: Reading, { bytes, named }: NamedFile): void {
  const change = parseRecord<ArchivedChange>("change", bytes);
  if (change.namespace !== namespaceOf(named)) throw new Refused("the record names another document");
  verifyTimes([change.generated.at]);
  profiles.set(named, [...(profiles.get(named) ?? []), change]);
}

function verifyProfile({ context: { profiles }, documents }: Reading, namespace: string): void {
  const document = documents.get(namespace);
  const changes = profiles.get(namespace) ?? [];
  const last = changes.at(-1);
  if (document && !last) {
    profiles.set(namespace, [{ namespace, generated: { principal: "user:owner", at: "" }, changed: [], document }]);
    return;
  }
  const isOrdered = changes.every(
    ({ generated }, at) => at === 0 || generated.at > (changes[at - 1]?.generated.at ?? ""),
  );
  if (document && isOrdered && JSON.stringify(last?.document) === JSON.stringify(document)) return;
  profiles.delete(namespace);
  throw new Refused("the document is not its last record");
}

/** Our own audit becomes foreign when it is read somewhere else; what was foreign already stays where it was. */
function attach({ label }: Reading, name: string, text: string): Attachment {
  const rest = name.slice("audit/".length);
  return { path: rest.startsWith("imported/") ? rest : `imported/${label}/${rest}`, text };
}
