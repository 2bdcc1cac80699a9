import { listContexts, openContext } from "@satchel/server";
import { type CommonOptions, openSession, stderrLog } from "../session.js";
import { chooseDataDir, createEnvironment } from "../system.js";
import { note, paint, print } from "../terminal.js";
import { UsageError } from "../usage-error.js";
import { version } from "../version.js";
import { parseSchemas } from "./mcp.js";

export interface ServeOptions extends CommonOptions {
  port: string;
  host: string;
  schemas: string;
}

/** Serves every context of the data directory over HTTP until it is told to stop. */
export async function serve(options: ServeOptions): Promise<void> {
  const port = parsePort(options.port);
  if (!isLoopback(options.host)) {
    throw new UsageError(`${options.host} is no loopback address. Without TLS Satchel serves only this machine.`);
  }
  const schemas = parseSchemas(options.schemas);
  const contexts = openContexts(options).map((context) => ({ context, schemas, version, log: stderrLog }));
  const { startHttpServer } = await import("@satchel/server/http");
  const settings = { contexts, hostNames: [options.host] };
  const server = await startHttpServer(settings, { host: options.host, port }).catch((error: unknown) => {
    throw refusedPort(error, port);
  });
  announce(
    server.url,
    contexts.map(({ context }) => context.handle),
  );
  await new Promise<void>((resolve) => {
    process.once("SIGINT", resolve);
    process.once("SIGTERM", resolve);
  });
  await server.close();
  await Promise.all(contexts.map(({ context }) => context.store.close()));
}

function openContexts(options: ServeOptions) {
  const { context, dataDir } = openSession(
    { ...options, context: options.context ?? firstHandle(options) },
    { create: true },
  );
  if (options.context !== undefined) return [context];
  const environment = createEnvironment(options.now);
  const others = listContexts(dataDir).filter((handle) => handle !== context.handle);
  return [context, ...others.map((handle) => openContext(dataDir, handle, environment))];
}

function firstHandle({ data }: ServeOptions): string | undefined {
  return listContexts(chooseDataDir(data))[0];
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new UsageError(`--port takes a number up to 65535, not "${text}".`);
  return port;
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

function refusedPort(error: unknown, port: number): unknown {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === "EADDRINUSE")
    return new UsageError(`Port ${port} is in use. Choose another with --port, or stop what listens there.`);
  if (code === "EACCES")
    return new UsageError(`Port ${port} may not be used by this account. Choose one above 1023 with --port.`);
  return error;
}

function announce(url: string, handles: string[]): void {
  const endpoints = handles.length === 1 ? [`${url}/mcp`] : handles.map((handle) => `${url}/${handle}/mcp`);
  print(paint("bold", `Satchel serves ${endpoints.join(" and ")}`));
  note(`
Connect an assistant on this machine (it starts Satchel by itself):
  npx satchel connect claude-code --write
  (claude-desktop, cursor, vscode, codex, gemini; without --write it only shows what to add)

Connect over HTTP: make a token and send it as "Authorization: Bearer …" to the address above.
  npx satchel token create --scopes "profile.core:read memory:read memory:write"

Stop with Ctrl-C.`);
}
