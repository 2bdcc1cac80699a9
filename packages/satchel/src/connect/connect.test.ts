import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ClientName, clientNames, findClient, type Place } from "./clients.js";
import { type ConnectOptions, connectClient } from "./connect.js";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "connect test "));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const here = (): Place => ({ platform: "linux", home });
const fileOf = (client: ClientName) => findClient(client).configurationFile(here());

function optionsFor(client: ClientName, more: Partial<ConnectOptions> = {}): ConnectOptions {
  const dataDir = join(home, "my data");
  return { client, place: here(), nodePath: "/usr/bin/node", scriptPath: "/opt/s c/satchel.js", dataDir, ...more };
}

function writeExisting(client: ClientName, content: string | Buffer, mode = 0o644): string {
  const file = fileOf(client);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  chmodSync(file, mode);
  return file;
}

const listAll = () => readdirSync(home, { recursive: true }).map(String).sort();

describe("connectClient without write", () => {
  const platforms: Place[] = [
    { platform: "darwin", home: "/Users/someone" },
    { platform: "win32", home: "C:\\Users\\some one", appData: "C:\\Users\\some one\\AppData\\Roaming" },
    { platform: "linux", home: "/home/someone" },
  ];
  const cases = clientNames.flatMap((client) => platforms.map((place) => ({ client, place, on: place.platform })));

  it.each(cases)("$client on $on: says what goes where and touches nothing", async ({ client, place }) => {
    const known = findClient(client);
    const result = await connectClient(optionsFor(client, { place, context: "me" }));
    const file = known.configurationFile(place);
    expect(result).toMatchObject({ outcome: "printed", file });
    expect(result.text).toContain(`  ${file}\n`);
    expect(result.text).toContain(`client:${client}`);
    expect(result.text).toContain("--context");
    expect(result.text.endsWith(`${known.reload}\n`)).toBe(true);
    expect(listAll()).toEqual([]);
  });
});

describe("connectClient with write", () => {
  it.each(clientNames)("%s: creates the file and its folders, and the second time changes nothing", async (client) => {
    const first = await connectClient(optionsFor(client, { write: true }));
    const text = readFileSync(fileOf(client), "utf8");
    expect(first).toMatchObject({ outcome: "written", file: fileOf(client) });
    expect(first).not.toHaveProperty("backup");
    expect(text).toContain("/opt/s c/satchel.js");
    expect(statSync(fileOf(client)).mode & 0o777).toBe(0o600);
    const files = listAll();
    const second = await connectClient(optionsFor(client, { write: true }));
    expect(second.outcome).toBe("unchanged");
    expect(readFileSync(fileOf(client), "utf8")).toBe(text);
    expect(listAll()).toEqual(files);
    expect(files.filter((name) => /backup|tmp/.test(name))).toEqual([]);
  });

  it("keeps foreign servers, comments and the mode, and the file as it was beside it", async () => {
    const before = '{\n  // mine\n  "servers": { "other": { "command": "x" } }\n}\n';
    const file = writeExisting("vscode", before, 0o640);
    const result = await connectClient(optionsFor("vscode", { write: true }));
    const after = readFileSync(file, "utf8");
    expect(result).toMatchObject({ outcome: "written", backup: `${file}.satchel-backup` });
    expect(readFileSync(`${file}.satchel-backup`, "utf8")).toBe(before);
    expect(after).toContain("// mine");
    expect(after).toContain('"other": { "command": "x" }');
    expect(after).toContain('"type":"stdio"');
    for (const path of [file, `${file}.satchel-backup`]) expect(statSync(path).mode & 0o777).toBe(0o640);
    expect(readdirSync(dirname(file)).sort()).toEqual(["mcp.json", "mcp.json.satchel-backup"]);
  });

  it.each([
    ["claude-code", '{"a": 1,\n', "configuration_unparsable", /\.claude\.json:2:1: /],
    ["claude-code", '{\n // c\n "a": 1}', "configuration_unparsable", /\.claude\.json:2:2: /],
    ["codex", "a = [1\n", "configuration_unparsable", /config\.toml:\d+:\d+: /],
    ["gemini", Buffer.from([0x7b, 0xff, 0x7d]), "configuration_unparsable", /settings\.json: not valid UTF-8/],
    ["cursor", "[]", "configuration_conflict", /mcp\.json:1:1: /],
  ] as const)("%s: refuses the broken file %j and leaves it untouched", async (client, content, code, message) => {
    const file = writeExisting(client, content);
    const before = { bytes: readFileSync(file), files: listAll(), time: statSync(file).mtimeMs };
    const attempt = connectClient(optionsFor(client, { write: true }));
    await expect(attempt).rejects.toMatchObject({ code, file, message: expect.stringMatching(message) });
    expect({ bytes: readFileSync(file), files: listAll(), time: statSync(file).mtimeMs }).toEqual(before);
  });

  it("names the file when it cannot be read", async () => {
    mkdirSync(fileOf("claude-code"));
    const attempt = connectClient(optionsFor("claude-code", { write: true }));
    await expect(attempt).rejects.toMatchObject({ code: "configuration_io", file: fileOf("claude-code") });
  });

  it("changes the file behind a link and keeps the link", async () => {
    const real = join(home, "kept elsewhere.toml");
    writeFileSync(real, 'model = "m"\n');
    mkdirSync(join(home, ".codex"));
    symlinkSync(real, fileOf("codex"));
    await connectClient(optionsFor("codex", { write: true }));
    expect(lstatSync(fileOf("codex")).isSymbolicLink()).toBe(true);
    expect(readFileSync(real, "utf8")).toContain("[mcp_servers.satchel]");
    expect(readFileSync(`${real}.satchel-backup`, "utf8")).toBe('model = "m"\n');
  });

  it.each(["nodePath", "scriptPath", "dataDir"])("refuses a relative %s before anything is written", async (name) => {
    const attempt = connectClient(optionsFor("cursor", { write: true, [name]: "somewhere" }));
    await expect(attempt).rejects.toMatchObject({ code: "invalid_option" });
    expect(listAll()).toEqual([]);
  });
});
