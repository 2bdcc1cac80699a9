import { describe, expect, test } from "vitest";
import { canonicalJson, digestOf } from "./canonical-json.js";
import { validateEnvelope } from "./envelope-issues.js";
import { parseTrace, type TraceOptions, validateTrace } from "./trace.js";
import {
  ACCEPTED,
  again,
  change,
  deliver,
  end,
  envelopesOf,
  eventsOf,
  type Json,
  ok,
  play,
  type Scenario,
  write,
} from "./trace-scenarios.contract.js";

const verdict = (trace: unknown, options?: TraceOptions) =>
  validateTrace(trace, options).issues.map(({ code, path }) => `${code} ${path}`);

describe("accepted", () => {
  test.each(ACCEPTED)("%s", (_name, scenarios) => {
    const envelopes = envelopesOf(scenarios);
    expect(verdict(envelopes)).toEqual([]);
    const events = eventsOf(envelopes);
    expect(verdict(events)).toEqual([]);
    expect(verdict({ events })).toEqual([]);
    const report = validateTrace(events);
    expect(report.calls.every(({ settled }) => settled)).toBe(true);
    expect(report.calls).toHaveLength(scenarios.length);
    expect(report).toEqual(validateTrace(envelopes));
  });

  test("all of them in one trace", () => {
    const one = ACCEPTED.filter(([name]) => !/^(4|5|8|10|11|12|19)/.test(name)).flatMap(([, scenarios]) => scenarios);
    expect(verdict(eventsOf(envelopesOf([...one, write, again])))).toEqual([]);
  });

  test("the older spelling of event types is read", () => {
    const events = eventsOf(envelopesOf([deliver]));
    expect(events.map(({ eventType }) => eventType)).toEqual(["semantic_tool.input", "semantic_tool.result"]);
    const older = change(change(events, "/0/eventType", "mcp_app.tool_input"), "/1/eventType", "mcp_app.tool_result");
    expect(verdict(older)).toEqual([]);
    expect(verdict(change(older, "/1/eventType", "mcp_app.tool_input"))).toContain(
      "schema_validation /events/1/eventType",
    );
    const reconciled = eventsOf(envelopesOf([{ ...deliver, phase: "reconciled" }]));
    const mixed = change(reconciled, "/1/eventType", "mcp_app.tool_reconciled");
    expect(verdict(mixed)).toContain("schema_validation /events/1/eventType");
  });

  test("a reconciled may leave out what is optional and come from another instance, a result may not", () => {
    const scenario = { ...deliver, correlation: { requestId: "request_1", later: 1 }, phase: "reconciled" as const };
    const events = change(eventsOf(envelopesOf([scenario])), "/1/sourceInstanceId", "runner_2");
    const less = "/1/payload/semantic_tool/correlation";
    expect(verdict(change(change(events, `${less}/requestId`, undefined), `${less}/later`, undefined))).toEqual([]);
    const result = envelopesOf([{ ...scenario, phase: "result" }]);
    expect(verdict(change(result, "/1/correlation/later", undefined))).toEqual([
      "binding_mismatch /1/correlation/later",
    ]);
    expect(verdict(change(result, "/1/correlation/later", null))).toEqual(["binding_mismatch /1/correlation/later"]);
  });

  test("other events are no business of ours, and one sent again is skipped", () => {
    const events = eventsOf(envelopesOf([deliver]));
    const other = { ...events[0], sourceEventId: "other", eventType: "run.started", payload: { later: 1 } };
    const { envelope: _none, ...reordered } = {
      envelope: 0,
      ...Object.fromEntries(Object.entries(events[1]!).reverse()),
    };
    expect(verdict([other, ...events, events[0], reordered])).toEqual([]);
  });
});

const [input, result] = play({ ...deliver, callId: "call_r" }) as [Json, Json];
const pair = [input, result];
const events = eventsOf(pair);
const inEvent = "/payload/semantic_tool";
const reconciled = { ...result, phase: "reconciled" };
const settledEvents = eventsOf([input, reconciled]);

describe("rejected", () => {
  test.each<[name: string, trace: unknown, expected: string[]]>([
    [
      "R1 version 2",
      change(change(events, `/1${inEvent}/schema`, "paperclip.prp.semantic_tool.v2"), `/1${inEvent}/schemaVersion`, 2),
      [
        "unsupported_required_version /events/1/payload/semantic_tool/schemaVersion",
        "missing_terminal /events/0/payload/semantic_tool",
      ],
    ],
    [
      "R1 another schema",
      change(pair, "/0/schema", "other.v1"),
      ["unsupported_required_version /0/schema", "missing_input /1"],
    ],
    [
      "R1 another event",
      change(events, "/1/schemaVersion", 2),
      ["unsupported_required_version /events/1/schemaVersion", `missing_terminal /events/0${inEvent}`],
    ],
    [
      "R1 an event schema",
      change(events, "/1/schema", "paperclip.prp.event.v2"),
      ["unsupported_required_version /events/1/schema", `missing_terminal /events/0${inEvent}`],
    ],
    [
      "R2 reconciled without outcome",
      change([input, reconciled], "/1/outcome", undefined),
      ["schema_validation /1", "missing_terminal /0"],
    ],
    [
      "R3 another operation",
      change(settledEvents, `/1${inEvent}/operationId`, "other"),
      [`binding_mismatch /events/1${inEvent}/operationId`],
    ],
    [
      "R3 another turn than the event's",
      change(settledEvents, `/1${inEvent}/correlation/turnId`, "turn_8"),
      Array(2).fill(`binding_mismatch /events/1${inEvent}/correlation/turnId`),
    ],
    [
      "R3 another turn, in the event as well",
      change(change(settledEvents, `/1${inEvent}/correlation/turnId`, "turn_8"), "/1/turnId", "turn_8"),
      [`binding_mismatch /events/1${inEvent}/correlation/turnId`],
    ],
    ["another key", change(pair, "/1/idempotencyKey", null), ["binding_mismatch /1/idempotencyKey"]],
    ["another run", change(pair, "/1/correlation/runId", "run_8"), ["binding_mismatch /1/correlation/runId"]],
    ["R4 a result and a reconciled", [...pair, reconciled], ["second_terminal /2/phase"]],
    [
      "R5 an event changed",
      [...events, change(events[1], "/sourceSeq", 3)],
      ["source_event_replay_conflict /events/2"],
    ],
    [
      "R6 a sequence beyond 2^53-1",
      change(events, "/1/sourceSeq", 2 ** 53),
      ["schema_validation /events/1/sourceSeq", `missing_terminal /events/0${inEvent}`],
    ],
    ["R6 a sequence from 0", change(events, "/1/sourceSeq", 0), ["schema_validation /events/1/sourceSeq"]],
    [
      "R7 a wrong digest of the raw input",
      change(pair, "/0/input", { other: 1 }),
      ["semantic_input_digest_mismatch /0/content/digest"],
    ],
    [
      "R8 a call id with a space",
      change(pair, "/0/callId", "call r"),
      ["schema_validation /0/callId", "missing_input /1"],
    ],
    [
      "R9 a settled call settled again",
      [...pair, change(result, "/content/digest", digestOf(1))],
      ["second_terminal /2/phase"],
    ],
    ["two inputs", [input, ...pair], ["second_input /1/phase"]],
    ["no end", [input], ["missing_terminal /0"]],
    ["no input", [result], ["missing_input /0"]],
    [
      "an unknown outcome",
      change(pair, "/1/outcome", "maybe"),
      ["schema_validation /1/outcome", "missing_terminal /0"],
    ],
    ["an unknown phase", change(pair, "/1/phase", "later"), ["schema_validation /1/phase", "missing_terminal /0"]],
    ["half a pair", change(pair, "/1/later", "\ud800"), ["schema_validation /1/later", "missing_terminal /0"]],
    ["an item that is nothing", [...pair, null, 3], ["schema_validation /2", "schema_validation /3"]],
    [
      "an event without an envelope in it",
      change(events, `/0${inEvent}`, null),
      [`schema_validation /events/0${inEvent}`, `missing_input /events/1${inEvent}`],
    ],
    ["no trace", { calls: [] }, ["schema_validation "]],
    ["envelopes in an object", { events: [input] }, ["missing_terminal /events/0"]],
  ])("%s", (_name, trace, expected) => {
    expect([...new Set(verdict(trace))].sort()).toEqual([...new Set(expected)].sort());
  });

  const other = { ...write, callId: "call_other", args: { page: "other" } };
  test.each<[name: string, scenarios: Scenario[], expected: string[]]>([
    ["a reused key with other input succeeds", [write, other], ["idempotency_digest_mismatch /2/content/digest"]],
    [
      "a reused key with other input fails",
      [write, { ...other, end: end("failed tool_failed active_task") }],
      ["idempotency_digest_mismatch /2/content/digest"],
    ],
    ["another operation has keys of its own", [write, { ...other, operation: "move_page" }], []],
    ["another run has keys of its own", [write, { ...other, correlation: { runId: "run_8" } }], []],
    [
      "without a key nothing is reused",
      [
        { ...write, key: null },
        { ...other, key: null },
      ],
      [],
    ],
    ["a duplicate of nothing", [again], ["duplicate_unresolved /1/duplicateOfReceiptId"]],
    [
      "a duplicate that names nothing",
      [write, { ...again, end: { ...again.end, duplicateOfReceiptId: undefined } }],
      ["duplicate_unresolved /3"],
    ],
    [
      "a duplicate of a denial",
      [{ ...write, end: end("denied input_invalid active_task") }, again],
      ["duplicate_unresolved /3/duplicateOfReceiptId"],
    ],
  ])("%s", (_name, scenarios, expected) => {
    const envelopes = JSON.parse(JSON.stringify(envelopesOf(scenarios)));
    expect(verdict(envelopes)).toEqual(expected);
    expect(validateTrace(envelopes, { lint: false }).issues.every(({ level }) => level === "error")).toBe(true);
  });

  test("a list that is too long to be compared is refused at once", () => {
    const references = (length: number) => Array.from({ length }, (_, index) => ({ kind: "task", id: `t${index}` }));
    const start = performance.now();
    for (const list of ["content/references", "artifactRefs", "targets", "causalRefs"]) {
      const trace = change(pair, `/1/${list}`, references(50_000));
      expect(verdict(trace)).toEqual([`schema_validation /1/${list}`, "missing_terminal /0"]);
    }
    expect(verdict(change(pair, "/1/content/references", references(1000)))).toEqual([]);
    expect(performance.now() - start).toBeLessThan(5000);
  });

  test("a call id in two runs is two calls", () => {
    const second = change(change(pair, "/0/correlation/runId", "run_8"), "/1/correlation/runId", "run_8");
    expect(verdict([...pair, ...second])).toEqual([]);
    const astray = change(pair, "/1/correlation/runId", "run_9");
    expect(verdict([...astray, ...second])).toEqual(["missing_input /1", "missing_terminal /0"]);
  });

  test("results are compared with their digests", () => {
    const check = (value: unknown) => verdict(pair, { results: new Map([["call_r", value]]) });
    expect(check(deliver.value)).toEqual([]);
    expect(check({ ...(deliver.value as object), _meta: 1 })).toEqual([]);
    expect(check({ artifact: "artifact_4" })).toEqual(["semantic_result_digest_mismatch /1/content/digest"]);
    expect(verdict(pair, { results: new Map([["call_x", 1]]) })).toEqual([]);
  });

  test("no message holds a value", () => {
    const canary = "canary text";
    const traces = [
      ...["schema", "operationId", "callId", "outcome", "phase"].map((name) => change(pair, `/1/${name}`, canary)),
      change(pair, "/0/input", { canary }),
      change(pair, "/1/correlation/turnId", "canary"),
      change(events, "/1/eventType", canary),
      change(events, "/0/emittedAt", canary),
      change(pair, "/1/content/references", [{ kind: "canary", id: canary }]),
    ];
    for (const trace of traces) {
      const { issues } = validateTrace(trace);
      expect(issues.length).toBeGreaterThan(0);
      expect(JSON.stringify(issues)).not.toContain("canary");
    }
  });
});

describe("lint", () => {
  const target = { kind: "approval", id: "a", immutable: true, revisionId: "r1", decisionId: "d1" };
  const withTargets = (targets: Json[], callId: string) =>
    play({ operation: "ask", callId, end: ok("grant", { targets }) });
  test.each<[code: string, trace: Json[], path: string]>([
    ["terminal_before_input", [result, input], "/0"],
    ["result_fields_on_input", change(pair, "/0/code", "ok"), "/0/code"],
    ["code_outcome_mismatch", change(pair, "/1/outcome", "failed"), "/1/outcome"],
    [
      "target_changed",
      [...withTargets([target], "t1"), ...withTargets([{ ...target, revisionId: "r2" }], "t2")],
      "/3/targets/0",
    ],
    [
      "target_changed",
      [...withTargets([target], "t1"), ...withTargets([{ ...target, decisionId: "d2" }], "t2")],
      "/3/targets/0",
    ],
    [
      "duplicate_receipt_mismatch",
      change(envelopesOf([write, again]), "/3/operationReceiptId", "other"),
      "/3/operationReceiptId",
    ],
    [
      "duplicate_digest_mismatch",
      change(envelopesOf([write, again]), "/3/content/digest", digestOf(2)),
      "/3/content/digest",
    ],
  ])("%s", (code, trace, path) => {
    const { issues } = validateTrace(trace);
    expect(issues).toEqual([expect.objectContaining({ code, path, level: "warning" })]);
    expect(verdict(trace, { lint: false })).toEqual([]);
  });

  test("a target that says less is the same target", () => {
    const { revisionId: _r, ...bare } = target;
    expect(verdict([...withTargets([target], "t1"), ...withTargets([bare], "t2")])).toEqual([]);
  });
});

describe("reader modes", () => {
  const { outcome, code, retryable, authorizationBoundary, operationReceiptId: _id, ...rest } = reconciled as Json;
  const marker = { ...rest, auditReceiptId: undefined } as Json;
  delete marker.auditReceiptId;

  test("an outcome-less reconciled is an error, or in legacy-b a marker between input and result", () => {
    expect([outcome, code, retryable, authorizationBoundary]).not.toContain(undefined);
    expect(verdict([input, marker, result])).toEqual([
      "schema_validation /1",
      "schema_validation /1",
      "schema_validation /1",
      "schema_validation /1",
      "schema_validation /1",
    ]);
    const report = validateTrace([input, marker, result], { mode: "legacy-b" });
    expect(report.issues).toEqual([
      expect.objectContaining({ code: "legacy_reconciled_marker", path: "/1/phase", level: "warning" }),
    ]);
    expect(report.calls).toMatchObject([{ settled: true, outcome: "succeeded" }]);
  });

  test("a marker ends no call, and has to fit otherwise", () => {
    const legacy = { mode: "legacy-b" } as const;
    expect(verdict([input, marker], legacy)).toEqual(["legacy_reconciled_marker /1/phase", "missing_terminal /0"]);
    expect(verdict([marker], legacy)).toEqual(["legacy_reconciled_marker /0/phase", "missing_input /0"]);
    const astray = change(marker, "/correlation/turnId", "turn_8");
    expect(verdict([input, astray, result], legacy)).toContain("binding_mismatch /1/correlation/turnId");
    expect(validateEnvelope(change(marker, "/content/digest", "x"), "legacy-b")[0]).toMatchObject({
      path: "/content/digest",
    });
    expect(validateEnvelope({ ...marker, code: "ok" }, "legacy-b").every(({ level }) => level === "error")).toBe(true);
    expect(verdict([input, reconciled], legacy)).toEqual([]);
  });
});

describe("parsing", () => {
  test("unknown members at every level survive", () => {
    const envelopes = envelopesOf(ACCEPTED.find(([name]) => name.startsWith("7"))![1]);
    for (const trace of [envelopes, eventsOf(envelopes), { events: eventsOf(envelopes), later: [{}] }]) {
      const spaced = JSON.stringify(trace, null, 2);
      const parsed = parseTrace(spaced);
      expect(parsed.issues).toEqual([]);
      expect(canonicalJson(parsed.trace)).toBe(canonicalJson(JSON.parse(spaced)));
    }
  });

  test("raw input is checked and stripped, and nothing else", () => {
    const wired = change(pair, "/0/input", deliver.args);
    for (const [trace, bare, path] of [
      [wired, pair, "/0/input"],
      [eventsOf(wired), events, "/events/0/payload/semantic_tool/input"],
      [{ events: eventsOf(wired) }, { events }, "/events/0/payload/semantic_tool/input"],
      [{ events: wired, later: 1 }, { events: pair, later: 1 }, "/events/0/input"],
    ] as const) {
      const parsed = parseTrace(JSON.stringify(trace));
      expect(parsed.issues).toEqual([]);
      expect(parsed.trace).toEqual(bare);
      const refused = parseTrace(JSON.stringify(trace), { refuseRawInput: true });
      expect(refused.issues.map((issue) => `${issue.code} ${issue.path}`)).toEqual([`raw_input_refused ${path}`]);
    }
  });

  test("raw input may also be hashed as this package does it", () => {
    const args = { query: "q", password: "hunter2", idempotencyKey: "k" };
    const digest = digestOf({ query: "q", password: "[REDACTED]" });
    expect(verdict(change(change(pair, "/0/input", args), "/0/content/digest", digest))).toEqual([]);
  });

  test("a number that parsing would change and a text that is no JSON are refused", () => {
    expect(() => parseTrace('[{"later":9007199254740993}]')).toThrow(
      expect.objectContaining({ code: "inexact_number" }),
    );
    expect(() => parseTrace("[")).toThrow(expect.objectContaining({ code: "not_json" }));
    expect(parseTrace("3").issues).toMatchObject([{ code: "schema_validation", path: "" }]);
  });
});
