import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import SqliteDatabase from "better-sqlite3";
import { beforeAll, describe, expect, it } from "vitest";
import {
  connectStdio,
  makeData,
  onEnd,
  type ProcessOptions,
  type Running,
  run,
  startCommand,
  temporaryFolder,
} from "./harness.js";

let data: string;
beforeAll(async () => {
  data = await makeData("me");
});

interface Message {
  jsonrpc: "2.0";
  id?: number | string | null;
  result?: Record<string, unknown> & { structuredContent?: Record<string, unknown>; isError?: boolean };
  error?: { code: number; message: string };
}

const line = (message: object) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;
const call = (id: number, name: string, args: unknown) =>
  line({ id, method: "tools/call", params: { name, arguments: args } });

const handshake =
  line({
    id: 0,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
  }) + line({ method: "notifications/initialized" });

/** Every line of the output as a JSON-RPC message; anything else fails the test. */
function messagesOf(stdout: string): Message[] {
  if (stdout === "") return [];
  expect(stdout.endsWith("\n"), `a whole last line in ${stdout.slice(-200)}`).toBe(true);
  return stdout
    .slice(0, -1)
    .split("\n")
    .map((text) => {
      const message = JSON.parse(text) as Message;
      expect(message.jsonrpc).toBe("2.0");
      return message;
    });
}

interface Session extends Running {
  send(text: string | Buffer): void;
  /** Waits for the answer to a request. */
  answer(id: number): Promise<Message>;
  /** Closes its standard input and waits for its end; the time is in milliseconds. */
  end(): Promise<{ code: number | null; signal: NodeJS.Signals | null; tookMs: number }>;
}

function start(args: string[] = [], options: ProcessOptions = {}): Session {
  const command = startCommand(["mcp", "--data", data, ...args], options);
  const find = (id: number) => {
    const whole = command.stdout().slice(0, command.stdout().lastIndexOf("\n") + 1);
    return messagesOf(whole).find((message) => message.id === id);
  };
  return {
    ...command,
    send: (text) => void command.child.stdin.write(text),
    answer: async (id) => {
      let ended = false;
      command.exit.then(() => {
        ended = true;
      });
      for (;;) {
        const found = find(id);
        if (found) return found;
        if (ended) throw new Error(`it ended without an answer to ${id}: ${command.stderr()}`);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
    end: async () => {
      const startedAt = performance.now();
      command.child.stdin.end();
      const exit = await command.exit;
      return { ...exit, tookMs: performance.now() - startedAt };
    },
  };
}

/** A connected session. */
async function open(args: string[] = [], options: ProcessOptions = {}): Promise<Session> {
  const session = start(args, options);
  session.send(handshake);
  await session.answer(0);
  return session;
}

async function expectServing(session: Session, id: number): Promise<void> {
  session.send(call(id, "partition_list", {}));
  expect((await session.answer(id)).result?.structuredContent).toMatchObject({ partitions: [{ name: "main" }] });
}

function lockStore(): SqliteDatabase.Database {
  const database = new SqliteDatabase(join(data, "contexts", "me", "context.db"));
  onEnd(() => database.close());
  database.exec("BEGIN IMMEDIATE");
  return database;
}

describe("standard output", () => {
  it("carries nothing but JSON-RPC, whatever a dependency prints", async () => {
    const folder = temporaryFolder();
    // Every ECMAScript module of a dependency prints when it is loaded, and again and again later.
    const hooks = `export async function load(url, context, nextLoad) {
      const loaded = await nextLoad(url, context);
      if (!url.includes("/node_modules/") || loaded.format !== "module") return loaded;
      const noise = 'console.log("noise at load"); setTimeout(() => process.stdout.write("noise later\\\\n"), 50).unref();';
      return { ...loaded, source: String(loaded.source) + "\\n" + noise };
    }`;
    writeFileSync(join(folder, "hooks.mjs"), hooks);
    const hooksUrl = pathToFileURL(join(folder, "hooks.mjs")).href;
    const preload = `import { register } from "node:module";\nregister(${JSON.stringify(hooksUrl)});\n`;
    writeFileSync(join(folder, "preload.mjs"), preload);

    const session = await open([], { nodeArguments: ["--import", pathToFileURL(join(folder, "preload.mjs")).href] });
    session.send(call(1, "memory_write", { path: "noisy", body: "Written in a noisy place." }));
    expect((await session.answer(1)).result?.structuredContent).toMatchObject({ applied: true });
    session.send(call(2, "memory_search", { query: "noisy" }) + call(3, "context_brief", {}));
    await Promise.all([session.answer(2), session.answer(3)]);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await session.end()).toMatchObject({ code: 0 });
    for (const noise of ["noise at load", "noise later"]) expect(session.stderr()).toContain(noise);
    expect(messagesOf(session.stdout()).map(({ id }) => id)).toEqual(expect.arrayContaining([0, 1, 2, 3]));
  });

  it("holds nothing before the first request, with a new data directory too", async () => {
    const session = startCommand(["mcp", "--data", join(temporaryFolder(), "new")]);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    expect(session.stdout()).toBe("");
    session.child.stdin.end();
    expect(await session.exit).toEqual({ code: 0, signal: null });
    expect([session.stdout(), session.stderr()]).toEqual(["", ""]);
  });

  it("ends when nobody reads it any more", async () => {
    const session = await open();
    session.child.stdout.destroy();
    for (let id = 1; id <= 20; id++) session.send(call(id, "memory_list", {}));
    const exit = await Promise.race([
      session.exit,
      new Promise((resolve) => setTimeout(() => resolve("still there"), 5000)),
    ]);
    expect(exit).toMatchObject({ code: 0, signal: null });
  });
});

describe("the end of standard input", () => {
  it("ends an idle server within two seconds", async () => {
    const session = await open();
    const end = await session.end();
    expect(end).toMatchObject({ code: 0, signal: null });
    expect(end.tookMs).toBeLessThan(2000);
    expect(session.stderr()).toBe("");
  });

  it("ends a server with a call in flight within two seconds", async () => {
    const session = await open();
    const lock = lockStore();
    session.send(call(1, "memory_write", { path: "in-flight", body: "x" }));
    await new Promise((resolve) => setTimeout(resolve, 500));
    const end = await session.end();
    lock.exec("ROLLBACK");
    expect(end).toMatchObject({ code: 0, signal: null });
    expect(end.tookMs).toBeLessThan(2000);
    messagesOf(session.stdout());
    expect(session.stderr()).not.toMatch(/\n\s+at /);
  });

  it("waits a moment for an answer that another process holds up", async () => {
    const session = await open();
    const lock = lockStore();
    session.send(call(1, "memory_write", { path: "held-up", body: "x" }));
    setTimeout(() => lock.exec("ROLLBACK"), 500);
    expect(await session.end()).toMatchObject({ code: 0 });
    const answer = messagesOf(session.stdout()).find(({ id }) => id === 1);
    expect(answer?.result?.structuredContent).toMatchObject({ applied: true });
    expect(session.stderr()).toBe("");
  });

  it("loses no answer to requests sent right before", async () => {
    const writes = ids(1, 300).map((id) => call(id, "memory_write", { path: `printf/${id}`, body: `Page ${id}` }));
    const input = `${handshake}${writes.join("")}${line({ id: 301, method: "tools/list" })}`;
    const { code, stdout } = await run(["mcp", "--data", data], { input });
    const messages = messagesOf(stdout);
    expect(messages.map(({ id }) => Number(id)).sort((a, b) => a - b)).toEqual(ids(0, 301));
    expect(messages.filter(({ error, result }) => error || result?.isError)).toEqual([]);
    expect(code).toBe(0);
  });

  it("answers a single request", async () => {
    const { code, stdout } = await run(["mcp", "--data", data], {
      input: `${handshake}${call(1, "memory_search", { query: "page" })}`,
    });
    expect(messagesOf(stdout).map(({ id }) => id)).toEqual([0, 1]);
    expect(code).toBe(0);
  });
});

describe("input that is no request", () => {
  const garbage: [string, string | Buffer][] = [
    ["text", "hello\n"],
    ["half an object", '{"jsonrpc":"2.0","id":9,\n'],
    ["empty lines", "\n\n\r\n \n"],
    ["null", "null\n"],
    ["a number", "12\n"],
    ["an empty object", "{}\n"],
    ["an empty batch", "[]\n"],
    ["no method", '{"jsonrpc":"2.0","id":9}\n'],
    ["a wrong version", '{"jsonrpc":"1.0","id":9,"method":"tools/list"}\n'],
    ["bytes that are no UTF-8", Buffer.from([0xff, 0xfe, 0x00, 0xc3, 0x28, 0x0a])],
    ["a terminal's escape sequence", "\u001b[2J\u001b]0;x\u0007\n"],
    ["an unknown method", '{"jsonrpc":"2.0","id":9,"method":"nothing/here"}\n'],
    ["an unknown notification", '{"jsonrpc":"2.0","method":"notifications/nothing"}\n'],
    ["an answer to nothing", '{"jsonrpc":"2.0","id":77,"result":{}}\n'],
    ["a prototype member", '{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"__proto__"}}\n'],
  ];

  it("answers with an error or not at all, and goes on", async () => {
    const session = await open();
    let id = 100;
    for (const [name, text] of garbage) {
      session.send(text);
      await expectServing(session, ++id);
      const others = messagesOf(session.stdout()).filter(
        (message) => ![0, ...ids(101, id)].includes(Number(message.id)),
      );
      for (const message of others) expect(message.error, name).toBeDefined();
    }
    expect(await session.end()).toMatchObject({ code: 0 });
    expect(session.stderr()).not.toContain("TypeError");
  });

  it("answers garbage before the handshake and then connects", async () => {
    const session = start();
    for (const [, text] of garbage.slice(0, 11)) session.send(text);
    session.send(handshake);
    expect((await session.answer(0)).result).toMatchObject({ serverInfo: { name: "satchel" } });
    await expectServing(session, 1);
    expect(await session.end()).toMatchObject({ code: 0 });
  });

  it.each([
    ["a request", call(5, "memory_write", { path: "long-line", body: "x".repeat(20 * 1024 * 1024) })],
    ["no request", `${"x".repeat(20 * 1024 * 1024)}\n`],
  ])("survives a line of 20 MB that is %s, or fails cleanly", async (_name, text) => {
    const session = await open();
    session.send(text);
    session.send(call(6, "partition_list", {}));
    const goesOn = session.answer(6).then(
      () => true,
      () => false,
    );
    if (await goesOn) expect(await session.end()).toMatchObject({ code: 0 });
    const patience = new Promise((resolve) => setTimeout(() => resolve("hangs"), 10_000));
    expect(await Promise.race([session.exit, patience])).toMatchObject({
      code: expect.toBeOneOf([0, 1, 2]),
      signal: null,
    });
    const answers = messagesOf(session.stdout()).filter(({ id }) => id === 5);
    for (const { result, error } of answers) expect(error ?? result?.structuredContent?.error).toBeDefined();
    expect(session.stderr()).not.toMatch(/heap|unsettled/);
    const after = await open();
    await expectServing(after, 1);
    after.send(call(2, "memory_read", { path: "long-line" }));
    expect((await after.answer(2)).result?.structuredContent).toMatchObject({ error: { code: "not_found" } });
    await after.end();
  });
});

function ids(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

describe("text", () => {
  const texts: [string, string][] = [
    ["letters of many scripts", "Zażółć gęślą jaźń, 日本語, עברית, हिन्दी, 🧳👩‍👩‍👧"],
    ["line separators", "one\u2028two\u2029three\u0085four"],
    ["control characters", "tab\tbell\u0007null\u0000escape\u001b[31m"],
    ["quotes and backslashes", '"\\" \\n \\u2028 \\\\'],
  ];

  it.each(texts)("comes back as it went in, byte by byte: %s", async (_name, text) => {
    const session = await open();
    const request = call(1, "memory_write", { path: "text/any", body: text });
    for (const byte of Buffer.from(request)) {
      session.send(Buffer.from([byte]));
      if (byte > 127) await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await session.answer(1)).result?.structuredContent).toMatchObject({ applied: true });
    session.send(call(2, "memory_read", { path: "text/any" }).replace("\n", "\r\n"));
    expect((await session.answer(2)).result?.structuredContent).toMatchObject({ body: text });
    await session.end();
    expect(messagesOf(session.stdout())).toHaveLength(3);
  });

  it("takes several requests in one chunk and one request in escapes", async () => {
    const session = await open();
    const escaped = call(2, "memory_write", { path: "text/escaped", body: "ä\u2028😀" }).replace(
      /[\u0080-\uffff]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
    session.send(`${call(1, "partition_list", {})}${escaped}${call(3, "partition_list", {})}`);
    await Promise.all([1, 2, 3].map((id) => session.answer(id)));
    session.send(call(4, "memory_read", { path: "text/escaped" }));
    expect((await session.answer(4)).result?.structuredContent).toMatchObject({ body: "ä\u2028😀" });
    await session.end();
  });

  it("refuses half a surrogate pair", async () => {
    const session = await open();
    session.send(
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_write","arguments":{"path":"half","body":"\\ud83d"}}}\n',
    );
    expect((await session.answer(1)).result?.structuredContent).toMatchObject({ error: { code: "invalid_input" } });
    await session.end();
  });
});

describe("signals", () => {
  it.each(["SIGTERM", "SIGINT"] as const)("ends cleanly at %s", async (signal) => {
    const session = await open();
    session.send(call(1, "memory_write", { path: `signals/${signal}`, body: "kept" }));
    await session.answer(1);
    expect(await session.stop(signal)).toEqual({ code: 0, signal: null });
    expect(session.stderr()).toBe("");
    expect((await run(["page", "cat", "--data", data, `signals/${signal}`])).stdout).toBe("kept");
  });
});

describe("options", () => {
  const wrong: [string[], RegExp][] = [
    [["--scopes", "memory:everything"], /memory:everything/],
    [["--user", "somebody"], /--user/],
    [["--user", "client:x"], /--user/],
    [["--client", "user:x"], /--client/],
    [["--client", "client:local"], /client:local/],
    [["--client", "client:web"], /client:web/],
    [["--schemas", "none"], /--schemas/],
    [["--now", "soon"], /--now/],
    [["--context", "No Such"], /No Such/],
    [["--nonsense"], /--nonsense/],
    [["--scopes"], /--scopes/],
    [["extra"], /argument/],
  ];

  it.each(wrong)("refuses %j with exit code 2 and one line", async (args, message) => {
    const { code, stdout, stderr } = await run(["mcp", "--data", data, ...args], { input: handshake });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(message);
    expect(stderr).toMatch(/^[^\n]+\n$/);
  });

  it("refuses a context that is not there", async () => {
    const { code, stdout, stderr } = await run(["mcp", "--data", data, "--context", "other"], { input: handshake });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^satchel: There is no context "other" .+\n$/);
  });

  it("prints its help to standard output", async () => {
    const { code, stdout, stderr } = await run(["mcp", "--help"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("Usage: satchel mcp");
  });

  it("gives an assistant what --scopes says", async () => {
    const client = await connectStdio("v2 auto", ["--data", data, "--scopes", "memory:read"]);
    const names = (await client.listTools()).map(({ name }) => name);
    expect(names).toContain("memory_read");
    expect(names).not.toContain("memory_write");
    expect((await client.callTool("memory_write", { path: "scoped", body: "x" })).structuredContent).toMatchObject({
      error: { code: "forbidden" },
    });
    await client.close();
    expect((await run(["page", "cat", "--data", data, "scoped"])).code).toBe(1);
  });

  it("judges validity by --now", async () => {
    const session = await open(["--now", "2030-06-01T00:00:00Z"]);
    const frontmatter = { title: "Season ticket", valid_until: "2030-05-31" };
    session.send(call(1, "memory_write", { path: "ticket", body: "Season ticket.", frontmatter }));
    expect((await session.answer(1)).result?.structuredContent).toMatchObject({
      updated: expect.stringMatching(/^2030-06-01T00:00:00\.\d{3}Z$/),
    });
    session.send(call(2, "memory_search", { query: "season ticket", include_stale: false }));
    expect((await session.answer(2)).result?.structuredContent).toEqual({ results: [] });
    await session.end();
  });
});
