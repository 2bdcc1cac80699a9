import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type ArchiveFile,
  type ManifestFacts,
  parseRecipient,
  passphraseRecipient,
  type Recipient,
  writeArchive,
} from "@satchel/server";
import { describe, expect, it } from "vitest";
import { cleanEnvironment, commandLine, run, temporaryFolder } from "./harness.js";

const folder = temporaryFolder();
const passphrase = "tea at four, every day";
const facts: ManifestFacts = {
  pcp_version: "0.3",
  created: "2026-01-31T12:00:00Z",
  context: { handle: "me", kind: "personal", profile_type: "core" },
  coverage: "full",
  page_count: 2,
  omitted: [],
};

const texts = { "memory/a.md": "One.\n", "memory/\u202eb.md": "Two.\n", "profile/core.json": "{}\n" };

async function* listFiles(): AsyncGenerator<ArchiveFile> {
  for (const [path, text] of Object.entries(texts)) yield { path, bytes: Buffer.from(text), mtimeMs: 0 };
}

async function write(name: string, recipients: Recipient[] = []): Promise<string> {
  const target = join(folder, name);
  await writeArchive(target, { manifest: () => facts, files: listFiles, recipients });
  return target;
}

const archive = await write("whole");
const locked = await write("passphrase", [passphraseRecipient(passphrase)]);

function makeKey(name: string, args: string[]): { file: string; recipient: Recipient } {
  const file = join(folder, name);
  execFileSync("ssh-keygen", ["-q", "-f", file, ...args]);
  return { file, recipient: parseRecipient(readFileSync(`${file}.pub`, "utf8")) };
}

const key = makeKey("key", ["-t", "ed25519", "-N", ""]);
const other = makeKey("other", ["-t", "ed25519", "-N", ""]);
const lockedPem = makeKey("pem", ["-t", "rsa", "-b", "2048", "-m", "PEM", "-N", passphrase]);
const lockedKey = makeKey("locked", ["-t", "ed25519", "-N", passphrase]);
const toKey = await write("to-key", [key.recipient, lockedPem.recipient]);

/** The same archive with these files more or other ones, made by tar. */
function repack(name: string, change: Record<string, string>): string {
  const inside = join(folder, `${name}-inside`);
  mkdirSync(inside);
  execFileSync("tar", ["xzf", archive, "-C", inside]);
  for (const [path, text] of Object.entries(change)) writeFileSync(join(inside, path), text);
  const target = join(folder, name);
  execFileSync("tar", ["cf", target, "-C", inside, "manifest.json", "memory", "profile"]);
  return target;
}

const valid = "valid: 3 files, 2 pages, full coverage, of the context me, made 2026-01-31T12:00:00Z\n";

describe("satchel verify", () => {
  it("says that a whole archive is valid, in words and in JSON", async () => {
    expect(await run(["verify", archive])).toEqual({ code: 0, stdout: valid, stderr: "" });
    const { code, stdout } = await run(["verify", archive, "--json"]);
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      {
        valid: true,
        files: 3,
        pages: 2,
        coverage: "full",
        context: "me",
        created: "2026-01-31T12:00:00Z",
        omitted: [],
        problems: [],
      },
    ]);
  });

  it("names each problem on a line of its own, with nothing hidden in it", async () => {
    const changed = repack("changed", {
      "memory/a.md": "Not one.\n",
      "memory/\u202eb.md": "22",
      "memory/c\nd.md": "x",
    });
    const { code, stdout, stderr } = await run(["verify", changed]);
    expect([code, stderr]).toEqual([1, ""]);
    const lines = stdout.trimEnd().split("\n");
    expect(lines[0]).toBe("not valid: 3 problems, 4 files could be read");
    expect(lines.slice(1).sort()).toEqual([
      "changed memory/\\u{202e}b.md: has 2 bytes, and 5 are listed",
      "changed memory/a.md: has 9 bytes, and 5 are listed",
      "extra memory/c d.md: is in the archive, but not listed",
    ]);
    const json = await run(["verify", changed, "--json"]);
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({ valid: false, files: 4 });
  });

  it("names what a cut archive lacks", async () => {
    const cut = join(folder, "cut");
    writeFileSync(cut, readFileSync(archive).subarray(0, -40));
    const { code, stdout } = await run(["verify", cut]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^not valid: .*\nunreadable .*can't be read\n/);
  });

  it.each([
    ["a text", "notes", "Just a note."],
    ["an empty file", "empty", ""],
  ])("says that %s is no archive", async (_name, name, text) => {
    writeFileSync(join(folder, name), text);
    expect(await run(["verify", join(folder, name)])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("The file is no archive"),
      stderr: "",
    });
  });

  const missing = join(folder, "none");
  it.each([
    ["a file that is not there", [missing], /no such file/],
    ["a folder", [folder], /is a folder/],
    ["a locked archive", [locked], /It takes its passphrase.*--passphrase/],
    ["an archive for another key", [toKey, "--identity", other.file], /None that was given fits.*ssh-ed25519/],
    ["an identity that is not there", [toKey, "--identity", missing], /no such file/],
    ["an identity that is none", [toKey, "--identity", archive], /--identity .*is no identity/],
    ["a public key", [toKey, "--identity", `${key.file}.pub`], /is no identity/],
    ["an SSH key with a passphrase", [toKey, "--identity", lockedKey.file], /ssh-keygen -p/],
    ["no file at all", [], /missing required argument/],
  ])("can't check %s", async (_name, args, message) => {
    const { code, stdout, stderr } = await run(["verify", ...args]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/^satchel: [^\n]+\n$/);
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/node:internal|file:\/\//);
  });

  it("opens an archive with a key, of several that are given", async () => {
    const ran = await run(["verify", toKey, "--identity", other.file, "--identity", key.file]);
    expect(ran).toEqual({ code: 0, stdout: valid, stderr: "" });
  });
});

describe("a passphrase", () => {
  it.each([[`${passphrase}\n`], [`${passphrase}\r\nmore\n`], [passphrase]])(
    "is read from a pipe (%j)",
    async (input) => {
      expect(await run(["verify", locked, "--passphrase"], { input })).toEqual({ code: 0, stdout: valid, stderr: "" });
    },
  );

  it("of a private key is asked for too", async () => {
    const args = ["verify", toKey, "--identity", lockedPem.file];
    expect(await run(args, { input: `${passphrase}\n` })).toEqual({ code: 0, stdout: valid, stderr: "" });
    const wrong = await run(args, { input: "wrong\n" });
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("does not open the private key")]);
  });

  it.each([
    ["a wrong one", "coffee\n", /the passphrase does not open it/],
    ["none", "", /The passphrase is empty/],
    ["an empty one", "\n", /The passphrase is empty/],
  ])("can't be %s, and no word of it is said", async (_name, input, message) => {
    const { code, stdout, stderr } = await run(["verify", locked, "--passphrase"], { input });
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain("coffee");
  });
});

/** Runs the command on a terminal of its own and types once it has asked. @returns all that the terminal shows */
async function typeAt(args: string[], typed: string): Promise<{ code: number | null; shown: string }> {
  const [node, words] = commandLine(args);
  const command = [node, ...words].map((word) => `'${word}'`).join(" ");
  const child = spawn("script", ["-qec", command, "/dev/null"], {
    env: cleanEnvironment({ TERM: "dumb" }),
    stdio: ["pipe", "pipe", "inherit"],
  });
  let shown = "";
  let isTyped = false;
  child.stdout.on("data", (chunk: Buffer) => {
    shown += chunk;
    if (!isTyped && shown.includes("Passphrase of the archive: ")) isTyped = child.stdin.write(typed) || true;
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, shown };
}

describe("a passphrase at a terminal", () => {
  it.each([
    ["typed", `${passphrase}\r`],
    ["corrected", `${passphrase}xy\u007f\u007f\r`],
  ])("opens the archive when it is %s, and is not shown", async (_name, typed) => {
    const { code, shown } = await typeAt(["verify", locked, "--passphrase"], typed);
    expect([code, shown]).toEqual([0, expect.stringContaining("valid")]);
    expect(shown).not.toMatch(/tea|four|xy/);
  });

  it("is not given with Ctrl-C", async () => {
    const { code, shown } = await typeAt(["verify", locked, "--passphrase"], "tea\u0003");
    expect([code, shown]).toEqual([2, expect.stringContaining("No passphrase was given.")]);
    expect(shown).not.toContain("tea");
  });
});
