import { PAGE_TYPES } from "@satchel/pcp";
import { datedPart, idPart } from "./entry-path.js";
import { headOf, isHidden, jsonOf } from "./file-text.js";
import type { ForeignFile, ForeignFormat } from "./foreign-format.js";
import { ReadingBuilder } from "./reading-builder.js";
import { instantOf, isObject, isTextList, listOf, member, textIn, textsIn, without } from "./values.js";

/** What a server of the Open Memory Protocol gives at `GET /v1/export`, or the bare list of its memories. */
export const omp: ForeignFormat = {
  name: "omp",
  title: "Open Memory Protocol (GET /v1/export)",
  detect: (files) => files.some(isExport),
  read(files) {
    const reading = new ReadingBuilder();
    for (const file of files) {
      if (isExport(file)) readExport(file, reading);
      else reading.count("other files");
    }
    return reading.build();
  },
};

function isExport(file: ForeignFile): boolean {
  if (isHidden(file) || !/\.json$/i.test(file.name)) return false;
  const head = headOf(file);
  if (/"omp_version"\s*:/.test(head)) return true;
  return (
    /^\uFEFF?\s*\[/.test(head) && /"id"\s*:\s*"mem_/.test(head) && /"source"\s*:\s*\{[^}]{0,2000}"tool"\s*:/.test(head)
  );
}

function readExport(file: ForeignFile, reading: ReadingBuilder): void {
  const json = jsonOf(file);
  if (!json.ok) {
    reading.addRefused(json.refused);
    return;
  }
  const { value } = json;
  for (const memory of Array.isArray(value) ? value : listOf(member(value, "memories"))) {
    addMemory({ file: file.name, line: json.lineOf(memory) }, memory, reading);
  }
}

const TYPES: readonly unknown[] = PAGE_TYPES;
const SOURCE_KEYS = ["tool", "session_id", "timestamp"];

function addMemory(place: { file: string; line: number | undefined }, value: unknown, reading: ReadingBuilder): void {
  const text = textIn(member(value, "content"));
  if (!isObject(value) || !text) {
    reading.refuse(place, 'the memory has no text under "content": mend the entry, or delete it');
    return;
  }
  const { id, type, source, tags, expires_at } = value;
  const observed = instantOf(member(source, "timestamp"));
  const at = observed ?? instantOf(value.created_at);
  const until = instantOf(expires_at);
  const isOurs = TYPES.includes(type);
  if (value.embedding !== undefined && value.embedding !== null) reading.count("embeddings, which are made anew");
  const name = textIn(id);
  const done = [
    "content",
    "embedding",
    "source",
    "tags",
    ...(isOurs ? ["type"] : []),
    ...(until ? ["expires_at"] : []),
  ];
  reading.add({
    ...place,
    path: `imported/omp/${name ? idPart(name) : datedPart({ at, text })}`,
    body: text,
    keys: { ...(isOurs && { type }), ...(until && { valid_until: until }) },
    tags: textsIn(tags),
    at,
    client: textIn(member(source, "tool")) ?? "omp",
    session: textIn(member(source, "session_id")),
    kept: {
      ...without(value, done),
      ...(!isTextList(tags) && { tags_given: tags }),
      source: isObject(source) ? without(source, observed ? SOURCE_KEYS : SOURCE_KEYS.slice(0, 2)) : source,
    },
  });
}
