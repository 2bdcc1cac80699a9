import { describe } from "vitest";
import { describeArchives } from "./contract/archives.contract.js";
import { describeErasure } from "./contract/erasure.contract.js";
import type { MakeStore } from "./contract/fixture.contract.js";
import { describeHistory } from "./contract/history.contract.js";
import { describeListing } from "./contract/listing.contract.js";
import { describePages } from "./contract/pages.contract.js";
import { describePeople } from "./contract/people.contract.js";
import { describeRecords } from "./contract/records.contract.js";
import { describeRevisions } from "./contract/revisions.contract.js";
import { describeTransactions } from "./contract/transactions.contract.js";
import { describeWords } from "./contract/words.contract.js";

export { type MakeStore, type StoreUnderTest, testContext } from "./contract/fixture.contract.js";

/** The suite that every engine has to pass: what `Store` promises, and nothing of how an engine does it. */
export function describeStore(name: string, makeStore: MakeStore): void {
  describe(`store contract: ${name}`, () => {
    describeRecords(makeStore);
    describePeople(makeStore);
    describePages(makeStore);
    describeHistory(makeStore);
    describeRevisions(makeStore);
    describeListing(makeStore);
    describeWords(makeStore);
    describeTransactions(makeStore);
    describeErasure(makeStore);
    describeArchives(makeStore);
  });
}
