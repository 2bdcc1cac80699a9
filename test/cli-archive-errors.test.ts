import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { makeData, run, runOk, temporaryFolder } from "./harness.js";
import { makeZip } from "./made-zip.js";

/*
 * What a person is told who gives `import` or `export` something it can't work with: one line, and nothing happened.
 */

let work: string;
let data: string;

beforeAll(async () => {
  work = temporaryFolder("satchel-errors-");
  data = await makeData("me");
  await runOk(["page", "put", "--data", data, "a"], { input: "A page.\n" });
  for (const name of ["own", "other"])
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", join(work, name)]);
  const at = (name: string) => join(work, name);
  await runOk(["export", "--data", data, "--out", at("plain.tar.gz")]);
  await runOk(["export", "--data", data, "--out", at("key.age"), "--recipients-file", at("own.pub")]);
  await runOk(["export", "--data", data, "--out", at("word.age"), "--passphrase"], { input: "right\n" });
  const plain = readFileSync(at("plain.tar.gz"));
  const key = readFileSync(at("key.age"));
  writeFileSync(at("cut.tar.gz"), plain.subarray(0, plain.length >> 1));
  writeFileSync(at("cut.age"), key.subarray(0, key.length - 100));
  const zip = Buffer.from(await makeZip([{ name: "a.md", text: "A note.\n" }]));
  writeFileSync(at("cut.zip"), zip.subarray(0, zip.length >> 1));
  writeFileSync(at("locked.zip"), await makeZip([{ name: "a.md", text: "A note.\n", options: { password: "p" } }]));
  writeFileSync(at("photo.png"), Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0]));
  writeFileSync(at("paper.pdf"), "%PDF-1.7\n%%EOF\n");
  mkdirSync(at("empty"));
  mkdirSync(at("others"));
  writeFileSync(at("others/table.csv"), "a,b\n");
});

/** Every file below a folder and what is in it. */
function contentOf(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = names.map((entry) => join(entry.parentPath, entry.name)).sort();
  return Object.fromEntries(files.map((file) => [file, readFileSync(file).toString("base64")]));
}

interface Told {
  code: number;
  message: RegExp;
  input?: string;
  /** Another context or data directory than the one there is. */
  elsewhere?: string[];
}

async function expectTold(command: string[], { code, message, input = "", elsewhere }: Told): Promise<void> {
  const before = contentOf(work);
  const args = [...command, ...(elsewhere ?? ["--data", data])];
  const ran = await run(args, { input, cwd: work });
  expect({ code: ran.code, stdout: ran.stdout }).toEqual({ code, stdout: "" });
  expect(ran.stderr).toMatch(/^satchel: [^\n]+\n$/);
  expect(ran.stderr).toMatch(message);
  expect(ran.stderr).not.toMatch(/Error:|file:\/\/|\u001b/);
  expect(contentOf(work)).toEqual(before);
  expect((await runOk(["page", "ls", "--data", data])).stdout.trimEnd().split("\n")).toHaveLength(1);
}

describe("satchel import says in one line what is wrong and what to do", () => {
  it.each<[string, string[], Told]>([
    ["no such file", ["absent"], { code: 2, message: /nothing at absent/ }],
    ["an empty folder", ["empty"], { code: 2, message: /nothing to import in empty: .+--format/ }],
    ["a folder without anything to import", ["others"], { code: 2, message: /nothing to import in others: / }],
    ["a picture", ["photo.png"], { code: 2, message: /nothing to import in photo\.png: / }],
    ["a PDF", ["paper.pdf"], { code: 2, message: /nothing to import in paper\.pdf: / }],
    ["a damaged archive", ["cut.tar.gz"], { code: 1, message: /archive is damaged.+satchel verify/ }],
    ["a damaged locked archive", ["cut.age", "--identity", "own"], { code: 1, message: /archive is damaged/ }],
    ["a damaged zip", ["cut.zip"], { code: 2, message: /cut\.zip is a damaged zip .+again/ }],
    ["an encrypted zip", ["locked.zip"], { code: 2, message: /"a\.md" is encrypted: unpack/ }],
    ["a locked archive and no key", ["key.age"], { code: 2, message: /encrypted.+--identity FILE/ }],
    ["the wrong key", ["key.age", "--identity", "other"], { code: 2, message: /None that was given fits/ }],
    ["no such key", ["key.age", "--identity", "none"], { code: 2, message: /no such file or folder: none/ }],
    ["a public key", ["key.age", "--identity", "own.pub"], { code: 2, message: /--identity own\.pub: / }],
    ["a passphrase that is not given", ["word.age"], { code: 2, message: /passphrase.+--passphrase/ }],
    [
      "the wrong passphrase",
      ["word.age", "--passphrase"],
      { code: 2, message: /passphrase does not open it/, input: "no\n" },
    ],
    ["an empty passphrase", ["word.age", "--passphrase"], { code: 2, message: /passphrase is empty/ }],
    ["no such format", ["others", "--format", "nothing"], { code: 2, message: /"nothing" is no format/ }],
    ["no such partition name", ["plain.tar.gz", "--partition", "No Such"], { code: 1, message: /no partition name/ }],
  ])("%s", async (_name, args, told) => expectTold(["import", ...args], told));

  it("a context that does not exist", async () => {
    const named = ["--data", data, "--context", "nobody"];
    await expectTold(["import", "plain.tar.gz"], { code: 2, message: /no context "nobody".+init/, elsewhere: named });
    const nowhere = ["--data", join(work, "nowhere")];
    await expectTold(["import", "plain.tar.gz"], { code: 2, message: /no context in .+init/, elsewhere: nowhere });
    expect(existsSync(join(work, "nowhere"))).toBe(false);
  });
});

describe("satchel export says in one line what is wrong and what to do", () => {
  it.each<[string, string[], Told]>([
    ["no place", [], { code: 2, message: /--out/ }],
    ["a file that is there", ["--out", "plain.tar.gz"], { code: 1, message: /exists already.+another name/ }],
    ["a folder as the file", ["--out", "others"], { code: 1, message: /exists already/ }],
    ["a place below a file", ["--out", "paper.pdf/x.tar.gz"], { code: 2, message: /is a file: --out/ }],
    ["no recipient", ["--out", "x.age", "--encrypt-to", "nobody"], { code: 1, message: /no recipient/ }],
    [
      "no file of keys",
      ["--out", "x.age", "--recipients-file", "none"],
      { code: 2, message: /no such file or folder: none/ },
    ],
    ["an empty passphrase", ["--out", "x.age", "--passphrase"], { code: 2, message: /passphrase is empty/ }],
    [
      "a passphrase and keys",
      ["--out", "x.age", "--passphrase", "--recipients-file", "own.pub"],
      { code: 2, message: /not both/ },
    ],
  ])("%s", async (_name, args, told) => expectTold(["export", ...args], told));

  it("a context that does not exist", async () => {
    const elsewhere = ["--data", data, "--context", "nobody"];
    await expectTold(["export", "--out", "x.tar.gz"], { code: 2, message: /no context "nobody"/, elsewhere });
  });
});

describe("what a person sees", () => {
  it.each(["import", "export"])("satchel %s --help has examples", async (command) => {
    const { code, stdout, stderr } = await run([command, "--help"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(new RegExp(`Examples:\\n( {2}satchel ${command} [^\\n]+\\n)+`));
  });

  it("is plain text in a pipe, and progress and colour on a terminal", async () => {
    const piped = await run(["export", "--data", data, "--out", join(work, "piped.tar.gz")]);
    expect(piped.code).toBe(0);
    expect(piped.stdout + piped.stderr).not.toMatch(/[\u001b\r]/);
    const out = join(work, "terminal.tar.gz");
    const script = join(import.meta.dirname, "../packages/satchel/bin/satchel.js");
    const onTerminal = (command: string) =>
      execFileSync("script", ["-qec", `${process.execPath} ${script} ${command}`, "/dev/null"], {
        encoding: "utf8",
        env: { PATH: process.env.PATH ?? "", TERM: "xterm" },
        stdio: ["ignore", "pipe", "pipe"],
      });
    expect(onTerminal(`export --data ${data} --out ${out}`)).toMatch(
      /\rExporting \d+ %[\s\S]*\r\u001b\[K[\s\S]*\u001b\[32m/,
    );
    expect(onTerminal(`import --data ${data} ${out}`)).toMatch(
      /\rImporting \d+ %[\s\S]*\r\u001b\[K[\s\S]*Done: added 0/,
    );
  });
});
