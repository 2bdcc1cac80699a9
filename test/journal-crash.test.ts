import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Choices } from "./choices.js";
import { type Answered, type CallRequest, type Ship, serveShip, stdioShip } from "./crash-fleet.js";
import { readRecords, type StoredRecords } from "./crash-records.js";
import { pause, verifySound } from "./durable-store.js";
import { makeData, run, runOk, startCommand, temporaryFolder } from "./harness.js";
import { scaled, testSeed } from "./scale.js";

const minutes = 60_000;
const killsPerFleet = 100;

/** A call that a client made, with what came back; undefined when its process was killed first. */
interface Made {
  requestId: string;
  tool: string;
  args: Record<string, unknown>;
  /** Of a mutation: stands in what it stores, and in nothing else. Calls with one key share it. */
  mark?: string;
  key?: string;
  retryOf?: Made;
  answer?: Answered;
}

interface Seen {
  kills: number;
  instants: number;
  acknowledged: number;
  unacknowledgedWithRecords: number;
  unacknowledgedWithout: number;
  retriedDuplicate: number;
  retriedNow: number;
  reviewsKilled: number;
  /** How often the whole log was verified, with nobody running too. */
  verified: number;
  outcomes: Record<string, number>;
}

const expectedOutcomes = ["succeeded", "duplicate", "conflict", "denied"];
const mutations = ["memory_write", "memory_propose", "profile_update"];
const succeeded = ({ outcome }: { outcome?: string }) => outcome === "succeeded";

/** Four clients that call without a pause until they are told to stop, through processes that are killed meanwhile. */
class Fleet {
  readonly made: Made[] = [];
  private readonly checkpoints: string[] = [];
  private isOver = false;
  private calls = 0;

  constructor(
    readonly data: string,
    readonly ships: Ship[],
    private readonly choices: Choices,
  ) {}

  static async launch(number: number, choices: Choices): Promise<Fleet> {
    const data = await makeData("me");
    await runOk(["config", "calls_per_minute", "1000000", "--data", data]);
    const stdio = ["ann", "bob", "cat", "dan"].map((name) => stdioShip(data, name));
    const ships = number % 2 === 0 ? stdio : [await serveShip(data, ["eve", "fay"]), ...stdio.slice(0, 2)];
    await Promise.all(ships.map((ship) => ship.start()));
    return new Fleet(data, ships, choices);
  }

  /** Kills until `count` processes were killed, while every client works. */
  async suffer(count: number, seen: Seen): Promise<void> {
    const driven = this.ships.flatMap((ship) =>
      ship.clients.flatMap((client) => [this.drive(ship, client), this.drive(ship, client)]),
    );
    const reviewing = this.review(seen);
    for (let killed = 0; killed < count; ) {
      await pause(this.choices.integer(0, 100));
      const struck = await this.strike(count - killed, seen);
      killed += struck;
      seen.instants += Math.min(1, struck);
    }
    await pause(50);
    this.isOver = true;
    await Promise.all([...driven, reviewing]);
    for (const ship of this.ships) await ship.end();
    seen.kills += count;
  }

  /** Kills one, several or all of those that are up at one instant, and starts them again. @returns how many */
  private async strike(most: number, seen: Seen): Promise<number> {
    const { choices, ships } = this;
    const atLeast = choices.pick([0, 4, 12, 30]);
    const up = ships.filter(({ isUp, answered }) => isUp && answered >= atLeast);
    const victims = choices.some(up, choices.pick([0.3, 0.6, 1])).slice(0, most);
    await Promise.all(victims.map((ship) => ship.kill()));
    if (victims.length === ships.length && choices.is(0.5)) seen.verified += await this.verifyLog();
    for (const ship of victims) void ship.start();
    return victims.length;
  }

  private async drive(ship: Ship, client: Ship["clients"][number]): Promise<void> {
    const known = new Map<string, string>();
    const done: Made[] = [];
    while (!this.isOver) {
      const call = this.nextCall(client.name, { known, done });
      if (await this.make(client, call)) {
        ship.answered += 1;
        remember(call, { known, done });
      } else await this.tryAgain(ship, client, call);
      await pause(this.choices.integer(0, 10));
    }
  }

  /** @returns whether it was answered */
  private async make({ call }: Ship["clients"][number], made: Made): Promise<boolean> {
    this.made.push(made);
    const { tool: name, args, requestId, key } = made;
    const inArguments = key !== undefined && requestId.endsWith("0");
    const request: CallRequest = {
      name,
      arguments: { ...args, ...(inArguments && { idempotencyKey: key }) },
      _meta: { "dev.satchel/prp": { requestId, ...(key !== undefined && { idempotencyKey: key }) } },
    };
    const answer = await call(request);
    if (answer) made.answer = answer;
    return answer !== undefined;
  }

  /** The client comes back and asks again for what it does not know the end of, until it knows. */
  private async tryAgain(ship: Ship, client: Ship["clients"][number], call: Made): Promise<void> {
    for (;;) {
      await ship.up;
      if (call.key === undefined || this.isOver) return;
      if (await this.make(client, again(call, this.nextId()))) return;
    }
  }

  private nextId(): string {
    return `req_${this.calls++}`;
  }

  private nextCall(name: string, { known, done }: { known: Map<string, string>; done: Made[] }): Made {
    const { choices } = this;
    const requestId = this.nextId();
    const mark = `m${requestId.slice(4)}e`;
    const body = `${mark} is what this says. ${"More words. ".repeat(choices.pick([1, 20, 200]))}\n`;
    const withKey = choices.is(0.5) ? { key: `key-${requestId}` } : {};
    const shared = `shared/${choices.integer(0, 4)}`;
    const made = (tool: string, args: Record<string, unknown>, more = {}): Made => ({ requestId, tool, args, ...more });
    const earlier = done.length > 0 && choices.is(0.06) ? choices.pick(done) : undefined;
    if (earlier) return again(earlier, requestId);
    const expected = known.get(shared);
    const written = { path: choices.is(0.5) ? shared : `own/${name}/${requestId}`, body };
    switch (choices.integer(0, 7)) {
      case 0:
      case 1:
        return made("memory_write", written, { mark, ...withKey });
      case 2:
        if (expected === undefined) return made("memory_read", { path: shared });
        return made("memory_write", { path: shared, body, expected_updated: expected }, { mark, ...withKey });
      case 3:
        return made("memory_propose", { path: `new/${requestId}`, body }, { mark, ...withKey });
      case 4:
        return made("profile_update", { patch: { name: mark } }, { mark, ...withKey });
      case 5:
        return made("memory_search", { query: "what this says", limit: 3 });
      default:
        return made("memory_read", { path: shared });
    }
  }

  /** The owner approves now and then, at a terminal that is killed now and then. */
  private async review(seen: Seen): Promise<void> {
    const decided = new Set<unknown>();
    while (!this.isOver) {
      await pause(this.choices.integer(200, 4000));
      const waiting = this.made.filter(({ tool, answer }) => tool === "memory_propose" && answer?.content.revision);
      const revision = waiting.map(({ answer }) => answer?.content.revision).find((id) => !decided.has(id));
      if (revision === undefined) continue;
      decided.add(revision);
      const terminal = startCommand(["review", "approve", String(revision), "--data", this.data]);
      terminal.child.stdin.end();
      const isKilled = this.choices.is(0.5);
      if (isKilled) {
        await pause(this.choices.integer(150, 900));
        terminal.child.kill("SIGKILL");
      }
      const { code, signal } = await terminal.exit;
      if (signal) seen.reviewsKilled += 1;
      else expect([code, terminal.stderr()]).toEqual([0, ""]);
    }
  }

  /** The log is whole at any instant, also against every checkpoint that was copied away before. */
  async verifyLog(): Promise<1> {
    const file = join(this.data, "contexts", "me", "checkpoints.log");
    const given = this.checkpoints.flatMap((copy) => ["--checkpoint", copy]);
    const ran = await run(["journal", "verify", "--json", "--data", this.data, ...given]);
    expect(JSON.parse(ran.stdout || "{}"), ran.stderr).toMatchObject({ verdict: "valid", unsettled: [] });
    expect(ran).toMatchObject({ code: 0, stderr: "" });
    if (existsSync(file)) {
      const copy = join(temporaryFolder("satchel-checkpoints-"), "copy.log");
      copyFileSync(file, copy);
      this.checkpoints.push(copy);
    }
    return 1;
  }
}

/** A key's call once more. */
function again(call: Made, requestId: string): Made {
  const { answer: _, ...same } = call;
  return { ...same, requestId, retryOf: call.retryOf ?? call };
}

function remember(call: Made, { known, done }: { known: Map<string, string>; done: Made[] }): void {
  const { content } = call.answer!;
  const path = call.args.path as string | undefined;
  const read = (content.frontmatter as { updated?: string } | undefined)?.updated;
  const updated = call.tool === "memory_read" ? read : (content.updated as string | undefined);
  if (path !== undefined && updated !== undefined) known.set(path, updated);
  if (call.key !== undefined && !content.error && done.length < 50) done.push(call);
}

/** Every call has all of its records and its effect, or none of either; those that were answered have all. */
function judgeCall(made: Made, records: StoredRecords, seen: Seen): void {
  const { calls, audits } = records;
  const { inputs, terminals } = calls.get(made.requestId) ?? { inputs: [], terminals: [] };
  const label = `${made.tool} ${made.requestId}`;
  const isRecorded = inputs.length > 0 || terminals.length > 0;
  if (made.answer || isRecorded) expect([inputs.length, terminals.length], label).toEqual([1, 1]);
  const [terminal] = terminals;
  if (made.answer) {
    expect(terminal, label).toEqual(made.answer.receipt);
    seen.acknowledged += 1;
  } else if (isRecorded) seen.unacknowledgedWithRecords += 1;
  else seen.unacknowledgedWithout += 1;
  if (!terminal) return;
  expect({ ...inputs[0]!.correlation, callId: inputs[0]!.callId }).toEqual({
    ...terminal.correlation,
    callId: terminal.callId,
  });
  const { outcome = "none", auditReceiptId } = terminal;
  seen.outcomes[outcome] = (seen.outcomes[outcome] ?? 0) + 1;
  if (outcome === "duplicate") expect([auditReceiptId, made.retryOf], label).toEqual([undefined, expect.anything()]);
  else expect(audits.get(auditReceiptId ?? ""), label).toMatchObject({ call_id: terminal.callId, tool: made.tool });
  if (made.retryOf && made.answer && !made.retryOf.answer) {
    if (outcome === "duplicate") seen.retriedDuplicate += 1;
    else seen.retriedNow += 1;
  }
}

/** What one mutation left, with all its retries: one effect for its one success, however often it was asked for. */
function judgeMutation(group: Made[], { calls, versions, revisions, profileChanges }: StoredRecords): void {
  const { tool, mark, key } = group[0]!;
  const label = `${tool} ${group.map(({ requestId }) => requestId)}`;
  const holdsMark = ({ text }: { text: string }) => text === mark || text.startsWith(`${mark} `);
  const kept = { memory_write: versions.filter(({ reviewed }) => !reviewed), memory_propose: revisions };
  const effects = (kept[tool as keyof typeof kept] ?? profileChanges).filter(holdsMark);
  const terminals = group.flatMap(({ requestId }) => calls.get(requestId)?.terminals ?? []);
  const successes = terminals.filter(succeeded);
  expect([effects.length, effects.length <= 1], label).toEqual([successes.length, true]);
  if (tool === "memory_write" && successes[0]) expect(successes[0].currentRevision, label).toBe(effects[0]!.id);
  if (tool === "memory_propose" && successes[0]) {
    expect(successes[0].targets, label).toEqual([{ kind: "document_revision", id: effects[0]!.id, immutable: true }]);
  }
  for (const { outcome, duplicateOfReceiptId } of terminals.filter((each) => each.outcome === "duplicate")) {
    expect([outcome, duplicateOfReceiptId], label).toEqual(["duplicate", successes[0]?.operationReceiptId]);
  }
  const answers = group.flatMap(({ answer }) => (answer && !answer.content.error ? [answer.content] : []));
  for (const answer of answers) expect(answer, label).toEqual(answers[0]);
  if (key === undefined) expect(group.length, label).toBe(1);
}

/** No version, proposal, decision or change of the profile without its records, and none is spoken of that is not there. */
function judgeStore(records: StoredRecords): void {
  const { named, versions, revisions, profileChanges, audits } = records;
  const ended = [...named.values()].flatMap(({ inputs, terminals }) => {
    expect([inputs.length, terminals.length]).toEqual([1, 1]);
    return terminals.filter(succeeded);
  });
  const of = (operation: string) => ended.filter(({ operationId }) => operationId === operation);
  const referencesOf = (operation: string, prefix: string) =>
    of(operation).flatMap(({ content }) =>
      content.references.map(({ id }) => id).filter((id) => id.startsWith(prefix)),
    );
  const ids = (rows: { id: string }[]) => rows.map(({ id }) => id).sort();
  const written = [...referencesOf("memory_write", "ver_"), ...referencesOf("review_resolve", "ver_")];
  expect(written.sort()).toEqual(ids(versions));
  expect(referencesOf("memory_propose", "rev_").sort()).toEqual(ids(revisions));
  expect(of("profile_update")).toHaveLength(profileChanges.length);
  const decisions = revisions.flatMap(({ decision }) => decision ?? []).sort();
  expect(referencesOf("review_resolve", "dec_").sort()).toEqual(decisions);
  expect(revisions.filter(({ state }) => state === "approved")).toHaveLength(decisions.length);
  expect(versions.filter(({ reviewed }) => reviewed)).toHaveLength(decisions.length);
  const audited = [...named.values()].flatMap(({ terminals }) =>
    terminals.flatMap((each) => each.auditReceiptId ?? []),
  );
  expect(audited.sort()).toEqual([...audits.keys()].sort());
  expect([records.repeatedAudits, records.staged, records.indexedAudits]).toEqual([0, 0, audits.size]);
}

async function judgeFleet(fleet: Fleet, seen: Seen): Promise<void> {
  const records = await readRecords(fleet.data);
  for (const made of fleet.made) judgeCall(made, records, seen);
  const groups = new Map<string, Made[]>();
  for (const made of fleet.made.filter(({ tool }) => mutations.includes(tool))) {
    groups.set(made.mark!, [...(groups.get(made.mark!) ?? []), made]);
  }
  for (const group of groups.values()) judgeMutation(group, records);
  judgeStore(records);
  expect(records.sealed, "who ended last sealed everything").toBe(records.size);
  seen.verified += await fleet.verifyLog();
  const { stdout } = await runOk(["journal", "unsettled", "--json", "--data", fleet.data]);
  expect(JSON.parse(stdout)).toEqual({ calls: [] });
  await verifySound(fleet.data);
}

describe("kill -9 under mixed calls", () => {
  it("leaves of each call all its records and its effect, or nothing of it", { timeout: 20 * minutes }, async () => {
    const choices = new Choices(testSeed());
    const seen: Seen = {
      kills: 0,
      instants: 0,
      acknowledged: 0,
      unacknowledgedWithRecords: 0,
      unacknowledgedWithout: 0,
      retriedDuplicate: 0,
      retriedNow: 0,
      reviewsKilled: 0,
      verified: 0,
      outcomes: {},
    };
    const kills = scaled(500);
    const fleets = Math.max(2, Math.ceil(kills / killsPerFleet));
    for (let number = 0; number < fleets; number++) {
      const fleet = await Fleet.launch(number, choices);
      await fleet.suffer(Math.ceil(kills / fleets), seen);
      await judgeFleet(fleet, seen);
    }
    console.log(JSON.stringify(seen));
    expect(seen.kills).toBeGreaterThanOrEqual(kills);
    expect(Object.keys(seen.outcomes).filter((outcome) => !expectedOutcomes.includes(outcome))).toEqual([]);
    expect([seen.acknowledged > kills, seen.unacknowledgedWithRecords + seen.unacknowledgedWithout > 0]).toEqual([
      true,
      true,
    ]);
  });
});
