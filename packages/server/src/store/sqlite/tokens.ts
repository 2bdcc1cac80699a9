import type { TokenRecord } from "../store.js";
import type { Connection } from "./connection.js";

const columns = "id, digest, user, client, scopes, created, expires, revoked";

type TokenRow = Omit<TokenRecord, "expires" | "revoked"> & { expires: string | null; revoked: string | null };

function toToken({ expires, revoked, ...row }: TokenRow): TokenRecord {
  return { ...row, ...(expires && { expires }), ...(revoked && { revoked }) };
}

export function listTokens(connection: Connection): TokenRecord[] {
  return connection.all<TokenRow>(`SELECT ${columns} FROM tokens ORDER BY created, id`).map(toToken);
}

export function findToken(connection: Connection, digest: string): TokenRecord | undefined {
  const row = connection.get<TokenRow>(`SELECT ${columns} FROM tokens WHERE digest = ?`, digest);
  return row && toToken(row);
}

export function addToken(connection: Connection, token: TokenRecord): void {
  connection.run(
    `INSERT INTO tokens (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    token.id,
    token.digest,
    token.user,
    token.client,
    token.scopes,
    token.created,
    token.expires ?? null,
    token.revoked ?? null,
  );
}

export function revokeToken(connection: Connection, id: string, at: string): boolean {
  return connection.run("UPDATE tokens SET revoked = ? WHERE id = ? AND revoked IS NULL", at, id).changes === 1;
}
