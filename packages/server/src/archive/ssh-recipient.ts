import { createPublicKey } from "node:crypto";
import type { Recipient } from "age-encryption";
import { ArchiveError } from "./archive-error.js";
import { ed25519Recipient, rsaRecipient } from "./ssh-stanza.js";
import { SshReader } from "./ssh-wire.js";

const leastRsaBits = 2048;
const mostRsaBits = 16_384;

/** One line of an SSH public key, with or without its comment. @throws ArchiveError `invalid_recipient` */
export function parseSshRecipient(line: string): Recipient {
  const [type = "", encoded = ""] = line.split(/[ \t]+/);
  if (type !== "ssh-ed25519" && type !== "ssh-rsa")
    throw new ArchiveError(
      "invalid_recipient",
      "age encrypts to the SSH keys ssh-ed25519 and ssh-rsa, and to no others.",
    );
  const wire = Buffer.from(encoded, "base64");
  try {
    if (wire.toString("base64") !== encoded) throw new RangeError("The key is not whole base64.");
    return type === "ssh-rsa" ? parseRsa(wire) : parseEd25519(wire);
  } catch (cause) {
    if (cause instanceof ArchiveError) throw cause;
    throw new ArchiveError("invalid_recipient", `That is no whole ${type} public key.`, { cause });
  }
}

function fieldsOf(wire: Buffer, { type, count }: { type: string; count: number }): Buffer[] {
  const reader = new SshReader(wire);
  if (reader.string().toString("latin1") !== type) throw new RangeError("The key is of another type.");
  const fields = Array.from({ length: count }, () => reader.string());
  if (!reader.isAtEnd) throw new RangeError("Something follows the key.");
  return fields;
}

function parseEd25519(wire: Buffer): Recipient {
  const [publicKey = Buffer.alloc(0)] = fieldsOf(wire, { type: "ssh-ed25519", count: 1 });
  return ed25519Recipient({ wire, publicKey });
}

function parseRsa(wire: Buffer): Recipient {
  const [e = Buffer.alloc(0), n = Buffer.alloc(0)] = fieldsOf(wire, { type: "ssh-rsa", count: 2 });
  const jwk = { kty: "RSA", e: e.toString("base64url"), n: n.toString("base64url") };
  const key = createPublicKey({ key: jwk, format: "jwk" });
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
  if (bits < leastRsaBits || bits > mostRsaBits)
    throw new ArchiveError("invalid_recipient", `An RSA key needs ${leastRsaBits} to ${mostRsaBits} bits.`);
  return rsaRecipient({ wire, key });
}
