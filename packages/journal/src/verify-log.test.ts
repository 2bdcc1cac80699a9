import { describe, expect, it } from "vitest";
import { makeCheckpoint, proveEntry, redactEntries, rotateKey, verifyLog, verifyProof } from "./index.js";
import { at, makeKey, origin, startTestLog } from "./test-log.contract.js";

describe("verifyLog", () => {
  it("finds a whole log valid", async () => {
    const { storage, key, trusted, append, tools } = await startTestLog();
    await append(200);
    await makeCheckpoint(storage, key);
    await append(100);
    const next = makeKey("next");
    await rotateKey(storage, { from: key, to: next, at, ...tools });
    await makeCheckpoint(storage, next);
    await redactEntries(
      storage,
      {
        receipt: "era_1",
        at,
        entries: [
          { seq: 4, slots: [0] },
          { seq: 5, slots: [1] },
        ],
      },
      tools,
    );
    const { note } = await makeCheckpoint(storage, next);
    const verdict = await verifyLog(storage, { trusted, origin, checkpoints: [note] });
    expect(verdict).toMatchObject({ verdict: "valid", size: 903, checkpointSize: 903, redacted: 2 });
    const proof = await proveEntry(storage, 500);
    console.log(JSON.stringify(proof).length);
    expect(verifyProof(JSON.parse(JSON.stringify(proof)), [next.verifier])).toMatchObject({ valid: true });
    expect(verifyProof(proof, trusted)).toEqual({ valid: false, reason: "unknown_key" });
  });
});
