import { randomBytes } from "node:crypto";
import type { Environment } from "@satchel/server";

/*
 * The clock, ids and randomness of contexts that tests open in their own process.
 */

/** When every test begins. */
export const startMs = Date.UTC(2026, 2, 1, 12);

let uuids = 0;

export function environmentOf(clock: { ms: number }): Environment {
  return { now: () => clock.ms, newUuid, randomBytes: (count) => randomBytes(count) };
}

/** Unlike each other and rising, which is all that anyone asks of them. */
function newUuid(): string {
  uuids += 1;
  const count = uuids.toString(16).padStart(12, "0");
  const time = startMs.toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${count}`;
}
