import { describe, expect, test } from "vitest";
import type { SemanticToolEnvelope } from "./envelope.js";
import { exportEvent } from "./event.js";
import { deliver, play } from "./trace-scenarios.contract.js";

describe("events", () => {
  const [, terminal] = play({ ...deliver, phase: "reconciled" });
  const source = {
    sourceEventId: "e1",
    sourceSeq: 1,
    sourceInstanceId: "i1",
    sourceKind: "control_plane",
    emittedAt: "2026-01-02T03:04:05Z",
  } as const;
  const envelope = terminal as unknown as SemanticToolEnvelope;

  test("version 1 carries each phase", () => {
    expect(exportEvent(envelope, source)).toEqual({
      ...source,
      schema: "paperclip.prp.event.v1",
      schemaVersion: 1,
      eventType: "semantic_tool.reconciled",
      priority: 0,
      ...envelope.correlation,
      payload: { semantic_tool: envelope },
    });
  });

  test.each([2, 3])("version %s is refused: it has no reconciled", (version) => {
    expect(() => exportEvent(envelope, { ...source, version })).toThrow(/no semantic_tool.reconciled/);
    expect(() => exportEvent(envelope, { ...source, version })).toThrow(
      expect.objectContaining({ code: "unsupported_version" }),
    );
  });

  test.each<[string, unknown]>([
    ["sourceSeq", 2 ** 53],
    ["sourceSeq", 0],
    ["sourceEventId", ""],
    ["sourceEventId", "e".repeat(161)],
    ["sourceKind", "canary"],
    ["emittedAt", "canary"],
    ["priority", 3],
  ])("a bad %s is refused", (member, value) => {
    const build = () => exportEvent(envelope, { ...source, [member]: value });
    expect(build).toThrow(expect.objectContaining({ code: "bad_envelope", pointer: `/${member}` }));
    expect(build).not.toThrow(/canary/);
  });
});
