import { isCalendarDate, LIFECYCLES, parseForeignHead, parsePath, titleFromBody } from "@satchel/pcp";
import { pathOfName } from "./entry-path.js";
import type { ReadingBuilder } from "./reading-builder.js";
import { instantOf, isObject, listOf, member, textIn, textsIn } from "./values.js";

interface Place {
  file: string;
  line?: number | undefined;
}

interface Memory extends Place {
  path: string;
  keys: Record<string, unknown>;
  body: string;
}

/** What Remnic's categories are among the three types of PCP; the rest has no type. */
const TYPES = new Map([
  ...["fact", "preference", "principle", "rule", "relationship", "skill", "entity"].map(
    (name) => [name, "semantic"] as const,
  ),
  ...["decision", "correction", "commitment", "moment"].map((name) => [name, "episodic"] as const),
  ["procedure", "procedural"] as const,
]);

const LINKS = new Map([
  ["supersedes", "supersedes"],
  ["contradicts", "contradicts"],
  ["refines", "refines"],
  ["elaborates", "refines"],
]);

const STATES: readonly unknown[] = LIFECYCLES;

/** The files of one folder, which name each other by id and by path. */
export class RemnicFolder {
  readonly #memories: Memory[] = [];
  readonly #byId = new Map<string, string>();
  readonly #byName = new Map<string, string>();
  readonly #reading: ReadingBuilder;

  constructor(reading: ReadingBuilder) {
    this.#reading = reading;
  }

  addFile(place: Place, name: string, text: string): void {
    const head = parseForeignHead(text);
    if (!head.ok) {
      for (const { message, line, column } of head.problems) {
        const at = line === undefined ? "" : `line ${line}${column === undefined ? "" : `, column ${column}`}: `;
        this.#reading.refuse({ file: place.file, line: place.line ?? line }, `${at}${message}`);
      }
      return;
    }
    const path = `imported/remnic/${pathOfName(name)}`;
    const id = textIn(head.keys.id);
    if (id && !this.#byId.has(id)) this.#byId.set(id, path);
    this.#byName.set(name, path);
    this.#memories.push({ ...place, path, keys: head.keys, body: head.body.replace(/^\n+/, "") });
  }

  addPages(): void {
    for (const memory of this.#memories) this.#add(memory);
  }

  #add({ file, line, path, keys, body }: Memory): void {
    const used = new KeyUse(keys);
    const category = textIn(used.value("category"));
    const type = category && TYPES.get(category);
    const tags = [...textsIn(used.takeList("tags")), ...(category ? [category] : [])];
    const page = {
      ...(type && { type }),
      ...lifecycleOf(used),
      ...confidenceOf(used),
      ...validityOf(used),
      ...this.#origins(used),
      ...this.#relations(used),
    };
    const title = textIn(used.takeIf("title", (value) => typeof value === "string"));
    this.#reading.add({
      file,
      line,
      path,
      title: title ?? (/^\s*#/.test(body) ? titleFromBody(body, path) : undefined),
      body: body === "" ? `${path.slice(path.lastIndexOf("/") + 1)}\n` : body,
      keys: page,
      tags,
      at: instantOf(used.takeIf("created", (value) => instantOf(value) !== undefined)),
      client: textIn(used.takeIf("sourceConnector", (value) => typeof value === "string")) ?? "remnic",
      kept: used.rest(),
    });
  }

  /** `derived_from` names versions of files (`facts/a.md:2`); those that came along become paths. */
  #origins(used: KeyUse): object {
    const given = listOf(used.value("derived_from"));
    const paths = textsIn(given).flatMap((entry) => this.#byName.get(entry.replace(/:\d+$/, "")) ?? []);
    if (paths.length === 0 || paths.length > 256) return {};
    return { derived_from: [...new Set(paths)].filter((path) => parsePath(path).ok) };
  }

  #relations(used: KeyUse): object {
    const supersedes = textIn(used.value("supersedes"));
    const target = supersedes && this.#byId.get(supersedes);
    const links = listOf(used.value("links")).flatMap((link) => this.#linkOf(link) ?? []);
    const relations = [...(target ? [{ rel: "supersedes", target }] : []), ...links];
    return relations.length > 0 ? { relations } : {};
  }

  #linkOf(link: unknown): object | undefined {
    const target = this.#byId.get(textIn(member(link, "targetId")) ?? "");
    if (!isObject(link) || !target) return undefined;
    const { linkType, strength } = link;
    const confidence = typeof strength === "number" && strength >= 0 && strength <= 1 ? { confidence: strength } : {};
    return { rel: LINKS.get(String(linkType)) ?? "about", target, link_type: linkType, ...confidence };
  }
}

/** The keys of a file, some of which find a home; the rest is kept. */
class KeyUse {
  readonly #keys: Map<string, unknown>;
  readonly #given: Record<string, unknown>;

  constructor(keys: Record<string, unknown>) {
    this.#given = keys;
    this.#keys = new Map(Object.entries(keys));
  }

  /** Looks without using it up. */
  value(key: string): unknown {
    return member(this.#given, key);
  }

  takeIf(key: string, holds: (value: unknown) => boolean): unknown {
    const value = this.value(key);
    if (value === undefined || !holds(value)) return undefined;
    this.#keys.delete(key);
    return value;
  }

  takeList(key: string): unknown[] {
    return listOf(this.takeIf(key, (value) => Array.isArray(value) && value.every((item) => typeof item === "string")));
  }

  rest(): Record<string, unknown> {
    return Object.fromEntries(this.#keys);
  }
}

function lifecycleOf(used: KeyUse): object {
  for (const key of ["lifecycleState", "lifecycle_state"]) {
    const state = used.takeIf(key, (value) => STATES.includes(value));
    if (state !== undefined) return { lifecycle: state };
  }
  const status = used.value("status");
  if (status === "archived") return { lifecycle: "archived" };
  return status === "superseded" || status === "forgotten" ? { lifecycle: "stale" } : {};
}

function confidenceOf(used: KeyUse): object {
  const isOurs = (value: unknown) => typeof value === "number" && value >= 0 && value <= 1;
  const confidence = used.takeIf("confidence", isOurs);
  return confidence === undefined ? {} : { confidence };
}

function validityOf(used: KeyUse): object {
  const found: Record<string, unknown> = {};
  for (const [key, names] of [
    ["valid_from", ["validAt", "valid_at"]],
    ["valid_until", ["invalidAt", "invalid_at", "expiresAt"]],
  ] as const) {
    for (const name of names) {
      if (found[key] !== undefined) break;
      const value = used.takeIf(name, (given) => instantOf(given) !== undefined);
      if (typeof value === "string") found[key] = isCalendarDate(value) ? value : instantOf(value);
    }
  }
  return found;
}
