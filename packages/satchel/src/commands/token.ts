import { tokenCreateOperation, tokenRevokeOperation, tokensOperation } from "@satchel/server";
import { type CommonOptions, runLocally, withContext } from "../session.js";
import { note, print, printJson, printTable } from "../terminal.js";
import { UsageError } from "../usage-error.js";

const unitMs: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Prints the new token alone on standard output: it is shown only this once. */
export async function tokenCreate(
  options: CommonOptions & { scopes: string; client: string; user: string; ttl?: string },
): Promise<void> {
  const { scopes, client, user, ttl } = options;
  const ttlMs = ttl === undefined ? undefined : parseDuration(ttl);
  await withContext(options, async (context) => {
    const args = { scopes, client, user, ...(ttlMs !== undefined && { ttlMs }) };
    const created = await runLocally(context, tokenCreateOperation, args);
    const { digest: _, ...record } = created.record;
    if (options.json) {
      printJson({ token: created.token, ...record });
      return;
    }
    print(created.token);
    note(
      `Token ${record.id} for ${client}, ${record.expires ? `until ${record.expires}` : "without end"}. It is not shown again.`,
    );
  });
}

function parseDuration(text: string): number {
  const [, count, unit] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  const lengthMs = Number(count) * (unitMs[unit ?? ""] ?? Number.NaN);
  if (!(lengthMs > 0)) throw new UsageError(`--ttl takes a time such as 30d, 12h or 45m, not "${text}".`);
  return lengthMs;
}

export async function tokenList(options: CommonOptions): Promise<void> {
  const tokens = await withContext(options, (context) => runLocally(context, tokensOperation, {}));
  if (options.json) {
    printJson({ tokens });
    return;
  }
  const rows = tokens.map(({ id, user, client, scopes, created, expires, revoked }) => [
    id,
    user,
    client,
    revoked ? `revoked ${revoked}` : (expires ?? "no end"),
    created,
    scopes,
  ]);
  printTable(["ID", "USER", "CLIENT", "EXPIRES", "CREATED", "SCOPES"], rows);
}

export async function tokenRevoke(id: string, options: CommonOptions): Promise<void> {
  await withContext(options, async (context) => {
    const revoked = await runLocally(context, tokenRevokeOperation, { id });
    if (options.json) printJson(revoked);
    else print(`Revoked ${id}.`);
  });
}
