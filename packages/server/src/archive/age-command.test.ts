import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Identity, parseIdentities, passphraseIdentity } from "./identity.js";
import { readArchive } from "./read-archive.js";
import { parseRecipient, passphraseRecipient, type Recipient } from "./recipient.js";
import { listing, newPath, sampleFacts, sampleFiles, temporaryFolder } from "./sample-archive.contract.js";
import { writeArchive } from "./write-archive.js";

/*
 * The real commands `age`, `age-keygen` and `ssh-keygen`: a machine without them fails (CONTRIBUTING.md, Start).
 */

const keys = temporaryFolder();
const write = (recipients: Recipient[]) => {
  const target = newPath("archive.tar.gz.age");
  return writeArchive(target, { manifest: () => sampleFacts, files: listing(sampleFiles), recipients }).then(
    () => target,
  );
};

interface KeyPair {
  publicText: string;
  /** The file that `age -i` takes. */
  privateFile: string;
}

function makeAgeKey(name: string): KeyPair {
  const privateFile = join(keys, name);
  execFileSync("age-keygen", ["-o", privateFile], { stdio: "ignore" });
  return { privateFile, publicText: execFileSync("age-keygen", ["-y", privateFile], { encoding: "utf8" }).trim() };
}

function makeSshKey(name: string, args: string[]): KeyPair {
  const privateFile = join(keys, name);
  execFileSync("ssh-keygen", ["-q", "-N", "", "-C", "somebody@example", "-f", privateFile, ...args]);
  return { privateFile, publicText: readFileSync(`${privateFile}.pub`, "utf8") };
}

const pairs: [string, () => KeyPair][] = [
  ["an age key", () => makeAgeKey("age.txt")],
  ["ssh-ed25519", () => makeSshKey("ed25519", ["-t", "ed25519"])],
  ["ssh-rsa", () => makeSshKey("rsa", ["-t", "rsa", "-b", "2048"])],
  ["ssh-rsa in PEM", () => makeSshKey("rsa-pem", ["-t", "rsa", "-b", "3072", "-m", "PEM"])],
  ["ssh-rsa in PKCS8", () => makeSshKey("rsa-pkcs8", ["-t", "rsa", "-b", "2048", "-m", "PKCS8"])],
];

async function expectWhole(file: string, identities: Identity[]): Promise<void> {
  const { problems, files } = await readArchive(file, { identities });
  expect(problems).toEqual([]);
  expect([...files.keys()]).toEqual(sampleFiles.map(({ path }) => path));
}

describe.each(pairs)("with %s", (_name, makePair) => {
  const pair = makePair();
  const identities = parseIdentities(readFileSync(pair.privateFile, "utf8"));

  it("age and tar open what is written", async () => {
    const archive = await write([parseRecipient(pair.publicText)]);
    const packed = execFileSync("age", ["-d", "-i", pair.privateFile, archive]);
    const folder = temporaryFolder();
    execFileSync("tar", ["xzf", "-", "-C", folder], { input: packed });
    for (const { path, bytes } of sampleFiles) expect(readFileSync(join(folder, path))).toEqual(bytes);
    await expectWhole(archive, identities);
  });

  it.each([[[]], [["-a"]]])("what age writes is read (%j)", async (args) => {
    const plain = await write([]);
    const archive = newPath();
    execFileSync("age", [...args, "-r", pair.publicText.trim(), "-o", archive, plain]);
    await expectWhole(archive, identities);
  });
});

describe("with several recipients", () => {
  it("each of them opens it alone, with age and here", async () => {
    const made = [
      makeAgeKey("several.txt"),
      makeSshKey("one", ["-t", "ed25519"]),
      makeSshKey("two", ["-t", "rsa", "-b", "2048"]),
    ];
    const archive = await write(made.map(({ publicText }) => parseRecipient(publicText)));
    for (const { privateFile } of made) {
      expect(execFileSync("age", ["-d", "-i", privateFile, archive]).length).toBeGreaterThan(500);
      await expectWhole(archive, parseIdentities(readFileSync(privateFile, "utf8")));
    }
  });
});

/** Runs a command on a terminal of its own, and types a line at each prompt. */
function runOnTerminal(command: string, typed: string[]): Promise<number | null> {
  const child: ChildProcess = spawn("script", ["-qec", command, "/dev/null"], { stdio: ["pipe", "pipe", "inherit"] });
  let output = "";
  let answered = 0;
  child.stdout?.on("data", (chunk: Buffer) => {
    output += chunk;
    const prompts = output.match(/passphrase[^:]*:/gi)?.length ?? 0;
    for (; answered < Math.min(prompts, typed.length); answered += 1) child.stdin?.write(`${typed[answered]}\r`);
  });
  return new Promise((resolve) => child.once("close", resolve));
}

describe("with a passphrase", () => {
  const passphrase = "tea at four, every day";

  it("age opens what is written", async () => {
    const archive = await write([passphraseRecipient(passphrase)]);
    const out = newPath();
    expect(await runOnTerminal(`age -d -o '${out}' '${archive}'`, [passphrase])).toBe(0);
    await expectWhole(out, []);
  });

  it("what age writes is read", async () => {
    const plain = await write([]);
    const out = newPath();
    expect(await runOnTerminal(`age -p -o '${out}' '${plain}'`, [passphrase, passphrase])).toBe(0);
    await expectWhole(out, [passphraseIdentity(passphrase)]);
    await expect(readArchive(out, { identities: [passphraseIdentity("other")] })).rejects.toMatchObject({
      code: "locked_archive",
    });
  });
});
