import {
  type AuthInfo,
  createMcpHandler,
  hostHeaderValidationResponse,
  originValidationResponse,
} from "@modelcontextprotocol/server";
import { Hono, type Context as HonoContext } from "hono";
import { authenticate } from "../context/tokens.js";
import type { Caller } from "../domain/access.js";
import { download } from "./download.js";
import { NumberGuard } from "./exact-numbers.js";
import { createMcpServer, type ServerSettings } from "./server.js";

/** A request body may have this many bytes: the largest page in the most wasteful JSON escaping, and some more. */
const bodyLimitBytes = 4 * 1024 * 1024;

export interface HttpSettings {
  /** One entry per served context. */
  contexts: ServerSettings[];
  /** Host names a request may come to, beside the loopback ones. */
  hostNames: string[];
}

const loopbackNames = ["localhost", "127.0.0.1", "[::1]"];

/** `GET /healthz`, `POST /<handle>/mcp`, `POST /mcp` while there is one context only, and archives to fetch. */
export function createHttpApp({ contexts, hostNames }: HttpSettings): Hono {
  const app = new Hono();
  const names = [...loopbackNames, ...hostNames];
  app.use(async (request, next) => {
    const refused =
      hostHeaderValidationResponse(request.req.raw, names) ?? originValidationResponse(request.req.raw, names);
    return refused ?? next();
  });
  app.get("/healthz", async (request) => {
    const healthy = await Promise.all(contexts.map(isReady));
    return healthy.every(Boolean) ? request.json({ status: "ok" }) : request.json({ status: "locked" }, 503);
  });
  for (const settings of contexts) {
    const endpoint = createEndpoint(settings);
    app.all(`/${settings.context.handle}/mcp`, endpoint);
    if (contexts.length === 1) app.all("/mcp", endpoint);
    app.get(`/${settings.context.handle}/exports/:id/:secret`, async (request) => {
      const caller = await authenticateRequest(settings, request);
      return caller instanceof Response ? caller : download(settings, caller, request);
    });
  }
  app.notFound((request) =>
    request.json({ error: "not_found", message: "The MCP endpoint is /mcp or /<handle>/mcp." }, 404),
  );
  app.onError((error, request) => {
    contexts[0]?.log.fault({ id: "http", operation: "request", error });
    return request.json({ error: "internal" }, 500);
  });
  return app;
}

/** Whether a write would get its turn now. */
async function isReady({ context }: ServerSettings): Promise<boolean> {
  const late = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 1000).unref());
  const ready = context.store.write(async () => true).catch(() => false);
  return Promise.race([ready, late]);
}

function createEndpoint(settings: ServerSettings): (request: HonoContext) => Promise<Response> {
  const create = ({ authInfo }: { authInfo?: AuthInfo }) => {
    const { caller, baseUrl } = (authInfo?.extra ?? {}) as { caller: Caller; baseUrl: string };
    return createMcpServer({ ...settings, baseUrl }, caller);
  };
  const handler = createMcpHandler(create, {
    maxRequestBodySize: bodyLimitBytes,
    onerror: (error) => settings.log.fault({ id: "http", operation: "protocol", error }),
  });
  return async (request) => {
    const caller = await authenticateRequest(settings, request);
    if (caller instanceof Response) return caller;
    const baseUrl = `${new URL(request.req.url).origin}/${settings.context.handle}`;
    const authInfo = { token: "", clientId: caller.client, scopes: [...caller.scopes], extra: { caller, baseUrl } };
    return handler.fetch(guardNumbers(request.req.raw), { authInfo });
  };
}

/** @returns the answer when there is no caller */
async function authenticateRequest({ context }: ServerSettings, { req }: HonoContext): Promise<Caller | Response> {
  const token = /^Bearer +([\w~+/.=-]+)$/i.exec(req.header("authorization") ?? "")?.[1];
  const caller = token && (await authenticate(context, token));
  return caller || unauthorized(token ? 'error="invalid_token"' : "");
}

function guardNumbers(request: Request): Request {
  if (request.body === null) return request;
  const guard = new NumberGuard({ limitBytes: bodyLimitBytes });
  const pass = (bytes: Buffer[], controller: TransformStreamDefaultController<Uint8Array>) => {
    for (const each of bytes) controller.enqueue(each);
  };
  const guarded = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => pass(guard.push(Buffer.from(chunk)), controller),
    flush: (controller) => pass(guard.end(), controller),
  });
  const init = { body: request.body.pipeThrough(guarded), duplex: "half" };
  return new Request(request, init as RequestInit);
}

function unauthorized(detail: string): Response {
  const message = "A bearer token is needed. satchel token create makes one.";
  const body = { jsonrpc: "2.0", id: null, error: { code: -32001, message } };
  const headers = { "WWW-Authenticate": `Bearer realm="satchel"${detail && `, ${detail}`}` };
  return Response.json(body, { status: 401, headers });
}
