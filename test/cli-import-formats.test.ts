import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { type Files, formatSamples } from "./foreign-samples.js";
import { makeData, run, runOk, temporaryFolder } from "./harness.js";
import { makeZip } from "./made-zip.js";

interface Summary {
  format?: string;
  added: string[];
  changed: string[];
  same: number;
  proposed: string[];
  profiles: string[];
  refused: { file: string; line?: number; reason: string }[];
  applied: boolean;
}

function makeFolder(files: Files): string {
  const folder = temporaryFolder("satchel-foreign-");
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

async function importJson(data: string, path: string, more: string[] = []): Promise<Summary & { code: number | null }> {
  const { code, stdout, stderr } = await run(["import", "--data", data, "--json", path, ...more]);
  expect(stderr).toBe("");
  return { code, ...(JSON.parse(stdout) as Summary) };
}

async function listed(data: string): Promise<{ path: string; title: string; updated: string }[]> {
  const { stdout } = await runOk(["page", "ls", "--data", data, "--json"]);
  return (JSON.parse(stdout) as { pages: { path: string; title: string; updated: string }[] }).pages;
}

const titles = async (data: string) =>
  Object.fromEntries((await listed(data)).map(({ path, title }) => [path, title] as const));
const waiting = async (data: string) =>
  (JSON.parse((await runOk(["review", "list", "--data", data, "--json"])).stdout) as { items: unknown[] }).items;

describe.each(formatSamples)("satchel import of $format", ({ format, files, give, pages, shown, bad }) => {
  const place = (folder: string) => (give === undefined ? folder : join(folder, give));
  const paths = Object.keys(pages).sort();

  it("makes its pages, and changes nothing when it is repeated", async () => {
    const [data, path] = [await makeData("me"), place(makeFolder(files))];
    const dry = await importJson(data, path, ["--dry-run"]);
    expect(dry).toMatchObject({ code: 0, refused: [], applied: false });
    expect(dry.added.sort()).toEqual(paths);
    expect(await listed(data)).toEqual([]);

    const first = await importJson(data, path);
    expect(first).toMatchObject({ code: 0, changed: [], same: 0, refused: [], applied: true });
    expect(await titles(data)).toEqual(pages);
    const { stdout } = await runOk(["page", "cat", "--data", data, shown.path]);
    for (const part of shown.holds) expect(stdout).toContain(part);
    const before = await listed(data);
    const again = await importJson(data, path);
    expect(again).toMatchObject({ code: 0, added: [], changed: [], same: paths.length, profiles: [], applied: true });
    expect(await listed(data)).toEqual(before);
    expect((await importJson(data, path, ["--format", format])).same).toBe(paths.length);
  });

  it("puts everything before the owner with --review, once", async () => {
    const [data, path] = [await makeData("me"), place(makeFolder(files))];
    const first = await importJson(data, path, ["--review"]);
    expect(first).toMatchObject({ code: 0, added: [], changed: [], same: 0, profiles: [], applied: true });
    expect(first.proposed.sort()).toEqual(paths);
    expect(await listed(data)).toEqual([]);
    expect(await waiting(data)).toHaveLength(paths.length);
    expect(await importJson(data, path, ["--review"])).toMatchObject({ proposed: [], same: paths.length });
    expect(await waiting(data)).toHaveLength(paths.length);
  });

  it("names a bad entry with file, line and reason, and takes the rest only when asked to", async () => {
    const folder = makeFolder({ ...files, ...bad.files });
    const [data, path] = [await makeData("me"), give === undefined ? folder : join(folder, bad.file)];
    const refused = await importJson(data, path);
    expect(refused).toMatchObject({ code: 1, applied: false, refused: [{ file: bad.file, line: bad.line }] });
    expect(refused.refused[0]?.reason).toMatch(bad.reason);
    expect(await listed(data)).toEqual([]);
    const said = await run(["import", "--data", data, path]);
    expect({ code: said.code, stdout: said.stdout }).toEqual({ code: 1, stdout: "" });
    expect(said.stderr).toContain(`refused ${bad.file}:${bad.line}: `);
    expect(await importJson(data, path, ["--skip-refused"])).toMatchObject({ code: 0, applied: true });
    expect(await listed(data)).toHaveLength(bad.left);
  });
});

describe("satchel import of what is packed", () => {
  const sampleOf = (format: string) => formatSamples.find((sample) => sample.format === format) ?? formatSamples[0]!;
  const packed = (files: Files) => Object.entries(files).map(([name, text]) => ({ name, text }));

  it("takes an account's export as the zip that it comes in, whatever that is called", async () => {
    const { files, pages } = sampleOf("chatgpt");
    const file = join(temporaryFolder(), "download.bin");
    const others = [
      { name: "photo.png", text: "no text" },
      { name: "__MACOSX/._conversations.json", text: "[" },
    ];
    writeFileSync(file, await makeZip([...packed(files), ...others]));
    const data = await makeData("me");
    expect(await importJson(data, file)).toMatchObject({ code: 0, refused: [], applied: true });
    expect(await titles(data)).toEqual(pages);
    const again = await importJson(data, file, ["--format", "chatgpt"]);
    expect(again).toMatchObject({ added: [], changed: [], same: Object.keys(pages).length });
  });

  it("refuses names in a zip that lead out of it, by name", async () => {
    const file = join(temporaryFolder(), "notes.zip");
    const bad = ["../out.md", "a/../../out.md", "/root.md", "C:/root.md", "a\\b.md"];
    writeFileSync(file, await makeZip(["good.md", ...bad].map((name) => ({ name, text: `${name}\n` }))));
    const data = await makeData("me");
    const refused = await importJson(data, file);
    expect(refused).toMatchObject({ code: 1, applied: false });
    expect(refused.refused.map((entry) => entry.file).sort()).toEqual([...bad].sort());
    expect(await importJson(data, file, ["--skip-refused"])).toMatchObject({ code: 0, added: ["good"] });
  });

  it("takes an archive of PCP 0.2 as it is, and when its format is said", async () => {
    const { files, pages } = sampleOf("pcp-0.2");
    const folder = makeFolder(files);
    const archive = join(temporaryFolder(), "context.tar.gz");
    execFileSync("tar", [
      "-czf",
      archive,
      "-C",
      join(folder, "context"),
      "manifest.json",
      "profile",
      "memory",
      "audit",
    ]);
    const data = await makeData("me");
    expect(await importJson(data, archive)).toMatchObject({
      code: 0,
      profiles: expect.arrayContaining(["core", "pcp.health"]),
      refused: [],
    });
    expect(await titles(data)).toEqual(pages);
    expect(await importJson(data, archive, ["--format", "pcp-0.2"])).toMatchObject({ code: 0, same: 2, profiles: [] });
  });

  it("takes one file that was packed with gzip", async () => {
    const { files, pages } = sampleOf("mem0");
    const file = join(temporaryFolder(), "mem0.json.gz");
    writeFileSync(file, gzipSync(files["mem0.json"] ?? ""));
    const data = await makeData("me");
    expect(await importJson(data, file)).toMatchObject({ code: 0, refused: [], applied: true });
    expect(await titles(data)).toEqual(pages);
  });
});

describe("satchel import --format", () => {
  it("names the formats there are when it knows none of that name", async () => {
    const [data, folder] = [await makeData("me"), makeFolder({ "a.md": "One.\n" })];
    const { code, stdout, stderr } = await run(["import", "--data", data, folder, "--format", "nothing"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^satchel: "nothing" is no format\. There are: pcp-0\.2, [^\n]+ markdown\.\n$/);
    expect(await listed(data)).toEqual([]);
  });
});
