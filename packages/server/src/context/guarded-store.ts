import type { Store } from "../store/store.js";
import type { Context } from "./context.js";
import { isLocked } from "./faults.js";
import { resumeErasure } from "./resume-erasure.js";
import { resumeJobs } from "./resume-jobs.js";

/** A call that finds an erasure to be finished waits this long for other programs; the next call tries again. */
const waitMs = 500;

/**
 * The store as use cases get it. Before the first transaction the journal is started and what a crash left in the middle
 * is finished; at the end the journal is sealed.
 */
export function guardStore(context: Context, start: () => Promise<void>): Store {
  const { store, journal } = context;
  let started: Promise<unknown> | undefined;
  const ready = () => {
    started ??= start()
      .then(() => resumeErasure(context, { waitMs }))
      .then(() => resumeJobs(context))
      .catch((error: unknown) => {
        started = undefined; // The next call tries again.
        throw error;
      });
    return started;
  };
  /** An erasure whose process has ended holds the context locked until somebody finishes it. */
  const guarded = async <T>(use: () => Promise<T>): Promise<T> => {
    await ready();
    try {
      return await use();
    } catch (error) {
      if (!isLocked(error) || !(await resumeErasure(context, { waitMs }))) throw error;
      return use();
    }
  };
  return {
    ...store,
    read: (use, options) => guarded(() => store.read(use, options)),
    write: (use, options) => guarded(() => store.write(use, options)),
    close: async () => {
      await journal?.close().catch((error: unknown) => {
        if (!isLocked(error)) throw error;
      });
      await store.close();
    },
  };
}
