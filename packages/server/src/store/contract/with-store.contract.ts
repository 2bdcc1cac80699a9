import type { MakeStore, StoreUnderTest } from "./fixture.contract.js";

/** Gives a test a store of its own and ends it, also when the test fails. */
export async function withStore<T>(makeStore: MakeStore, use: (made: StoreUnderTest) => Promise<T>): Promise<T> {
  const made = await makeStore();
  try {
    return await use(made);
  } finally {
    await made.dispose();
  }
}
