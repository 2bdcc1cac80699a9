import fc from "fast-check";
import jsonc from "jsonc-parser";
import { parse as parseToml, stringify } from "smol-toml";
import { describe, expect, it } from "vitest";
import { scaled, testSeed } from "../../../../test/scale.js";
import { clientNames, findClient } from "./clients.js";
import { buildEntry, type Entry, mergeConfiguration } from "./configuration.js";
import { ConnectError } from "./connect-error.js";

const unix = {
  nodePath: "/opt/node 20/bin/node",
  scriptPath: "/srv/sat chel/bin/satchel.js",
  dataDir: "/home/a b/data",
};
const windows = {
  nodePath: "C:\\Program Files\\nodejs\\node.exe",
  scriptPath: "D:\\new tools\\satchel.js",
  dataDir: 'E:\\data\\u0041"',
};
const codex = findClient("codex");
const cursor = findClient("cursor");
const claudeCode = findClient("claude-code");
const entry = buildEntry({ ...unix, client: cursor });

type Tree = { [key: string]: Tree };

function parseText(format: string, text: string): Tree {
  return (format === "toml" ? parseToml(text) : jsonc.parse(text, [], { allowTrailingComma: true })) as Tree;
}

function failure(run: () => unknown): ConnectError {
  try {
    run();
  } catch (error) {
    if (error instanceof ConnectError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("buildEntry", () => {
  it("names the data, the context and the client, and nothing that a shell would read", () => {
    expect(buildEntry({ ...unix, context: "me", client: cursor })).toEqual({
      command: unix.nodePath,
      args: [unix.scriptPath, "mcp", "--data", unix.dataDir, "--context", "me", "--client", "client:cursor"],
    });
    expect(entry.args).not.toContain("--context");
  });

  it.each(["nodePath", "scriptPath", "dataDir"] as const)("refuses a relative %s", (name) => {
    const error = failure(() => buildEntry({ ...unix, [name]: "node", client: cursor }));
    expect(error).toMatchObject({ code: "invalid_option", message: expect.stringContaining(name) });
  });
});

describe("mergeConfiguration, every client", () => {
  const cases = clientNames.flatMap((name) => [
    { name, paths: unix, platform: "unix" },
    { name, paths: windows, platform: "windows" },
  ]);

  it.each(cases)("$name starts from nothing with $platform paths", ({ name, paths }) => {
    const client = findClient(name);
    const wanted = buildEntry({ ...paths, client });
    const merged = mergeConfiguration(undefined, client, wanted);
    const typed = client.typed ? { type: "stdio" } : {};
    expect(merged.changed).toBe(true);
    expect(parseText(client.format, merged.text)).toEqual({ [client.container]: { satchel: { ...typed, ...wanted } } });
    expect(mergeConfiguration(merged.text, client, wanted)).toEqual({ text: merged.text, changed: false });
    expect(mergeConfiguration("  \n", client, wanted).text.trim()).toBe(merged.text.trim());
  });

  it.each(clientNames)("%s: what a person added to our entry stays when the paths change", (name) => {
    const client = findClient(name);
    const text = mergeConfiguration(undefined, client, buildEntry({ ...unix, client })).text;
    const extended =
      client.format === "toml" ? `${text}timeout = 9\n` : text.replace('"command"', '"timeout": 9,\n      "command"');
    const moved = buildEntry({ ...windows, client });
    const merged = mergeConfiguration(extended, client, moved);
    expect(parseText(client.format, merged.text)[client.container]?.satchel).toMatchObject({ ...moved, timeout: 9 });
    expect(merged.text).not.toContain(unix.nodePath);
  });
});

const jsonCases: [string, string, string][] = [
  ["an empty object", "{}", "{@}"],
  ["other keys", '{\n\t"a": [1,2],\n\t"b":{}\n}\n', '{\n\t"a": [1,2],\n\t"b":{}@\n}\n'],
  ["one line", '{"a": 1}', '{"a": 1@}'],
  ["windows line ends", '{\r\n  "a": 1\r\n}\r\n', '{\r\n  "a": 1@\r\n}\r\n'],
  [
    "a foreign server",
    '{ "mcpServers": {\n    "x": {"command":"y"}\n  } }',
    '{ "mcpServers": {\n    "x": {"command":"y"}@\n  } }',
  ],
  ["an empty container", '{\n  "mcpServers": {\n  }\n}', '{\n  "mcpServers": {\n@  }\n}'],
  [
    "comments",
    '// top\n{\n  /* in */ "a": 1, // end\n  // last\n}',
    '// top\n{\n  /* in */ "a": 1@, // end\n  // last\n}',
  ],
  ["a trailing comma", '{\n  "mcpServers": {\n    "x": {},\n  },\n}', '{\n  "mcpServers": {\n    "x": {}@,\n  },\n}'],
  ["a comment alone", "{\n  // nothing yet\n}", "{\n  // nothing yet\n@}"],
  ["a byte order mark", '\uFEFF{"a":1}', '\uFEFF{"a":1@}'],
];

describe("mergeConfiguration, JSON", () => {
  it.each(jsonCases)("%s: keeps every other byte", (_name, text, expected) => {
    const merged = mergeConfiguration(text, cursor, entry);
    const [before = "", after = ""] = expected.split("@");
    expect(merged.text.startsWith(before)).toBe(true);
    expect(merged.text.endsWith(after)).toBe(true);
    expect(merged.text.length).toBeGreaterThan(before.length + after.length);
    expect(before + after).toBe(text);
    expect(parseText("jsonc", merged.text.replace("\uFEFF", "")).mcpServers?.satchel).toEqual(entry);
    expect(merged.text.includes("\r\n")).toBe(text.includes("\r\n"));
    expect(mergeConfiguration(merged.text, cursor, entry)).toEqual({ text: merged.text, changed: false });
  });

  it("looks like the rest of the file", () => {
    const merged = mergeConfiguration('{\n\t"mcpServers": {\n\t\t"x": {}\n\t}\n}\n', cursor, {
      command: "/n",
      args: [],
    });
    expect(merged.text).toBe(
      '{\n\t"mcpServers": {\n\t\t"x": {},\n\t\t"satchel": {\n\t\t\t"command": "/n",\n\t\t\t"args": []\n\t\t}\n\t}\n}\n',
    );
  });

  it.each([
    ["a missing bracket", '{\n  "a": {\n', 3, 1],
    ["a comment where the client reads none", '{\n  // c\n  "a": 1\n}', 2, 3],
    ["a trailing comma where the client reads none", '{"a": 1,}', 1, 9],
    ["words", "hello", 1, 1],
    ["two documents", "{}\n{}", 2, 1],
  ])("refuses %s and tells where", (_name, text, line, column) => {
    const error = failure(() => mergeConfiguration(text, claudeCode, entry));
    expect(error).toMatchObject({ code: "configuration_unparsable", position: { line, column } });
    expect(error.message).toContain(`line ${line}, column ${column}`);
  });

  it.each([
    ["[]", 1],
    ['{\n"mcpServers": []}', 2],
    ['{\n"mcpServers":\n{"satchel": "x"}}', 3],
  ])("refuses %j: no room for an entry", (text, line) => {
    const error = failure(() => mergeConfiguration(text, claudeCode, entry));
    expect(error).toMatchObject({ code: "configuration_conflict", position: { line } });
  });

  it("refuses a container that stands twice", () => {
    const text = '{"mcpServers": {"x": {}}, "mcpServers": {"y": {}}}';
    expect(failure(() => mergeConfiguration(text, claudeCode, entry)).code).toBe("configuration_conflict");
  });
});

const tomlCases: [string, string, string][] = [
  [
    "other tables",
    '# mine\nmodel = "m"\n\n[mcp_servers.x]\ncommand = "y" # c\n',
    '# mine\nmodel = "m"\n\n[mcp_servers.x]\ncommand = "y" # c\n@',
  ],
  ["no last line end", 'model = "m"', 'model = "m"@'],
  ["an old entry", '[mcp_servers.satchel]\ncommand = "old"\n\n# next\n[x]\na = 1\n', "@\n# next\n[x]\na = 1\n"],
  [
    "an old entry in pieces",
    '[mcp_servers.satchel]\ncommand = "old"\n[x]\na = 1\n[ mcp_servers . "satchel" . env ] # c\nA = "1"\n[[z]]\nb = 2\n',
    "@[x]\na = 1\n[[z]]\nb = 2\n",
  ],
  ["windows line ends", "[a]\r\nb = 1\r\n", "[a]\r\nb = 1\r\n@"],
  ["a header in a string", 'a = """\n[mcp_servers.other]\n"""\n', 'a = """\n[mcp_servers.other]\n"""\n@'],
  [
    "large whole numbers and times",
    "n = 9007199254740993\nt = 1979-05-27T07:32:00Z\n",
    "n = 9007199254740993\nt = 1979-05-27T07:32:00Z\n@",
  ],
];

describe("mergeConfiguration, TOML", () => {
  it.each(tomlCases)("%s: keeps every other byte", (_name, text, expected) => {
    const merged = mergeConfiguration(text, codex, entry);
    const [before = "", after = ""] = expected.split("@");
    expect(merged.text.startsWith(before)).toBe(true);
    expect(merged.text.endsWith(after)).toBe(true);
    expect(merged.text).not.toContain('"old"');
    expect(merged.text.replaceAll("\r\n", "").includes("\n")).toBe(!text.includes("\r\n"));
    const parsed = parseToml(merged.text, { integersAsBigInt: "asNeeded" }) as Tree;
    expect(parsed.mcp_servers?.satchel).toMatchObject({ ...entry });
    expect(mergeConfiguration(merged.text, codex, entry)).toEqual({ text: merged.text, changed: false });
  });

  it("keeps the rest of our own tables", () => {
    const text = '[mcp_servers.satchel]\ncommand = "old"\n[mcp_servers.satchel.env]\nA = "1"\n';
    const parsed = parseText("toml", mergeConfiguration(text, codex, entry).text);
    expect(parsed.mcp_servers?.satchel).toEqual({ ...entry, env: { A: "1" } });
  });

  it.each([
    ["a = \n", 1],
    ["a = 1\n[b\n", 2],
    ["a = 1\na = 2\n", 2],
  ])("refuses %j and tells where", (text, line) => {
    const error = failure(() => mergeConfiguration(text, codex, entry));
    expect(error).toMatchObject({ code: "configuration_unparsable", position: { line } });
  });

  it.each([
    ['mcp_servers = { x = { command = "y" } }\n'],
    ['[mcp_servers]\nsatchel = { command = "old" }\n'],
    ['mcp_servers.satchel.command = "old"\n'],
    ["mcp_servers = 1\n"],
    ['[mcp_servers]\nsatchel = "x"\n'],
    ['[mcp_servers.satchel]\ncommand = """\n[x]\n"""\n'],
  ])("refuses %j: no table of our own to set", (text) => {
    expect(failure(() => mergeConfiguration(text, codex, entry)).code).toBe("configuration_conflict");
  });
});

describe("mergeConfiguration, any configuration", () => {
  const key = fc.stringMatching(/^[a-z"\\.]{1,6}$/);
  const foreign = fc.dictionary(
    key,
    fc.record({ command: fc.string(), args: fc.array(fc.string(), { maxLength: 3 }) }),
  );
  const path = fc.string({ unit: "grapheme" }).map((name) => `/${name}`);
  const wanted: fc.Arbitrary<Entry> = fc.record({ command: path, args: fc.array(path, { maxLength: 4 }) });
  const options = { seed: testSeed(), numRuns: scaled(2_000) };

  it("JSON: foreign servers parse equal and the second time changes nothing", () => {
    const indent = fc.constantFrom(undefined, 2, 4, "\t");
    fc.assert(
      fc.property(foreign, wanted, indent, (servers, values, space) => {
        const text = JSON.stringify({ mcpServers: servers, z: 1 }, null, space);
        const merged = mergeConfiguration(text, cursor, values);
        expect(JSON.parse(merged.text)).toEqual({ mcpServers: { ...servers, satchel: values }, z: 1 });
        expect(mergeConfiguration(merged.text, cursor, values).changed).toBe(false);
      }),
      options,
    );
  });

  it("TOML: foreign servers parse equal and the second time changes nothing", () => {
    fc.assert(
      fc.property(foreign, wanted, (servers, values) => {
        const text = stringify({ a: 1, mcp_servers: servers });
        const merged = mergeConfiguration(text, codex, values);
        expect(merged.text.startsWith(text)).toBe(true);
        expect(parseToml(merged.text)).toEqual({ a: 1, mcp_servers: { ...servers, satchel: values } });
        expect(mergeConfiguration(merged.text, codex, values).changed).toBe(false);
      }),
      options,
    );
  });
});
