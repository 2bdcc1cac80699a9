import { execFileSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { generateHybridIdentity, generateX25519Identity, identityToRecipient } from "age-encryption";
import { describe, expect, it } from "vitest";
import { checkRecipients, parseRecipient, passphraseRecipient } from "./recipient.js";
import { temporaryFolder } from "./sample-archive.contract.js";

const folder = temporaryFolder();

/** The public line that ssh-keygen makes. */
function makePublicLine(...args: string[]): string {
  const file = join(folder, args.join(""));
  execFileSync("ssh-keygen", ["-q", "-N", "", "-C", "a comment, with words", "-f", file, ...args]);
  return readFileSync(`${file}.pub`, "utf8");
}

const secret = await generateX25519Identity();
const age = await identityToRecipient(secret);
const hybrid = await identityToRecipient(await generateHybridIdentity());
const ed25519 = makePublicLine("-t", "ed25519");
const rsa = makePublicLine("-t", "rsa", "-b", "2048");

describe("parseRecipient", () => {
  it.each([
    [age, "classic"],
    [`  ${age}\n`, "classic"],
    [hybrid, "post-quantum"],
    [ed25519, "classic"],
    [ed25519.split(" ").slice(0, 2).join(" "), "classic"],
    [rsa, "classic"],
  ])("takes %j", (text, kind) => expect(parseRecipient(text).kind).toBe(kind));

  const wireOf = (line: string) => Buffer.from(line.split(" ")[1] ?? "", "base64");
  const withWire = (type: string, wire: Buffer) => `${type} ${wire.toString("base64")}`;
  const { privateKey } = generateKeyPairSync("ed25519");
  const offCurve = Buffer.from(wireOf(ed25519));
  offCurve.fill(0xff, offCurve.length - 32);

  it.each([
    ["nothing", ""],
    ["a word", "somebody@example.org"],
    ["one changed letter", age.replace(/.$/, (last) => (last === "q" ? "p" : "q"))],
    ["a plugin's recipient", `age1yubikey1${age.slice(5)}`],
    ["half of one", age.slice(0, 30)],
    ["an ECDSA key", makePublicLine("-t", "ecdsa")],
    ["a short RSA key", makePublicLine("-t", "rsa", "-b", "1024")],
    ["a key of another type", withWire("ssh-rsa", wireOf(ed25519))],
    ["a key of another type still", withWire("ssh-ed25519", wireOf(rsa))],
    ["half a key", withWire("ssh-ed25519", wireOf(ed25519).subarray(0, 40))],
    ["more than a key", withWire("ssh-ed25519", Buffer.concat([wireOf(ed25519), Buffer.alloc(1)]))],
    ["no base64", "ssh-ed25519 ????"],
    ["a type alone", "ssh-ed25519"],
    ["no point of the curve", withWire("ssh-ed25519", offCurve)],
    ["a private age key", secret],
    ["a private key", privateKey.export({ type: "pkcs8", format: "pem" }) as string],
  ])("refuses %s, and does not repeat it", (_name, text) => {
    let message = "";
    try {
      parseRecipient(text);
    } catch (error) {
      expect(error).toMatchObject({ name: "ArchiveError", code: "invalid_recipient" });
      message = (error as Error).message;
    }
    expect(message).not.toBe("");
    if (text.length > 20) expect(message).not.toContain(text.slice(12, 40));
  });
});

describe("checkRecipients", () => {
  const [key, quantum, passphrase] = [parseRecipient(age), parseRecipient(hybrid), passphraseRecipient("tea")];

  it.each([
    ["none", []],
    ["keys of both sorts", [key, parseRecipient(ed25519), parseRecipient(rsa)]],
    ["post-quantum keys", [quantum, quantum]],
    ["a passphrase", [passphrase]],
  ])("lets %s through", (_name, recipients) => expect(() => checkRecipients(recipients)).not.toThrow());

  it.each([
    ["a passphrase and a key", [passphrase, key]],
    ["two passphrases", [passphrase, passphrase]],
    ["keys with and without post-quantum protection", [key, quantum]],
  ])("refuses %s", (_name, recipients) =>
    expect(() => checkRecipients(recipients)).toThrow(expect.objectContaining({ code: "mixed_recipients" })),
  );

  it("an empty passphrase is none", () => {
    expect(() => passphraseRecipient("")).toThrow(expect.objectContaining({ code: "invalid_recipient" }));
  });

  it("no passphrase shows when a recipient is printed", () => {
    expect(JSON.stringify(passphraseRecipient("tea at four"))).not.toContain("tea");
  });
});
