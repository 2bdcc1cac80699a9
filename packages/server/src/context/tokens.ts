import { createHash } from "node:crypto";
import { parsePrincipal, parseScopes } from "@satchel/pcp";
import { type Caller, isPersonalClient } from "../domain/access.js";
import { invalidInput, type Refusal } from "../domain/refusal.js";
import type { ReadTransaction, TokenRecord } from "../store/store.js";
import type { Context } from "./context.js";

export type { TokenRecord };

/** Recognisable, so that secret scanners can find one that leaked. */
const tokenPrefix = "satchel_";

export interface NewToken {
  scopes: string;
  user: string;
  client: string;
  ttlMs?: number;
}

/** A fixed bearer token for an assistant. The secret is returned once; only its digest is stored. Refuses with invalid_input. */
export async function createToken(
  context: Context,
  input: NewToken,
): Promise<{ token: string; record: TokenRecord } | Refusal> {
  const violations = verifyToken(input);
  if (violations.length > 0) return invalidInput(violations);
  const { environment } = context;
  const token = tokenPrefix + environment.randomBytes(32).toString("base64url");
  const nowMs = environment.now();
  const record: TokenRecord = {
    id: `tok_${environment.randomBytes(8).toString("hex")}`,
    digest: digestOf(token),
    user: input.user,
    client: input.client,
    scopes: [...parseScopes(input.scopes).scopes].join(" "),
    created: new Date(nowMs).toISOString(),
    ...(input.ttlMs !== undefined && { expires: new Date(nowMs + input.ttlMs).toISOString() }),
  };
  return context.store.write(async (transaction) => {
    await transaction.addToken(record);
    return { token, record };
  });
}

function verifyToken({ scopes, user, client }: NewToken): string[] {
  const { scopes: known, unknown } = parseScopes(scopes);
  const violations = unknown.map((scope) => `scopes: "${scope.slice(0, 100)}" is no scope`);
  if (known.size === 0) violations.push("scopes: name at least one scope");
  const userKind = parsePrincipal(user)?.kind;
  if (userKind !== "user" && userKind !== "service")
    violations.push(`user: "${user.slice(0, 100)}" is not user:NAME or service:NAME`);
  if (parsePrincipal(client)?.kind !== "client")
    violations.push(`client: "${client.slice(0, 100)}" is not client:NAME`);
  if (isPersonalClient(client)) violations.push(`client: ${client} stands for a person and takes no token`);
  return violations;
}

function digestOf(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

/**
 * The caller a bearer token stands for; undefined when it is unknown, revoked or expired. Also while an erasure holds the
 * context, so that the call itself is answered `locked`.
 */
export async function authenticate(context: Context, token: string): Promise<Caller | undefined> {
  if (!token.startsWith(tokenPrefix)) return undefined;
  const find = (transaction: ReadTransaction) => transaction.tokenByDigest(digestOf(token));
  const record = await context.store.read(find, { isErasing: true });
  if (!record || record.revoked) return undefined;
  if (record.expires && Date.parse(record.expires) <= context.environment.now()) return undefined;
  const { scopes } = parseScopes(record.scopes);
  return { principal: record.user, client: record.client, scopes, grant: record.id };
}

export async function listTokens(context: Context): Promise<Omit<TokenRecord, "digest">[]> {
  const records = await context.store.read((transaction) => transaction.tokens());
  return records.map(({ digest: _, ...record }) => record);
}

/** Effective at the next request. Refuses with not_found. */
export async function revokeToken(context: Context, id: string): Promise<{ id: string } | Refusal> {
  const at = new Date(context.environment.now()).toISOString();
  return context.store.write(async (transaction) => {
    const revoked = await transaction.revokeToken(id, at);
    return revoked
      ? { id }
      : { refused: "not_found", message: `There is no live token "${id}". satchel token list shows them.` };
  });
}
