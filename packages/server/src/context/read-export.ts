import { timingSafeEqual } from "node:crypto";
import type { Caller } from "../domain/access.js";
import type { ExportRecord } from "../domain/records.js";
import type { Refusal } from "../domain/refusal.js";
import type { Context } from "./context.js";
import { exportPath, isExpired } from "./export-folder.js";

export interface ReadyExport {
  id: string;
  file: string;
  name: string;
  bytes: number;
}

/** The archive that its address names, for the grant it was made for and while it can be fetched. Refuses with not_found. */
export async function readExport(
  { store, folder, environment }: Context,
  caller: Caller,
  { id, secret }: { id: string; secret: string },
): Promise<ReadyExport | Refusal> {
  const found = (await store.read((transaction) => transaction.exports())).find((record) => record.id === id);
  if (
    !found?.made ||
    found.file === undefined ||
    !isFor(found, caller, secret) ||
    isExpired(found, environment.now())
  ) {
    const message = "There is no such archive, or its time is over. export_create makes a new one.";
    return { refused: "not_found", message };
  }
  return { id, file: exportPath(folder, found.file), name: found.file, bytes: found.made.bytes };
}

function isFor(record: ExportRecord, caller: Caller, secret: string): boolean {
  const [own, given] = [Buffer.from(record.secret ?? ""), Buffer.from(secret)];
  return own.length > 0 && own.length === given.length && timingSafeEqual(own, given) && record.grant === caller.grant;
}
