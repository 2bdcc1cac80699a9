import { datedPart, idPart } from "./entry-path.js";
import { headOf, isHidden, jsonOf, linesOf, NO_JSON, textOf } from "./file-text.js";
import type { ForeignFile, ForeignFormat } from "./foreign-format.js";
import { parseJsonRun } from "./json-text.js";
import { ReadingBuilder } from "./reading-builder.js";
import { dateOf, instantOf, isObject, isTextList, listOf, member, textIn, textsIn, without } from "./values.js";

/** Lists of memories as mem0's API and library give them, and the backups of OpenMemory. */
export const mem0: ForeignFormat = {
  name: "mem0",
  title: "mem0 and OpenMemory (JSON)",
  detect: (files) => files.some(isMem0),
  read(files) {
    const reading = new ReadingBuilder();
    const hasList = files.some((file) => isMem0(file) && /\.json$/i.test(file.name));
    for (const file of files) {
      if (/\.jsonl\.gz$/i.test(file.name)) readPacked(file, hasList, reading);
      else if (!isMem0(file)) reading.count("other files");
      else if (!isLines(file)) readWhole(file, reading);
      else if (hasList) reading.note(`Left out: "${file.name}", whose memories are in the JSON file beside it.`);
      else readLines(file, reading);
    }
    return reading.build();
  },
};

const isLines = (file: ForeignFile): boolean => /\.(?:jsonl|ndjson)$/i.test(file.name);

function isMem0(file: ForeignFile): boolean {
  if (isHidden(file) || !/\.(?:jsonl?|ndjson)$/i.test(file.name)) return false;
  const head = headOf(file);
  if (/"export_meta"\s*:|"memory_categories"\s*:|"category_ids"\s*:/.test(head)) return true;
  if (isLines(file))
    return /"content"\s*:/.test(head) && /"state"\s*:\s*"(?:active|paused|archived|deleted)"/.test(head);
  return (
    /"memory"\s*:\s*"/.test(head) &&
    /"(?:user_id|agent_id|run_id|app_id|hash|categories|metadata|results)"\s*:/.test(head)
  );
}

function readPacked(file: ForeignFile, hasList: boolean, reading: ReadingBuilder): void {
  if (hasList) reading.note(`Left out: "${file.name}", whose memories are in the JSON file beside it.`);
  else reading.refuse({ file: file.name }, "packed with gzip: unpack it (gunzip) and import the .jsonl file");
}

interface Place {
  file: string;
  line?: number | undefined;
}

function readWhole(file: ForeignFile, reading: ReadingBuilder): void {
  const json = jsonOf(file);
  if (!json.ok) {
    reading.addRefused(json.refused);
    return;
  }
  const { value } = json;
  const lists = ["results", "memories"].map((key) => member(value, key)).filter(Array.isArray);
  const entries = Array.isArray(value) ? value : lists.flat();
  if (entries.length === 0 && isObject(value) && textIn(value.memory)) entries.push(value);
  const categories = categoryNames(value);
  if (isObject(value) && (value.apps || value.access_controls || value.user)) {
    reading.note("Left out: the user, the apps, their access rules and the history of states in OpenMemory's backup.");
  }
  for (const entry of entries) addMemory({ file: file.name, line: json.lineOf(entry) }, entry, { reading, categories });
  addGraph({ file: file.name }, listOf(member(value, "relations")), reading);
}

function readLines(file: ForeignFile, reading: ReadingBuilder): void {
  const read = textOf(file);
  if (!read.ok) {
    reading.addRefused(read.refused);
    return;
  }
  for (const { line, content } of linesOf(read.text)) {
    const place = { file: file.name, line };
    const values = parseJsonRun(content);
    if (!values) reading.refuse(place, NO_JSON);
    for (const value of values ?? []) addMemory(place, value, { reading, categories: new Map() });
  }
}

function categoryNames(value: unknown): Map<unknown, string> {
  return new Map(
    listOf(member(value, "categories")).flatMap((category) => {
      const name = textIn(member(category, "name"));
      return name ? [[member(category, "id"), name] as const] : [];
    }),
  );
}

const TEXT_KEYS = ["memory", "content", "text", "data"] as const;
const TIME_KEYS = ["created_at", "updated_at"] as const;

function addMemory(
  place: Place,
  value: unknown,
  { reading, categories }: { reading: ReadingBuilder; categories: Map<unknown, string> },
): void {
  const key = TEXT_KEYS.find((name) => textIn(member(value, name)));
  if (!isObject(value) || !key) {
    reading.refuse(place, 'the memory has no text under "memory" or "content": mend the entry, or delete it');
    return;
  }
  if (value.state === "deleted") {
    reading.count("memories that were deleted in OpenMemory");
    return;
  }
  const text = value[key] as string;
  const id = textIn(value.id);
  const at = TIME_KEYS.map((name) => instantOf(value[name])).find((time) => time !== undefined);
  const until = dateOf(value.expiration_date);
  const named = listOf(value.category_ids).flatMap((category) => categories.get(category) ?? []);
  const done = [key, ...(isTextList(value.categories) ? ["categories"] : []), ...(until ? ["expiration_date"] : [])];
  reading.add({
    ...place,
    path: `imported/mem0/${id ? idPart(id) : datedPart({ at, text })}`,
    body: text,
    keys: {
      type: "semantic",
      ...(value.state === "archived" && { lifecycle: "archived" }),
      ...(until && { valid_until: until }),
    },
    tags: [...textsIn(value.categories), ...named],
    at,
    client: textIn(value.app) ?? textIn(value.agent_id) ?? "mem0",
    session: textIn(value.run_id),
    kept: without(value, done),
  });
}

// The graph has no ids and no times of its own: it is one page.
function addGraph(place: Place, relations: readonly unknown[], reading: ReadingBuilder): void {
  const lines = relations.map((relation) => {
    const [from, edge, to] = [
      textIn(member(relation, "source")),
      textIn(member(relation, "relationship")) ?? textIn(member(relation, "relation")),
      textIn(member(relation, "target")) ?? textIn(member(relation, "destination")),
    ];
    return from && edge && to ? `- ${from} ${edge} ${to}` : undefined;
  });
  if (lines.some((line) => line === undefined)) {
    reading.refuse(place, 'a relation lacks "source", "relationship" or "target": mend it, or delete it');
  }
  const body = lines.filter((line) => line !== undefined).join("\n");
  if (body !== "") {
    reading.add({
      ...place,
      path: "imported/mem0/relations",
      title: "Relations from mem0",
      body,
      keys: { type: "semantic" },
    });
  }
}
