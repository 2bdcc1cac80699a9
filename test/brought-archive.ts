import { type ImportOptions, type ImportSummary, importOperation, readArchive } from "@satchel/server";
import { expect } from "vitest";
import { survey } from "./erasure-world.js";
import type { Shared } from "./shared-context.js";

/*
 * An archive is brought into a context, and what the context holds then.
 */

async function readFile(path: string) {
  return readArchive(path, { identities: [] });
}

export async function bring(shared: Shared, path: string, options: Partial<ImportOptions> = {}) {
  const operation = importOperation(await readFile(path), { dryRun: false, skipRefused: false, ...options });
  return shared.run(operation, {});
}

export async function brought(
  shared: Shared,
  path: string,
  options: Partial<ImportOptions> = {},
): Promise<ImportSummary> {
  const result = await bring(shared, path, options);
  if (!result.ok || !result.output) throw new Error(JSON.stringify(result), { cause: shared.faults });
  expect(shared.faults).toEqual([]);
  return result.output;
}

/** Everything a context holds that an import could change. */
export async function stateOf(shared: Shared) {
  const more = await shared.context.store.read(async (transaction) => ({
    partitions: await transaction.partitions(),
    attachments: await transaction.attachments(),
    time: await transaction.recordedTime(),
    extensions: await transaction.extensionNamespaces(),
  }));
  return { ...(await survey(shared)), ...more };
}
