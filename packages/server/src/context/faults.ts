import { StoreError } from "../store/store.js";

/** Another process held the store too long: nothing is wrong, and trying again helps. */
export function isLocked(error: unknown): error is StoreError {
  return error instanceof StoreError && error.code === "locked";
}
