import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { ExportRecord } from "../domain/records.js";
import type { Context } from "./context.js";

/** Below the context's own folder. */
const exportsFolder = "exports";

/** How long an archive can be fetched. */
export const exportLifeMs = 15 * 60_000;

export function exportPath(folder: string, name = ""): string {
  return join(folder, exportsFolder, name);
}

/** Removes every file of an archive, also an unfinished one. */
export function removeExportFiles(folder: string, id: string): void {
  let names: string[] = [];
  try {
    names = readdirSync(exportPath(folder));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  for (const name of names.filter((one) => one.startsWith(id))) rmSync(exportPath(folder, name), { force: true });
}

export function isExpired({ expires }: ExportRecord, nowMs: number): boolean {
  return expires !== undefined && Date.parse(expires) <= nowMs;
}

/** Archives that can't be fetched any more go, with what was remembered of them. */
export async function removeExpiredExports({ store, folder, environment }: Context): Promise<void> {
  const nowMs = environment.now();
  const expired = (await store.read((transaction) => transaction.exports())).filter((one) => isExpired(one, nowMs));
  if (expired.length === 0) return;
  for (const { id } of expired) removeExportFiles(folder, id);
  await store.write(async (transaction) => {
    for (const { id } of expired) await transaction.endExport(id);
  });
}
