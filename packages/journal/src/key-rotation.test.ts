import { describe, expect, it } from "vitest";
import { currentKey, makeCheckpoint, rotateKey, type VerifierKey, verifyLog } from "./index.js";
import { writeEntries } from "./log.js";
import { at, makeKey, origin, startTestLog } from "./test-log.contract.js";

/** Three keys, each in force for some calls and a checkpoint. */
async function makeRotatedLog() {
  const log = await startTestLog("first");
  const keys = [log.key, makeKey("second"), makeKey("third")] as const;
  for (const [i, key] of keys.entries()) {
    if (i > 0) await rotateKey(log.storage, { from: keys[i - 1]!, to: key, at, ...log.tools });
    await log.append(2);
    await makeCheckpoint(log.storage, key);
  }
  const verify = async (...trusted: VerifierKey[]) => verifyLog(log.storage, { trusted, origin });
  return { ...log, keys, verify, verifiers: keys.map(({ verifier }) => verifier) };
}

describe("rotateKey", () => {
  it("extends trust forward, never backward", async () => {
    const { verify, verifiers, storage, keys } = await makeRotatedLog();
    const [first, second, third] = verifiers;
    expect(await verify(first!)).toMatchObject({ verdict: "valid", size: 21, checkpointSize: 21, key: third!.text });
    expect(await verify(...verifiers)).toMatchObject({ verdict: "valid" });
    expect(await verify(second!)).toMatchObject({ verdict: "unknown_key" });
    expect(await verify(third!)).toMatchObject({ verdict: "unknown_key" });
    expect((await currentKey(storage)).text).toBe(third!.text);
    await expect(makeCheckpoint(storage, keys[0])).rejects.toMatchObject({ code: "bad_key" });
  });

  it("is signed by both keys, over its place in the log", async () => {
    const { storage, keys } = await makeRotatedLog();
    const entry = (await storage.newestKeyEntry())!;
    const body = JSON.parse(entry.openings[0]!.body);
    expect(Object.keys(body)).toEqual(["key", "previous", "signatures"]);
    const message = Buffer.from(
      `satchel/journal/v1 rotation\0{"key":"${keys[2]}","previous":"${keys[1]}","seq":${entry.seq}}`,
    );
    expect(keys[1].verifier.verify(message, Buffer.from(body.signatures.previous, "base64"))).toBe(true);
    expect(keys[2].verifier.verify(message, Buffer.from(body.signatures.key, "base64"))).toBe(true);
  });

  it("refuses keys that may not take part", async () => {
    const { storage, keys, tools } = await makeRotatedLog();
    const [first, , third] = keys;
    const fresh = makeKey("fresh");
    const cases = [
      { from: first, to: fresh },
      { from: third, to: third },
      { from: fresh, to: third },
      { from: third, to: makeKey("fresh", "satchel/other") },
    ];
    for (const { from, to } of cases) {
      await expect(rotateKey(storage, { from, to, at, ...tools })).rejects.toMatchObject({ code: "bad_key" });
    }
    expect((await storage.state()).size).toBe(21);
  });

  it.each([
    "signatures of another place",
    "the old key's signature missing",
    "the new key's signature missing",
    "another key before it",
    "a first key again",
    "no key",
  ])("is changed when it was written with %s", async (what) => {
    const { storage, tools, verify, verifiers, keys } = await makeRotatedLog();
    const [, previous, key] = keys;
    const last = JSON.parse((await storage.newestKeyEntry())!.openings[0]!.body);
    const fresh = makeKey("fresh");
    const sign = (signer: typeof key, facts: object) =>
      Buffer.from(signer.sign(Buffer.from(`satchel/journal/v1 rotation\0${JSON.stringify(facts)}`))).toString("base64");
    const facts = { key: String(fresh), previous: String(key), seq: 21 };
    const whole = {
      key: facts.key,
      previous: facts.previous,
      signatures: { key: sign(fresh, facts), previous: sign(key, facts) },
    };
    const bodies: Record<string, unknown> = {
      "signatures of another place": last,
      "the old key's signature missing": {
        ...whole,
        signatures: { ...whole.signatures, previous: sign(fresh, facts) },
      },
      "the new key's signature missing": { ...whole, signatures: { ...whole.signatures, key: sign(key, facts) } },
      "another key before it": { ...whole, previous: String(previous) },
      "a first key again": JSON.parse((await storage.entries({ from: 0, limit: 1 }))[0]!.openings[0]!.body),
      "no key": null,
    };
    await writeEntries(storage, [{ at, kind: "key", bodies: [bodies[what]] }], tools);
    expect(await verify(...verifiers)).toMatchObject({ verdict: "changed", seq: 21 });
  });

  it("accepts the same entry with both signatures", async () => {
    const { storage, tools, verify, verifiers, keys } = await makeRotatedLog();
    await rotateKey(storage, { from: keys[2], to: makeKey("fresh"), at, ...tools });
    expect(await verify(verifiers[0]!)).toMatchObject({ verdict: "valid", size: 22, checkpointSize: 21 });
  });
});
