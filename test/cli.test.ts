import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import {
  cleanEnvironment,
  connectStdio,
  makeData,
  type ProcessOptions,
  type Ran,
  run,
  runOk,
  startServe,
  temporaryFolder,
} from "./harness.js";

type Input = ProcessOptions & { input?: string | Buffer };

const escapeCode = /\u001b/;

/** One line for the person, nothing for the next command in the pipe, no stack trace. */
function expectFailure(ran: Ran, code: 1 | 2, message: RegExp): void {
  expect({ code: ran.code, stdout: ran.stdout }, ran.stderr).toEqual({ code, stdout: "" });
  expect(ran.stderr).toMatch(/^satchel: [^\n]+\n$/);
  expect(ran.stderr).toMatch(message);
  expect(ran.stderr).not.toMatch(/node:internal|file:\/\/|Error:/);
}

function json(ran: Ran): Record<string, unknown> {
  expect(ran.stdout).not.toMatch(escapeCode);
  return JSON.parse(ran.stdout) as Record<string, unknown>;
}

/** A folder's files with their content, to see whether anything changed. */
function filesOf(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  const files = names.filter((name) => statSync(join(folder, name)).isFile());
  return Object.fromEntries(files.map((name) => [name, readFileSync(join(folder, name)).toString("base64")]));
}

describe("satchel init", () => {
  it("makes a context, and run again changes nothing", async () => {
    const data = join(temporaryFolder(), "new", "folder");
    expect(json(await runOk(["init", "--data", data, "--json"]))).toEqual({ context: "me", data, created: true });
    await runOk(["page", "put", "--data", data, "kept"], { input: "Kept." });
    const before = filesOf(data);
    expect(json(await runOk(["init", "--data", data, "--json"]))).toEqual({ context: "me", data, created: false });
    expect(await runOk(["init", "--data", data, "--kind", "team"])).toMatchObject({ stderr: "" });
    expect(filesOf(data)).toEqual(before);
    expect(json(await runOk(["brief", "--data", data, "--json"]))).toMatchObject({ kind: "personal" });
  });

  it.each([
    ["personal", "core"],
    ["work", "core"],
    ["team", "team"],
  ])("makes a context of the kind %s with the profile %s", async (kind, profile) => {
    const data = temporaryFolder();
    await runOk(["init", "--data", data, "--context", "studio-1", "--kind", kind]);
    const brief = json(await runOk(["brief", "--data", data, "--json"]));
    expect(brief).toMatchObject({ kind, profile_type: profile });
    expect(readdirSync(join(data, "contexts"))).toEqual(["studio-1"]);
  });

  it("keeps its files from others", async () => {
    const folder = join(await makeData("me"), "contexts", "me");
    for (const name of ["key", "context.db"]) expect(statSync(join(folder, name)).mode & 0o077, name).toBe(0);
  });

  it.each([
    [["--context", "Me"], /handle/],
    [["--context", "../me"], /handle/],
    [["--context", ""], /handle/],
    [["--kind", "family"], /personal, work, team/],
  ])("refuses %j and makes nothing", async (args, message) => {
    const data = temporaryFolder();
    expectFailure(await run(["init", "--data", data, ...args]), 2, message);
    expect(readdirSync(data)).toEqual([]);
  });
});

describe("the data directory", () => {
  const listed = async (args: string[], options: Input = {}) => {
    const { pages } = json(await runOk(["page", "ls", "--json", ...args], options)) as { pages: { path: string }[] };
    return pages.map(({ path }) => path);
  };

  it("is --data, else SATCHEL_HOME, else the platform's own", async () => {
    const [first, second, home] = [await makeData("me"), await makeData("me"), temporaryFolder()];
    const env = cleanEnvironment({ SATCHEL_HOME: second, XDG_DATA_HOME: home, LOCALAPPDATA: home, HOME: home });
    await runOk(["page", "put", "--data", first, "in-first"], { input: "1", env });
    await runOk(["page", "put", "in-second"], { input: "2", env });
    expect(await listed(["--data", first])).toEqual(["in-first"]);
    expect(await listed(["--data", second])).toEqual(["in-second"]);
    expect(readdirSync(home)).toEqual([]);

    const bare = { env: cleanEnvironment({ XDG_DATA_HOME: home, LOCALAPPDATA: home, HOME: home }) };
    expectFailure(await run(["page", "ls"], bare), 2, /satchel init/);
    await runOk(["init"], bare);
    await runOk(["page", "put", "in-default"], { ...bare, input: "3" });
    expect(await listed([], bare)).toEqual(["in-default"]);
    expect(readdirSync(home, { recursive: true, encoding: "utf8" })).toContainEqual(
      expect.stringMatching(/context\.db$/),
    );
  });

  it("may be relative and may have spaces and letters of any script in its name", async () => {
    const folder = temporaryFolder();
    const name = "Meine Daten – 日本 'é' & more";
    await runOk(["init", "--data", name], { cwd: folder });
    await runOk(["page", "put", "--data", name, "日記/京都"], { cwd: folder, input: "お寺\n" });
    expect((await runOk(["page", "cat", "--data", join(folder, name), "日記/京都"])).stdout).toBe("お寺\n");
    const client = await connectStdio("v2 auto", ["--data", name], { cwd: folder });
    expect((await client.callTool("memory_read", { path: "日記/京都" })).structuredContent).toMatchObject({
      body: "お寺\n",
    });
    await client.close();
    const server = await startServe(name, [], { cwd: folder });
    expect((await fetch(`${server.origin}/healthz`)).status).toBe(200);
    expect(await server.stop()).toMatchObject({ code: 0 });
  });

  it("asks which context when there are several", async () => {
    const data = await makeData("atlas", "borealis");
    expectFailure(await run(["page", "ls", "--data", data]), 2, /--context.+atlas.+borealis/);
    expectFailure(await run(["mcp", "--data", data]), 2, /--context.+atlas.+borealis/);
    await runOk(["page", "put", "--data", data, "--context", "atlas", "only"], { input: "x" });
    expect(await listed(["--data", data, "--context", "atlas"])).toEqual(["only"]);
    expect(await listed(["--data", data, "--context", "borealis"])).toEqual([]);
    expectFailure(await run(["page", "ls", "--data", data, "--context", "corona"]), 2, /no context "corona"/);
  });
});

describe("satchel page", () => {
  let data: string;
  beforeAll(async () => {
    data = await makeData("me");
  });
  const put = (path: string, input: string | Buffer, more: string[] = []) =>
    run(["page", "put", "--data", data, path, ...more], { input });
  const cat = async (path: string) => (await runOk(["page", "cat", "--data", data, path])).stdout;

  const head =
    '---\ntitle:   "Odd  spacing"   # kept\ntags: [b,  a]\ncustom: {x: 1.0, y: 0x1F}\ndate: 2024-01-02\n---\n';
  const texts: [string, string, string][] = [
    ["a plain body", "Just text.\n", "Just text.\n"],
    ["no final line end", "Just text.", "Just text."],
    ["frontmatter as it was written", `${head}\n\n# Body\n\n`, `${head}\n\n# Body\n\n`],
    ["frontmatter alone", head, head],
    ["CRLF, which becomes LF", "---\r\ntitle: T\r\n---\r\none\r\ntwo\r\n", "---\ntitle: T\n---\none\ntwo\n"],
    ["a byte order mark, which goes", "\ufeff---\ntitle: T\n---\nBody\n", "---\ntitle: T\n---\nBody\n"],
    ["trailing spaces, tabs and blank lines", "a  \n\tb\t\n\n\n", "a  \n\tb\t\n\n\n"],
    ["text that looks like a terminal's codes", "\u001b[31mred\u0007\n", "\u001b[31mred\u0007\n"],
    ["an empty body", "", ""],
  ];

  it.each(texts)("gives back %s", async (name, written, expected) => {
    expect(await put(`texts/${name}`, written)).toMatchObject({ code: 0, stderr: "" });
    expect(await cat(`texts/${name}`)).toBe(expected);
  });

  it("reads a file with --file, and says what it wrote", async () => {
    const file = join(temporaryFolder(), "a page.md");
    writeFileSync(file, "From a file\r\n");
    const written = json(await put("from/file", "not this", ["--file", file, "--json"]));
    expect(written).toMatchObject({ path: "from/file", id: expect.stringMatching(/^pg_/), applied: true });
    expect(await cat("from/file.md")).toBe("From a file\n");
    const read = json(await runOk(["page", "cat", "--data", data, "from/file", "--json"]));
    expect(read).toMatchObject({ body: "From a file\n", frontmatter: { id: written.id, updated: written.updated } });
    expectFailure(await put("from/file", "x", ["--file", join(file, "absent")]), 2, /absent/);
  });

  it("writes only over the state that --expected-updated names", async () => {
    const first = json(await put("guarded", "1", ["--json"]));
    const second = json(await put("guarded", "2", ["--json", "--expected-updated", String(first.updated)]));
    const refused = await put("guarded", "3", ["--expected-updated", String(first.updated)]);
    expectFailure(refused, 1, /conflict/);
    expect(refused.stderr).toContain(String(second.updated));
    expect(await cat("guarded")).toBe("2");
  });

  it.each([
    ["a path that leaves the root", "../up", "x", /invalid_input/],
    ["a broken frontmatter, with its line", "broken", "---\ntitle: T\ntags: [a\n---\n", /line \d/],
    ["a credential, without showing it", "secret", `key: ${["AKIA", "IOSFODNN7ABCDEFG"].join("")}\n`, /credential|AWS/],
    ["a body over 256 KiB", "large", "x".repeat(256 * 1024 + 1), /too_large/],
  ])("refuses %s", async (_name, path, text, message) => {
    const refused = await put(path, text);
    expectFailure(refused, 1, message);
    expect(refused.stderr).not.toContain("IOSFODNN");
    expect((await run(["page", "cat", "--data", data, path])).code).toBe(1);
  });

  it("refuses bytes that are no UTF-8", async () => {
    expectFailure(await put("bytes", Buffer.from([0x61, 0xff, 0xfe])), 2, /UTF-8/);
    expectFailure(await run(["page", "cat", "--data", data, "bytes"]), 1, /not_found/);
  });

  it("lists by prefix and removes", async () => {
    for (const path of ["ls/a", "ls/b", "ls/sub/c", "lsx"]) await put(path, `# Title of ${path}\n`);
    const { stdout, stderr } = await runOk(["page", "ls", "--data", data, "ls/"]);
    expect(stderr).toBe("");
    expect(stdout).not.toMatch(escapeCode);
    const rows = stdout
      .trimEnd()
      .split("\n")
      .map((row) => row.split("\t").slice(0, 2));
    expect(rows).toEqual(["ls/a", "ls/b", "ls/sub/c"].map((path) => [path, `Title of ${path}`]));

    expect(json(await runOk(["page", "rm", "--data", data, "--json", "ls/a", "ls/sub/c"]))).toEqual({
      removed: [expect.objectContaining({ path: "ls/a" }), expect.objectContaining({ path: "ls/sub/c" })],
    });
    const { pages } = json(await runOk(["page", "ls", "--data", data, "--json", "ls/"])) as {
      pages: { path: string }[];
    };
    expect(pages.map(({ path }) => path)).toEqual(["ls/b"]);
    for (const command of ["rm", "cat"])
      expectFailure(await run(["page", command, "--data", data, "ls/a"]), 1, /not_found/);
    const found = json(await runOk(["search", "--data", data, "--json", "Title of ls/a"])) as {
      results: { path: string }[];
    };
    expect(found.results.map(({ path }) => path)).not.toContain("ls/a");
  });

  it("lists more pages than one answer of the tool holds", async () => {
    const many = await makeData("me");
    const client = await connectStdio("v2 auto", ["--data", many]);
    for (let index = 0; index < 130; index++)
      await client.callTool("memory_write", { path: `many/${index}`, body: "x" });
    await client.close();
    expect((await runOk(["page", "ls", "--data", many])).stdout.trimEnd().split("\n")).toHaveLength(130);
    expect(json(await runOk(["page", "ls", "--data", many, "--json"])).pages).toHaveLength(130);
  });
});

describe("satchel search and brief", () => {
  let data: string;
  beforeAll(async () => {
    data = await makeData("me");
    const pages = {
      "trips/lisbon": "---\ntitle: Lisbon in spring\nvalid_until: 2030-04-30\n---\nThe tram passes the hotel.\n",
      "trips/oslo": "---\ntitle: Oslo in winter\n---\nThe tram passes the opera.\n",
      "trips/old": "---\ntitle: Old tram\nlifecycle: archived\n---\nThe tram of long ago.\n",
    };
    for (const [path, input] of Object.entries(pages)) await runOk(["page", "put", "--data", data, path], { input });
  });
  const search = async (...args: string[]) =>
    json(await runOk(["search", "--data", data, "--json", ...args])) as {
      results: { path: string; snippet: string; stale?: boolean }[];
    };
  const paths = ({ results }: { results: { path: string }[] }) => results.map(({ path }) => path).sort();

  it("answers what the tool answers", async () => {
    const client = await connectStdio("v2 auto", ["--data", data]);
    const args = ["tram", "--now", "2030-01-01T00:00:00Z"];
    const { structuredContent } = await client.callTool("memory_search", { query: "tram" });
    await client.close();
    expect(await search("tram")).toEqual(structuredContent);
    expect(paths(await search(...args))).toEqual(["trips/lisbon", "trips/oslo"]);
  });

  it("judges validity by --now", async () => {
    expect(paths(await search("tram", "--now", "2030-04-30T23:00:00Z"))).toEqual(["trips/lisbon", "trips/oslo"]);
    expect(paths(await search("tram", "--now", "2030-05-01T00:00:00Z"))).toEqual(["trips/oslo"]);
    const stale = await search("tram", "--now", "2030-05-01T00:00:00Z", "--stale", "--archived");
    expect(paths(stale)).toEqual(["trips/lisbon", "trips/old", "trips/oslo"]);
    expect(stale.results.filter((hit) => hit.stale).map(({ path }) => path)).toEqual(["trips/lisbon"]);
    const brief = await runOk(["brief", "--data", data, "--json", "--now", "2030-05-01T00:00:00Z"]);
    expect((json(brief) as { memory: { path: string }[] }).memory.map(({ path }) => path)).toEqual(["trips/oslo"]);
  });

  it("takes several words, options after them, and at most --limit", async () => {
    expect((await search("tram", "passes", "the", "opera", "--limit", "1")).results.map(({ path }) => path)).toEqual([
      "trips/oslo",
    ]);
    expect((await search("tram", "--limit", "1")).results).toHaveLength(1);
    for (const limit of ["0", "x", "1.5", "101", "-1"])
      expect((await run(["search", "--data", data, "tram", "--limit", limit])).code, limit).not.toBe(0);
  });

  it.each(['"', "C++ -x", "AND OR NOT", "trams*", "(", "a:b", "日本", "🚋", "--", "' OR 1=1"])(
    "takes %s as words",
    async (query) => {
      expect((await run(["search", "--data", data, "--", query])).stderr).not.toMatch(/satchel:/);
    },
  );

  it("prints plain text in a pipe", async () => {
    const found = await runOk(["search", "--data", data, "tram", "opera"]);
    expect(found.stdout).toContain("Oslo in winter  trips/oslo");
    const brief = await runOk(["brief", "--data", data, "opera", "tram"]);
    expect(brief.stdout).toContain("trips/oslo");
    for (const { stdout, stderr } of [found, brief]) expect(stdout + stderr).not.toMatch(escapeCode);
    const nothing = await runOk(["search", "--data", data, "xylophone"]);
    expect(nothing).toMatchObject({ stdout: "", stderr: "No page matches.\n" });
  });

  it("shows what a page hides in its title", async () => {
    const hostile = await makeData("me");
    const title = "Tram \u001b[2J\u202e\u0007";
    const input = `---\ntitle: ${JSON.stringify(title)}\n---\nTram \u001b[31mred.\n`;
    await runOk(["page", "put", "--data", hostile, "hostile"], { input });
    const commands = [
      ["page", "ls"],
      ["search", "tram"],
      ["brief", "tram"],
    ];
    for (const command of commands) {
      const { stdout } = await runOk([...command, "--data", hostile]);
      expect(stdout).toContain("Tram");
      expect(stdout).not.toMatch(/[\u001b\u0007\u202e]/);
    }
    expect(json(await runOk(["page", "ls", "--data", hostile, "--json"]))).toMatchObject({ pages: [{ title }] });
  });

  it("keeps a brief within --budget", async () => {
    const small = json(await runOk(["brief", "--data", data, "--json", "--budget", "200"]));
    expect(small).toMatchObject({ kind: "personal" });
    expect(JSON.stringify(small).length).toBeLessThan(200 * 8);
    for (const budget of ["x", "1.5"])
      expectFailure(await run(["brief", "--data", data, "--budget", budget]), 2, /--budget/);
    expectFailure(await run(["brief", "--data", data, "--budget", "10"]), 1, /invalid_input/);
  });

  it.each([
    ["search", "tram"],
    ["brief", "tram"],
  ])("refuses a wrong --now of %s", async (...command) => {
    expectFailure(await run([...command, "--data", data, "--now", "tomorrow"]), 2, /--now/);
  });
});

describe("satchel token", () => {
  it("prints the token alone, lists it without the secret and revokes it", async () => {
    const data = await makeData("me");
    const scopes = "memory:read memory:write";
    const created = await runOk([
      "token",
      "create",
      "--data",
      data,
      "--scopes",
      scopes,
      "--client",
      "client:notes",
      "--ttl",
      "30d",
    ]);
    expect(created.stdout).toMatch(/^satchel_[\w-]{40,}\n$/);
    const token = created.stdout.trim();
    expect(created.stderr).not.toContain(token);

    const list = await runOk(["token", "list", "--data", data, "--json"]);
    expect(list.stdout).not.toContain(token);
    const { tokens } = json(list) as {
      tokens: { id: string; client: string; user: string; created: string; expires: string }[];
    };
    expect(tokens).toEqual([expect.objectContaining({ client: "client:notes", user: "user:owner", scopes })]);
    const [record] = tokens;
    const lengthMs = Date.parse(record?.expires ?? "") - Date.parse(record?.created ?? "");
    expect(lengthMs).toBe(30 * 86_400_000);
    for (const [name, content] of Object.entries(filesOf(data)))
      expect(Buffer.from(content, "base64").includes(token), name).toBe(false);

    const server = await startServe(data);
    const call = () =>
      fetch(`${server.origin}/mcp`, {
        method: "POST",
        headers: {
          Authorization: `Bearer ${token}`,
          "Content-Type": "application/json",
          Accept: "application/json, text/event-stream",
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
      }).then(({ status }) => status);
    expect(await call()).toBe(200);
    expect(await runOk(["token", "revoke", "--data", data, record?.id ?? ""])).toMatchObject({ stderr: "" });
    expect(await call()).toBe(401);
    await server.stop();
    expectFailure(await run(["token", "revoke", "--data", data, record?.id ?? ""]), 1, /not_found/);
    expect((await runOk(["token", "list", "--data", data])).stdout).toMatch(/\trevoked 20/);
  });

  it("prints JSON with the token in it on demand", async () => {
    const data = await makeData("me");
    const created = json(await runOk(["token", "create", "--data", data, "--scopes", "memory:read", "--json"]));
    expect(created).toMatchObject({ token: expect.stringMatching(/^satchel_/), id: expect.stringMatching(/^tok_/) });
    expect(created).not.toHaveProperty("digest");
    expect(json(await runOk(["token", "revoke", "--data", data, "--json", String(created.id)]))).toEqual({
      id: created.id,
    });
  });

  it.each([
    [["--scopes", "memory:all"], 1, /memory:all/],
    [["--scopes", " "], 1, /scope/],
    [[], 2, /--scopes/],
    [["--scopes", "memory:read", "--ttl", "soon"], 2, /--ttl/],
    [["--scopes", "memory:read", "--ttl", "0d"], 2, /--ttl/],
    [["--scopes", "memory:read", "--client", "notes"], 1, /client:NAME/],
    [["--scopes", "memory:read", "--client", "client:local"], 1, /client:local/],
    [["--scopes", "memory:read", "--user", "group:all"], 1, /user:NAME/],
  ] as [string[], 1 | 2, RegExp][])("refuses %j and makes none", async (args, code, message) => {
    const data = await makeData("me");
    expectFailure(await run(["token", "create", "--data", data, ...args]), code, message);
    expect(json(await runOk(["token", "list", "--data", data, "--json"]))).toEqual({ tokens: [] });
  });
});

describe("satchel profile", () => {
  it("sets and shows members, whole or not at all", async () => {
    const data = await makeData("me");
    const profile = (...args: string[]) => ["profile", ...args, "--data", data];
    expect((await runOk(profile("get"))).stdout).toMatch(/profile set/);
    expect(
      json(await runOk(profile("set", "name=Someone", "timezone=Europe/Oslo", "work.role=Engineer", "--json"))),
    ).toMatchObject({ namespace: "core", changed: expect.arrayContaining(["/name", "/timezone"]) });
    await runOk(profile("set", '{"timezone": null, "interests": ["maps"]}'));
    await runOk(profile("set", "-"), { input: '{"pronouns": "they/them"}' });
    const shown = json(await runOk(profile("get", "--json"))) as { profile: Record<string, unknown> };
    const { updated: _, pcp_version, ...own } = shown.profile;
    expect(own).toEqual({ name: "Someone", work: { role: "Engineer" }, interests: ["maps"], pronouns: "they/them" });
    expect(pcp_version).toBe("0.3");
    expect(JSON.parse((await runOk(profile("get"))).stdout)).toEqual(shown.profile);

    const refusals: [string[], 1 | 2, RegExp][] = [
      [["shoe_size=43", "locale=nb"], 1, /invalid_input.*shoe_size/],
      [["name=null"], 1, /invalid_input.*name/],
      [["nothing"], 2, /key=value/],
      [["{broken"], 2, /JSON/],
      [["[1]"], 2, /key=value|JSON object/],
      [["--namespace", "no-namespace", "a=b"], 1, /invalid_input/],
    ];
    for (const [args, code, message] of refusals) expectFailure(await run(profile("set", ...args)), code, message);
    expect(json(await runOk(profile("get", "--json")))).toEqual(shown);
  });

  it("keeps an extension apart", async () => {
    const data = await makeData("me");
    await runOk(["profile", "set", "--data", data, "name=Someone"]);
    await runOk(["profile", "set", "--data", data, "--namespace", "pcp.health", "blood_type=0+"]);
    expect(json(await runOk(["profile", "get", "pcp.health", "--data", data, "--json"]))).toMatchObject({
      extensions: { "pcp.health": { blood_type: "0+" } },
    });
    expect(JSON.parse((await runOk(["profile", "get", "pcp.health", "--data", data])).stdout)).toEqual({
      blood_type: "0+",
    });
    expect((await runOk(["profile", "get", "--data", data])).stdout).not.toContain("blood");
  });
});

describe("satchel connect", () => {
  const clients = ["claude-code", "claude-desktop", "cursor", "vscode", "codex", "gemini"];

  function homeOptions(): { home: string; env: Record<string, string> } {
    const home = temporaryFolder();
    return { home, env: cleanEnvironment({ HOME: home, USERPROFILE: home, APPDATA: join(home, "AppData") }) };
  }

  it.each(clients)("prints what %s needs and writes nothing", async (client) => {
    const { home, env } = homeOptions();
    const data = await makeData("me");
    const { stdout, stderr } = await runOk(["connect", client, "--data", data], { env });
    expect(stderr).toBe("");
    for (const part of [process.execPath, data]) expect(stdout).toContain(part);
    expect(stdout).toMatch(/packages.satchel.bin.satchel\.js/);
    expect(readdirSync(home)).toEqual([]);
  });

  it.each(clients)("writes the configuration of %s, keeps what is there, and twice changes nothing", async (client) => {
    const { home, env } = homeOptions();
    const data = await makeData("me");
    const asked = ["connect", client, "--write", "--json", "--data", data];
    const first = json(await runOk(asked, { env })) as { outcome: string; file: string };
    expect(first.outcome).toBe("written");
    expect(first.file.startsWith(home)).toBe(true);
    const text = readFileSync(first.file, "utf8");
    for (const part of [process.execPath, data]) expect(text).toContain(JSON.stringify(part).slice(1, -1));
    expect(json(await runOk(asked, { env }))).toMatchObject({ outcome: "unchanged" });
    expect(readFileSync(first.file, "utf8")).toBe(text);

    const other = client === "codex" ? '# mine\nmodel = "m"\n' : '{\n  "mine": {"kept": [1, 2]}\n}\n';
    writeFileSync(first.file, other);
    expect(json(await runOk(asked, { env }))).toMatchObject({ outcome: "written", backup: expect.any(String) });
    const merged = readFileSync(first.file, "utf8");
    expect(merged).toContain(client === "codex" ? '# mine\nmodel = "m"' : '"kept": [1, 2]');
    expect(merged).toContain("satchel");
  });

  it("leaves a configuration alone that it can't read", async () => {
    const { home, env } = homeOptions();
    const file = join(home, ".cursor", "mcp.json");
    mkdirSync(join(home, ".cursor"));
    writeFileSync(file, "{ broken");
    const refused = await run(["connect", "cursor", "--write", "--data", await makeData("me")], { env });
    expectFailure(refused, 2, /mcp\.json:1:/);
    expect(readFileSync(file, "utf8")).toBe("{ broken");
  });

  it("knows no other client", async () => {
    expectFailure(await run(["connect", "notepad"]), 2, /claude-code, claude-desktop, cursor, vscode, codex, gemini/);
  });

  it("gives a configuration that works", async () => {
    const { env } = homeOptions();
    const data = await makeData("me");
    const { file } = json(await runOk(["connect", "cursor", "--write", "--json", "--data", data], { env })) as {
      file: string;
    };
    const { mcpServers } = JSON.parse(readFileSync(file, "utf8")) as {
      mcpServers: { satchel: { command: string; args: string[] } };
    };
    const { command, args } = mcpServers.satchel;
    expect(command).toBe(process.execPath);
    expect(existsSync(args[0] ?? "")).toBe(true);
    const client = await connectStdio("v1", args.slice(args.indexOf("mcp") + 1));
    await client.callTool("memory_write", { path: "connected", body: "x" });
    await client.close();
    expect((await runOk(["page", "cat", "--data", data, "connected"])).stdout).toBe("x");
  });
});

describe("help and mistakes", () => {
  const commands = [
    ["init"],
    ["mcp"],
    ["serve"],
    ["connect"],
    ["import"],
    ["search"],
    ["brief"],
    ["doctor"],
    ["config"],
    ["page", "put"],
    ["page", "cat"],
    ["page", "ls"],
    ["page", "rm"],
    ["token", "create"],
    ["token", "list"],
    ["token", "revoke"],
    ["profile", "get"],
    ["profile", "set"],
  ];

  it.each(commands.map((command) => [command.join(" "), command] as const))(
    "help of %s has an example",
    async (name, command) => {
      const { stdout, stderr } = await runOk([...command, "--help"]);
      expect(stderr).toBe("");
      expect(stdout).toContain(`Usage: satchel ${name}`);
      expect(stdout).toMatch(new RegExp(`Examples:\\n  satchel ${name}`));
      for (const option of ["--data <dir>", "--context <handle>"]) expect(stdout).toContain(option);
      expect(stdout).not.toMatch(escapeCode);
      expect(stdout.includes("--json")).toBe(name !== "mcp" && name !== "serve");
      expect(stdout.includes("--now <utc>")).toBe(["mcp", "serve", "search", "brief"].includes(name));
    },
  );

  it("names every command and its version", async () => {
    const { stdout } = await runOk(["--help"]);
    for (const [command] of commands) expect(stdout).toMatch(new RegExp(`^  ${command}\\b`, "m"));
    expect((await runOk(["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it.each([
    [["nonsense"]],
    [["page", "nonsense"]],
    [["page", "cat"]],
    [["search"]],
    [["doctor", "--nonsense"]],
    [["doctor", "extra"]],
  ])("refuses %j with exit code 2 and one line", async (args) => {
    expectFailure(await run(args), 2, /./);
  });
});
