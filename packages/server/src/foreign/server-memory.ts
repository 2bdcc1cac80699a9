import { digestOf, slugOf } from "./entry-path.js";
import { headOf, isHidden, jsonOf, linesOf, NO_JSON, textOf } from "./file-text.js";
import type { ForeignFile, ForeignFormat } from "./foreign-format.js";
import { parseJsonRun } from "./json-text.js";
import { ReadingBuilder } from "./reading-builder.js";
import { isObject, listOf, member, textIn, textsIn, without } from "./values.js";

/** The knowledge graph of the reference memory server: a line of JSON for each entity and relation. */
export const serverMemory: ForeignFormat = {
  name: "server-memory",
  title: "The MCP reference memory server (memory.jsonl)",
  detect: (files) => files.some(isGraph),
  read(files) {
    const reading = new ReadingBuilder();
    const graph = new Graph(reading);
    for (const file of files) {
      if (!isGraph(file)) reading.count("other files");
      else if (isWhole(file)) readWhole(file, graph, reading);
      else readLines(file, graph, reading);
    }
    graph.addPages();
    return reading.build();
  },
};

const isWhole = (file: ForeignFile): boolean =>
  /^\s*\{\s*"(?:entities|relations)"\s*:/.test(headOf(file).replace(/^\uFEFF/, ""));
const isGraph = (file: ForeignFile): boolean =>
  !isHidden(file) && /\.(?:jsonl?|ndjson)$/i.test(file.name) && (isWhole(file) || hasRecords(headOf(file)));
const hasRecords = (head: string): boolean =>
  /^\uFEFF?\s*\{/.test(head) &&
  /"type"\s*:\s*"(?:entity|relation)"/.test(head) &&
  /"(?:entityType|relationType)"\s*:/.test(head);

interface Place {
  file: string;
  line?: number | undefined;
}

function readWhole(file: ForeignFile, graph: Graph, reading: ReadingBuilder): void {
  const json = jsonOf(file);
  if (!json.ok) {
    reading.addRefused(json.refused);
    return;
  }
  const placed = (value: unknown): Place => ({ file: file.name, line: json.lineOf(value) });
  for (const entity of listOf(member(json.value, "entities"))) graph.addEntity(placed(entity), entity);
  for (const relation of listOf(member(json.value, "relations"))) graph.addRelation(placed(relation), relation);
}

function readLines(file: ForeignFile, graph: Graph, reading: ReadingBuilder): void {
  const read = textOf(file);
  if (!read.ok) {
    reading.addRefused(read.refused);
    return;
  }
  for (const { line, content } of linesOf(read.text)) {
    const place = { file: file.name, line };
    const values = parseJsonRun(content);
    if (!values) reading.refuse(place, NO_JSON);
    for (const value of values ?? []) {
      const type = member(value, "type");
      if (type === "entity") graph.addEntity(place, value);
      else if (type === "relation") graph.addRelation(place, value);
      else reading.refuse(place, 'neither an entity nor a relation: its "type" says which');
    }
  }
}

interface Entity extends Place {
  name: string;
  type: string | undefined;
  observations: string[];
  rest: Record<string, unknown>;
}

interface Relation {
  to: string;
  type: string;
  rest: Record<string, unknown>;
}

const EDGES = new Set(["supersedes", "contradicts", "refines"]);

class Graph {
  readonly #entities = new Map<string, Entity>();
  readonly #relations = new Map<string, Relation[]>();
  readonly #reading: ReadingBuilder;
  readonly #pending: { place: Place; from: string; relation: Relation }[] = [];

  constructor(reading: ReadingBuilder) {
    this.#reading = reading;
  }

  /** A name that comes again adds to its entity, as the server reads it. */
  addEntity(place: Place, value: unknown): void {
    const name = textIn(member(value, "name"));
    const observations = member(value, "observations") ?? [];
    if (!isObject(value) || !name) {
      this.#reading.refuse(place, 'the entity has no "name": add one, or delete the line');
      return;
    }
    if (!Array.isArray(observations) || observations.some((item) => typeof item !== "string")) {
      this.#reading.refuse(place, 'the entity\'s "observations" are no list of texts: mend the line');
      return;
    }
    const rest = without(value, ["type", "name", "entityType", "observations"]);
    const type = textIn(value.entityType);
    const known = this.#entities.get(name);
    if (!known) this.#entities.set(name, { ...place, name, type, observations: textsIn(observations), rest });
    else {
      const had = new Set(known.observations);
      known.observations.push(...textsIn(observations).filter((text) => !had.has(text)));
      known.rest = { ...rest, ...known.rest, ...(type !== known.type && { entityType: type }) };
    }
  }

  addRelation(place: Place, value: unknown): void {
    const [from, to, type] = ["from", "to", "relationType"].map((key) => textIn(member(value, key)));
    if (!isObject(value) || !from || !to || !type) {
      this.#reading.refuse(place, 'the relation lacks "from", "to" or "relationType": mend the line, or delete it');
      return;
    }
    const rest = without(value, ["type", "from", "to", "relationType"]);
    this.#pending.push({ place, from, relation: { to, type, rest } });
  }

  addPages(): void {
    for (const { place, from, relation } of this.#pending) {
      if (!this.#entities.has(from)) {
        this.#reading.refuse(
          place,
          "the relation starts at an entity that the file does not have: add it, or delete the line",
        );
      } else {
        const known = this.#relations.get(from);
        if (known) known.push(relation);
        else this.#relations.set(from, [relation]);
      }
    }
    for (const entity of this.#entities.values()) this.#addPage(entity);
  }

  #addPage({ file, line, name, type, observations, rest }: Entity): void {
    const edges = this.#relations.get(name) ?? [];
    const lines = edges.map((edge) => `- ${oneLine(edge.type)} [[${oneLine(edge.to)}]]`);
    const facts = observations.map((text) => `- ${text.trim().replaceAll("\n", "\n  ")}`);
    const parts = [facts.join("\n"), lines.length > 0 ? `## Relations\n\n${lines.join("\n")}` : ""];
    const relations = edges.flatMap((edge) => {
      const target = this.#entities.get(edge.to);
      if (!target) return [];
      const rel = EDGES.has(edge.type) ? edge.type : "about";
      const more = Object.keys(edge.rest).length > 0 && { x_import: edge.rest };
      return [{ rel, target: pathOf(target), relation_type: edge.type, ...more }];
    });
    const loose = edges.filter(({ to }) => !this.#entities.has(to));
    this.#reading.add({
      file,
      line,
      path: pathOf({ name, type }),
      title: name,
      body: parts.filter((part) => part !== "").join("\n\n"),
      keys: { type: "semantic", ...(relations.length > 0 && { relations }) },
      tags: type ? [type] : [],
      kept: { ...rest, entity_type: type, relations_elsewhere: loose },
    });
  }
}

const oneLine = (text: string): string => text.replace(/[\s\p{Cc}]+/gu, " ").trim();

const pathOf = ({ name, type }: { name: string; type: string | undefined }): string =>
  `imported/server-memory/${[slugOf(type ?? "") || "entity", slugOf(name), digestOf(name)].filter((part) => part !== "").join("-")}`;
