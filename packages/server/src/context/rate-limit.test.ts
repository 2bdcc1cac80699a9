import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { testSeed } from "../../../../test/scale.js";
import { defaultCallsPerMinute, RateLimiter } from "./rate-limit.js";

function limiter() {
  const clock = { ms: 1_000_000 };
  const limits = new RateLimiter({ now: () => clock.ms });
  const outcome = (perMinute = 6, key = "a") => limits.take(key, perMinute)?.refused ?? "ok";
  const count = (calls: number, perMinute = 6, key = "a") =>
    Array.from({ length: calls }, () => outcome(perMinute, key)).filter((code) => code === "ok").length;
  return { clock, limits, outcome, count };
}

describe("the rate limit", () => {
  it("lets so many through at once, and refuses the next with the seconds to wait", () => {
    const { limits, count } = limiter();
    expect(count(10)).toBe(6);
    const refusal = limits.take("a", 6);
    expect(refusal?.refused).toBe("rate_limited");
    expect(refusal?.message).toMatch(/at most 6 a minute\. Wait 10 seconds/);
  });

  it("the seconds it names are enough, and one fewer is not", () => {
    for (const perMinute of [1, 2, 6, 7, 13, 60, 100]) {
      const { clock, limits, count } = limiter();
      count(perMinute, perMinute);
      const seconds = Number(/Wait (\d+) second/.exec(limits.take("a", perMinute)?.message ?? "")?.[1]);
      expect(seconds).toBeGreaterThanOrEqual(1);
      if (seconds > 1) {
        clock.ms += (seconds - 1) * 1000;
        expect(count(1, perMinute), `${perMinute}: too early`).toBe(0);
        clock.ms += 1000;
      } else clock.ms += 1000;
      expect(count(1, perMinute), `${perMinute}: in time`).toBe(1);
    }
  });

  it("refills with the clock, never above full", () => {
    const { clock, count } = limiter();
    count(6);
    clock.ms += 30_000;
    expect(count(10)).toBe(3);
    clock.ms += 24 * 3_600_000;
    expect(count(10)).toBe(6);
  });

  it("a clock that goes back gives nothing and takes nothing", () => {
    const { clock, count } = limiter();
    expect(count(3)).toBe(3);
    clock.ms -= 3_600_000;
    expect(count(10)).toBe(3);
    clock.ms += 10_000;
    expect(count(10)).toBe(1);
  });

  it("keys do not share", () => {
    const { count } = limiter();
    expect(count(10, 6, "a")).toBe(6);
    expect(count(10, 6, "b")).toBe(6);
    expect(count(10, 6, "a")).toBe(0);
  });

  it("a refused call costs nothing, and a changed limit counts at once", () => {
    const { clock, count } = limiter();
    count(100);
    clock.ms += 10_000;
    expect(count(1)).toBe(1);
    clock.ms += 60_000;
    expect(count(100, 2)).toBe(2);
    clock.ms += 60_000;
    expect(count(100, 50)).toBe(50);
  });

  it("over any time, no more than a full bucket and what was refilled", () => {
    const step = fc.record({ waitMs: fc.nat({ max: 5000 }), calls: fc.nat({ max: 8 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.integer({ min: 1, max: 120 }), (steps, perMinute) => {
        const { clock, count } = limiter();
        let [passed, waitedMs] = [0, 0];
        for (const { waitMs, calls } of steps) {
          clock.ms += waitMs;
          waitedMs += waitMs;
          passed += count(calls, perMinute);
          expect(passed).toBeLessThanOrEqual(perMinute + (waitedMs / 60_000) * perMinute + 1e-6);
        }
      }),
      { seed: testSeed(), numRuns: 200 },
    );
  });

  it("forgets idle keys, also while the first one stays busy", () => {
    const { clock, limits, outcome } = limiter();
    for (let key = 0; key < 500; key++) outcome(6, String(key));
    for (let minute = 0; minute < 4; minute++) {
      clock.ms += 60_000;
      outcome(6, "0");
    }
    const buckets = Reflect.get(limits, "buckets") as Map<string, unknown>;
    expect([...buckets.keys()]).toEqual(["0"]);
  });

  it("has a default that no person reaches", () => {
    expect(defaultCallsPerMinute).toBeGreaterThanOrEqual(1000);
  });
});
