import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import type { PcpErrorCode } from "@satchel/pcp";
import type { Context as HonoContext } from "hono";
import { type ReadyExport, readExport } from "../context/read-export.js";
import { toolResult } from "../context/tool-result.js";
import type { Caller } from "../domain/access.js";
import { dispatch, type Operation } from "./dispatch.js";
import type { ServerSettings } from "./server.js";
import { needsAnyScope } from "./tool.js";

const facts = { category: "export", action: "read" };

/** Fetching an archive is a call like any other (pcp section 4). */
const exportReadOperation: Operation<{ id: string; secret: string }, ReadyExport> = {
  name: "export_read",
  permit: needsAnyScope("export:read"),
  parse: ({ id, secret }) => ({ id: String(id), secret: String(secret) }),
  run: readExport,
  toResult: ({ id, bytes }) => toolResult({ export_id: id, bytes }),
  refused: facts,
  audit: ({ id }) => ({ ...facts, targets: [id] }),
  receipt: ({ id }) => ({ references: [{ kind: "artifact", id }] }),
  withheld: ["secret"],
};

const statuses: Partial<Record<PcpErrorCode, number>> = {
  not_found: 404,
  rate_limited: 429,
  locked: 503,
  internal: 500,
};

/** `GET /<handle>/exports/<id>/<secret>`: the archive, for the grant that made it (pcp section 9). */
export async function download(settings: ServerSettings, caller: Caller, request: HonoContext): Promise<Response> {
  const { context, log } = settings;
  const { id = "", secret = "" } = request.req.param();
  const found = await dispatch(exportReadOperation, { context, caller, args: { id, secret }, log });
  const headers = { "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff" };
  if (!found.ok) {
    const { refused, message } = found.refusal;
    return Response.json({ error: refused, message }, { status: statuses[refused] ?? 403, headers });
  }
  const { file, name, bytes } = found.output as ReadyExport; // It takes no key, so it is this call's own.
  return new Response(Readable.toWeb(createReadStream(file)) as ReadableStream, {
    headers: {
      ...headers,
      "Content-Type": "application/octet-stream",
      "Content-Length": String(bytes),
      "Content-Disposition": `attachment; filename="${name}"`,
    },
  });
}
