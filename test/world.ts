import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeId, isId, type ToolName } from "@satchel/pcp";
import {
  type Caller,
  type Context,
  callTool,
  createContext,
  dispatch,
  type Environment,
  type Operation,
  openContext,
} from "@satchel/server";
import { mayReadPart, mayReadTarget, mayUse, type Sight, sightOf } from "./world-model.js";

/*
 * A world is a context that a random history was played into through the real calls. What each call changed is recorded
 * as it passes the store port, so that a twin can be made in which exactly the changes a caller may read were made, at
 * the same times and under the same ids.
 */

type Store = Context["store"];
/** The store is handed the whole entry, of which it keeps what an entry is looked up by. */
type AuditRecord = Parameters<WriteTransaction["indexAudit"]>[1] & { targets?: string[]; call_id?: string };
type WriteTransaction = Parameters<Parameters<Store["write"]>[0]>[0];

const recorded = [
  "putPartition",
  "putUser",
  "putGroup",
  "putProfile",
  "addRevision",
  "decideRevision",
  "indexAudit",
  "createPage",
  "addVersion",
  "removePage",
] as const;
type Recorded = (typeof recorded)[number];

/** One change as the store was asked for it. */
export type Effect = { [M in Recorded]: { method: M; args: Parameters<WriteTransaction[M]> } }[Recorded];
export type Version = Parameters<WriteTransaction["createPage"]>[1];

/** Noon of a day, UTC: where the clock of a world stands. */
export const startMs = Date.UTC(2026, 2, 1, 12);
export const stepMs = 1000;

/** A call of a tool, or of an operation of the terminal. */
export type Call = { caller: Caller; args: Record<string, unknown> } & (
  | { tool: ToolName }
  // biome-ignore lint/suspicious/noExplicitAny: operations of any input are called with the same untyped arguments.
  | { operation: Operation<any, any> }
);

export class World {
  /** What was changed so far, in order. */
  readonly effects: Effect[] = [];
  readonly faults: unknown[] = [];
  private readonly state = { ms: startMs, call: 0, made: 0, bytes: 0 };
  private readonly dataDir = mkdtempSync(join(tmpdir(), "satchel-worlds-"));
  readonly context: Context;

  constructor() {
    const environment = this.environment();
    createContext(this.dataDir, { handle: "me", kind: "personal" }, environment);
    const context = openContext(this.dataDir, "me", environment);
    this.context = { ...context, store: this.recording(context.store) };
  }

  async close(): Promise<void> {
    await this.context.store.close();
    rmSync(this.dataDir, { recursive: true, force: true, maxRetries: 5 });
  }

  /** `at` steps after the start. The same `number` gives the same ids in every world. */
  async call(number: number, at: number, call: Call): Promise<Record<string, unknown>> {
    Object.assign(this.state, { ms: startMs + at * stepMs, call: number, made: 0, bytes: 0 });
    const { caller, args } = call;
    const log = { fault: (entry: unknown) => void this.faults.push(entry) };
    const made = { context: this.context, caller, args, log };
    if ("tool" in call) return (await callTool(call.tool, made)).structuredContent;
    const result = await dispatch(call.operation, made);
    return result.ok ? { output: result.output } : { error: result.refusal };
  }

  /** Ids and random bytes follow from the call and its place in it, so that two worlds agree where they do the same. */
  private environment(): Environment {
    const { state } = this;
    return {
      now: () => state.ms,
      newUuid: () => uuid(state.call * 256 + state.made++),
      randomBytes: (count) => Buffer.alloc(count, (state.call + state.bytes++) & 0xff),
    };
  }

  private recording(store: Store): Store {
    return {
      ...store,
      // What is tested here survives in one process: waiting for the disk would only take time.
      write: async (use) => {
        const changes: Effect[] = [];
        const result = await store.write((transaction) => use(recordInto(changes, transaction)), {
          durability: "process",
        });
        this.effects.push(...changes);
        return result;
      },
    };
  }
}

function recordInto(changes: Effect[], transaction: WriteTransaction): WriteTransaction {
  const wrapped = recorded.map((method) => {
    const change = transaction[method] as (...args: unknown[]) => Promise<void>;
    const record = (...args: unknown[]) => {
      changes.push({ method, args } as Effect);
      return change(...args);
    };
    return [method, record] as const;
  });
  return { ...transaction, ...Object.fromEntries(wrapped) };
}

function uuid(count: number): string {
  return `00000000-0000-7000-8000-${count.toString(16).padStart(12, "0")}`;
}

/** The rows that one page of the full world has in a twin: more than one when it was out of sight in between. */
interface Row {
  id: string;
  from: string;
}

/** A world in which what `caller` may not read was never made. */
export class Twin {
  /** Rows by the id in the full world. */
  private readonly rows = new Map<string, Row[]>();
  private readonly live = new Map<string, string>();
  private readonly shownVersions = new Set<string>();
  /** Pages of which the caller may read only some versions. */
  readonly partial = new Set<string>();
  /** When the other versions were recorded. */
  readonly unseenInstants: string[] = [];
  private aliases = 0;

  private constructor(
    readonly world: World,
    public sight: Sight,
  ) {}

  static async make(effects: Effect[], caller: Caller): Promise<Twin> {
    const twin = new Twin(new World(), sightOf(effects, caller));
    await twin.playAll(effects);
    return twin;
  }

  private async playAll(effects: Effect[]): Promise<void> {
    await this.world.context.store.write(async (transaction) => {
      for (const effect of effects) await this.play(transaction, effect);
    });
  }

  /**
   * Does what was done to the full world further, after all that is in `effects`. A page that goes out of sight ends here.
   * @returns false, and nothing is done, when a page or revision came into sight that was there before
   */
  async follow(effects: Effect[], further: Effect[]): Promise<boolean> {
    const before = this.sight;
    const sight = sightOf([...effects, ...further], before.caller);
    const made = new Set(further.flatMap(({ method, args }) => (method === "createPage" ? [args[0]] : [])));
    const came = [...sight.pages].filter((id) => !made.has(id) && !before.pages.has(id));
    const revealed = [...sight.revisions].filter((id) => !before.revisions.has(id));
    const hidden = [...before.revisions].filter((id) => !sight.revisions.has(id));
    if (came.length + revealed.length + hidden.length > 0) return false;
    this.sight = sight;
    await this.playAll(further);
    return true;
  }

  /**
   * Partitions where the caller has no right are not there. For an owner's assistants they are, without their pages: such
   * an assistant is shown links to nothing only while no page of any partition is hidden from it.
   */
  private isThere(partition: string): boolean {
    const { sight } = this;
    return partition === "main" || sight.isOwner || mayUse(sight, partition);
  }

  private async play(transaction: WriteTransaction, { method, args }: Effect): Promise<void> {
    const { sight } = this;
    if (method === "createPage") return this.putVersion(transaction, { id: args[0], version: args[1] }, true);
    if (method === "addVersion") return this.putVersion(transaction, { id: args[0].id, version: args[1] }, false);
    if (method === "removePage") return this.remove(transaction, args[0].id, args[1]);
    if (method === "addRevision" && sight.revisions.has(args[0].id)) {
      await transaction.tick(Date.parse(args[0].generated.at));
      await transaction.addRevision(...args);
    }
    if (method === "decideRevision" && sight.revisions.has(args[0])) await transaction.decideRevision(...args);
    if (method === "indexAudit") await this.audit(transaction, args[1] as AuditRecord);
    if (method === "putPartition" && this.isThere(args[0].name)) await transaction.putPartition(...args);
    if (method === "putUser") await transaction.putUser(...args);
    if (method === "putGroup") await transaction.putGroup(...args);
    if (method === "putProfile") await transaction.putProfile(...args);
  }

  /** Out of sight is gone; back in sight is a page again, with a row of its own because the old one has ended. */
  private async putVersion(
    transaction: WriteTransaction,
    { id, version }: { id: string; version: Version },
    isFirst: boolean,
  ): Promise<void> {
    const row = this.live.get(id);
    if (!this.sight.pages.has(id) || !mayReadPart(this.sight, version)) {
      if (this.sight.pages.has(id)) {
        this.partial.add(id);
        this.unseenInstants.push(version.updated);
      }
      return this.remove(transaction, id, version);
    }
    this.shownVersions.add(version.version);
    await transaction.tick(Date.parse(version.updated));
    const page = row === undefined ? undefined : await transaction.page({ id: row });
    if (page) return transaction.addVersion(page, version);
    const made = isFirst ? id : encodeId("pg", uuid(0xfff0000 + this.aliases++));
    this.rows.set(id, [...(this.rows.get(id) ?? []), { id: made, from: version.updated }]);
    this.live.set(id, made);
    return transaction.createPage(made, version);
  }

  private async remove(
    transaction: WriteTransaction,
    id: string,
    { version, updated, generated }: Pick<Version, "version" | "updated" | "generated">,
  ): Promise<void> {
    const row = this.live.get(id);
    const page = row === undefined ? undefined : await transaction.page({ id: row });
    if (!page) return;
    await transaction.tick(Date.parse(updated));
    await transaction.removePage(page, { version, updated, generated });
    this.live.delete(id);
  }

  /** Owners see that a call was made, others only their own user's calls; neither what the caller may not read. */
  private async audit(transaction: WriteTransaction, entry: AuditRecord) {
    const { sight } = this;
    if (!sight.isOwner && entry.principal !== sight.caller.principal) return;
    const targets = (entry.targets ?? []).filter((target) => mayReadTarget(sight, target));
    const { targets: _, call_id, ...head } = entry;
    const bodies = [head, { targets, call_id }];
    const added = await this.world.context.journal?.append(transaction, [{ at: entry.at, kind: "audit", bodies }]);
    for (const { seq } of added ?? []) await transaction.indexAudit(seq, entry);
  }

  /** The same page's id in this world, as of an instant. */
  idHere(id: string, at?: unknown): string {
    const rows = (this.rows.get(id) ?? []).filter(({ from }) => typeof at !== "string" || from <= at);
    return rows.at(-1)?.id ?? id;
  }

  /** Whether the caller may read this version. */
  shows(version: string): boolean {
    return this.shownVersions.has(version);
  }

  /** The id in the full world. */
  idThere(id: string): string {
    for (const [original, rows] of this.rows) if (rows.some((row) => row.id === id)) return original;
    return id;
  }
}

/**
 * An answer as it is compared: cursors by length, pages by the id in the full world. `id` and `created` belong to the
 * page, which the caller reads, so the beginning of a page that came into sight later is left aside.
 */
export function comparable(value: unknown, twin: Twin, isTwin: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => comparable(item, twin, isTwin));
  if (typeof value === "string") return isTwin && isId("pg", value) ? twin.idThere(value) : value;
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, item]): [string, unknown] => {
    if (key === "next_cursor") return [key, String(item).length];
    return [key, key === "num" ? "engine number" : comparable(item, twin, isTwin)];
  });
  const object = Object.fromEntries(entries);
  if (typeof object.id === "string" && twin.partial.has(object.id)) object.created = "before";
  return object;
}
