import type { Refusal } from "../domain/refusal.js";
import type { Environment } from "./context.js";

/** Calls of one tool by one principal through one client, a minute, on average; as many at once. Documented in docs/limits.md. */
export const defaultCallsPerMinute = 60_000;

const idleAfterMs = 120_000;
/** Refills add up to a whole call only almost exactly. */
const roundingError = 1e-9;

interface Bucket {
  tokens: number;
  at: number;
}

/** A token bucket per key, kept in this process; the least recently used first. */
export class RateLimiter {
  private readonly buckets = new Map<string, Bucket>();

  constructor(private readonly environment: Pick<Environment, "now">) {}

  /** Takes one call. Refuses with rate_limited, naming the seconds to wait. */
  take(key: string, perMinute: number): Refusal | undefined {
    const now = this.environment.now();
    this.dropIdle(now);
    const bucket = this.buckets.get(key) ?? { tokens: perMinute, at: now };
    const refill = (Math.max(0, now - bucket.at) / 60_000) * perMinute;
    const tokens = Math.min(perMinute, bucket.tokens + refill);
    this.buckets.delete(key); // So that they stand in the order of their last use.
    const isEnough = tokens > 1 - roundingError;
    this.buckets.set(key, { tokens: isEnough ? tokens - 1 : tokens, at: now });
    if (isEnough) return undefined;
    const seconds = Math.max(1, Math.ceil(((1 - tokens) / perMinute) * 60));
    return {
      refused: "rate_limited",
      message: `Too many calls: at most ${perMinute} a minute. Wait ${seconds} seconds.`,
    };
  }

  private dropIdle(now: number): void {
    for (const [key, { at }] of this.buckets) {
      if (now - at < idleAfterMs) return;
      this.buckets.delete(key);
    }
  }
}
