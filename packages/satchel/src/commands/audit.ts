import { receiptsOperation } from "@satchel/server";
import { type CommonOptions, listLocally, runLocally, withContext } from "../session.js";
import { note, printJson, printTable } from "../terminal.js";
import { parseLimit } from "./journal.js";

interface Entry {
  id: string;
  at: string;
  principal: string;
  client: string;
  tool: string;
  action: string;
  outcome: string;
  targets?: string[];
}

export interface AuditOptions extends CommonOptions {
  since?: string;
  until?: string;
  principal?: string;
  category?: string;
  limit: string;
}

/** Who did what, newest first. */
export async function audit(options: AuditOptions): Promise<void> {
  const { since, until, principal, category } = options;
  const filter = Object.fromEntries(
    Object.entries({ since, until, principal, category }).filter(([, value]) => value !== undefined),
  );
  const listing = { tool: "audit_list", member: "entries", filter, most: parseLimit(options.limit) } as const;
  const entries = await withContext(options, (context) => listLocally<Entry>(context, listing));
  if (options.json) {
    printJson({ entries });
    return;
  }
  if (entries.length === 0) note("Nothing is recorded for that.");
  printTable(
    ["AT", "WHO", "THROUGH", "WHAT", "OUTCOME", "TARGETS", "ID"],
    entries.map(({ at, principal, client, tool, outcome, targets, id }) => [
      at,
      principal,
      client,
      tool,
      outcome,
      targets === undefined
        ? "erased"
        : targets.slice(0, 3).join(" ") + (targets.length > 3 ? ` +${targets.length - 3}` : ""),
      id,
    ]),
  );
}

/** Receipts of calls, newest first; of an id, all its envelopes. */
export async function receipts(id: string | undefined, options: CommonOptions & { limit: string }): Promise<void> {
  const args = { limit: parseLimit(options.limit), ...(id !== undefined && { id }) };
  const found = await withContext(options, (context) => runLocally(context, receiptsOperation, args));
  if (options.json || id !== undefined) {
    printJson({ receipts: found });
    return;
  }
  printTable(
    ["AT", "OPERATION", "OUTCOME", "CODE", "RECEIPT", "CALL"],
    found.map(({ at, envelope }) => [
      at,
      envelope.operationId,
      envelope.outcome ?? "",
      envelope.code ?? "",
      envelope.operationReceiptId ?? "",
      envelope.callId,
    ]),
  );
}
