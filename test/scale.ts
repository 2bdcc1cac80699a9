const defaultScale = 1 / 20;
const maxSeed = 2 ** 31;

function readNumber(name: string): number | undefined {
  const text = process.env[name];
  if (text === undefined || text === "") return undefined;
  const value = Number(text);
  if (!Number.isFinite(value) || value < 0) throw new RangeError(`${name} is no number at or above 0: ${text}`);
  return value;
}

/**
 * How often a test repeats something whose full count is `full`: a twentieth in `npm test`, all in
 * `npm run test:full`, `SATCHEL_TEST_SCALE` times as often otherwise. Never less than once.
 */
export function scaled(full: number): number {
  return Math.max(1, Math.round(full * (readNumber("SATCHEL_TEST_SCALE") ?? defaultScale)));
}

let seed: number | undefined;

/** The seed of this run, an integer: `SATCHEL_TEST_SEED`, else a fresh one. Printed when first asked for. */
export function testSeed(): number {
  if (seed === undefined) {
    seed = Math.floor(readNumber("SATCHEL_TEST_SEED") ?? Math.random() * maxSeed);
    console.log(`seed ${seed} (SATCHEL_TEST_SEED=${seed} repeats it)`);
  }
  return seed;
}
