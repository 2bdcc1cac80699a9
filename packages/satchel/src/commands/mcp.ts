import { allScopes, parsePrincipal, parseScopes } from "@satchel/pcp";
import { type Caller, isPersonalClient } from "@satchel/server";
import { type CommonOptions, openSession, stderrLog } from "../session.js";
import { protocolOutput } from "../standard-output.js";
import { UsageError } from "../usage-error.js";
import { version } from "../version.js";

export interface McpOptions extends CommonOptions {
  scopes?: string;
  user: string;
  client: string;
  schemas: string;
}

/** Serves one assistant over standard input and output. */
export async function mcp(options: McpOptions): Promise<void> {
  const caller = parseCaller(options);
  const schemas = parseSchemas(options.schemas);
  const [{ serveOverStdio }, { context }] = await Promise.all([
    import("@satchel/server/stdio"),
    Promise.resolve(openSession(options, { create: true })),
  ]);
  await serveOverStdio({ context, schemas, version, log: stderrLog }, caller, protocolOutput());
}

function parseCaller({ scopes: asked, user, client }: McpOptions): Caller {
  if (parsePrincipal(user)?.kind !== "user") throw new UsageError(`--user takes user:NAME, not "${user}".`);
  if (parsePrincipal(client)?.kind !== "client") throw new UsageError(`--client takes client:NAME, not "${client}".`);
  if (isPersonalClient(client))
    throw new UsageError(`${client} stands for you in person; give the assistant a name of its own.`);
  const { scopes, unknown } = asked === undefined ? { scopes: allScopes(), unknown: [] } : parseScopes(asked);
  if (unknown.length > 0) throw new UsageError(`Unknown scope: ${unknown.join(", ")}.`);
  return { principal: user, client, scopes, grant: `stdio ${user} ${client} ${[...scopes].sort().join(" ")}` };
}

export function parseSchemas(text: string): "plain" | "exact" {
  if (text !== "plain" && text !== "exact") throw new UsageError(`--schemas is plain or exact.`);
  return text;
}
