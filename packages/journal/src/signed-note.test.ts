import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { parseCheckpoint, signCheckpoint } from "./checkpoint.js";
import {
  emptyRoot,
  generateSigningKey,
  parseNote,
  parseSigningKey,
  parseVerifierKey,
  signNote,
  verifyNote,
} from "./index.js";
import { makeKey, origin } from "./test-log.contract.js";

/** The key and the note of the documentation of golang.org/x/mod/sumdb/note, the origin of the form. */
const published = {
  secret: "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz",
  key: "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
  text: "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n",
  signature:
    "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n",
};
const note = `${published.text}\n${published.signature}`;

const code = (run: () => unknown) => {
  try {
    run();
    return "no error";
  } catch (error) {
    return (error as { code?: string }).code;
  }
};

describe("signed notes", () => {
  it("agree with the published example", () => {
    const key = parseSigningKey(published.secret);
    expect(key.verifier.text).toBe(published.key);
    expect(key.secretText()).toBe(published.secret);
    expect(signNote(published.text, key)).toBe(note);
    expect(verifyNote(note, [parseVerifierKey(published.key)])).toMatchObject({ text: published.text });
  });

  it("pass over foreign signatures, but not over a wrong one by a given key", () => {
    const [ours, other] = [makeKey("ours"), makeKey("other", "other.example/log")];
    const both = `${signNote("text\n", ours)}${signNote("text\n", other).split("\n\n")[1]}`;
    expect(verifyNote(both, [other.verifier]).signers.map(String)).toEqual([String(other)]);
    expect(verifyNote(both, [other.verifier, ours.verifier]).signers).toHaveLength(2);
    expect(code(() => verifyNote(both, [makeKey("third").verifier]))).toBe("unknown_key");
    expect(code(() => verifyNote(both, []))).toBe("unknown_key");
    expect(code(() => verifyNote(both.replace("text", "Text"), [ours.verifier]))).toBe("bad_signature");
    const swapped = both.replace("other.example/log", "third.example/log");
    expect(code(() => verifyNote(swapped, [other.verifier]))).toBe("unknown_key");
  });

  it.each([
    ["nothing", ""],
    ["no signature", "text\n\n"],
    ["no empty line", published.text + published.signature],
    ["no last newline", note.slice(0, -1)],
    ["a hyphen for the dash", note.replace("—", "-")],
    ["a carriage return", note.replace("\n", "\r\n")],
    ["a null character", note.replace("If", "\0")],
    ["a lone surrogate", note.replace("If", "\ud800")],
    ["base64 of another form", note.replace("nAM=", "nAN=")],
    ["a signature without a key id", "text\n\n— name AAAA\n"],
    ["a name with a plus sign", note.replace("— Peter", "— Peter+")],
    ["an empty line among the signatures", `${note}\n`],
  ])("that are none: %s", (_, text) => {
    expect(code(() => parseNote(text))).toBe("bad_note");
  });
});

describe("keys", () => {
  const key = makeKey("one");

  it("survive their text", () => {
    expect(parseSigningKey(key.secretText()).verifier.text).toBe(key.verifier.text);
    expect(parseVerifierKey(key.verifier.text).text).toBe(key.verifier.text);
    expect(key.verifier.text).toMatch(/^satchel\/[0-9a-f-]{36}\+[0-9a-f]{8}\+A[A-Za-z0-9+/]{43}$/);
  });

  it("print without their secret", () => {
    const secret = key.secretText().split("+").at(-1)!;
    const printed = [
      String(key),
      JSON.stringify({ key }),
      inspect(key, { depth: 9, showHidden: true }),
      `${key.verifier}`,
    ];
    for (const text of printed) expect(text).not.toContain(secret.slice(4, 20));
    expect(String(key)).toBe(key.verifier.text);
  });

  const { text } = key.verifier;
  const secret = key.secretText();
  it.each([
    ["empty", ""],
    ["another id", text.replace(/\+[0-9a-f]{8}\+/, "+00000000+")],
    ["another name", text.replace("satchel/", "other/")],
    ["another algorithm", text.replace(/\+A([A-Za-z0-9+/]+)$/, "+B$1")],
    ["cut off", text.slice(0, -4)],
    ["a space", text.replace("satchel/", "satchel /")],
    ["a secret", secret],
  ])("that are none: %s", (_, wrong) => {
    expect(code(() => parseVerifierKey(wrong))).toBe("bad_key");
    expect(code(() => parseSigningKey(wrong === secret ? text : `PRIVATE+KEY+${wrong}`))).toBe("bad_key");
  });

  it("need a name and 32 bytes", () => {
    expect(code(() => generateSigningKey("a+b", Buffer.alloc(32)))).toBe("bad_key");
    expect(code(() => generateSigningKey("", Buffer.alloc(32)))).toBe("bad_key");
    expect(code(() => generateSigningKey("name", Buffer.alloc(31)))).toBe("bad_key");
  });
});

describe("checkpoints", () => {
  const key = makeKey("one");
  const signed = signCheckpoint({ size: 0, root: emptyRoot }, key);

  it("have the form of C2SP tlog-checkpoint", () => {
    expect(signed).toMatch(
      /^satchel\/[0-9a-f-]{36}\n0\n47DEQpj8HBSa\+\/TImW\+5JCeuQeRkm5NMpJWZG3hSuFU=\n\n— satchel\/[0-9a-f-]{36} [A-Za-z0-9+/]{91}=\n$/,
    );
    expect(parseCheckpoint(signed)).toMatchObject({ origin, size: 0, root: emptyRoot });
    expect(parseCheckpoint(signed.replace("U=\n\n", "U=\nextension\n\n"))).toMatchObject({ size: 0 });
  });

  it.each([
    ["a size with a leading zero", signed.replace("\n0\n", "\n00\n")],
    ["a negative size", signed.replace("\n0\n", "\n-1\n")],
    ["a size beyond 2^53", signed.replace("\n0\n", "\n9007199254740993\n")],
    ["a short root", signed.replace("47DE", "")],
    ["no root", signed.replace(/47DE.*\n/, "")],
    ["no origin", signed.replace(/^satchel.*/, "")],
    ["another note", note],
  ])("that are none: %s", (_, text) => {
    expect(code(() => parseCheckpoint(text))).toBe("bad_note");
  });
});
