import { allScopes } from "@satchel/pcp";
import {
  type Caller,
  groupSetOperation,
  type Operation,
  pageRemoveOperation,
  partitionSetOperation,
  userAddOperation,
} from "@satchel/server";
import type { Choices } from "./choices.js";
import type { Call, World } from "./world.js";
import { startMs, stepMs } from "./world.js";

/*
 * Random histories: who is there, what access lists say, and what was written, proposed, resolved, moved and removed.
 */

export const partitions = ["main", "alpha", "beta", "gamma"];
export const words = ["anchor", "anchorage", "basalt", "cedar", "delta", "ember", "fjord", "gravel", "京都旅行", "C++"];
export const paths = [
  "notes/a",
  "notes/b",
  "notes/c",
  "notes/deep/a",
  "Notes/A",
  "plan/x",
  "plan/y",
  "style/voice",
  "日記/京都",
  "top",
  "notes/_index",
];
const users = ["user:one", "user:two", "user:three"];
const groups = ["group:first", "group:second"];
const rights = ["read", "propose", "write", "review"];

const scopeSets = [
  undefined,
  undefined,
  "memory:read memory:write memory:review audit:read profile.core:read",
  "memory:read memory:propose audit:read",
  "memory:propose audit:read",
  "memory:write memory.sensitive:read",
  "memory:read memory.sensitive:read",
  "memory:review audit:read",
  "memory:read memory:review memory:propose memory.sensitive:read audit:read",
  "profile.core:read audit:read",
];

export const owner: Caller = {
  principal: "user:owner",
  client: "client:local",
  scopes: allScopes(),
  grant: "owner",
};

/** Anyone: the owner in person or through an assistant, a user, a user that nothing names, a service. */
export function anyCaller(chance: Choices): Caller {
  const principal = chance.pick(["user:owner", "user:owner", ...users, ...users, "user:nobody", "service:job"]);
  const client = chance.pick(["client:local", "client:agent", "client:agent", "client:other"]);
  return withScopes(chance, { principal, client });
}

/** The same pair as `like` with scopes of its own; the owner in person has all. */
export function withScopes(chance: Choices, like: Pick<Caller, "principal" | "client">): Caller {
  const { principal, client } = like;
  if (principal === owner.principal && client === owner.client) return owner;
  const set = chance.integer(0, scopeSets.length - 1);
  const scopes = scopeSets[set] === undefined ? allScopes() : new Set(scopeSets[set]?.split(" "));
  return { principal, client, scopes, grant: `${principal} ${client} ${set}` };
}

/** A path that others use too, mostly: what happens to one page is what matters. */
export function somePath(chance: Choices): string {
  return chance.pick(chance.is(0.6) ? paths.slice(0, 4) : paths);
}

/** A step of a history. `number` names the call for ever, so that ids stay when other steps are left out. */
export interface Step {
  number: number;
  at: number;
  /** The revision that is resolved is only known when the history is played. */
  call: Call | { caller: Caller; resolve: { which: number; verb: string } };
}

export function randomHistory(chance: Choices): Step[] {
  const calls = [...setUp(chance), ...chance.many(chance.integer(10, 34), () => randomCall(chance))];
  let at = 0;
  return calls.map((call, index) => {
    // Some calls happen at the same instant of the clock.
    at += chance.pick([0, 1, 1, 2]);
    return { number: index + 1, at, call };
  });
}

function setUp(chance: Choices): Step["call"][] {
  const calls: Step["call"][] = users.map((principal) =>
    administer(userAddOperation, { principal, isOwner: principal === "user:three" && chance.is(0.2) }),
  );
  for (const principal of groups) {
    calls.push(administer(groupSetOperation, { principal, members: chance.some(users, 0.4) }));
  }
  for (const name of partitions) calls.push(setPartition(chance, name));
  return calls;
}

// biome-ignore lint/suspicious/noExplicitAny: as in Call.
function administer(operation: Operation<any, any>, args: Record<string, unknown>): Call {
  return { caller: owner, operation, args };
}

function setPartition(chance: Choices, name: string): Call {
  const named = [...chance.some([...users, ...groups, "service:job"], 0.35)];
  const clients = chance.is(0.3) ? chance.some(["client:agent", "client:other", "client:local"], 0.6) : [];
  const grant = [...named, ...clients].map((principal) => {
    const given = chance.some(rights, 0.4);
    return { principal, rights: given.length > 0 ? given : [chance.pick(rights)] };
  });
  return administer(partitionSetOperation, {
    name,
    grant,
    revoke: chance.some(users, 0.1),
    ...(chance.is(0.3) && { label: `Label of ${name}` }),
    review: chance.pick(["nobody", "nobody", "clients", "everyone"]),
    fourEyes: chance.is(0.2),
  });
}

function randomCall(chance: Choices): Step["call"] {
  const kind = chance.next();
  const caller = chance.is(0.5) ? owner : anyCaller(chance);
  if (kind < 0.55) return { caller, tool: "memory_write", args: randomPage(chance) };
  if (kind < 0.72) {
    const args = { ...randomPage(chance), ...(chance.is(0.5) && { note: chance.pick(words) }) };
    return { caller, tool: "memory_propose", args };
  }
  if (kind < 0.86) {
    const verb = chance.pick(["approve", "approve", "reject", "satchel:approve_archive", "satchel:defer"]);
    return { caller, resolve: { which: chance.integer(0, 999), verb } };
  }
  if (kind < 0.93) return { caller, operation: pageRemoveOperation, args: { path: somePath(chance) } };
  if (kind < 0.97) return setPartition(chance, chance.pick(partitions));
  return { caller, tool: "profile_update", args: { patch: { name: chance.pick(words) } } };
}

/** Arguments of a write or a proposal. */
export function randomPage(chance: Choices): Record<string, unknown> {
  const lines = chance.many(chance.integer(1, 6), () => randomText(chance, 6));
  const page = { path: somePath(chance), body: `${lines.join("\n")}\n` };
  return chance.is(0.15) ? page : { ...page, frontmatter: randomFrontmatter(chance) };
}

function randomFrontmatter(chance: Choices): Record<string, unknown> {
  const instant = () => new Date(startMs + chance.integer(-20, 80) * stepMs).toISOString();
  const relations = chance.many(chance.integer(0, 2), () => ({
    rel: chance.pick(["supersedes", "supersedes", "refines", "about"]),
    target: chance.is(0.9) ? somePath(chance) : "notes/nobody",
  }));
  return {
    title: randomText(chance, 3),
    ...(chance.is(0.7) && { partition: chance.pick(partitions) }),
    ...(chance.is(0.6) && { sensitivity: chance.pick(["normal", "normal", "sensitive"]) }),
    ...(chance.is(0.5) && { tags: chance.some(["one", "two", "three"], 0.5) }),
    ...(chance.is(0.4) && { lifecycle: chance.pick(["active", "validated", "stale", "archived"]) }),
    ...(chance.is(0.1) && { valid_from: instant() }),
    ...(chance.is(0.15) && { valid_until: instant() }),
    ...(chance.is(0.3) && { type: chance.pick(["episodic", "semantic"]) }),
    ...(relations.length > 0 && { relations }),
    ...(chance.is(0.2) && { derived_from: [chance.pick([...paths, "notes/nobody"])] }),
  };
}

export function randomText(chance: Choices, most: number): string {
  return chance.many(chance.integer(1, most), () => chance.pick(words)).join(" ");
}

export async function play(world: World, history: Step[]): Promise<void> {
  for (const { number, at, call } of history) {
    const known = "resolve" in call ? resolveCall(world, call) : call;
    if (known) await world.call(number, at, known);
  }
}

function resolveCall(world: World, { caller, resolve }: Extract<Step["call"], { resolve: unknown }>): Call | undefined {
  const revisions = world.effects.flatMap((effect) => (effect.method === "addRevision" ? [effect.args[0]] : []));
  const revision = revisions[resolve.which % Math.max(1, revisions.length)];
  if (!revision) return undefined;
  const args = { path: revision.path, revision: revision.id, verb: resolve.verb, note: `verb ${resolve.verb}` };
  return { caller, tool: "review_resolve", args };
}

/** One line a step, for the report of a difference. */
export function describeStep({ number, at, call }: Step): string {
  const who = `${call.caller.grant}`;
  if ("resolve" in call) return `${number} @${at} ${who}: resolve ${JSON.stringify(call.resolve)}`;
  return `${number} @${at} ${describeCall(call)}`;
}

export function describeCall(call: Call): string {
  return `${call.caller.grant}: ${nameOf(call)} ${JSON.stringify(call.args)}`;
}

export function nameOf(call: Call): string {
  return "tool" in call ? call.tool : call.operation.name;
}
