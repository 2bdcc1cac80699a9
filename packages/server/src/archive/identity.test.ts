import { execFileSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { Encrypter, generateX25519Identity, identityToRecipient } from "age-encryption";
import { describe, expect, it } from "vitest";
import { collectBytes } from "./byte-stream.js";
import { decrypt, type Identity, parseIdentities } from "./identity.js";
import { encrypt, parseRecipient, type Recipient } from "./recipient.js";
import { temporaryFolder } from "./sample-archive.contract.js";

const folder = temporaryFolder();

function makeKey(name: string, args: string[]): { privateText: string; publicText: string } {
  const file = join(folder, name);
  execFileSync("ssh-keygen", ["-q", "-C", "somebody", "-f", file, ...args]);
  return { privateText: readFileSync(file, "utf8"), publicText: readFileSync(`${file}.pub`, "utf8") };
}

const text = Buffer.from("Tea at four.\n".repeat(10_000));
const seal = async (...recipients: Recipient[]) =>
  (await collectBytes(encrypt(Readable.from([text]), recipients), 2 ** 24)) as Buffer;
const unseal = (bytes: Buffer, identities: Identity[]) =>
  collectBytes(decrypt(Readable.from([bytes]), identities), 2 ** 24);

const plain = makeKey("plain", ["-t", "ed25519", "-N", ""]);
const locked = makeKey("locked", ["-t", "ed25519", "-N", "open sesame"]);
const lockedPem = makeKey("locked-pem", ["-t", "rsa", "-b", "2048", "-m", "PEM", "-N", "open sesame"]);
const lockedPkcs8 = makeKey("locked-pkcs8", ["-t", "rsa", "-b", "2048", "-m", "PKCS8", "-N", "open sesame"]);
const ecdsa = makeKey("ecdsa", ["-t", "ecdsa", "-N", ""]);

const secret = (await generateX25519Identity()).slice(20, 60);

describe("parseIdentities", () => {
  it("takes a file with comments and several keys, and each of them opens", async () => {
    const keys = [await generateX25519Identity(), await generateX25519Identity()];
    const identities = parseIdentities(`# created: some day\n\n${keys[0]}\r\n  ${keys[1]}  \n# end`);
    expect(identities).toHaveLength(2);
    for (const key of keys) {
      const sealed = await seal(parseRecipient(await identityToRecipient(key)));
      expect((await unseal(sealed, identities))?.equals(text)).toBe(true);
    }
  });

  it("takes an Ed25519 key as PKCS8", async () => {
    const { privateKey, publicKey } = generateKeyPairSync("ed25519");
    const raw = Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url");
    const field = (bytes: Buffer) => Buffer.concat([Buffer.of(0, 0, 0, bytes.length), bytes]);
    const line = `ssh-ed25519 ${Buffer.concat([field(Buffer.from("ssh-ed25519")), field(raw)]).toString("base64")}`;
    const pem = privateKey.export({ type: "pkcs8", format: "pem" }) as string;
    expect((await unseal(await seal(parseRecipient(line)), parseIdentities(pem)))?.equals(text)).toBe(true);
  });

  it.each([
    ["PEM", lockedPem],
    ["PKCS8", lockedPkcs8],
  ])("opens an RSA key in %s with its passphrase, and with no other", async (_name, { privateText, publicText }) => {
    const identities = parseIdentities(privateText, "open sesame");
    expect((await unseal(await seal(parseRecipient(publicText)), identities))?.equals(text)).toBe(true);
    for (const passphrase of [undefined, "wrong"]) {
      expect(() => parseIdentities(privateText, passphrase)).toThrow(
        expect.objectContaining({ code: "locked_identity" }),
      );
    }
  });

  const half = plain.privateText.split("\n");

  it.each([
    ["nothing", "", "invalid_identity"],
    ["comments alone", "# nothing\n\n", "invalid_identity"],
    ["a public key", plain.publicText, "invalid_identity"],
    ["a key with a mistake", `AGE-SECRET-KEY-1${secret}`, "invalid_identity"],
    ["a plugin's key", `AGE-PLUGIN-YUBIKEY-1${secret}`, "invalid_identity"],
    ["an ECDSA key", ecdsa.privateText, "invalid_identity"],
    ["half a key", [...half.slice(0, 3), ...half.slice(-2)].join("\n"), "invalid_identity"],
    ["a key without its end", half.slice(0, 4).join("\n"), "invalid_identity"],
    ["an SSH key with a passphrase", locked.privateText, "unsupported_identity"],
    ["an encrypted identity file", "age-encryption.org/v1\n-> scrypt x 18\n", "unsupported_identity"],
    ["an armored one", "-----BEGIN AGE ENCRYPTED FILE-----\n", "unsupported_identity"],
  ])("refuses %s, and does not repeat it", (_name, given, code) => {
    let message = "";
    try {
      parseIdentities(given, "open sesame");
    } catch (error) {
      expect(error).toMatchObject({ name: "ArchiveError", code });
      message = (error as Error).message;
    }
    expect(message).not.toBe("");
    expect(message).not.toContain(secret.slice(0, 12));
    expect(message).not.toContain("sesame");
  });

  it("says what to do with an SSH key that has a passphrase", () => {
    expect(() => parseIdentities(locked.privateText)).toThrow(/ssh-keygen -p.*age -d -i/);
  });

  it("no secret shows when an identity is printed", async () => {
    const key = await generateX25519Identity();
    expect(JSON.stringify(parseIdentities(key))).not.toContain(key.slice(17));
  });
});

describe("a stanza for an SSH key", () => {
  const rsa = makeKey("rsa", ["-t", "rsa", "-b", "2048", "-N", ""]);

  it.each([
    ["ssh-ed25519", plain],
    ["ssh-rsa", rsa],
  ])("of the type %s is for its own key alone", async (name, { publicText }) => {
    const sealed = await seal(parseRecipient(publicText));
    const other = makeKey(`other-${name}`, ["-t", name.slice(4), "-N", ""]);
    await expect(unseal(sealed, parseIdentities(other.privateText))).rejects.toMatchObject({
      code: "locked_archive",
      message: expect.stringContaining(name),
    });
  });

  it.each([
    [
      "another share",
      plain,
      (args: string[]) => args.with(2, args[2]?.replace(/^./, (c) => (c === "A" ? "B" : "A")) ?? ""),
    ],
    ["no share", plain, (args: string[]) => args.slice(0, 2)],
    ["a short share", plain, (args: string[]) => args.with(2, "AAAA")],
    ["a share of zeros", plain, (args: string[]) => args.with(2, "A".repeat(43))],
    ["one argument more", rsa, (args: string[]) => [...args, "more"]],
  ])("with %s is damage", async (_name, { publicText, privateText }, change) => {
    const encrypter = new Encrypter();
    const inner = new Map<string, unknown>();
    parseRecipient(publicText).addTo({ addRecipient: (one: unknown) => inner.set("one", one) } as never);
    const recipient = inner.get("one") as { wrapFileKey(key: Uint8Array): { args: string[]; body: Uint8Array }[] };
    encrypter.addRecipient({
      wrapFileKey: (key) => recipient.wrapFileKey(key).map(({ args, body }) => ({ args: change(args), body })),
    });
    const sealed = Buffer.from(await encrypter.encrypt(text));
    await expect(unseal(sealed, parseIdentities(privateText))).rejects.toMatchObject({ code: "damaged" });
  });
});
