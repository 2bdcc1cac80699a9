import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { CallToolResult } from "@modelcontextprotocol/client";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { beforeAll, describe, expect, it } from "vitest";
import { type Answered, openArchive } from "./exported-archive.js";
import {
  clientKinds,
  connectHttp,
  connectStdio,
  makeData,
  makeToken,
  runOk,
  type Served,
  startServe,
  type ToolAnswer,
  temporaryFolder,
} from "./harness.js";

/*
 * Archives over HTTP: the answer of export_create, its address, and who is given what there.
 */

const scopes = "memory:read memory.sensitive:read export:read audit:read";
const lifeMs = 15 * 60_000;
const startMs = Date.UTC(2026, 2, 1, 12);
const at = (ms: number) => new Date(startMs + ms).toISOString();

let data: string;
let server: Served;
let token: string;
let other: string;

const bearer = (value: string): Record<string, string> => ({ Authorization: `Bearer ${value}` });
const exportsOf = (folder: string) => {
  const path = join(folder, "contexts/me/exports");
  return existsSync(path) ? readdirSync(path) : [];
};
const answerOf = ({ structuredContent }: ToolAnswer) => structuredContent as unknown as Answered;

interface Message {
  method?: string;
  params?: { progressToken: unknown; progress: number; total: number };
  result?: CallToolResult & ToolAnswer & { _meta?: Record<string, unknown> };
}

/** Calls the tool by hand, and reads every message of the answer. */
async function post(origin: string, args: object, meta?: object): Promise<Message[]> {
  const params = { name: "export_create", arguments: args, ...(meta && { _meta: meta }) };
  const answer = await fetch(`${origin}/mcp`, {
    method: "POST",
    headers: { ...bearer(token), "Content-Type": "application/json", Accept: "application/json, text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
  });
  expect(answer.status).toBe(200);
  const text = await answer.text();
  const lines = text.split("\n").filter((line) => line.startsWith("data:"));
  return (lines.length === 0 ? [text] : lines.map((line) => line.slice(5))).map((line) => JSON.parse(line) as Message);
}

async function create(origin = server.origin, args: object = {}): Promise<Answered> {
  const result = (await post(origin, args)).at(-1)?.result;
  expect(result?.isError, JSON.stringify(result)).toBeFalsy();
  return answerOf(result as ToolAnswer);
}

beforeAll(async () => {
  data = await makeData("me");
  const folder = temporaryFolder();
  for (let page = 0; page < 30; page++) writeFileSync(join(folder, `page-${page}.md`), `Tea number ${page}.\n`);
  await runOk(["import", folder, "--data", data]);
  token = await makeToken(data, scopes);
  other = await makeToken(data, scopes);
  server = await startServe(data);
}, 60_000);

describe("the answer", () => {
  it.each(clientKinds)("in a %s client: ready, with an address, and as the published schema says", async (kind) => {
    const client = await connectHttp(kind, `${server.origin}/mcp`, token);
    const tool = (await client.listTools()).find(({ name }) => name === "export_create");
    const before = Date.now();
    const answer = await client.callTool("export_create", {});
    const made = answerOf(answer);
    expect(answer.isError).toBeFalsy();
    expect(made).toMatchObject({ status: "ready", coverage: "partial", page_count: 30 });
    const leftMs = Date.parse(made.expires_at) - before;
    expect(leftMs).toBeGreaterThan(lifeMs - 60_000);
    expect(Date.parse(made.expires_at)).toBeLessThanOrEqual(Date.now() + lifeMs);
    expect(made.download_url).toMatch(new RegExp(`^${server.origin}/me/exports/${made.export_id}/[0-9a-f]{32}$`));
    const ajv = new Ajv2020({ strict: false });
    (formats as unknown as (ajv: Ajv2020) => void)(ajv);
    expect(ajv.validate(tool?.outputSchema ?? false, made), JSON.stringify(ajv.errors)).toBe(true);
    const [text, link, ...more] = answer.content as Record<string, unknown>[];
    expect(JSON.parse(String(text?.text))).toEqual(made);
    expect(link).toMatchObject({
      type: "resource_link",
      uri: made.download_url,
      size: made.bytes,
      mimeType: "application/gzip",
    });
    expect(more).toEqual([]);
    await client.close();
  });

  it("has a receipt that names the artifact", async () => {
    const { result } = (await post(server.origin, {})).at(-1) as Message;
    const receipt = Object.values(result?._meta ?? {}).find((one) => JSON.stringify(one).includes("artifactRefs"));
    const { export_id } = answerOf(result as ToolAnswer);
    expect(receipt).toMatchObject({ artifactRefs: [{ kind: "artifact", id: export_id }], outcome: "succeeded" });
    expect(JSON.stringify(result?._meta)).not.toContain("/exports/");
  });

  it("is the same for the same key, as a duplicate, and no second file is made", async () => {
    const args = { idempotencyKey: "once" };
    const first = await create(server.origin, args);
    const files = exportsOf(data);
    const again = (await post(server.origin, args)).at(-1)?.result;
    expect(answerOf(again as ToolAnswer)).toEqual(first);
    expect(JSON.stringify(again?._meta)).toContain("duplicate");
    expect(exportsOf(data)).toEqual(files);
  });
});

describe("progress", () => {
  it("arrives when it is asked for, and rises to the whole", async () => {
    const messages = await post(server.origin, {}, { progressToken: "here" });
    const told = messages.filter(({ method }) => method === "notifications/progress").map(({ params }) => params);
    expect(told.length).toBeGreaterThan(0);
    const progress = told.map((one) => one?.progress ?? 0);
    expect(progress).toEqual([...new Set(progress)].sort((a, b) => a - b));
    expect(told.at(-1)).toEqual({ progressToken: "here", progress: 60, total: 60 });
  });

  it("doesn't when it isn't", async () => {
    expect((await post(server.origin, {})).map(({ method }) => method)).toEqual([undefined]);
  });
});

describe("the address", () => {
  it("gives the grant these bytes, and tells everybody to keep no copy", async () => {
    const made = await create();
    const answer = await fetch(made.download_url, { headers: bearer(token) });
    expect([answer.status, answer.headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(answer.headers.get("content-disposition")).toBe(`attachment; filename="${made.export_id}.tar.gz"`);
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect([bytes.length, createHash("sha256").update(bytes).digest("hex")]).toEqual([made.bytes, made.sha256]);
    expect(answer.headers.get("content-length")).toBe(String(made.bytes));
    const file = join(temporaryFolder(), "fetched");
    writeFileSync(file, bytes);
    const { manifest } = await openArchive(file);
    expect(manifest.page_count).toBe(30);
    await expect((await fetch(made.download_url, { headers: bearer(token) })).arrayBuffer()).resolves.toHaveProperty(
      "byteLength",
      made.bytes,
    );
  });

  it("gives nobody else anything, and doesn't tell why", async () => {
    const { download_url: url, export_id: id } = await create();
    const secret = url.slice(url.lastIndexOf("/") + 1);
    const flipped = `${secret.slice(0, -1)}${secret.endsWith("0") ? "1" : "0"}`;
    const asked: [string, string, string | undefined, number][] = [
      ["another token", url, other, 404],
      ["no token", url, undefined, 401],
      ["a token that is none", url, `satchel_${"A".repeat(43)}`, 401],
      ["a wrong secret", url.replace(secret, flipped), token, 404],
      ["half a secret", url.slice(0, -16), token, 404],
      ["a longer secret", `${url}0`, token, 404],
      [
        "the secret in capitals",
        url.replace(secret, secret.toUpperCase()),
        token,
        secret.toUpperCase() === secret ? 200 : 404,
      ],
      ["another export's id", url.replace(id, `exp_${"0".repeat(26)}`), token, 404],
      ["a path for an id", url.replace(id, "..%2F..%2Fcontext.db"), token, 404],
      ["no secret", url.slice(0, url.lastIndexOf("/")), token, 404],
      ["another context", url.replace("/me/", "/you/"), token, 404],
    ];
    const bodies = new Set<string>();
    for (const [name, address, given, status] of asked) {
      const answer = await fetch(address, given === undefined ? {} : { headers: bearer(given) });
      expect(answer.status, name).toBe(status);
      const body = await answer.text();
      expect(body.length, name).toBeLessThan(400);
      expect(body, name).not.toContain(secret);
      if (address.includes("/me/exports/exp_") && status === 404 && name !== "no secret") bodies.add(body);
    }
    expect(bodies.size).toBe(1);
    expect((await fetch(url, { method: "POST", headers: bearer(token) })).status).toBe(404);
    expect((await fetch(url, { headers: bearer(token) })).status).toBe(200);
  });

  it("is worth nothing once the token is revoked", async () => {
    const doomed = await makeToken(data, scopes);
    const client = await connectHttp("v1", `${server.origin}/mcp`, doomed);
    const { download_url: url } = answerOf(await client.callTool("export_create", {}));
    await client.close();
    const { stdout } = await runOk(["token", "list", "--data", data, "--json"]);
    const ids = [...stdout.matchAll(/"(tok_[0-9a-f]+)"/g)].map(([, id]) => id);
    expect((await fetch(url, { headers: bearer(doomed) })).status).toBe(200);
    await runOk(["token", "revoke", ids.at(-1) ?? "", "--data", data]);
    expect((await fetch(url, { headers: bearer(doomed) })).status).toBe(401);
  });

  it("and making it are in the audit, without the secret", async () => {
    const { download_url: url, export_id: id } = await create();
    await fetch(url, { headers: bearer(token) });
    await fetch(url, { headers: bearer(other) });
    const { stdout } = await runOk(["audit", "--data", data, "--category", "export", "--json"]);
    const all = JSON.parse(stdout) as { entries?: Record<string, unknown>[] } | Record<string, unknown>[];
    const entries = (Array.isArray(all) ? all : (all.entries ?? [])).slice(0, 3);
    const shown = entries.map(({ tool, action, outcome, targets }) => [tool, action, outcome, targets]);
    expect(shown).toEqual([
      ["export_read", "read", "not_found", []],
      ["export_read", "read", "ok", [id]],
      ["export_create", "export", "ok", [id]],
    ]);
    const secret = url.slice(url.lastIndexOf("/") + 1);
    expect(stdout).not.toContain(secret);
    expect((await runOk(["journal", "list", "--data", data, "--json"])).stdout).not.toContain(secret);
    expect(server.stdout() + server.stderr()).not.toContain(secret);
  });
});

describe("after a quarter of an hour", () => {
  it("the address is as if it never was, and the file is gone", async () => {
    const own = await makeData("me");
    token = await makeToken(own, scopes);
    const first = await startServe(own, ["--now", at(0)]);
    const made = await create(first.origin);
    expect(made.expires_at).toBe(at(lifeMs));
    await first.stop();
    expect(exportsOf(own)).toEqual([`${made.export_id}.tar.gz`]);
    const path = new URL(made.download_url).pathname;
    const last = await startServe(own, ["--now", at(lifeMs - 1)]);
    expect((await fetch(last.origin + path, { headers: bearer(token) })).status).toBe(200);
    await last.stop();
    const late = await startServe(own, ["--now", at(lifeMs)]);
    const answer = await fetch(late.origin + path, { headers: bearer(token) });
    expect(answer.status).toBe(404);
    expect((await answer.json()) as object).toEqual({ error: "not_found", message: expect.any(String) });
    expect(exportsOf(own)).toEqual([]);
    await late.stop();
  });
});

describe("over stdio", () => {
  it.each(["v1", "v2 legacy"] as const)("the address is that of a file which opens, in a %s client", async (kind) => {
    const own = await makeData("me");
    await runOk(["page", "put", "notes/tea", "--data", own], { input: "Tea.\n" });
    const client = await connectStdio(kind, ["--data", own, "--scopes", scopes]);
    const answer = await client.callTool("export_create", {});
    const made = answerOf(answer);
    expect(made.download_url).toMatch(/^file:\/\//);
    const path = fileURLToPath(made.download_url);
    expect(path.startsWith(join(own, "contexts/me/exports"))).toBe(true);
    const bytes = readFileSync(path);
    expect(createHash("sha256").update(bytes).digest("hex")).toBe(made.sha256);
    expect([...(await openArchive(path)).files.keys()]).toContain("memory/notes/tea.md");
    expect((answer.content[1] as unknown as { uri: string }).uri).toBe(made.download_url);
    await client.close();
  });
});
