import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { testSeed } from "../../../../test/scale.js";
import { decodeListing, encodeListing, type Listing } from "./listing.js";

const numbers = fc.uniqueArray(fc.integer({ min: -(2 ** 40), max: 2 ** 40 }), { maxLength: 120 });
const places = fc.uniqueArray(fc.nat(63), { maxLength: 64 });
const listings: fc.Arbitrary<Listing> = fc.record(
  { ahead: numbers, shown: numbers, beginnings: places, distinguishing: places, below: fc.integer() },
  { requiredKeys: ["ahead", "shown", "beginnings", "distinguishing"] },
);

function sorted(listing: Listing): Listing {
  const sort = (nums: number[]) => [...nums].sort((a, b) => a - b);
  const { ahead: _, below: __, ...sets } = listing;
  return { ...listing, ...Object.fromEntries(Object.entries(sets).map(([key, nums]) => [key, sort(nums)])) };
}

describe("listing", () => {
  it("decodes to what was encoded: `ahead` in its order, the others as sets", () => {
    const seed = testSeed();
    fc.assert(
      fc.property(listings, (listing) => {
        expect(decodeListing(encodeListing(listing))).toEqual(sorted(listing));
      }),
      { seed, numRuns: 500 },
    );
  });

  it("a whole ranked answer among 100,000 pages fits in a cursor", () => {
    const nums = Array.from({ length: 100 }, (_, at) => 1 + ((at * 7919 * 13) % 100_000));
    const query = { beginnings: [0, 1], distinguishing: [0, 1, 2, 3, 4, 5, 6, 7] };
    expect(encodeListing({ ahead: [], shown: nums, below: 99_999, ...query }).length).toBeLessThanOrEqual(308);
    const ahead = nums.slice(10, 98);
    expect(encodeListing({ ahead, shown: nums.slice(0, 10), ...query }).length).toBeLessThanOrEqual(308);
  });
});
