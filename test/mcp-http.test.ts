import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { connect as connectSocket } from "node:net";
import { join } from "node:path";
import SqliteDatabase from "better-sqlite3";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { connectHttp, makeData, makeToken, onEnd, run, runOk, type Served, startServe } from "./harness.js";

const everything =
  "profile.core:read profile.core:write memory:read memory:write memory.sensitive:read audit:read export:read";

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

interface Asked {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** A plain request, because fetch sets Host and Origin by itself and resolves paths. */
function ask(origin: string, { method = "POST", path = "/mcp", headers = {}, body }: Asked): Promise<Answer> {
  const { hostname, port } = new URL(origin);
  const options = { hostname, port, path, method, headers: { ...protocolHeaders, ...headers } };
  return new Promise((resolve, reject) => {
    const request = httpRequest(options, (answer) => {
      const { statusCode = 0, headers } = answer;
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.once("error", reject);
      answer.once("end", () => resolve({ status: statusCode, headers, text: Buffer.concat(chunks).toString("utf8") }));
    });
    request.once("error", reject);
    request.end(body);
  });
}

/** Sends text as it is. @returns the head of the answer, read until there is one */
function askRaw(origin: string, text: string): Promise<string> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const socket = connectSocket(Number(port), hostname, () => socket.write(text));
    onEnd(() => socket.destroy());
    let read = "";
    socket.setEncoding("latin1");
    socket.on("data", (chunk: string) => {
      read += chunk;
      if (!read.includes("\r\n\r\n")) return;
      resolve(read);
      socket.destroy();
    });
    socket.once("error", reject);
  });
}

const protocolHeaders = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

function callBody(name: string, args: unknown, id: number | string = 1): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } });
}

/** The JSON-RPC message of an answer, which is JSON or one event of a stream. */
function messageOf({ text }: Answer): { result?: Result; error?: { code: number; message: string } } {
  const data = text.split("\n").find((line) => line.startsWith("data:"));
  return JSON.parse(data === undefined ? text : data.slice("data:".length));
}

interface Result {
  isError?: boolean;
  structuredContent: Record<string, unknown> & { error?: { code: string; required_scopes?: string[] } };
}

/** Every token that was ever sent to a server, and every server, for the last check. */
const tokensSent = new Set<string>();
const servers: Served[] = [];

async function startObserved(data: string, more: string[] = []): Promise<Served> {
  const server = await startServe(data, more);
  servers.push(server);
  return server;
}

afterEach(() => {
  for (const server of servers) {
    const log = server.stdout() + server.stderr();
    for (const token of tokensSent) expect(log.includes(token), "a token in the log").toBe(false);
    expect(log).not.toMatch(/satchel_[\w-]{20,}/);
    expect(log).not.toMatch(/Bearer (?!…)\S/);
  }
});

async function freshToken(data: string, scopes = everything, more: string[] = []): Promise<string> {
  const token = await makeToken(data, scopes, more);
  tokensSent.add(token);
  return token;
}

describe("one context", () => {
  let data: string;
  let server: Served;
  let token: string;

  beforeAll(async () => {
    data = await makeData("me");
    server = await startObserved(data);
    token = await freshToken(data);
  });

  const call = async (name: string, args: unknown, asked: Asked = {}) =>
    ask(server.origin, { ...asked, headers: { ...bearer(token), ...asked.headers }, body: callBody(name, args) });

  async function pagePaths(): Promise<string[]> {
    const { structuredContent } = messageOf(await call("memory_list", { limit: 100 })).result as Result;
    return (structuredContent.pages as { path: string }[]).map(({ path }) => path);
  }

  it("listens on the loopback address and prints it", () => {
    expect(server.origin).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(server.stdout().split("\n").filter(Boolean)).toEqual([`Satchel serves ${server.origin}/mcp`]);
  });

  it("serves the context at both of its addresses", async () => {
    for (const path of ["/mcp", "/me/mcp"]) {
      const answer = await call("partition_list", {}, { path });
      expect(answer.status, path).toBe(200);
      expect(messageOf(answer).result?.structuredContent).toMatchObject({ partitions: [{ name: "main" }] });
    }
  });

  it.each(["/", "/mcp/", "/you/mcp", "/me", "/ME/mcp", "/me/../you/mcp", "/contexts/me/context.db"])(
    "has nothing at %s",
    async (path) => {
      const answer = await call("partition_list", {}, { path });
      expect(answer.status).toBe(404);
      expect(answer.text).not.toContain("main");
    },
  );

  it("says that it is ready, without a token", async () => {
    const answer = await ask(server.origin, { method: "GET", path: "/healthz" });
    expect([answer.status, JSON.parse(answer.text)]).toEqual([200, { status: "ok" }]);
  });

  it.each(["GET", "DELETE", "PUT", "PATCH"])("answers %s with 405", async (method) => {
    const answer = await ask(server.origin, { method, headers: bearer(token) });
    expect(answer.status).toBe(405);
  });

  describe("Host and Origin", () => {
    const port = () => new URL(server.origin).port;
    const foreignHosts = ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "0.0.0.0"];
    const foreignOrigins = [
      "http://evil.example",
      "https://localhost.evil.example",
      "http://127.0.0.1.evil.example",
      "null",
      "file://",
      "chrome-extension://abcdefgh",
    ];

    it.each(foreignHosts.flatMap((host) => [host, `${host}:PORT`]))("refuses the host %s", async (host) => {
      const headers = { Host: host.replace("PORT", port()) };
      const written = await call("memory_write", { path: "rebound", body: "x" }, { headers });
      expect(written.status).toBe(403);
      const health = await ask(server.origin, { method: "GET", path: "/healthz", headers });
      expect(health.status).toBe(403);
      expect(await pagePaths()).not.toContain("rebound");
    });

    it.each([
      ["no host", "", /^HTTP\/1.1 400 /],
      ["an empty host", "Host: \r\n", /^HTTP\/1.1 403 /],
      ["a host with a user", "Host: evil.example@localhost\r\n", /^HTTP\/1.1 400 /],
      ["two hosts", "Host: localhost\r\nHost: evil.example\r\n", /^HTTP\/1.1 403 /],
    ])("refuses %s", async (_name, header, answer) => {
      expect(await askRaw(server.origin, `GET /healthz HTTP/1.1\r\n${header}\r\n`)).toMatch(answer);
    });

    it.each(foreignOrigins)("refuses the origin %s", async (origin) => {
      const headers = { Origin: origin };
      const written = await call("memory_write", { path: "cross-site", body: "x" }, { headers });
      expect(written.status).toBe(403);
      expect(written.headers["access-control-allow-origin"]).toBeUndefined();
      expect((await call("memory_list", {}, { headers: { ...headers, Host: "evil.example" } })).status).toBe(403);
      expect(await pagePaths()).not.toContain("cross-site");
    });

    it("answers a foreign preflight without leave", async () => {
      const headers = { Origin: "http://evil.example", "Access-Control-Request-Method": "POST" };
      const answer = await ask(server.origin, { method: "OPTIONS", headers });
      expect(answer.status).toBe(403);
      expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
    });

    it.each(["localhost:PORT", "127.0.0.1:PORT", "[::1]:PORT", "localhost"])("takes the host %s", async (host) => {
      const answer = await call("memory_list", {}, { headers: { Host: host.replace("PORT", port()) } });
      expect(answer.status).toBe(200);
    });

    it.each(["http://localhost:PORT", "http://127.0.0.1:PORT", "http://localhost:3000"])(
      "takes the origin %s",
      async (origin) => {
        const answer = await call("memory_list", {}, { headers: { Origin: origin.replace("PORT", port()) } });
        expect(answer.status).toBe(200);
      },
    );
  });

  describe("tokens", () => {
    function expectUnauthorized(answer: Answer, hasToken: boolean): void {
      expect(answer.status).toBe(401);
      const challenge = String(answer.headers["www-authenticate"]);
      expect(challenge).toMatch(/^Bearer realm="satchel"/);
      expect(challenge.includes('error="invalid_token"')).toBe(hasToken);
      expect(answer.headers["content-type"]).toContain("application/json");
      expect(JSON.parse(answer.text)).toEqual({
        jsonrpc: "2.0",
        id: null,
        error: { code: expect.any(Number), message: expect.stringContaining("satchel token create") },
      });
    }

    const write = (headers: Record<string, string>) =>
      ask(server.origin, { headers, body: callBody("memory_write", { path: "unauthorized", body: "x" }) });

    it.each([
      ["none", {}, false],
      ["an empty one", { Authorization: "Bearer " }, false],
      ["another scheme", { Authorization: "Basic b3duZXI6b3duZXI=" }, false],
      ["garbage", { Authorization: "Bearer nonsense" }, true],
      ["one that was never made", { Authorization: `Bearer satchel_${"A".repeat(43)}` }, true],
      ["an endless one", { Authorization: `Bearer ${"x".repeat(8000)}` }, true],
    ])("refuses %s", async (_name, headers, hasToken) => {
      expectUnauthorized(await write(headers as Record<string, string>), hasToken);
      expectUnauthorized(
        await ask(server.origin, { method: "GET", headers: headers as Record<string, string> }),
        hasToken,
      );
      expect(await pagePaths()).not.toContain("unauthorized");
    });

    it("takes no token from the query or a cookie", async () => {
      const body = callBody("memory_list", {});
      expect((await ask(server.origin, { path: `/mcp?access_token=${token}`, body })).status).toBe(401);
      expect((await ask(server.origin, { headers: { Cookie: `token=${token}` }, body })).status).toBe(401);
    });

    it("refuses a changed or shortened token", async () => {
      const last = token.endsWith("A") ? "B" : "A";
      for (const other of [token.slice(0, -1) + last, token.slice(0, -1), token.toUpperCase()]) {
        expectUnauthorized(await write(bearer(other)), true);
      }
    });

    it("refuses a revoked token from the next request on", async () => {
      const short = await freshToken(data, "memory:read", ["--client", "client:short"]);
      const body = callBody("memory_list", {});
      expect((await ask(server.origin, { headers: bearer(short), body })).status).toBe(200);
      const { stdout } = await runOk(["token", "list", "--data", data, "--json"]);
      const { tokens } = JSON.parse(stdout) as { tokens: { id: string; client: string }[] };
      await runOk([
        "token",
        "revoke",
        "--data",
        data,
        tokens.find(({ client }) => client === "client:short")?.id ?? "",
      ]);
      expectUnauthorized(await ask(server.origin, { headers: bearer(short), body }), true);
      expect((await ask(server.origin, { headers: bearer(token), body })).status).toBe(200);
    });

    it("refuses an expired token", async () => {
      const limited = await freshToken(data, "memory:read", ["--ttl", "30d"]);
      const body = callBody("memory_list", {});
      expect((await ask(server.origin, { headers: bearer(limited), body })).status).toBe(200);
      const nextYear = new Date(Date.now() + 31 * 86_400_000).toISOString();
      const later = await startObserved(data, ["--now", nextYear]);
      expectUnauthorized(await ask(later.origin, { headers: bearer(limited), body }), true);
      expect((await ask(later.origin, { headers: bearer(token), body })).status).toBe(200);
      await later.stop();
    });

    it("grants what the scopes say and no more", async () => {
      const reader = await freshToken(data, "memory:read");
      await call("memory_write", {
        path: "secret/plan",
        body: "Hidden.",
        frontmatter: { title: "P", sensitivity: "sensitive" },
      });
      await call("memory_write", { path: "open/plan", body: "Seen." });
      const client = await connectHttp("v2 auto", `${server.origin}/mcp`, reader);
      expect((await client.listTools()).map(({ name }) => name)).toEqual([
        "memory_search",
        "memory_read",
        "memory_list",
        "partition_list",
        "context_brief",
      ]);
      const refusals: [string, unknown, string, string[] | undefined][] = [
        ["memory_write", { path: "open/plan", body: "x" }, "forbidden", ["memory:write", "memory:propose"]],
        ["profile_get", {}, "forbidden", ["profile.core:read"]],
        ["profile_update", { patch: { name: "x" } }, "forbidden", ["profile.core:write"]],
        ["memory_read", { path: "secret/plan" }, "not_found", undefined],
      ];
      for (const [name, args, code, scopes] of refusals) {
        const { error } = (await client.callTool(name, args))
          .structuredContent as unknown as Result["structuredContent"];
        expect(error, name).toMatchObject({ code });
        expect(error?.required_scopes, name).toEqual(scopes);
      }
      const seen = await Promise.all([
        client.callTool("memory_list", {}),
        client.callTool("memory_search", { query: "plan hidden", include_stale: true }),
        client.callTool("context_brief", { focus: "hidden plan" }),
        client.callTool("memory_read", { path: "_index" }),
      ]);
      for (const answer of seen) expect(JSON.stringify(answer)).not.toContain("secret/plan");
      expect(JSON.stringify(seen[0])).toContain("open/plan");
      await client.close();
    });

    it("gives a token of another user nothing", async () => {
      const other = await freshToken(data, everything, ["--user", "user:guest"]);
      const client = await connectHttp("v1", `${server.origin}/mcp`, other);
      expect((await client.callTool("memory_list", {})).structuredContent).toEqual({ pages: [] });
      expect((await client.callTool("profile_get", {})).structuredContent).toMatchObject({
        error: { code: "forbidden" },
      });
      const written = await client.callTool("memory_write", { path: "guest", body: "x" });
      expect(written.isError).toBe(true);
      await client.close();
      expect(await pagePaths()).not.toContain("guest");
    });
  });

  describe("bodies", () => {
    const tooLarge = () => callBody("memory_write", { path: "huge", body: "x".repeat(4 * 1024 * 1024) });

    it("refuses one that says it is over 4 MiB with 413, without reading it", async () => {
      const { host } = new URL(server.origin);
      const headers = { Host: host, ...protocolHeaders, ...bearer(token), "Content-Length": 4 * 1024 * 1024 + 1 };
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      const answer = await askRaw(server.origin, `POST /mcp HTTP/1.1\r\n${lines.join("")}\r\n{`);
      expect(answer).toMatch(/^HTTP\/1.1 413 /);
    });

    it("refuses one that turns out to be over 4 MiB with 413 and goes on", async () => {
      const headers = { ...protocolHeaders, ...bearer(token) };
      const body = new Blob([tooLarge()]).stream();
      const asked = { method: "POST", headers, body, duplex: "half" } as RequestInit;
      const answer = await fetch(`${server.origin}/mcp`, asked);
      expect(answer.status).toBe(413);
      expect(await answer.json()).toMatchObject({ jsonrpc: "2.0", error: { code: expect.any(Number) } });
      expect(await pagePaths()).not.toContain("huge");
    });

    it("goes on after a large one without a token", async () => {
      const { host } = new URL(server.origin);
      const head = `POST /mcp HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 5000000\r\n\r\n`;
      expect(await askRaw(server.origin, head + tooLarge().slice(0, 100_000))).toMatch(/^HTTP\/1.1 401 /);
      expect((await ask(server.origin, { method: "GET", path: "/healthz" })).status).toBe(200);
    });

    it("takes the largest page in the most wasteful form", async () => {
      const args = { path: "largest", body: "\u0001".repeat(256 * 1024) };
      const body = callBody("memory_write", args);
      expect(body.length).toBeGreaterThan(1.5 * 1024 * 1024);
      const answer = await ask(server.origin, { headers: bearer(token), body });
      expect(messageOf(answer).result?.structuredContent).toMatchObject({ applied: true });
      const read = messageOf(await call("memory_read", { path: "largest" })).result?.structuredContent;
      expect(read?.body === args.body).toBe(true);
    });

    it.each([
      ["no JSON", "{ not json", -32700],
      ["nothing", "", -32700],
      ["no request", '"text"', -32600],
      ["an unknown method", '{"jsonrpc":"2.0","id":1,"method":"memory/erase"}', -32601],
      ["an unknown tool", callBody("memory_erase", {}), -32602],
    ])("answers %s with a JSON-RPC error", async (_name, body, code) => {
      const answer = await ask(server.origin, { headers: bearer(token), body });
      expect(messageOf(answer).error?.code, answer.text).toBe(code);
      expect(answer.text).not.toMatch(/\n\s+at |node_modules/);
    });

    it("refuses another content type", async () => {
      const headers = { ...bearer(token), "Content-Type": "text/plain" };
      const answer = await ask(server.origin, {
        headers,
        body: callBody("memory_write", { path: "plain", body: "x" }),
      });
      expect(answer.status).toBe(415);
      expect(await pagePaths()).not.toContain("plain");
    });
  });

  it("makes 20 pages of 20 parallel writes", async () => {
    const paths = Array.from({ length: 20 }, (_, index) => `parallel/${String(index).padStart(2, "0")}`);
    const answers = await Promise.all(paths.map((path) => call("memory_write", { path, body: `Page ${path}` })));
    const written = answers.map((answer) => messageOf(answer).result?.structuredContent);
    expect(written.map((page) => page?.path)).toEqual(paths);
    expect(new Set(written.map((page) => page?.updated)).size).toBe(20);
    expect((await pagePaths()).filter((path) => path.startsWith("parallel/"))).toEqual(paths);
  });

  it("lets one of 20 parallel writes on the same state win", async () => {
    const { updated } =
      messageOf(await call("memory_write", { path: "raced", body: "0" })).result?.structuredContent ?? {};
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        call("memory_write", { path: "raced", body: `${index + 1}`, expected_updated: updated }),
      ),
    );
    const results = answers.map((answer) => messageOf(answer).result as Result);
    expect(results.filter(({ isError }) => !isError)).toHaveLength(1);
    const codes = results.flatMap(({ structuredContent }) => structuredContent.error?.code ?? []);
    expect(codes).toEqual(Array(19).fill("conflict"));
  });

  it("says so in its health while another process holds the store, and writes when it is free again", async () => {
    const database = new SqliteDatabase(join(data, "contexts", "me", "context.db"));
    onEnd(() => database.close());
    database.exec("BEGIN IMMEDIATE");
    const writing = call("memory_write", { path: "waited", body: "x" });
    const health = await ask(server.origin, { method: "GET", path: "/healthz" });
    expect([health.status, JSON.parse(health.text)]).toEqual([503, { status: "locked" }]);
    database.exec("ROLLBACK");
    expect(messageOf(await writing).result?.structuredContent).toMatchObject({ applied: true });
    expect((await ask(server.origin, { method: "GET", path: "/healthz" })).status).toBe(200);
  });

  it("refuses a port that is taken with one line", async () => {
    const { code, stdout, stderr } = await run(["serve", "--data", data, "--port", new URL(server.origin).port]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^satchel: Port \d+ is in use\. .+\n$/);
  });
});

describe("several contexts", () => {
  let server: Served;
  let token: { atlas: string; borealis: string };

  beforeAll(async () => {
    const data = await makeData("atlas", "borealis");
    server = await startObserved(data);
    token = {
      atlas: await freshToken(data, everything, ["--context", "atlas"]),
      borealis: await freshToken(data, everything, ["--context", "borealis"]),
    };
  });

  const call = (handle: "atlas" | "borealis", name: string, args: unknown) =>
    ask(server.origin, { path: `/${handle}/mcp`, headers: bearer(token[handle]), body: callBody(name, args) });

  it("prints both addresses and serves none of them as /mcp", async () => {
    expect(server.stdout()).toContain(`${server.origin}/atlas/mcp and ${server.origin}/borealis/mcp`);
    const body = callBody("memory_list", {});
    for (const own of [token.atlas, token.borealis]) {
      expect((await ask(server.origin, { headers: bearer(own), body })).status).toBe(404);
    }
  });

  it("refuses the token of one at the other", async () => {
    const body = callBody("memory_write", { path: "crossed", body: "x" });
    const crossed = await ask(server.origin, { path: "/borealis/mcp", headers: bearer(token.atlas), body });
    expect(crossed.status).toBe(401);
    expect((await ask(server.origin, { path: "/atlas/mcp", headers: bearer(token.borealis), body })).status).toBe(401);
    for (const handle of ["atlas", "borealis"] as const) {
      expect((await call(handle, "memory_read", { path: "crossed" })).text).toContain("not_found");
    }
  });

  it("shows nothing of one in the other", async () => {
    const atlas = messageOf(await call("atlas", "memory_write", { path: "atlas/only", body: "Zebras of the atlas." }));
    await call("atlas", "memory_write", { path: "atlas/second", body: "More zebras." });
    await call("atlas", "profile_update", { patch: { name: "Atlas owner" } });
    await call("borealis", "memory_write", { path: "borealis/only", body: "Foxes." });
    const listed = messageOf(await call("atlas", "memory_list", { limit: 1 })).result?.structuredContent;
    const probes: [string, unknown][] = [
      ["memory_read", { path: "atlas/only" }],
      ["memory_read", { id: atlas.result?.structuredContent.id }],
      ["memory_read", { path: "_index" }],
      ["memory_list", {}],
      ["memory_list", { limit: 1, cursor: listed?.next_cursor }],
      ["memory_search", { query: "zebras", include_stale: true, include_archived: true }],
      ["context_brief", { focus: "zebras" }],
      ["profile_get", {}],
      ["partition_list", {}],
    ];
    expect(listed?.next_cursor).toEqual(expect.any(String));
    for (const [name, args] of probes) {
      const { text } = await call("borealis", name, args);
      expect(text, name).not.toMatch(/zebras of|atlas\/second|Atlas owner|More zebras/i);
    }
    expect((await call("borealis", "memory_list", { limit: 1, cursor: listed?.next_cursor })).text).toContain(
      "invalid_input",
    );
    expect((await call("atlas", "memory_search", { query: "zebras" })).text).toContain("atlas/only");
  });
});

describe("the end of a server", () => {
  it.each(["SIGTERM", "SIGINT"] as const)(
    "ends at %s with idle connections and requests that never end",
    async (signal) => {
      const data = await makeData("me");
      const token = await freshToken(data);
      const server = await startObserved(data);
      const { hostname, host, port } = new URL(server.origin);
      const authorized = Object.entries({ ...protocolHeaders, ...bearer(token) }).map(
        ([name, value]) => `${name}: ${value}`,
      );
      const started = ["GET /healthz HTTP/1.1", "POST /mcp HTTP/1.1"].map((line) => `${line}\r\nHost: ${host}\r\n`);
      const texts = [
        `${started[0]}\r\n`,
        `${started[1]}${authorized.join("\r\n")}\r\nContent-Length: 100\r\n\r\n{`,
        "",
      ];
      for (const text of texts) {
        const socket = connectSocket(Number(port), hostname, () => socket.write(text));
        socket.on("error", () => undefined);
        onEnd(() => socket.destroy());
      }
      const client = await connectHttp("v2 pinned", `${server.origin}/mcp`, token);
      await client.listTools();
      expect(await server.stop(signal)).toEqual({ code: 0, signal: null });
    },
  );

  it("answers what is under way before it ends", async () => {
    const data = await makeData("me");
    const server = await startObserved(data);
    const headers = bearer(await freshToken(data));
    const database = new SqliteDatabase(join(data, "contexts", "me", "context.db"));
    onEnd(() => database.close());
    database.exec("BEGIN IMMEDIATE");
    const writing = ask(server.origin, { headers, body: callBody("memory_write", { path: "last", body: "x" }) });
    await new Promise((resolve) => setTimeout(resolve, 500));
    const ending = server.stop();
    setTimeout(() => database.exec("ROLLBACK"), 300);
    expect(messageOf(await writing).result?.structuredContent).toMatchObject({ applied: true });
    expect(await ending).toEqual({ code: 0, signal: null });
    expect((await run(["page", "cat", "--data", data, "last"])).stdout).toBe("x");
  });
});

describe("bad options", () => {
  it.each([
    [["--host", "0.0.0.0"], /loopback/],
    [["--host", "192.168.1.4"], /loopback/],
    [["--port", "99999"], /port/],
    [["--port", "x"], /port/],
    [["--schemas", "none"], /schemas/],
    [["--now", "soon"], /--now/],
  ])("refuses %j with exit code 2 and one line", async (args, message) => {
    const { code, stdout, stderr } = await run(["serve", "--data", await makeData("me"), ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^satchel: .+\n$/);
    expect(stderr).toMatch(message);
  });
});
