import {
  constants,
  createCipheriv,
  createDecipheriv,
  createHash,
  hkdfSync,
  type KeyObject,
  privateDecrypt,
  publicEncrypt,
} from "node:crypto";
import { ed25519, x25519 } from "@noble/curves/ed25519.js";
import { type Identity, type Recipient, Stanza } from "age-encryption";

/*
 * age's two stanzas for SSH keys. They are not in its specification: the command's own package defines them.
 * A public key is given as `wire`, in SSH's format: its digest names the key, and Ed25519 binds the secret to it.
 */

const ed25519Type = "ssh-ed25519";
const ed25519Label = "age-encryption.org/v1/ssh-ed25519";
const rsaType = "ssh-rsa";
const rsaLabel = "age-encryption.org/v1/ssh-rsa";
const fileKeyBytes = 16;
const tagBytes = 16;

const toBase64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64").replace(/=+$/, "");

const nameKey = (wire: Buffer) => toBase64(createHash("sha256").update(wire).digest().subarray(0, 4));

function isFor(stanza: Stanza, key: { type: string; wire: Buffer }): boolean {
  return stanza.args[0] === key.type && stanza.args[1] === nameKey(key.wire);
}

/** @throws when `publicKey` is no point of the curve */
export function ed25519Recipient({ wire, publicKey }: { wire: Buffer; publicKey: Buffer }): Recipient {
  const theirs = ed25519.utils.toMontgomery(publicKey);
  return {
    wrapFileKey(fileKey) {
      const ephemeral = x25519.utils.randomSecretKey();
      const share = x25519.getPublicKey(ephemeral);
      const key = deriveKey({ wire, share, theirs }, x25519.getSharedSecret(ephemeral, theirs));
      return [new Stanza([ed25519Type, nameKey(wire), toBase64(share)], seal(key, fileKey))];
    },
  };
}

/** `seed`: the 32 secret bytes of the key. */
export function ed25519Identity({ wire, seed }: { wire: Buffer; seed: Buffer }): Identity {
  const secret = createHash("sha512").update(seed).digest().subarray(0, 32);
  const theirs = x25519.getPublicKey(secret);
  return {
    unwrapFileKey(stanzas) {
      for (const stanza of stanzas.filter((one) => isFor(one, { type: ed25519Type, wire }))) {
        const share = Buffer.from(stanza.args[2] ?? "", "base64");
        if (stanza.args.length !== 3 || toBase64(share) !== stanza.args[2] || share.length !== 32)
          throw new Error("invalid ssh-ed25519 stanza");
        return open(deriveKey({ wire, share, theirs }, x25519.getSharedSecret(secret, share)), stanza.body);
      }
      return null;
    },
  };
}

function deriveKey(
  { wire, share, theirs }: { wire: Buffer; share: Uint8Array; theirs: Uint8Array },
  exchanged: Uint8Array,
): Buffer {
  const tweak = Buffer.from(hkdfSync("sha256", Buffer.alloc(0), wire, ed25519Label, 32));
  const secret = x25519.getSharedSecret(tweak, exchanged);
  return Buffer.from(hkdfSync("sha256", secret, Buffer.concat([share, theirs]), ed25519Label, 32));
}

// The key is used once, so the nonce is fixed.
const nonce = Buffer.alloc(12);

function seal(key: Buffer, fileKey: Uint8Array): Uint8Array {
  const cipher = createCipheriv("chacha20-poly1305", key, nonce, { authTagLength: tagBytes });
  return Buffer.concat([cipher.update(fileKey), cipher.final(), cipher.getAuthTag()]);
}

function open(key: Buffer, body: Uint8Array): Uint8Array {
  if (body.length !== fileKeyBytes + tagBytes) throw new Error("invalid ssh-ed25519 stanza");
  const decipher = createDecipheriv("chacha20-poly1305", key, nonce, { authTagLength: tagBytes });
  decipher.setAuthTag(body.subarray(fileKeyBytes));
  return Buffer.concat([decipher.update(body.subarray(0, fileKeyBytes)), decipher.final()]);
}

const padding = { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: "sha256", oaepLabel: Buffer.from(rsaLabel) };

export function rsaRecipient({ wire, key }: { wire: Buffer; key: KeyObject }): Recipient {
  return {
    wrapFileKey: (fileKey) => [new Stanza([rsaType, nameKey(wire)], publicEncrypt({ key, ...padding }, fileKey))],
  };
}

export function rsaIdentity({ wire, key }: { wire: Buffer; key: KeyObject }): Identity {
  return {
    unwrapFileKey(stanzas) {
      const stanza = stanzas.find((one) => isFor(one, { type: rsaType, wire }));
      if (!stanza) return null;
      const fileKey = privateDecrypt({ key, ...padding }, stanza.body);
      if (stanza.args.length !== 2 || fileKey.length !== fileKeyBytes) throw new Error("invalid ssh-rsa stanza");
      return fileKey;
    },
  };
}
